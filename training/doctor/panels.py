"""What a page shows of the logs of runs: panels of curves, in sections."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
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
    """Panels under a heading: {title: {number of the log: label}}."""

    heading: str
    words: str
    across: str  # what a run's own page draws them over
    panels: Mapping[str, Mapping[str, str]]


_LOSSES = {
    name: {f"train/{name}": "training", f"held/{name}": "held-out games", f"held/constant_{name}": "constant guess"}
    for name in (*LOSSES, "total")
}
_PARTS = {"selfplay": "self-play", "learner": "learner", "gate": "gate", "waiting": "waiting"}
SECTIONS = (
    Section(
        "Losses",
        "A constant guess does not look at the board: what is below it was learned.",
        "steps",
        _LOSSES
        | {
            "right on held-out games": {"held/top1": "top-1", "held/value_sign": "winner right"},
            "entropy": {"held/entropy": "policy", "held/constant_policy": "uniform"},
            "calibration": {"held/calibration": "held-out games"},
            "norm of the gradient": {"train/gradient": "gradient"},
            "learning rate, as a factor": {"train/rate": "rate"},
        },
    ),
    Section(
        "Strength",
        "Share of the points with 95 % intervals; few games each, so trust the trend. The rollouts are doubled once "
        "they are beaten.",
        "evaluations",
        {
            "score against rollout PUCT": {"strength/uct_score": "rollout PUCT"},
            "rollouts of rollout PUCT": {"strength/uct_rollouts": "rollouts"},
            "score against its own earlier weights": {"strength/frozen_score": "earlier weights"},
            "score at the gate": {"gate/score": "the network that plays"},
        },
    ),
    Section(
        "Speed",
        "Who is not at work waits for the other.",
        "generation",
        {
            "evaluations/s": {"speed/evaluations": "network, or random playouts"},
            "share of the time at work": {f"speed/{part}_busy": label for part, label in _PARTS.items()},
            "seconds of a generation": {f"speed/{part}_seconds": label for part, label in _PARTS.items()}
            | {"strength/seconds": "strength", "speed/checkup_seconds": "checks"},
            "CPU threads of the learner": {"speed/learner_threads": "threads"},
        },
    ),
    Section(
        "Cluster",
        "The workers of a run on many machines; versions: of the network, between a game's and the newest.",
        "generation",
        {
            "workers": {"cluster/workers": "workers", "cluster/waiting": "tasks that wait for one"},
            "evaluations/s of a worker": {"cluster/evaluations": "mean"}
            | {f"cluster/worker{n}": str(n) for n in range(1, 9)},
            "share of the workers' time without work": {"cluster/idle": "idle"},
            "versions behind": {"cluster/staleness": "mean of the games"},
        },
    ),
    Section(
        "The verdict over time",
        "1 learning, 0 too early to say, -1 stuck, -2 broken. What to do about each: docs/doctor.md.",
        "generation",
        {"verdict": {"doctor/verdict": "verdict"}},
    ),
)
GAMES = {  # number of the games of a size -> title
    "games{}/length": "moves a game",
    "games{}/capped": "share that reached the limit of moves",
    "games{}/settled": "share ended by settled boards",
    "games{}/early": "share over in the opening",
    "games{}/black": "Black's share of the points",
    "games{}/distinct": "share of different games",
    "games{}/commonest": "share that begins as most do",
    "held{}/bias": "mean value less mean result, held-out games",
}


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
        try:
            settings = config.saved(folder / "settings.json")
        except SettingsError:
            settings = None
        return cls(folder, label, log, settings)

    @property
    def verdict(self) -> str:
        """The newest; empty if there is none."""
        return self.log.verdicts.get(int(self.log.reports[-1]["run/generation"]), "")

    @property
    def game(self) -> str:
        """The name of the run's game."""
        return (self.settings or LoopSettings()).game


def sections(runs: Sequence[LoggedRun]) -> list[Section]:
    """All sections, with that of the games on each size."""
    sizes = {size for run in runs for report in run.log.reports for size in history.sizes(report)}
    table = {
        title: {name.format(size): f"size {size}" for size in sorted(sizes)}
        for name, title in GAMES.items()
        if "settled" not in name or runs[0].game == "go"  # of other games no board is settled
    }
    games = Section("Games", "Of each generation, by size of the board.", "generation", table)
    return [*SECTIONS[:2], games, *SECTIONS[2:]]


def panels(section: Section, runs: Sequence[LoggedRun], across: str) -> list[Panel]:
    """The panels that have a curve: of several runs one for each number, with a curve for each run."""
    found = []
    for title, names in section.panels.items():
        if len(runs) == 1:
            drawn = {title: [_curve(runs[0], name, label, across) for name, label in names.items()]}
        else:
            drawn = {
                f"{title}: {label}": [_curve(run, name, run.label, across) for run in runs]
                for name, label in names.items()
                if "/constant_" not in name
            }
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
