"""Both sides' clocks in a game with a person, on the time controls of `gozero.play.time_controls`.

A side that has used up all its periods has lost. All figures are seconds, and times are those of time.monotonic.
"""

from __future__ import annotations

import math
from typing import Any

from gozero.frontends.web.setups import Clocks
from gozero.games.colours import BLACK, COLOUR_WORDS, WHITE
from gozero.play.time_controls import Allowance, TimeLeft, byoyomi

LAG = 0.2  # seconds kept back by the engine: nothing stands between it and its clock


class SessionClock:
    """Two clocks, of which at most one runs; without a limit none ever does.

    Args:
        terms: of the game.
    """

    def __init__(self, terms: Clocks) -> None:
        self._terms = terms
        self._control = byoyomi(terms.main, terms.period, terms.periods)
        self._left = dict.fromkeys((BLACK, WHITE), self._control.full())  # when the clock that runs was started
        self._turn: tuple[int, float] | None = None  # whose clock runs, and since when

    @property
    def running(self) -> int | None:
        """Whose clock runs."""
        return None if self._turn is None else self._turn[0]

    def start(self, colour: int, now: float) -> None:
        """Let this side's clock run from now on, and no other."""
        if self._terms.is_limited and self.running != colour:
            self.stop(now)
            self._turn = colour, now

    def stop(self, now: float) -> None:
        """Take the time of the side whose clock runs off it; a period in which it moved comes back whole."""
        if self._turn is not None:
            colour, left = self._turn[0], self._left_at(self._turn[0], now)
            self._left[colour] = TimeLeft(self._terms.period, left.count) if left.count and left.seconds else left
            self._turn = None

    def remaining(self, now: float) -> float:
        """Seconds until the side whose clock runs has lost; infinite if none runs."""
        if self._turn is None:
            return math.inf
        left = self._left_at(self._turn[0], now)
        periods = left.count - 1 if left.count else self._terms.periods
        return left.seconds + periods * self._terms.period

    def give_back(self, seconds: float) -> None:
        """Let the clock that runs have begun so much later."""
        if self._turn is not None:
            self._turn = self._turn[0], self._turn[1] + seconds

    def allowance(self, colour: int, moves: float, now: float) -> Allowance | None:
        """The time for a move if main time must last for this many like it; None without a limit."""
        return self._control.allowance(self._left_at(colour, now), moves, LAG) if self._terms.is_limited else None

    def values(self, now: float) -> dict[str, Any] | None:
        """For the page: what each side has left; None without a limit."""
        if not self._terms.is_limited:
            return None
        sides = {word: self._left_at(colour, now) for colour, word in COLOUR_WORDS.items()}
        return {
            **{word: {"seconds": left.seconds, "periods": left.count} for word, left in sides.items()},
            "period": self._terms.period,
            "periods": self._terms.periods,
            "running": COLOUR_WORDS.get(self.running or 0),
        }

    def saved(self, now: float) -> dict[str, Any]:
        """What `restore` takes: plain JSON values."""
        sides = {colour: self._left_at(colour, now) for colour in self._left}
        return {str(colour): [left.seconds, left.count] for colour, left in sides.items()}

    def restore(self, saved: dict[str, Any]) -> None:
        """Put both clocks where they stood; none runs."""
        self._turn = None
        for colour in self._left:
            seconds, count = saved[str(colour)]
            self._left[colour] = TimeLeft(max(0.0, seconds), int(count))

    def _left_at(self, colour: int, now: float) -> TimeLeft:
        """The side's clock with the time that runs taken off: a period that is used up makes way for the next."""
        seconds, count = self._left[colour].seconds, self._left[colour].count
        if self._turn is not None and self._turn[0] == colour:
            seconds -= now - self._turn[1]
        while seconds < 0 and count != 1 and self._terms.periods:
            seconds, count = seconds + self._terms.period, count - 1 if count else self._terms.periods
        return TimeLeft(max(0.0, seconds), count)
