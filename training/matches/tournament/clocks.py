"""The clocks of a tournament, and a player whose moves are judged by one.

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
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace

import numpy as np

from gozero.play.time_controls import Overtime, TimeControl, TimeLeft
from training.matches.interface import Fault, MatchPlayer, Turn
from training.matches.players import random_action
from training.settings.config import setting

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
        overtime = f", then {self.byoyomi:g} s for {self.stones} stones" if self.byoyomi else ""
        return f"{self.main:g} s a game{overtime}"


@dataclass
class Spent:
    moves: int = 0
    seconds: float = 0.0
    longest: float = 0.0
    replaced: int = 0  # moves that were drawn at random for it

    def add(self, seconds: float) -> None:
        self.moves += 1
        self.seconds += seconds
        self.longest = max(self.longest, seconds)


@dataclass
class _Running:
    """A game of the player in a slot."""

    generator: np.ndarray  # uint64 [1], of the random moves
    left: TimeLeft
    overruns: int = COURSE_OVERRUNS
    spent: Spent = field(default_factory=Spent)


class ClockedPlayer(MatchPlayer):
    """A player whose moves are timed, and judged by a clock.

    With a clock games are put to it one after the other, so that none waits for another.
    """

    def __init__(self, player: MatchPlayer, clock: GameClock, now: Callable[[], float] = time.perf_counter) -> None:
        self.name = player.name
        self._player, self._clock, self._now = player, clock, now
        self._games: dict[int, _Running] = {}

    def begin(self, slot: int, *, seed: int) -> Fault | None:
        self._games[slot] = _Running(np.array([seed], np.uint64), self._clock.control.full())
        return self._player.begin(slot, seed=seed)

    def choose(self, turns: Sequence[Turn]) -> list[int | Fault]:
        if self._clock.runs:
            return [self._timed(turn) for turn in turns]
        start = self._now()
        answers = list(self._player.choose(turns))
        for turn in turns:
            self._games[turn.slot].spent.add((self._now() - start) / len(turns))
        return answers

    def final_score(self, turn: Turn) -> str | None:
        return self._player.final_score(turn)

    def close(self) -> None:
        self._player.close()

    def spent(self, slot: int) -> Spent:
        """What it used in the game that began last in this slot."""
        return self._games[slot].spent

    def _timed(self, turn: Turn) -> int | Fault:
        game, start = self._games[turn.slot], self._now()
        limit = self._clock.limit(game.left)
        answer = self._player.choose([replace(turn, left=game.left, limit=limit + LAG)])[0]
        seconds = self._now() - start
        game.spent.add(seconds)
        if self._clock.course:
            return self._by_the_course(turn, game, answer, seconds)
        if seconds > limit + LAG:
            return Fault("time", f"{self._player.name}: {seconds:.2f} s for a move, {limit:.2f} s were left")
        in_time = min(seconds, math.nextafter(limit, 0.0))  # what the lag grants begins no new period
        game.left = self._clock.control.after(game.left, in_time)
        return answer

    def _by_the_course(self, turn: Turn, game: _Running, answer: int | Fault, seconds: float) -> int | Fault:
        if seconds <= COURSE_SECONDS + LAG:
            return answer
        game.overruns -= 1
        is_too_late = seconds > COURSE_MOST + (0 if isinstance(answer, Fault) else LAG)
        if game.overruns >= 0 and not is_too_late:
            return answer
        game.spent.replaced += 1
        move = random_action(turn.position, game.generator)
        # what an engine took for its move was not played: it is sent the whole game again
        fault = self._player.begin(turn.slot, seed=int(game.generator[0]))
        return fault or move
