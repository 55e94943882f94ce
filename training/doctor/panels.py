"""What a page shows of the logs of runs: panels of curves, in sections."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import NamedTuple

from gozero.plots import Curve, Panel
from gozero.system.console import say
from gozero.system.errors import UserError
from gozero.system.options import SettingsError
from training.doctor import history
from training.doctor.history import RunLog
from training.settings import config
from training.settings.config import LoopSettings
from training.settings.learning import LOSSES
from training.storage import storage


class Section(NamedTuple):
    """Panels under a heading, each with the numbers of the log that it shows; {} stands for a board size."""

    heading: str
    words: str
    across: str  # what a run's own page draws them over
    panels: tuple[tuple[str, ...], ...]


_LOSSES = tuple((f"train/{name}", f"held/{name}", f"held/constant_{name}") for name in LOSSES)
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


class ReportError(UserError):
    """No page can be made; one line."""


@dataclass(frozen=True)
class LoggedRun:
    """What a run folder has for a page; there is one report at least."""

    folder: Path
    label: str
    log: RunLog
    settings: LoopSettings | None  # None if they cannot be read

    @classmethod
    def open(cls, folder: Path, label: str) -> LoggedRun:
        """Read a run folder. ReportError if it holds no run, or cannot be read."""
        try:
            log = history.read(folder)
        except OSError as error:
            raise ReportError(f"cannot read {folder.absolute() / history.LOG}: {error.strerror}") from None
        if not folder.is_dir():
            raise ReportError(f"there is no folder {folder.absolute()}")
        if not log.reports:
            begun = "let its run finish one first" if storage.holds_run(folder) else "is it a run folder?"
            what = f"{folder.absolute()} holds no {history.LOG} with a finished generation"
            raise ReportError(f"{what}; {log.complaint or begun}")
        if log.complaint:
            say(log.complaint)
        for report in log.reports:  # playouts are so much faster that they have a panel of their own
            by_playouts = report.pop("speed/playouts", 0.0)
            if by_playouts and "speed/evaluations" in report:
                report["speed/playouts"] = report.pop("speed/evaluations")
        try:
            settings = config.saved(folder / "settings.json")
        except SettingsError:
            settings = None
        return cls(folder, label, log, settings)

    @property
    def verdict(self) -> str:
        """The newest; empty if there is none."""
        return self.log.verdicts.get(int(self.log.reports[-1]["run/generation"]), "")


def panels(section: Section, runs: Sequence[LoggedRun], across: str) -> list[Panel]:
    """The panels that have a curve: of several runs one for each number, with a curve for each run."""
    sizes = sorted({size for run in runs for report in run.log.reports for size in history.sizes(report)})
    found = []
    for names in section.panels:
        numbers = dict.fromkeys(name.format(size) for name in names for size in sizes or [0])
        if len(runs) == 1:
            drawn = {names[0].partition("/")[2]: [_curve(runs[0], name, name, across) for name in numbers]}
        else:
            compared = [name for name in numbers if "/constant_" not in name]
            drawn = {name: [_curve(run, name, run.label, across) for run in runs] for name in compared}
        made = [Panel(text, [curve for curve in curves if curve], across) for text, curves in drawn.items()]
        found += [panel for panel in made if panel.curves]
    return found


def _curve(run: LoggedRun, name: str, label: str, across: str) -> Curve | None:
    """A number of the log over a counter, with its interval if it has one; a constant predictor's is a guide.

    None if it is not there. So are losses and times that are 0 throughout: the game has no owned points, say.
    """
    x, stem = f"run/{across}", name.removesuffix("score")
    lines = run.log.matches if name.startswith("gate/") else run.log.reports
    known = [line for line in lines if name in line and x in line]
    y = [line[name] for line in known]
    if not known or (not any(y) and name.startswith(("train/", "held/", "speed/"))):
        return None
    low, high = (
        [line[stem + end] for line in known] if all(stem + end in line for line in known) else ()
        for end in ("low", "high")
    )
    return Curve(label, [line[x] for line in known], y, low, high, guide="/constant_" in name)
