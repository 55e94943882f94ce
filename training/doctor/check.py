"""A check of the doctor: a sign to look for in the history of a run, with its thresholds and their reasons.

Vocabulary.
  finding  what is wrong, and what to do about it. *broken*: what is learned is wrong, stop and repair it. *stuck*:
           sound, but it does not get better. *note*: worth knowing; no alarm.
  share    k of n games. Chance must not raise an alarm: the Wilson interval of a share at `Z` standard deviations
           has to lie beyond the threshold.

The checks themselves are in `training.doctor.game_checks` and `training.doctor.learning_checks`; nothing is measured
here.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass, field, fields
from typing import Any, ClassVar, NamedTuple

from training.doctor.history import Report, last, sizes
from training.matches.elo import wilson
from training.settings.config import LoopSettings

BROKEN, STUCK, NOTE = "broken", "stuck", "note"

Z = 3.0  # one false alarm in a thousand for each share looked at, and a run looks at hundreds
LEAST_STEPS = 500  # of the learner, before what the network has not learned says anything
VALUE_STEPS = 1000  # the value learns from one number a game: it needs longer
RECENT = 3  # generations over which a noisy number must agree
LEAST_GAMES = 16
PLATEAU = 10  # generations in which nothing got better, against the ten before


class Finding(NamedTuple):
    """One thing wrong."""

    level: str  # BROKEN, STUCK or NOTE
    because: str  # half a sentence with the number that shows it
    remedy: str  # half a sentence: what to try


def threshold(default: Any, reason: str) -> Any:
    """A field of a check: the number and why it is that number."""
    return field(default=default, metadata={"reason": reason})


@dataclass(frozen=True)
class Check:
    """One sign that a run is broken or stuck. The docstring of a check names the sign, its fields are its thresholds.

    A number that a history lacks makes the check pass: an earlier version of gozero may not have measured it.
    """

    level: ClassVar[str]
    remedy: ClassVar[str]  # what to try
    go_alone: ClassVar[bool] = False  # other games have no komi, and may well be drawn, or won by one side

    def look(self, history: list[Report], settings: LoopSettings) -> Finding | None:
        """Return a finding about the newest of these reports (at least one, oldest first), or None."""
        raise NotImplementedError

    def found(self, because: str, remedy: str = "", level: str = "") -> Finding:
        """A finding of this check, with its own remedy and level unless others are given."""
        return Finding(level or self.level, because, remedy or self.remedy)

    def thresholds(self) -> Iterator[tuple[str, Any, str]]:
        """(name, value, reason) of each threshold."""
        return ((each.name, getattr(self, each.name), each.metadata["reason"]) for each in fields(self))


def pooled(
    history: list[Report], name: str, generations: int = 1, least_size: int = 0, most_size: float = math.inf
) -> tuple[float, float]:
    """(k, n): of the newest generations' n games on boards of these sizes, how many a share `name` stands for."""
    k = n = 0.0
    for report in history[-generations:]:
        for size in sizes(report):
            if least_size <= size <= most_size and f"games{size}/{name}" in report:
                k += report[f"games{size}/{name}"] * report[f"games{size}/count"]
                n += report[f"games{size}/count"]
    return k, n


def beyond(k: float, n: float, bound: float) -> bool:
    """Whether the share k of n is above `bound` by more than chance."""
    games = round(n)  # shares of games times games are whole numbers up to rounding
    return n > 0 and wilson(min(k, games), games, Z)[0] > bound


def steps_of(history: list[Report]) -> float:
    """The learner's steps so far."""
    return last(history, "run/steps") or 0.0


def recent(history: list[Report], name: str) -> list[float]:
    """The newest `RECENT` values; empty where there are fewer."""
    found = [report[name] for report in history[-RECENT:] if name in report]
    return found if len(found) == RECENT else []
