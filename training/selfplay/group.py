"""A group of games that advance together in one search, each by a move whenever its own search is finished.

Vocabulary.
  group  the games of one search. It shares nothing with other groups, neither trees nor generators, so it plays the
         same games whichever thread drives it and whatever the other groups do.
  wave   what a group does at a time, in two halves: `start` collects leaves and hands them to the evaluator; `finish`
         waits for them and plays the moves of the searches that are then done. Between the two another group can use
         the processor.

Decisions about a game are made in `training.selfplay.episode`; threads and the choice of the next group in
`training.selfplay.pool`.
"""

from __future__ import annotations

import time
from dataclasses import dataclass
from typing import Any

import numpy as np

from gozero.evaluators.base import Evaluator, Pending, submitter
from gozero.evaluators.row import RowEvaluator
from gozero.games.game import Game
from gozero.search.root import SearchRequest
from gozero.search.search import Search
from gozero.search.settings import SearchSettings
from training.records.records import Record
from training.selfplay.episode import Episode
from training.settings.config import SelfPlaySettings, Stage


@dataclass
class Timings:
    """Seconds that went into each part of self-play."""

    search: float = 0.0  # the search's kernels
    waiting: float = 0.0  # handing leaves to the evaluator and waiting for it
    moves: float = 0.0  # playing the moves of finished searches and beginning the next ones


class Group:
    """Games in flight, one tree each.

    Call `use` to set network and visits, at any time, then `start` and `finish` in turn.
    """

    def __init__(self, game: Game, settings: SelfPlaySettings, seed: tuple[int, ...], index: int, groups: int) -> None:
        """Number `index` of a pool's `groups` groups, with its share of `settings.games`; `seed` is the pool's."""
        self.game, self.settings, self.seed, self.index, self.groups = game, settings, seed, index, groups
        self.started = 0  # games begun so far
        self.evaluations = 0  # visits of all finished searches
        self.rows = 0  # of all finished games
        self.clock = Timings()
        self.games = [self._new_game() for _ in range(settings.games // groups + (index < settings.games % groups))]
        self._kept = np.zeros(len(self.games), np.int64)  # root visits with which the search under way began
        self._search: Search | None = None
        self._pending: Pending | None = None

    @property
    def under_way(self) -> int:
        """Visits of the searches under way; between waves."""
        if self._search is None:
            return 0
        return int(self._search.forest.nodes[: len(self.games), 0]["visits"].sum() - self._kept.sum())

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
        if self._search is not None and self._search.settings == search:
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
        self.clock.search += collected - begun
        self.clock.waiting += time.perf_counter() - collected

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
        self.clock.waiting += evaluated - begun
        self.clock.search += absorbed - evaluated
        self.clock.moves += time.perf_counter() - absorbed
        return records

    def state_dict(self) -> dict[str, Any]:
        """Games in flight and counters as plain values; search trees are not among them."""
        counters = {"started": self.started, "evaluations": self.evaluations, "rows": self.rows}
        return {**counters, "games": [episode.state_dict() for episode in self.games]}

    def load_state_dict(self, state: dict[str, Any]) -> None:
        """The inverse of `state_dict` for a group of as many games; `use` must follow."""
        self.started, self.evaluations, self.rows = state["started"], state["evaluations"], state["rows"]
        self.games = [Episode.from_state_dict(self.game, self.settings, saved) for saved in state["games"]]

    def _ready(self) -> Search:
        if self._search is None:
            raise RuntimeError("no evaluator: call `use` first")
        return self._search

    def _new_game(self) -> Episode:
        """The next game: its number and its seed are its own among all groups'."""
        number = self.started * self.groups + self.index
        self.started += 1
        return Episode.begin(self.game, self.settings, (*self.seed, self.game.size, number), number)

    def _begin(self, search: Search, tree: int, keep: bool = False) -> None:
        """Start the search of the game's next move.

        With `keep` it builds on the tree that `Search.advance` left: the plan's visits come on top of those of the
        moves that it allows, and the root is not evaluated again. A plan without visits has the root's own.
        """
        episode = self.games[tree]
        plan = episode.plan(self._stage, self._generation, self._resign_at)
        request = SearchRequest(
            episode.state, episode.history, max(plan.visits, 1),
            noise=plan.noise, temperature=plan.temperature, root_mask=plan.mask, keep=keep, on_top=plan.visits > 0,
        )  # fmt: skip
        search.begin(tree, request)
        self._kept[tree] = search.forest.nodes[tree, 0]["visits"]

    def _advance(self, search: Search, tree: int) -> Record | None:
        """Play the move of a finished search.

        If it ends the game, return its record and put a new game in its place.
        """
        episode, result = self.games[tree], search.result(tree)
        self.evaluations += result.root_visits - int(self._kept[tree])
        action = episode.move(result, search.settings.root)
        ending = episode.play(action)
        if ending is None:
            keep = search.advance(tree, action) and not episode.in_opening
            has_room = search.forest.trees[tree]["node_count"] <= search.settings.max_nodes // 2  # for another search
            self._begin(search, tree, keep=keep and has_room)
            return None
        self.games[tree] = self._new_game()
        self._begin(search, tree)
        return episode.record(self._generation, ending)
