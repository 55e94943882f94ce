"""Plays fixtures in worker processes, as many at once as there are cores, and gives back each game as it ends.

A worker that dies or hangs costs the entrant that was thinking one game; the other games that it had under way are
played again by another worker. If a worker dies while no entrant is thinking, no entrant is blamed; after `DEATHS` of
these the tournament ends.
"""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from dataclasses import field as dataclass_field
from multiprocessing.connection import Connection, wait
from pathlib import Path
from typing import Any, Self

from gozero.games.colours import BLACK, WHITE, result_text
from gozero.system.errors import UserError
from gozero.system.workers import SPAWN, blocked, end_group
from training.matches.match import Fixture, MatchGame
from training.matches.tournament.field import Field
from training.matches.tournament.worker import IGNORED, LOG, NOBODY, Watch, work

LOOK = 0.5  # seconds between two looks at who is overdue
DEATHS = 3


@dataclass
class _Worker:
    process: Any  # of multiprocessing
    connection: Connection
    watch: Watch
    # under way, by pair and index
    fixtures: dict[tuple[tuple[str, str], int], Fixture] = dataclass_field(default_factory=dict)
    is_ending: bool = False  # there is no more for it

    @classmethod
    def start(cls, field: Field, folder: Path) -> Self:
        """One in a new process; signals that are to be ignored do not reach it before it can do so."""
        ours, theirs = SPAWN.Pipe()
        shared = SPAWN.Array("d", [NOBODY, 0.0], lock=False)
        process = SPAWN.Process(target=work, args=(theirs, field, shared, folder), name="tournament", daemon=True)
        with blocked(IGNORED):
            process.start()
        theirs.close()
        return cls(process, ours, Watch(shared))

    def end(self) -> None:
        """Close the pipe, and kill the process with those that it has started."""
        self.connection.close()
        with contextlib.suppress(ProcessLookupError, PermissionError):
            end_group(self.process.pid)
        self.process.kill()
        self.process.join()

    def feed(self, take: Callable[[], Fixture | None]) -> None:
        """Send it one more fixture, unless there are none."""
        if self.is_ending:
            return
        fixture = take()
        if fixture is not None:
            self.fixtures[fixture.pair, fixture.index] = fixture
        self.is_ending = fixture is None
        with contextlib.suppress(OSError):  # it has died: that is noticed where it is read
            self.connection.send(fixture)


class WorkerPool:
    """Worker processes for the fixtures that `take` gives, None when there are no more."""

    def __init__(self, field: Field, folder: Path, take: Callable[[], Fixture | None]) -> None:
        self._field, self._folder, self._take = field, folder, take
        self._workers: list[_Worker] = []
        self._again: list[Fixture] = []  # lost with a worker
        self._deaths = 0

    def play(self, stop: Callable[[], bool]) -> Iterator[MatchGame]:
        """Games as they end; ends when all are played, or soon after `stop()` is true. Then no process is left."""
        try:
            while not stop():
                self._fill()
                if not self._workers:
                    return
                ready = wait([worker.connection for worker in self._workers], LOOK)
                for worker in list(self._workers):
                    if worker.connection in ready:
                        yield from self._receive(worker)
                    elif worker.watch.is_overdue:
                        yield from self._blame(worker, "gave no answer and was stopped")
        finally:
            for worker in self._workers:
                worker.end()

    def _next(self) -> Fixture | None:
        return self._again.pop() if self._again else self._take()

    def _fill(self) -> None:
        """Start workers while there are places and fixtures."""
        while len(self._workers) < self._field.workers and (fixture := self._next()) is not None:
            self._again.append(fixture)
            worker = _Worker.start(self._field, self._folder)
            for _ in range(self._field.together):
                worker.feed(self._next)
            self._workers.append(worker)

    def _receive(self, worker: _Worker) -> Iterator[MatchGame]:
        try:
            game = worker.connection.recv()
        except (EOFError, OSError):
            if worker.fixtures:
                yield from self._blame(worker, "its process ended in the middle of a game")
            else:  # it has played all
                self._remove(worker)
            return
        del worker.fixtures[game.pair, game.index]
        yield game
        worker.feed(self._next)

    def _remove(self, worker: _Worker) -> None:
        self._workers.remove(worker)
        worker.end()

    def _blame(self, worker: _Worker, what: str) -> Iterator[MatchGame]:
        """Remove the worker; the entrant that was thinking, if any, loses one game, and the others wait again."""
        place, fixtures = worker.watch.place, worker.fixtures
        name = "" if place == NOBODY else self._field.names[place]
        self._remove(worker)
        lost = next((fixture for fixture in fixtures.values() if name in fixture.pair), None)
        self._again += [fixture for fixture in fixtures.values() if fixture is not lost]
        if lost is not None:
            loser = lost.pair.index(name)
            result = result_text(WHITE if lost.index % 2 == loser else BLACK, "F")
            yield MatchGame(lost.pair, lost.index, lost.pair[1 - loser], result, "failure", f"{name}: {what}", moves="")
            return
        self._deaths += 1
        if self._deaths == DEATHS:
            raise UserError(
                f"{DEATHS} processes that play ended while no entrant was thinking; the last lines of "
                f"{self._folder / LOG} may say why"
            )
