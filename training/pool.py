"""Many games of self-play at once in one search, a move at a time each, none waiting for another.

Vocabulary.
  pool  the games of one board size that are in flight; they stay in flight when the network changes, so that short games are not
        over-represented among the finished ones.

A pool drives searches and episodes; it decides nothing about a game (`training.episode` does) and writes nothing.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from importlib.util import find_spec
from typing import TYPE_CHECKING, Any

import numpy as np

from gozero.evaluators.base import Evaluator
from gozero.evaluators.row import RowEvaluator
from gozero.games.game import Game
from gozero.search.search import Search
from gozero.search.settings import SearchSettings
from training.config import SelfPlaySettings, Stage
from training.episode import Episode
from training.records import Record

if TYPE_CHECKING:
    from torch import nn


class Pool:
    """Games of one size in flight. `use` sets the network and the visits, also under way; then `play` until enough rows are finished."""

    def __init__(self, game: Game, settings: SelfPlaySettings, seed: tuple[int, ...]) -> None:
        self.game, self.settings, self.seed = game, settings, seed
        self.started = 0  # games begun so far: the next game's number, and part of its seed
        self.evaluations = 0  # visits of all finished searches
        self.games = [self._new_game() for _ in range(settings.games)]
        self._kept = np.zeros(settings.games, np.int64)  # visits that the search under way took over from the one before

    def use(self, evaluator: Evaluator | RowEvaluator, stage: Stage, generation: int) -> None:
        """Go on with this evaluator and stage; searches under way start again from their roots."""
        seed = int(np.random.default_rng([*self.seed, self.game.rows, generation]).integers(2**63))
        self._search = Search(self.game, evaluator, search_settings(self.settings, stage), trees=len(self.games), seed=seed)
        self._stage, self._generation = stage, generation
        for tree in range(len(self.games)):
            self._begin(tree)

    def play(self, rows: float, stop: Callable[[], bool] = lambda: False) -> Iterator[Record]:
        """Finished games, as they finish, until they hold at least `rows` rows or `stop()` says so."""
        while rows > 0 and not stop():
            for tree in self._search.wave():
                record = self._advance(tree)
                if record is not None:
                    rows -= record.rows
                    yield record

    def state_dict(self) -> dict[str, Any]:
        """Games in flight and counters as plain values, for a checkpoint; taken between two calls of `play`.

        Search trees are not among them: after `load_state_dict` and `use` the pool goes on exactly as this one would after `use`.
        """
        games = [episode.state_dict() for episode in self.games]
        return {"seed": list(self.seed), "started": self.started, "evaluations": self.evaluations, "games": games}

    def load_state_dict(self, state: dict[str, Any]) -> None:
        """Take over the games of `state_dict`; ValueError if it holds another number of games. `use` must follow."""
        if len(state["games"]) != self.settings.games:
            raise ValueError(f"the pool saved holds {len(state['games'])} games, the settings ask for {self.settings.games}")
        self.seed, self.started, self.evaluations = tuple(state["seed"]), state["started"], state["evaluations"]
        self.games = [Episode.from_state_dict(self.game, self.settings, saved) for saved in state["games"]]

    def _new_game(self) -> Episode:
        seed = (*self.seed, self.game.rows, self.started)
        self.started += 1
        return Episode.begin(self.game, self.settings, seed, self.started - 1)

    def _begin(self, tree: int, keep: bool = False) -> None:
        """Start the search of the game's next move.

        With `keep` it builds on the tree that `Search.advance` left: its visits come on top, and the root is not evaluated again.
        """
        episode = self.games[tree]
        plan = episode.plan(self._stage, self._generation)
        self._kept[tree] = self._search.forest.nodes[tree, 0]["visits"] if keep else 0
        budget = (int(self._kept[tree]) or 1) + plan.visits  # the root's own evaluation is a visit too
        self._search.begin(
            tree, episode.state, episode.history, budget,
            noise=plan.noise, temperature=plan.temperature, root_mask=plan.mask, keep=keep,
        )  # fmt: skip

    def _advance(self, tree: int) -> Record | None:
        """Play the move of a finished search; the record if that ends the game (a new one then takes its place)."""
        episode, result = self.games[tree], self._search.result(tree)
        self.evaluations += result.root_visits - int(self._kept[tree])
        action = episode.move(result, self._search.settings.root)
        ending = episode.play(action)
        if ending is None:
            self._begin(tree, keep=self._search.advance(tree, action) and not episode.in_opening)
            return None
        self.games[tree] = self._new_game()
        self._begin(tree)
        return episode.record(self._generation, ending)


def leaf_evaluator(kind: str, game: Game, net: nn.Module | None, threads: int, seed: int) -> Evaluator | RowEvaluator:
    """What evaluates the leaves of a stage: `rollouts`, or the network `net` on the fastest CPU backend that is installed."""
    if kind == "rollouts":
        from gozero.evaluators.rollout import RolloutEvaluator

        return RolloutEvaluator(game, rollouts=1, seed=seed)
    assert net is not None, "a network stage needs a network"
    if find_spec("openvino") is not None:
        from gozero.evaluators.openvino_evaluator import OpenVINOEvaluator

        return OpenVINOEvaluator.from_module(net, game, threads=threads)
    from gozero.evaluators.torch_evaluator import TorchEvaluator

    return TorchEvaluator(net, game, threads=threads)


def search_settings(settings: SelfPlaySettings, stage: Stage) -> SearchSettings:
    """The search of a stage. Rollouts are too noisy for a Gumbel root's completed values: there the root is PUCT, its visits the target."""
    network = stage.evaluator == "network"
    root = settings.root if network else "puct"
    return SearchSettings(
        root=root,
        c_puct=settings.c_puct,
        fpu=settings.fpu,
        gumbel_m=settings.gumbel_m,
        c_visit=settings.c_visit,
        c_scale=settings.c_scale,
        dirichlet_weight=settings.dirichlet_weight if network else 0.0,  # playouts are noise enough
        dirichlet_total=settings.dirichlet_total,
        forced_playouts=settings.forced_playouts if network else 0.0,
        max_nodes=4 * max(stage.full_visits, stage.cheap_visits) + 64,  # a kept tree and the new search
    )
