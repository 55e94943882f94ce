"""Time: what the controller says of it, and how many seconds the next move may take.

Vocabulary, as in GTP 2: *main time*, then Canadian *overtime* of so many *stones* in each *period*. ``time_settings M B S``:
B = 0 is M seconds for the whole game; S = 0 with B > 0 is no limit at all (GoGui sends ``0 1 0``); ``0 B 1`` is B seconds a move;
``0 0 0`` leaves no time, so moves are played at once.

All figures are seconds. The clock measures nothing: it is told what a move took, and believes ``time_left`` over its own account.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, replace

from gtp.arguments import colour_of, number_of
from gtp.protocol import Command, GtpError, Handler

LAG = 1.0
"""Seconds kept back for what passes between our answer and the server's stopping the clock."""
RESERVE = 0.015
"""Share of the time left that is kept back besides."""
FEWEST_MOVES_LEFT = 15
"""Main time is always spread over at least this many more moves."""


@dataclass(frozen=True)
class TimeControl:
    """The terms of a game; both numbers of the overtime are 0 where there is none."""

    main: float
    period: float
    stones: int

    @property
    def is_unlimited(self) -> bool:
        return self.period > 0 and self.stones == 0

    @property
    def has_overtime(self) -> bool:
        return self.period > 0 and self.stones > 0


@dataclass(frozen=True)
class TimeLeft:
    """One side's clock: main time if ``stones`` is 0, else time for that many stones of the running period."""

    seconds: float
    stones: int = 0


class Clock:
    """Both sides' clocks. Without ``set_up`` there is no limit, unless the controller sends ``time_left`` all the same."""

    def __init__(self) -> None:
        self._control: TimeControl | None = None
        self._left: dict[int, TimeLeft] = {}

    def set_up(self, control: TimeControl) -> None:
        """Begin with these terms, both clocks full."""
        self._control = control
        self._left.clear()

    def reset(self) -> None:
        """A new game on the same terms."""
        self._left.clear()

    def set_left(self, colour: int, left: TimeLeft) -> None:
        """What the controller says is left; a negative time counts as none."""
        if self._control is None or not self._control.is_unlimited:
            self._left[colour] = replace(left, seconds=max(0.0, left.seconds))

    def left(self, colour: int) -> TimeLeft | None:
        """The side's clock, or None where there is no limit."""
        if colour in self._left:
            return self._left[colour]
        if self._control is None or self._control.is_unlimited:
            return None
        if self._control.main == 0 and self._control.has_overtime:
            return TimeLeft(self._control.period, self._control.stones)
        return TimeLeft(self._control.main)

    def spend(self, colour: int, seconds: float) -> None:
        """Take a move that lasted ``seconds`` off the side's clock."""
        left = self.left(colour)
        if left is None:
            return
        rest = left.seconds - seconds
        control = self._control
        if left.stones > 0:
            self._left[colour] = _after_stone(control, rest, left.stones)
        elif rest <= 0 and control is not None and control.has_overtime:
            self._left[colour] = _after_stone(control, rest + control.period, control.stones)
        else:
            self._left[colour] = TimeLeft(max(0.0, rest))

    def budget(self, colour: int, moves_left: int) -> float:
        """Seconds for the side's next move if it has about ``moves_left`` to go; infinite where there is no limit.

        Main time is spread evenly over the moves left, yet a move may always take what it would get in overtime; in overtime
        the period is spread over its stones.
        """
        left = self.left(colour)
        if left is None:
            return math.inf
        if left.stones > 0:
            return _overtime_budget(left.seconds, left.stones)
        share = max(0.0, left.seconds - _margin(left.seconds)) / max(moves_left, FEWEST_MOVES_LEFT)
        if self._control is not None and self._control.has_overtime:
            return max(share, _overtime_budget(self._control.period, self._control.stones))
        return share


def expected_moves_left(points: int, ply: int) -> int:
    """A side's moves to the end of a game on a board of so many points, for sharing out main time."""
    return max(FEWEST_MOVES_LEFT, round(0.45 * points - ply / 2))


def _after_stone(control: TimeControl | None, seconds: float, stones: int) -> TimeLeft:
    """Overtime after one of ``stones``, with ``seconds`` left: the next period begins with the last one, or when time ran out."""
    if control is None or not control.has_overtime:  # the controller spoke of overtime that was never agreed
        return TimeLeft(max(0.0, seconds), max(1, stones - 1))
    if stones == 1 or seconds <= 0:
        return TimeLeft(control.period, control.stones)
    return TimeLeft(seconds, stones - 1)


def _margin(seconds: float) -> float:
    return LAG + RESERVE * seconds


def _overtime_budget(seconds: float, stones: int) -> float:
    """A period that is nearly all margin (a second a move, say) is used by half: playing at once would not save it either."""
    return max(seconds - _margin(seconds), seconds / 2) / stones


def commands(clock: Clock) -> Mapping[str, Handler]:
    """``time_settings`` and ``time_left``."""

    def time_settings(command: Command) -> str:
        if len(command.arguments) != 3:
            raise GtpError("syntax error: expected time_settings MAIN PERIOD STONES in seconds, such as time_settings 0 5 1")
        main, period, stones = (number_of(argument) for argument in command.arguments)
        if min(main, period, stones) < 0:
            raise GtpError("syntax error: times and stones cannot be negative")
        if period > 0 and 0 < stones < 1:
            raise GtpError("syntax error: stones is a whole number")
        clock.set_up(TimeControl(main, period, int(stones)))
        return ""

    def time_left(command: Command) -> str:
        if len(command.arguments) != 3:
            raise GtpError("syntax error: expected time_left COLOUR SECONDS STONES")
        colour = colour_of(command.arguments[0])
        seconds, stones = (number_of(argument) for argument in command.arguments[1:])
        clock.set_left(colour, TimeLeft(seconds, max(0, int(stones))))
        return ""

    return {"time_settings": time_settings, "time_left": time_left}
