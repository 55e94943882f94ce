"""Time controls: how long a move may take under each kind, and the clocks of both sides. All figures are seconds.

Main time is for the whole game. Then comes overtime: Canadian, N stones in each period; or byo-yomi, N periods, of
which a move that outlasts one uses it up. Fischer has no overtime: each move earns an increment. The lag is reserved
for the delay between our answer and the moment the server stops the clock. No limit at all is None.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, replace

LAG = 1.0  # by default: CGOS reports whole seconds, and charges the time on the network
RESERVE = 0.015  # share of the time left that is reserved besides the lag
MOVE_LAG = 0.05  # share of the lag that each later move in main time costs besides its thinking
MOST_SHARE = 3.0  # a move may take at most this many times what it leaves to each later move
# share of its target that a search takes on average: most are settled sooner (`gozero.play.searcher`), so that
# targets may be that much longer than an even share
USED = 0.75
FEWEST_MOVES = 15  # over which main time is always shared
# a game in plies for each point of the board: the end of a stage, and the worth of a move in it; most in the middle
STAGES = ((0.08, 0.6), (0.5, 1.0), (0.9, 0.6))


@dataclass(frozen=True)
class TimeLeft:
    """One side's clock: main time if ``count`` is 0, else time in overtime."""

    seconds: float
    # Canadian: stones still to be played in the period; byo-yomi: periods left, the current one included
    count: int = 0


@dataclass(frozen=True)
class Allowance:
    """The time for a move."""

    target: float
    most: float  # for a hard choice


@dataclass(frozen=True)
class Absolute:
    """Main time and nothing else; also what the others have in common."""

    main: float

    def full(self) -> TimeLeft:
        """The clock at the beginning."""
        return TimeLeft(self.main)

    def after(self, left: TimeLeft, spent: float) -> TimeLeft:
        """The clock after a move that took this long."""
        return TimeLeft(max(0.0, left.seconds - spent), max(1, left.count - 1) if left.count else 0)

    def allowance(self, left: TimeLeft, moves: float, lag: float) -> Allowance:
        """The allowance of the next move if main time must last for this many moves like it."""
        if left.count:  # the controller reports overtime that was not agreed
            return _spread(_most_of(left.seconds, lag), left.count)
        later = min(MOVE_LAG * lag * moves, left.seconds / 2)  # a short main time is for thinking too
        return _spread(_spare(left.seconds, lag + later), moves)


@dataclass(frozen=True)
class Overtime(Absolute):
    """Main time, then Canadian periods of ``count`` stones, or ``count`` byo-yomi periods, which no move uses up."""

    period: float
    count: int
    is_byoyomi: bool

    def full(self) -> TimeLeft:
        return TimeLeft(self.main) if self.main > 0 else self._first

    def after(self, left: TimeLeft, spent: float) -> TimeLeft:
        if not left.count:
            if spent < left.seconds:
                return TimeLeft(left.seconds - spent)
            left, spent = self._first, spent - left.seconds
        if self.is_byoyomi:
            used_up = math.ceil(min(left.count, max(0.0, spent - left.seconds) / self.period))
            return TimeLeft(self.period, max(1, left.count - used_up))
        if left.count == 1 or spent >= left.seconds:  # also when time ran out, if the controller continues
            return self._first
        return TimeLeft(left.seconds - spent, left.count - 1)

    def allowance(self, left: TimeLeft, moves: float, lag: float) -> Allowance:
        """A move in main time may always take what it would get in overtime."""
        period = left if left.count else self._first
        later = _spread(_most_of(period.seconds, lag), 1 if self.is_byoyomi else period.count)
        if left.count:
            return later
        share = super().allowance(left, moves, lag)
        return Allowance(max(share.target, later.target), max(share.most, later.most))

    @property
    def _first(self) -> TimeLeft:
        """The clock when overtime begins."""
        return TimeLeft(self.period, self.count)


@dataclass(frozen=True)
class Fischer(Absolute):
    """Main time with an increment a move, up to ``cap`` on the clock; a move takes ``longest`` at most."""

    increment: float
    cap: float = math.inf
    longest: float = math.inf

    def after(self, left: TimeLeft, spent: float) -> TimeLeft:
        return TimeLeft(min(self.cap, max(0.0, left.seconds - spent) + self.increment))

    def allowance(self, left: TimeLeft, moves: float, lag: float) -> Allowance:
        """A share of what is left and what a move does not cost of the increment, or what the cap would take away;
        never more than is left.
        """
        share = super().allowance(TimeLeft(left.seconds), moves, lag)  # some controllers report a stone or a period
        limit = min(_spare(left.seconds, lag), _most_of(self.longest, lag))
        earned, overflow = max(0.0, self.increment - MOVE_LAG * lag), left.seconds + self.increment - self.cap
        target, most = (min(limit, max(seconds + earned, overflow)) for seconds in (share.target, share.most))
        return Allowance(target, most)


TimeControl = Absolute  # of any kind


def canadian(main: float, period: float, stones: int) -> Absolute | None:
    """As in ``time_settings``: without a period M seconds for the game; a period without stones: no limit."""
    if period == 0:
        return Absolute(main)
    return Overtime(main, period, stones, is_byoyomi=False) if stones else None


def byoyomi(main: float, period: float, periods: int) -> Absolute:
    """Without any period, M seconds for the game."""
    return Overtime(main, period, periods, is_byoyomi=True) if period and periods else Absolute(main)


def moves_to_share(points: int, ply: int) -> float:
    """For how many moves like the one at ``ply`` main time must last, on a board of this many points."""
    later = [_weight(at / points) for at in range(ply, round(STAGES[-1][0] * points), 2)]
    return max(FEWEST_MOVES, sum(later) / _weight(ply / points))


def _weight(stage: float) -> float:
    return next((weight for end, weight in STAGES if stage < end), STAGES[-1][1])


def _spread(seconds: float, moves: float) -> Allowance:
    """The allowance of one of this many moves that share the time."""
    return Allowance(seconds / (1 + (moves - 1) * USED), seconds / (1 + (moves - 1) / MOST_SHARE))


def _spare(seconds: float, lag: float) -> float:
    """The part of non-renewable time that can be spent."""
    return max(0.0, seconds * (1 - RESERVE) - lag)


def _most_of(seconds: float, lag: float) -> float:
    """The part of a period that can be spent: of one that is nearly all lag, half."""
    return max(_spare(seconds, lag), seconds / 2)


UNKNOWN_TERMS = Absolute(math.inf)  # before the controller sends any, or if it sends only ``time_left``


class Clock:
    """Both sides' clocks, by terms (None: no limit) and the duration of each move; the controller's reports override
    them.
    """

    def __init__(self, control: TimeControl | None = UNKNOWN_TERMS) -> None:
        self._control = control
        self._left: dict[int, TimeLeft] = {}

    def reset(self) -> None:
        """Start a new game on the same terms."""
        self._left.clear()

    def set_left(self, colour: int, left: TimeLeft) -> None:
        """Set a clock as the controller reports it; a negative time counts as none."""
        self._left[colour] = replace(left, seconds=max(0.0, left.seconds))

    def left(self, colour: int) -> TimeLeft | None:
        """The side's clock, or None if there is no limit."""
        if self._control is None or (self._control == UNKNOWN_TERMS and colour not in self._left):
            return None
        return self._left.get(colour, self._control.full())

    def spend(self, colour: int, seconds: float) -> None:
        """Take a move that lasted ``seconds`` off the side's clock."""
        left = self.left(colour)
        if left is not None and self._control is not None:
            self._left[colour] = self._control.after(left, seconds)

    def allowance(self, colour: int, moves: float, lag: float) -> Allowance | None:
        """The time for the side's next move if main time must last for this many like it; None: no limit."""
        left = self.left(colour)
        return None if left is None or self._control is None else self._control.allowance(left, moves, lag)
