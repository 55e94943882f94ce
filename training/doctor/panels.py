"""What the page of a run shows of its log: panels of curves, in sections."""

from __future__ import annotations

from typing import NamedTuple

from training.settings.learning import LOSSES


class Section(NamedTuple):
    """Panels under a heading, each with the numbers of the log that it shows; {} stands for a board size."""

    heading: str
    words: str
    across: str  # the counter that they are drawn over
    panels: tuple[tuple[str, ...], ...]


_GUESSES = "held/constant_{0}", "fit/constant_{0}"  # of a run that holds out no game, on those it learns from
_LOSSES = tuple((f"train/{name}", f"held/{name}", *(each.format(name) for each in _GUESSES)) for name in LOSSES)
_PARTS = ("selfplay", "learner", "gate", "waiting")
SECTIONS = (
    Section(
        "Losses",
        "train: learning; held: games that are never learned from. A constant guess does not look at the board: what is "
        "below it was learned.",
        "steps",
        (
            *_LOSSES,
            ("train/total",),
            ("held/top1", "held/value_sign"),
            ("held/entropy", "held/constant_policy"),
            ("held/calibration",),
            ("train/gradient",),
            ("train/rate",),
        ),
    ),
    Section(
        "Strength",
        "Share of the points with 95 % intervals; few games each, so trust the trend. uct: rollout PUCT, whose rollouts "
        "are doubled once it is beaten; frozen: the run's own earlier weights; gate: the network that plays.",
        "evaluations",
        (("strength/uct_score",), ("strength/uct_rollouts",), ("strength/frozen_score",), ("gate/score",)),
    ),
    Section(
        "Games",
        "Of each generation, by size of the board: moves a game; shares of the games that reached the limit of moves, "
        "ended by settled boards, were over in the opening, Black won, differ, begin as most do; mean value less mean "
        "result on held-out games.",
        "generation",
        (
            *((f"games{{}}/{name}",) for name in ("length", "capped", "settled", "early", "black", "distinct")),
            ("games{}/commonest",),
            ("held{}/bias",),
        ),
    ),
    Section(
        "Speed",
        "Evaluations a second, by random playouts and by the network; who is not at work waits for the other.",
        "generation",
        (
            ("speed/playouts",),
            ("speed/evaluations",),
            tuple(f"speed/{part}_busy" for part in _PARTS),
            (*(f"speed/{part}_seconds" for part in _PARTS), "strength/seconds", "speed/checkup_seconds"),
            ("speed/learner_threads",),
        ),
    ),
    Section(
        "Cluster",
        "The workers of a run on many machines, the tasks that wait for one, their evaluations a second, the share of "
        "their time without work, and the versions between the network of a game and the newest.",
        "generation",
        (
            ("cluster/workers", "cluster/waiting"),
            ("cluster/evaluations", *(f"cluster/worker{number}" for number in range(1, 9))),
            ("cluster/idle",),
            ("cluster/staleness",),
        ),
    ),
    Section(
        "The verdict over time",
        "1 learning, 0 too early to say, -1 stuck, -2 broken. What to do about each: docs/doctor.md.",
        "generation",
        (("doctor/verdict",),),
    ),
)
