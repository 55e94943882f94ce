"""Both sides' clocks in a game with a person: main time, then byo-yomi. All figures are seconds, of time.monotonic.

A side that has used up all its periods has lost. A clock is one number, the seconds until then: a move in byo-yomi
gives back what it has used of its last period.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

from gozero.frontends.web.setups import Clocks
from gozero.games.colours import BLACK, COLOUR_WORDS, WHITE
from gozero.play.time_controls import Allowance, TimeLeft, byoyomi

LAG = 0.2  # seconds kept back by the engine: nothing stands between it and its clock
ROUNDING = 1e-6  # periods


class SessionClock:
    """Two clocks, of which at most one runs; without a limit none ever does."""

    def __init__(self, terms: Clocks) -> None:
        self._terms = terms
        self._overtime = terms.period * terms.periods
        self._left = dict.fromkeys((BLACK, WHITE), terms.main + self._overtime)  # when the clock that runs was started
        self.running, self._since = 0, 0.0  # whose clock runs, EMPTY if none does, and since when

    def start(self, colour: int, now: float) -> None:
        """Let this side's clock run from now on, and no other."""
        if self._terms.is_limited and self.running != colour:
            self.stop(now)
            self.running, self._since = colour, now

    def stop(self, now: float) -> None:
        """Take the time of the side whose clock runs off it."""
        if self.running:
            left = self._left_at(self.running, now)
            self._left[self.running] = self._periods(left) * self._terms.period or left
            self.running = 0

    def remaining(self, now: float) -> float:
        """Seconds until the side whose clock runs has lost; infinite if none runs."""
        return self._left_at(self.running, now) if self.running else math.inf

    def give_back(self, seconds: float) -> None:
        """Let the clock that runs have begun so much later."""
        self._since += seconds

    def allowance(self, colour: int, moves: float, now: float) -> Allowance | None:
        """The time for a move if main time must last for this many like it; None without a limit."""
        if not self._terms.is_limited:
            return None
        control = byoyomi(self._terms.main, self._terms.period, self._terms.periods)
        return control.allowance(self._shown(self._left_at(colour, now)), moves, LAG)

    def values(self, now: float) -> dict[str, Any] | None:
        """For the page: what each side has left; None without a limit."""
        if not self._terms.is_limited:
            return None
        sides = {word: self._shown(self._left_at(colour, now)) for colour, word in COLOUR_WORDS.items()}
        return {
            **{word: {"seconds": left.seconds, "periods": left.count} for word, left in sides.items()},
            "period": self._terms.period,
            "periods": self._terms.periods,
            "running": COLOUR_WORDS.get(self.running),
        }

    def saved(self, now: float) -> tuple[float, float]:
        """What `restore` takes: Black's and White's seconds."""
        return self._left_at(BLACK, now), self._left_at(WHITE, now)

    def restore(self, saved: Sequence[float]) -> None:
        """Put both clocks where they stood, at most where they began; none runs."""
        self.running = 0
        full = self._terms.main + self._overtime
        self._left = {colour: min(left, full) for colour, left in zip((BLACK, WHITE), saved, strict=True)}

    def _left_at(self, colour: int, now: float) -> float:
        """Seconds until the side has lost."""
        return max(0.0, self._left[colour] - (now - self._since if self.running == colour else 0.0))

    def _periods(self, left: float) -> int:
        """How many periods a side still has, 0 in main time or if it has lost."""
        return math.ceil(left / self._terms.period - ROUNDING) if 0 < left <= self._overtime else 0

    def _shown(self, left: float) -> TimeLeft:
        """As clocks show it: main time, or what is left of a period with the number of periods."""
        if left > self._overtime or not self._overtime:
            return TimeLeft(left - self._overtime)
        count = max(1, self._periods(left))
        return TimeLeft(left - (count - 1) * self._terms.period, count)
