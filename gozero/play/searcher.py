"""Runs the searches of a game in progress: its evaluator, its tree, and trees for single questions.

Vocabulary. The *game's tree* follows the moves, so that an earlier search helps a later one. A tree *aside* answers one
question, without chance, and is then dropped; it shares memory and evaluator with the game's tree.

Which moves are worth searching and which of them is played is decided in `gozero.play.player`.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass, replace

import numpy as np

from gozero.evaluators.base import Evaluator
from gozero.evaluators.cache import CachedEvaluator
from gozero.evaluators.row import RowEvaluator
from gozero.games.game import NOT_OVER, Game
from gozero.games.position import Position
from gozero.play.current_game import CurrentGame
from gozero.play.game_tree import GameTree, Limits
from gozero.play.report import Analysis, Observer
from gozero.search.memory import Memory
from gozero.search.search import RootResult
from gozero.search.settings import SearchSettings

OWNERSHIP_NODES = 2_000  # of a short search for the owners of points
FIRST_MOVES = 5  # of a search, reported when it has ended
# what a search is for, where it is not for a move
ANALYSIS, PONDERING, OWNERSHIP = "analysis", "pondering", "ownership"


@dataclass(frozen=True)
class Searched:
    """A search that has ended."""

    purpose: str | None  # None: a move
    look: Analysis  # with the first moves
    kept: int  # visits that were there when it began
    seconds: float


class Searcher:
    """The searches of one game at a time.

    Args:
        game: whose positions are searched.
        open_evaluator: gives the evaluator for a board; called when a search is first wanted on a board of that size.
            It may take seconds.
        settings: of all searches.
        random: gives the seed of each game's tree.
        memory: bytes that the trees may grow to.

    Attributes:
        on_search: called after each search; None: not reported.
        on_full: called with the memory limit in bytes after each search that ended because its tree may grow no
            further; None: not reported.
    """

    def __init__(
        self,
        game: CurrentGame,
        open_evaluator: Callable[[Game], Evaluator],
        settings: SearchSettings,
        random: np.random.Generator,
        memory: int,
    ) -> None:
        self._game = game
        self._open_evaluator = open_evaluator
        self._settings = settings
        self._random = random
        self._memory = Memory(memory)
        self._tree: GameTree | None = None
        self._evaluators: dict[int, Evaluator] = {}  # those opened, by board size
        self.on_search: Callable[[Searched], None] | None = None
        self.on_full: Callable[[int], None] | None = None

    def change(self, settings: SearchSettings) -> None:
        """Search like this from now on; where it differs, what was searched is dropped."""
        if settings != self._settings:
            self._tree = None
            self._settings = settings

    def forget(self) -> None:
        """Drop all that was searched; the next search begins as the first one did."""
        if self._tree is not None:
            self._tree.forget()
        for evaluator in self._evaluators.values():
            if isinstance(evaluator, CachedEvaluator):
                evaluator.forget()

    def tree(self) -> GameTree:
        """The game's tree; opens the evaluator for this board if need be."""
        if self._tree is None or self._tree.evaluator.game.size != self._game.size:
            seed = int(self._random.integers(2**63))
            evaluator = self._evaluators[self._game.size] = self._open_evaluator(self._game.kind)
            self._tree = GameTree(evaluator, self._settings, seed, memory=self._memory)
        return self._tree

    def tree_aside(self, max_nodes: int | None = None, left_out: np.ndarray | None = None) -> GameTree:
        """A tree for one question, which grows no further than ``max_nodes`` where given.

        It leaves out int32 [2, A], see `GameTree`.
        """
        evaluator = self.tree().evaluator
        if max_nodes is not None:
            return GameTree(evaluator, replace(self._settings, max_nodes=max_nodes), seed=0, left_out=left_out)
        return GameTree(evaluator, self._settings, seed=0, left_out=left_out, memory=self._memory)

    def search(
        self,
        tree: GameTree,
        root: Position,
        mask: np.ndarray,
        limits: Limits,
        should_stop: Callable[[], bool],
        observer: Observer | None = None,
        *,
        purpose: str | None = None,
    ) -> RootResult:
        """`GameTree.search`, reported to `on_search`, with its ``purpose``, and to `on_full`."""
        begun = time.monotonic()
        result = tree.search(root, mask, limits, should_stop, observer)
        if self.on_search is not None:
            self.on_search(Searched(purpose, tree.look(root, FIRST_MOVES), tree.kept, time.monotonic() - begun))
        if self.on_full is not None and tree.is_full:
            self.on_full(self._memory.limit)
        return result

    def ownership(
        self, root: Position, among: np.ndarray, limits: Limits, should_stop: Callable[[], bool]
    ) -> np.ndarray | None:
        """Expected owner of each point, float32 [P], + for the side to move: the mean over a search aside.

        None where the evaluator gives no ownership.
        """
        if isinstance(self.tree().evaluator, RowEvaluator):
            return None
        looks: list[Analysis] = []
        observer = Observer(looks.append, ownership=True)
        self.search(self.tree_aside(OWNERSHIP_NODES), root, among, limits, should_stop, observer, purpose=OWNERSHIP)
        return looks[-1].ownership

    def values_after(self, root: Position) -> np.ndarray:
        """The evaluator's value of each action, float32 [A], -1..1 for the side to move: nan where it is not legal."""
        evaluator = self.tree().evaluator
        actions = np.flatnonzero(root.legal())
        values = np.full(root.game.actions, np.nan, np.float32)
        children = [root.copy() for _ in actions]
        for child, action in zip(children, actions, strict=True):
            child.play(int(action))
        if children:
            expected = evaluator.evaluate(np.stack([child.state for child in children])).value
            outcomes = [child.outcome() for child in children]
            values[actions] = [
                -(value if end == NOT_OVER else end) for value, end in zip(expected, outcomes, strict=True)
            ]
        return values
