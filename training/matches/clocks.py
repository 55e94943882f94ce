"""The clocks of games between players.

A clock is main time, then Canadian overtime: so many stones in each period (one stone and no main time: so many seconds
a move); or the rule of S1, the course project: a second a move; three moves of a game may take longer, none more than
five seconds; if an entrant breaks this, a random move is played for it. Otherwise the game is lost when the time is up.

The time of a move is measured from the question to the answer, the pipe included, and `LAG` is granted on top. An
entrant in this process cannot be interrupted: it is judged when its answer has come. A GTP engine that is over its
limit is stopped, and started anew if the game goes on. All figures are seconds.
"""

from __future__ import annotations

import math
import time
from collections.abc import Callable
from dataclasses import dataclass, replace

import numpy as np

from gozero.play.time_controls import Overtime, TimeControl, TimeLeft
from gozero.system.options import setting
from gozero.system.words import counted
from training.matches.interface import Fault, MatchPlayer, Turn
from training.matches.players import random_action

COURSE_SECONDS, COURSE_MOST, COURSE_OVERRUNS = 1.0, 5.0, 3
LAG = 0.25  # what passes between two processes, and the start of a garbage collection, are not the entrant's


@dataclass(frozen=True)
class GameClock:
    """How long moves may take. With nothing given there is no clock."""

    main: float = setting(0.0, unit="seconds of main time", low=0, high=1e6)
    byoyomi: float = setting(0.0, unit="seconds of each period after it", low=0, high=1e6)
    stones: int = setting(1, unit="stones to be played in each period", low=1, high=1000)
    course: bool = setting(False, unit="the rule of the course instead")

    @property
    def runs(self) -> bool:
        return self.course or self.main > 0 or self.byoyomi > 0

    @property
    def time_settings(self) -> tuple[float, float, int] | None:
        """What GTP's time_settings says: main time, period, stones."""
        if self.course:
            return 0.0, COURSE_SECONDS, 1
        return (self.main, self.byoyomi, self.stones if self.byoyomi else 0) if self.runs else None

    @property
    def control(self) -> TimeControl:
        """What main time and periods make of a clock."""
        main, period, stones = self.time_settings or (0.0, 0.0, 0)
        return Overtime(main, period, stones, is_byoyomi=False) if period else TimeControl(main)

    def limit(self, left: TimeLeft) -> float:
        """The longest answer that does not lose the game or the move."""
        if self.course:
            return COURSE_MOST
        return left.seconds + (0.0 if left.count else self.byoyomi)

    def __str__(self) -> str:
        if self.course:
            return "1 s a move, three overruns to 5 s, else a random move"
        if not self.runs:
            return "no clock"
        if not self.main and self.stones == 1:
            return f"{self.byoyomi:g} s a move"
        overtime = f", then {self.byoyomi:g} s for {counted(self.stones, 'stone')}" if self.byoyomi else ""
        return f"{self.main:g} s a game{overtime}"


NO_CLOCK = GameClock()


class PlayerClock:
    """One player's clock in one game, and the time that its moves took."""

    def __init__(self, clock: GameClock, seed: int) -> None:
        self._clock, self._left = clock, clock.control.full()
        self._overruns, self._generator = COURSE_OVERRUNS, np.array([seed], np.uint64)
        self.answers, self.replaced = 0, 0  # moves that it was asked for, and of these drawn at random
        self.seconds, self.longest = 0.0, 0.0  # of all its moves, and of the slowest

    def add(self, seconds: float) -> None:
        """Note the time of a move."""
        self.answers += 1
        self.seconds += seconds
        self.longest = max(self.longest, seconds)

    def ask(self, player: MatchPlayer, turn: Turn, now: Callable[[], float] = time.perf_counter) -> int | Fault:
        """The player's move, judged by the clock."""
        start, limit = now(), self._clock.limit(self._left)
        answer = player.choose([replace(turn, left=self._left, limit=limit + LAG)])[0]
        seconds = now() - start
        self.add(seconds)
        if self._clock.course:
            return answer if self._in_course(answer, seconds) else self._replacement(player, turn)
        if seconds > limit + LAG:
            return Fault("time", f"{player.name}: {seconds:.2f} s for a move, {limit:.2f} s were left")
        in_time = min(seconds, math.nextafter(limit, 0.0))  # what the lag grants begins no new period
        self._left = self._clock.control.after(self._left, in_time)
        return answer

    def _in_course(self, answer: int | Fault, seconds: float) -> bool:
        """Whether the course's rule lets the answer stand."""
        if seconds <= COURSE_SECONDS + LAG:
            return True
        self._overruns -= 1
        return self._overruns >= 0 and seconds <= COURSE_MOST + (0 if isinstance(answer, Fault) else LAG)

    def _replacement(self, player: MatchPlayer, turn: Turn) -> int | Fault:
        """A random move in place of the player's; an engine, which took its own for played, gets the game anew."""
        self.replaced += 1
        move = random_action(turn.position, self._generator)
        return player.begin(turn.slot, seed=int(self._generator[0])) or move
