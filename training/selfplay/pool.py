"""Many games of self-play at once, a move at a time each, none waiting for another.

Vocabulary.
  pool   the games of one board size that are in flight; they stay in flight when the network changes, so that short
         games are not over-represented among the finished ones.
  group  a part of them with a search of its own (`training.selfplay.group`). While the evaluator works for one group
         another is searched, by the same thread or by others. Games depend on the number of groups, not on the number
         of threads.
  handed  numbers of games in flight that have been kept already: whoever played on from here was lost, and left them.
          They are played again, so that all else is as it was, and not yielded.
  level  rows or games that every group must have finished before a stretch of play ends, so that fast groups do not
         play more than their share.

A pool only drives groups: decisions about a game are made in `training.selfplay.episode`, the evaluator is chosen in
`training.selfplay.leaves`, and the actor writes the games.
"""

from __future__ import annotations

import threading
from collections import deque
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from queue import SimpleQueue
from typing import Any, NamedTuple

import numpy as np

from gozero.evaluators.base import AsynchronousEvaluator, Evaluator
from gozero.evaluators.row import RowEvaluator
from gozero.games.game import Game
from gozero.search.tree import new_forest
from training.records.records import Record
from training.selfplay.episode import Episode
from training.selfplay.group import Group, Timings
from training.selfplay.resign import Calibration
from training.selfplay.search import stage_search
from training.settings.config import SelfPlaySettings, Stage

Stop = Callable[[], bool]
HANDED = "handed"  # in the state of a pool, where there are any


class Goal(NamedTuple):
    """What every group must have finished before a stretch of play ends."""

    level: float
    unit: str  # rows or games


class Pool:
    """Games of one size in flight. Call `use` to set network and visits, at any time, then `play`."""

    def __init__(self, game: Game, settings: SelfPlaySettings, seed: tuple[int, ...]) -> None:
        self.game, self.settings, self.seed = game, settings.on(game.size), seed
        count = min(settings.groups, self.settings.games)
        self.groups = [Group(game, self.settings, seed, index, count) for index in range(count)]
        self.resign = Calibration(settings)
        self.handed: set[int] = set()
        self._finished: deque[Record] = deque()  # games that `play` has not yielded yet
        self._threads = 1

    @property
    def games(self) -> list[Episode]:
        """The games in flight."""
        return [episode for group in self.groups for episode in group.games]

    @property
    def evaluations(self) -> int:
        """Visits of all finished searches since the pool began."""
        return sum(group.evaluations for group in self.groups)

    @property
    def under_way(self) -> int:
        """Visits of the searches under way; between waves."""
        return sum(group.under_way for group in self.groups)

    @property
    def clock(self) -> Timings:
        """Seconds of all threads since the pool began, by what they did."""
        clocks = [group.clock for group in self.groups]
        return Timings(*(sum(getattr(clock, name) for clock in clocks) for name in ("search", "waiting", "moves")))

    def use(self, evaluator: Evaluator | RowEvaluator, stage: Stage, generation: int) -> None:
        """Continue with this evaluator and stage. Searches under way start again from their roots, with fresh noise."""
        entropy = [*self.seed, self.game.size, generation, self.evaluations]
        seeds = np.random.default_rng(entropy).integers(2**63, size=len(self.groups))
        settings, resign_at = stage_search(self.settings, stage), self.resign.threshold(generation)
        for group, seed in zip(self.groups, seeds.tolist(), strict=True):
            group.use(evaluator, settings, stage, generation, seed, resign_at)
        many = isinstance(evaluator, (AsynchronousEvaluator, RowEvaluator))  # others serve one thread at a time
        self._threads = min(self.settings.threads, len(self.groups)) if many else 1

    def play(self, wanted: float, stop: Stop = lambda: False, unit: str = "rows") -> Iterator[Record]:
        """Yield games as they finish, until they are `wanted` games, or hold as many rows, or `stop()` is true.

        Several threads may call `stop`. `unit` is "rows" or "games".
        """
        level = (sum(group.done(unit) for group in self.groups) + wanted) / len(self.groups)
        goal = Goal(level, unit)
        waves = self._waves(self.groups, goal, stop) if self._threads == 1 else self._threaded_waves(goal, stop)
        taken: list[Record] = []
        try:
            for records in waves:
                self._finished.extend(records)
                while self._finished:
                    taken.append(record := self._finished.popleft())
                    if record.number not in self.handed:
                        yield record
                    self.handed.discard(record.number)
        finally:  # in an order that threads cannot change
            for record in sorted(taken, key=lambda record: (record.peaks, record.score)):
                self.resign.add(record)

    def _waves(self, groups: list[Group], goal: Goal, stop: Stop) -> Iterator[list[Record]]:
        """Drive some groups in turn, so that leaves of the others are evaluated while one plays its moves.

        Yields the finished games of each wave.
        """
        waiting: deque[Group] = deque()

        def go_on(group: Group) -> None:
            if group.done(goal.unit) < goal.level and not stop():
                group.start()
                waiting.append(group)

        try:
            for group in groups:
                go_on(group)
            while waiting:
                group = waiting.popleft()
                records = group.finish()
                go_on(group)
                yield records
        finally:  # the caller went away, or something failed: no search may be left halfway
            for group in waiting:
                self._finished.extend(group.finish())

    def _threaded_waves(self, goal: Goal, stop: Stop) -> Iterator[list[Record]]:
        """The same in several threads, which share the groups. Yields finished games as they come."""
        found: SimpleQueue[list[Record] | None] = SimpleQueue()  # None: a thread has come to its end
        halt = threading.Event()
        with ThreadPoolExecutor(self._threads, "self-play") as workers:
            shares = [self.groups[first :: self._threads] for first in range(self._threads)]
            futures = [workers.submit(self._drive, share, goal, stop, halt, found) for share in shares]
            try:
                running = len(futures)
                while running:
                    records = found.get()
                    if records is None:
                        running -= 1
                    else:
                        yield records
            finally:
                halt.set()
                for future in futures:
                    future.result()
                while not found.empty():
                    self._finished.extend(found.get() or ())

    def _drive(
        self,
        groups: list[Group],
        goal: Goal,
        stop: Stop,
        halt: threading.Event,
        found: SimpleQueue[list[Record] | None],
    ) -> None:
        """Run one thread: put the finished games of its groups into the queue, and None at the end.

        A failure halts the other threads.
        """
        try:
            for records in self._waves(groups, goal, lambda: halt.is_set() or stop()):
                if records:
                    found.put(records)
        except BaseException:
            halt.set()
            raise
        finally:
            found.put(None)

    def state_dict(self) -> dict[str, Any]:
        """Games in flight and counters as plain values, for a checkpoint; taken between two calls of `play`.

        Search trees are left out: after `load_state_dict` and `use` the new pool continues exactly as this one would
        after `use`.
        """
        groups = [group.state_dict() for group in self.groups]
        games = [game for group in groups for game in group.pop("games")]
        handed = {HANDED: sorted(self.handed)} if self.handed else {}
        resign = [list(pair) for pair in self.resign.peaks]
        return {"seed": list(self.seed), "groups": groups, "games": games, "resign": resign, **handed}

    def load_state_dict(self, state: dict[str, Any]) -> None:
        """Take over the games of `state_dict`; call `use` next.

        ValueError if it holds another number of games or groups, or a game longer than the settings let one become.
        """
        for name, own in (("games", self.games), ("groups", self.groups)):
            if len(state[name]) != len(own):
                raise ValueError(f"the pool saved holds {len(state[name])} {name}, the settings ask for {len(own)}")
        longest = max((len(game["moves"]) for game in state["games"]), default=0)
        if longest >= self.game.max_plies:
            raise ValueError(
                f"the pool saved holds a game of {longest} moves, the settings end it at {self.game.max_plies}"
            )
        self.seed = tuple(state["seed"])
        self.resign = Calibration.of(self.settings, state["resign"])
        self.handed = set(state.get(HANDED, ()))
        games = iter(state["games"])
        for group, saved in zip(self.groups, state["groups"], strict=True):
            group.seed = self.seed
            group.load_state_dict({**saved, "games": [next(games) for _ in group.games]})


def pool_bytes(game: Game, settings: SelfPlaySettings, stage: Stage) -> int:
    """An upper bound, in bytes, of the memory of a pool's trees, leaves and histories.

    A tree touches only what it uses.
    """
    search = stage_search(settings, stage)
    tree = sum(array.nbytes for array in new_forest(game, 1, search.max_nodes))
    leaf = 2 * (4 * game.state_ints + game.actions + 16)
    playouts = 3 * game.max_plies if stage.evaluator == "rollouts" else 0
    history = 8 * (3 * (game.max_plies + 1) // 2 + search.max_depth + playouts)
    return settings.on(game.size).games * (tree + leaf + history)
