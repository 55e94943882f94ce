"""A process that plays games of a tournament: it takes a fixture whenever it has room for one, sends each finished game
back, and ends when there are no more or when the process that started it is gone. What it and its engines write for
people goes into the file workers.log of the tournament's folder.
"""

from __future__ import annotations

import os
import signal
import sys
import time
import traceback
from collections.abc import Callable, Sequence
from contextlib import suppress
from multiprocessing.connection import Connection
from pathlib import Path
from typing import Any, TypeVar

from gozero.games.position import Position
from gozero.system.errors import UserError
from gozero.system.workers import settle_in
from training.matches.interface import Conditions, Fault, MatchPlayer, PlayerError, Turn, said
from training.matches.match import play_schedule
from training.matches.players import open_player
from training.matches.tournament.field import Field, fact_of

T = TypeVar("T")
NOBODY = -1
IGNORED = (signal.SIGINT,)  # Ctrl-C is left to the parent; engines inherit this, and are ended by SIGTERM
LOG = "workers.log"
CANNOT_START = "cannot start"  # the kind of fault of an entrant that could not be opened
STARTING = 900.0  # seconds that opening may take: kernels are compiled, a network is converted
GRACE = 300.0  # seconds of a move in this process beyond `answer_seconds`: the first one may compile too


class Watch:
    """Two shared numbers: the place of the entrant that is thinking (or `NOBODY`), and the time by which it must have
    answered. They show the parent whose fault it is when this process dies or hangs.
    """

    def __init__(self, shared: Any) -> None:
        self._shared = shared  # an array of two doubles

    def set(self, place: int, seconds: float) -> None:
        self._shared[1] = time.monotonic() + seconds
        self._shared[0] = place

    def clear(self) -> None:
        self._shared[0] = NOBODY

    @property
    def place(self) -> int:
        return int(self._shared[0])

    @property
    def is_overdue(self) -> bool:
        return self.place != NOBODY and time.monotonic() > self._shared[1]


class WatchedPlayer(MatchPlayer):
    """An entrant that is opened when its first game begins, and watched whenever it thinks. What it raises loses it the
    game; what leaves by an exception ends the process, and is this entrant's doing.
    """

    def __init__(
        self, place: int, description: str, conditions: Conditions, watch: Watch, warm: bool, fact: str
    ) -> None:
        """`fact`: what `fact_of` said of the description when the tournament began."""
        self.name, self._fact, self._place = description, fact, place
        self._conditions, self._watch = conditions, watch
        self._opened: MatchPlayer | Fault | None = None  # a fault if it could not be
        self._warm = warm and not description.startswith("gtp:")

    def begin(self, slot: int, *, seed: int) -> Fault | None:
        if self._opened is None:
            self._opened = self._watched(STARTING, lambda: self._open(slot), CANNOT_START)
        player = self._opened
        return player if isinstance(player, Fault) else self._watched(STARTING, lambda: player.begin(slot, seed=seed))

    def choose(self, turns: Sequence[Turn]) -> Sequence[int | Fault]:
        player = self._opened
        assert player is not None and not isinstance(player, Fault), "the game has begun"
        limits = (self._conditions.move_seconds if turn.limit is None else turn.limit for turn in turns)
        answers = self._watched(GRACE + sum(limits), lambda: player.choose(turns))
        if not isinstance(answers, Fault):
            return answers
        if len(turns) == 1:
            return [answers]
        return [answer for turn in turns for answer in self.choose([turn])]  # each game by itself: who raises loses it

    def final_score(self, turn: Turn) -> str | None:
        player = self._opened
        if player is None or isinstance(player, Fault):  # the opening ended the game
            return None
        claim = self._watched(STARTING, lambda: player.final_score(turn))
        return None if isinstance(claim, Fault) else claim

    def close(self) -> None:
        if self._opened is not None and not isinstance(self._opened, Fault):
            self._opened.close()

    def _open(self, slot: int) -> MatchPlayer:
        if fact_of(self.name) != self._fact:
            raise PlayerError(f"the file of {self.name} is not the one with which the tournament began; put that back")
        player = open_player(self.name, self._conditions)
        if self._warm:  # what is compiled or converted at the first move is on no clock
            with suppress(Exception):  # it will raise again in a game, and lose by that
                player.begin(slot, seed=0)
                player.choose([Turn(slot, Position(self._conditions.game))])
        self.name = player.name
        return player

    def _watched(self, seconds: float, ask: Callable[[], T], kind: str = "failure") -> T | Fault:
        """The answer of the entrant, which has so many seconds, or a fault of that kind for what it raises; where that
        came from goes to the log.
        """
        self._watch.set(self._place, seconds)
        try:
            answer: T | Fault = ask()
        except Exception as error:  # noqa: BLE001 - whatever it raises, it loses by it
            if not isinstance(error, UserError) or error.__cause__:
                traceback.print_exception(error)
            answer = Fault(kind, said(error) if kind == CANNOT_START else f"{self.name}: {said(error)}")
        self._watch.clear()
        return answer


def work(connection: Connection, field: Field, shared: Any, folder: Path) -> None:
    """Play what comes over the connection: fixtures, then None."""
    log = os.open(folder / LOG, os.O_WRONLY | os.O_CREAT | os.O_APPEND, 0o644)
    for stream in (sys.stderr, sys.stdout):
        if stream is not None:  # else the process was started without it
            os.dup2(log, stream.fileno())
    settle_in(IGNORED, group=True)  # Ctrl-C is left to the parent, with which this ends
    game = field.make_game()
    conditions, watch = field.conditions(game), Watch(shared)
    warm, facts = field.clock.runs, field.facts["entrants"]
    players = {
        entrant.name: WatchedPlayer(place, entrant.player, conditions, watch, warm, facts[entrant.name])
        for place, entrant in enumerate(field.entrant)
    }
    opening, most, together = field.opening_moves, field.max_moves, field.together
    try:
        fixtures = iter(connection.recv, None)
        for played in play_schedule(players, fixtures, game, opening, most, together, clock=field.clock):
            connection.send(played)
    except (EOFError, BrokenPipeError, ConnectionResetError):
        pass  # the parent has gone
    finally:
        for player in players.values():
            player.close()
