"""Many games of self-play at once, a move at a time each, none waiting for another.

A pool has the games of one board size that are in flight; they stay in flight when the network changes, so that short
games are not over-represented among the finished ones. A group is a part of them with a search of its own: while the
evaluator works for one group another is searched, by the same thread or by others. Groups share nothing, so the games
depend on the number of groups, not on the number of threads. Decisions about a game are made in
`training.selfplay.episode`.
"""

from __future__ import annotations

import threading
import time
from collections import deque
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from queue import SimpleQueue
from typing import Any

import numpy as np

from gozero.evaluators.base import AsynchronousEvaluator, Evaluator, Pending, submitter
from gozero.evaluators.rollout import RowEvaluator
from gozero.games.game import Game
from gozero.search.plain import PlainSearch
from gozero.search.search import Search
from gozero.search.settings import SearchSettings
from training.records.records import Record
from training.selfplay.episode import Episode
from training.selfplay.leaves import stage_search
from training.selfplay.resign import Calibration
from training.settings.config import TREE_SIMULATOR, SelfPlaySettings, Stage

Stop = Callable[[], bool]


# what the seconds of self-play go into: the search's kernels; handing leaves to the evaluator and waiting for it;
# playing the moves of finished searches and beginning the next ones
TIMED = ("search", "waiting", "moves")
COUNTERS = ("started", "evaluations", "rows")  # of a group, in a checkpoint


class Group:
    """The games of one search, one tree each.

    Call `use` to set network and visits, at any time, then `start` and `finish` in turn. Between these two, which are
    a wave, another group can use the processor.
    """

    def __init__(
        self, game: Game, settings: SelfPlaySettings, seed: tuple[int, ...], index: int, groups: int, simulator: str
    ) -> None:
        """Number `index` of a pool's `groups` groups, with its share of `settings.games`; `seed` is the pool's."""
        self.game, self.settings, self.seed, self.index, self.groups = game, settings, seed, index, groups
        self._simulator = simulator
        self.started = 0  # games begun so far
        self.evaluations = 0  # visits of all finished searches
        self.rows = 0  # of all finished games
        self.clock = dict.fromkeys(TIMED, 0.0)
        self.games = [self._new_game() for _ in range(settings.games // groups + (index < settings.games % groups))]
        self._visits_before = np.zeros(len(self.games), np.int64)  # of the root when the search under way began
        self._search: Search | PlainSearch | None = None
        self._pending: Pending | None = None

    @property
    def under_way(self) -> int:
        """Visits of the searches under way; between waves."""
        if self._search is None:
            return 0
        return sum(map(self._search.root_visits, range(len(self.games)))) - int(self._visits_before.sum())

    def done(self, unit: str) -> int:
        """How much the group has finished so far, in "rows" or "games"."""
        return self.rows if unit == "rows" else self.started - len(self.games)

    def use(
        self,
        evaluator: Evaluator | RowEvaluator,
        search: SearchSettings,
        stage: Stage,
        generation: int,
        seed: int,
        resign_at: float,
    ) -> None:
        """Continue with this evaluator and stage. Searches under way start again from their roots."""
        if self._simulator == TREE_SIMULATOR:
            assert not isinstance(evaluator, RowEvaluator)  # as `simulators.resolve` checked
            trees = len(self.games)
            self._search = PlainSearch(self.game, evaluator, search, trees, seed, lambda tree: self.games[tree].board)
        elif isinstance(self._search, Search) and self._search.settings == search:
            self._search.restart(evaluator, seed)
        else:
            self._search = Search(self.game, evaluator, search, trees=len(self.games), seed=seed)
        self._stage, self._generation, self._resign_at, self._pending = stage, generation, resign_at, None
        self._submit = submitter(evaluator)
        for tree in range(len(self.games)):
            self._begin(self._search, tree)

    def start(self) -> None:
        """Collect a wave of leaves and hand them to the evaluator."""
        search = self._ready()
        begun = time.perf_counter()
        states = search.collect()
        collected = time.perf_counter()
        self._pending = self._submit(states) if len(states) else None
        self.clock["search"] += collected - begun
        self.clock["waiting"] += time.perf_counter() - collected

    def finish(self) -> list[Record]:
        """Wait for the leaves of `start` and play a move in each game whose search is done.

        Returns the games that ended.
        """
        search = self._ready()
        begun = time.perf_counter()
        evaluation = self._pending.result() if self._pending is not None else None
        evaluated = time.perf_counter()
        finished = search.absorb(evaluation)
        absorbed = time.perf_counter()
        records = [record for tree in finished if (record := self._advance(search, tree)) is not None]
        self.rows += sum(record.rows for record in records)
        self.clock["waiting"] += evaluated - begun
        self.clock["search"] += absorbed - evaluated
        self.clock["moves"] += time.perf_counter() - absorbed
        return records

    def load(self, counters: dict[str, int], games: list[dict[str, Any]]) -> None:
        """Take over `COUNTERS`, and games of which there are as many as here; `use` must follow."""
        for name in COUNTERS:
            setattr(self, name, counters[name])
        self.games = [Episode.from_state_dict(self.game, self.settings, saved, self._simulator) for saved in games]

    def _ready(self) -> Search | PlainSearch:
        if self._search is None:
            raise RuntimeError("no evaluator: call `use` first")
        return self._search

    def _new_game(self) -> Episode:
        """The next game: its number and its seed are its own among all groups'."""
        number = self.started * self.groups + self.index
        self.started += 1
        return Episode.begin(self.game, self.settings, (*self.seed, self.game.size, number), number, self._simulator)

    def _begin(self, search: Search | PlainSearch, tree: int, keep: bool = False) -> None:
        """Start the search of the game's next move."""
        search.begin(tree, self.games[tree].plan(self._stage, self._generation, self._resign_at, keep=keep))
        self._visits_before[tree] = search.root_visits(tree)

    def _advance(self, search: Search | PlainSearch, tree: int) -> Record | None:
        """Play the move of a finished search.

        If it ends the game, return its record and put a new game in its place.
        """
        episode, result = self.games[tree], search.result(tree)
        self.evaluations += result.root_visits - int(self._visits_before[tree])
        action = episode.move(result, search.settings.root)
        ending = episode.play(action)
        if ending is None:
            keep = search.advance(tree, action) and not episode.in_opening and search.has_room(tree)
            self._begin(search, tree, keep=keep)
            return None
        self.games[tree] = self._new_game()
        self._begin(search, tree)
        return episode.record(self._generation, ending)


class Pool:
    """Games of one size in flight. Call `use` to set network and visits, at any time, then `play`."""

    def __init__(
        self, game: Game, settings: SelfPlaySettings, seed: tuple[int, ...], simulator: str = "numba"
    ) -> None:
        """`simulator` is one of `simulators.DESCRIPTIONS`."""
        self.game, self.settings, self.seed = game, settings.on(game.size), seed
        count = min(settings.groups, self.settings.games)
        self.groups = [Group(game, self.settings, seed, index, count, simulator) for index in range(count)]
        self.resign = Calibration(settings)
        self._threads = 1

    @property
    def games(self) -> list[Episode]:
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
    def clock(self) -> dict[str, float]:
        """Seconds of all threads since the pool began, by what they went into."""
        return {name: sum(group.clock[name] for group in self.groups) for name in TIMED}

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
        # what every group must have finished, so that fast ones do no more than their share
        level = (sum(group.done(unit) for group in self.groups) + wanted) / len(self.groups)

        def is_due(group: Group) -> bool:
            return group.done(unit) < level and not stop()

        waves = self._waves(self.groups, is_due) if self._threads == 1 else self._threaded_waves(is_due)
        found: list[Record] = []
        for records in waves:
            found += records
            yield from records
        for record in sorted(found, key=lambda record: (record.peaks, record.score)):  # threads cannot change it
            self.resign.add(record)

    @staticmethod
    def _waves(groups: list[Group], is_due: Callable[[Group], bool]) -> Iterator[list[Record]]:
        """Drive some groups in turn while they are due, so that leaves of the others are evaluated while one plays its
        moves. Yields the finished games of each wave.
        """
        waiting: deque[Group] = deque()

        def go_on(group: Group) -> None:
            if is_due(group):
                group.start()
                waiting.append(group)

        for group in groups:
            go_on(group)
        while waiting:
            group = waiting.popleft()
            records = group.finish()
            go_on(group)
            yield records

    def _threaded_waves(self, is_due: Callable[[Group], bool]) -> Iterator[list[Record]]:
        """The same in several threads, which share the groups. Yields finished games as they come."""
        found: SimpleQueue[list[Record] | None] = SimpleQueue()  # None: a thread has come to its end
        halt = threading.Event()

        def drive(groups: list[Group]) -> None:
            try:
                for records in self._waves(groups, lambda group: not halt.is_set() and is_due(group)):
                    found.put(records)
            except BaseException:
                halt.set()
                raise
            finally:
                found.put(None)

        with ThreadPoolExecutor(self._threads, "self-play") as workers:
            futures = [workers.submit(drive, self.groups[first :: self._threads]) for first in range(self._threads)]
            try:
                running = len(futures)
                while running:
                    records = found.get()
                    running -= records is None
                    yield records or []
            finally:  # the caller went away, or a thread failed
                halt.set()
                for future in futures:
                    future.result()

    def state_dict(self) -> dict[str, Any]:
        """Games in flight and counters as plain values, for a checkpoint; taken between two calls of `play`.

        Search trees are left out: after `load_state_dict` and `use` the new pool continues exactly as this one would
        after `use`.
        """
        groups = [{name: getattr(group, name) for name in COUNTERS} for group in self.groups]
        games = [episode.state_dict() for episode in self.games]
        resign = [list(pair) for pair in self.resign.peaks]
        return {"seed": list(self.seed), "groups": groups, "games": games, "resign": resign}

    def load_state_dict(self, state: dict[str, Any]) -> None:
        """Take over the games of `state_dict`; call `use` next.

        ValueError if it holds another number of games or groups, or a game longer than the settings let one become.
        """
        for name, own in (("games", self.games), ("groups", self.groups)):
            if len(state[name]) != len(own):
                raise ValueError(f"{len(state[name])} {name} were saved, and the settings ask for {len(own)}")
        longest = max((len(game["moves"]) for game in state["games"]), default=0)
        if longest >= self.game.max_plies:
            raise ValueError(f"a game of {longest} moves was saved, and the settings end it at {self.game.max_plies}")
        self.seed = tuple(state["seed"])
        self.resign = Calibration.of(self.settings, state["resign"])
        games = iter(state["games"])
        for group, saved in zip(self.groups, state["groups"], strict=True):
            group.seed = self.seed
            group.load(saved, [next(games) for _ in group.games])
