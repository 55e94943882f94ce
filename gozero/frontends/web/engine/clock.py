"""Both sides' clocks in a game with a person, on the time controls of `gozero.play.time_controls`.

A side that has used up all its periods has lost; `gozero.play.time_controls` leaves that to controllers. All
figures are seconds, and times are those of time.monotonic.
"""

from __future__ import annotations

import math
from typing import Any

from gozero.frontends.web.setups import Clocks
from gozero.games.colours import BLACK, COLOUR_WORDS, WHITE
from gozero.play.time_controls import Allowance, Clock, TimeLeft, byoyomi

LAG = 0.2  # seconds kept back by the engine: nothing stands between it and its clock


class SessionClock:
    """Two clocks, of which at most one runs.

    Args:
        terms: of the game.
    """

    def __init__(self, terms: Clocks) -> None:
        self._terms = terms
        self._clock = Clock(LAG)
        if terms.is_limited:
            self._clock.set_up(byoyomi(terms.main, terms.period, terms.periods))
        self._runs: tuple[int, float] | None = None

    @property
    def running(self) -> int | None:
        """Whose clock runs."""
        return None if self._runs is None else self._runs[0]

    def start(self, colour: int, now: float) -> None:
        """Let this side's clock run from now on; without effect where it runs already, or without a limit."""
        if self._terms.is_limited and self.running != colour:
            self.stop(now)
            self._runs = colour, now

    def stop(self, now: float) -> None:
        """Take the time of the side whose clock runs off it."""
        if self._runs is not None:
            colour, since = self._runs
            if self.remaining(now) > 0:
                self._clock.spend(colour, now - since)
            else:  # lost: `spend` would begin another period
                self._clock.set_left(colour, self._left_at(colour, now))
            self._runs = None

    def remaining(self, now: float) -> float:
        """Seconds until the side whose clock runs has lost; infinite where none runs."""
        if self._runs is None:
            return math.inf
        colour, since = self._runs
        return self._in_all(colour) - (now - since)

    def give_back(self, seconds: float) -> None:
        """Let the clock that runs have begun so much later."""
        if self._runs is not None:
            colour, since = self._runs
            self._runs = colour, since + seconds

    def allowance(self, colour: int, moves: float, now: float) -> Allowance | None:
        """See `Clock.allowance`; of what is left now, for a thought may begin again within a turn."""
        left = self._clock.left(colour)
        if left is None:
            return None
        self._clock.set_left(colour, self._left_at(colour, now))
        try:
            return self._clock.allowance(colour, moves)
        finally:
            self._clock.set_left(colour, left)

    def values(self, now: float) -> dict[str, Any] | None:
        """For the page: what each side has left; None without a limit."""
        if not self._terms.is_limited:
            return None
        sides = [(COLOUR_WORDS[int(colour)], left) for colour, left in self.saved(now).items()]
        return {
            **{name: {"seconds": seconds, "periods": count} for name, (seconds, count) in sides},
            "period": self._terms.period,
            "periods": self._terms.periods,
            "running": COLOUR_WORDS.get(self.running or 0),
        }

    def saved(self, now: float) -> dict[str, Any]:
        """What `restore` takes."""
        sides = {colour: self._left_at(colour, now) for colour in (BLACK, WHITE)}
        return {str(colour): [left.seconds, left.count] for colour, left in sides.items()}

    def restore(self, saved: dict[str, Any]) -> None:
        """Put both clocks where they stood; none runs."""
        self._runs = None
        for colour in (BLACK, WHITE):
            seconds, count = saved[str(colour)]
            self._clock.set_left(colour, TimeLeft(seconds, count))

    def _left_at(self, colour: int, now: float) -> TimeLeft:
        """The side's clock with the time that runs taken off: a period that is used up makes way for the next."""
        left = self._clock.left(colour) or TimeLeft(0.0)
        seconds, count = left.seconds, left.count
        if self._runs is not None and self._runs[0] == colour:
            seconds -= now - self._runs[1]
        while seconds < 0 and count != 1 and self._terms.periods:
            seconds, count = seconds + self._terms.period, count - 1 if count else self._terms.periods
        return TimeLeft(max(0.0, seconds), count)

    def _in_all(self, colour: int) -> float:
        """Seconds that a side may use before it has lost."""
        left = self._clock.left(colour) or TimeLeft(0.0)
        periods = left.count - 1 if left.count else self._terms.periods
        return left.seconds + max(0, periods) * self._terms.period
