"""What a check of the doctor is, and the reports of a run as the checks read them.

Chance must not raise an alarm: the Wilson interval of a share of games, at `Z` standard deviations, has to lie beyond
the limit. A number that no report has makes a check pass.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import NamedTuple

from training.doctor import history
from training.doctor.history import Report
from training.matches.elo import wilson
from training.settings.config import LoopSettings

# broken: what is learned is wrong; stuck: it is sound, but does not get better; a note raises no alarm
BROKEN, STUCK, NOTE = "broken", "stuck", "note"

Z = 3.0  # one false alarm in a thousand for each share looked at, and a run looks at hundreds
LEAST_STEPS = 500  # of the learner, before what the network has not learned says anything
RECENT = 3  # generations over which a noisy number must agree


@dataclass(frozen=True)
class Reports:
    """What a check looks at: the reports of a run, at least one, oldest first, and its settings."""

    all: list[Report]
    settings: LoopSettings

    @property
    def now(self) -> Report:
        """The newest report."""
        return self.all[-1]

    @property
    def has_learned(self) -> bool:
        """Whether the learner has taken steps enough for the network to show something."""
        return (self.last("run/steps") or 0.0) >= LEAST_STEPS

    @property
    def measured(self) -> str:
        """Whose losses say whether it learns: the `held` games' or, where none is held out, the `fit` ones', which it
        learned from.
        """
        return "held" if self.settings.replay.held_out else "fit"

    @property
    def sizes(self) -> list[int]:
        """The board sizes of the newest games."""
        return history.sizes(self.now)

    def last(self, name: str) -> float | None:
        """The newest value of `name`; None if no report has it."""
        return history.last(self.all, name)

    def recent(self, name: str) -> list[float]:
        """The newest `RECENT` values; empty if there are fewer."""
        found = [report[name] for report in self.all[-RECENT:] if name in report]
        return found if len(found) == RECENT else []

    def pooled(
        self, name: str, generations: int = 1, least_size: int = 0, most_size: float = math.inf
    ) -> tuple[float, float]:
        """(k, n): of the newest generations' n games on boards of these sizes, how many a share `name` stands for."""
        k = n = 0.0
        for report in self.all[-generations:]:
            for size in history.sizes(report):
                if least_size <= size <= most_size and f"games{size}/{name}" in report:
                    k += report[f"games{size}/{name}"] * report[f"games{size}/count"]
                    n += report[f"games{size}/count"]
        return k, n


Judge = Callable[[Reports], str | None]  # half a sentence with the number that shows the sign, if there is one


class Check(NamedTuple):
    """One sign that a run is broken or stuck."""

    sign: str
    level: str
    remedy: str  # half a sentence: what to try
    go_alone: bool  # other games have no komi, and may well be drawn, or won by one side
    judge: Judge


def check(level: str, remedy: str, *, go_alone: bool = False) -> Callable[[Judge], Check]:
    """Make a check of a function, whose docstring begins with the sign."""
    return lambda judge: Check((judge.__doc__ or "").splitlines()[0], level, remedy, go_alone, judge)


def beyond(k: float, n: float, bound: float) -> bool:
    """Whether the share k of n is above `bound` by more than chance."""
    games = round(n)  # shares of games times games are whole numbers up to rounding
    return n > 0 and wilson(min(k, games), games, Z)[0] > bound
