"""Runs the searches of a game in progress: in a tree that follows its moves, or in one for a single question."""

from __future__ import annotations

import math
import time
from collections.abc import Callable
from dataclasses import dataclass, replace

import numpy as np

from gozero.evaluators.base import Evaluator
from gozero.evaluators.cache import CachedEvaluator, Owners
from gozero.evaluators.rollout import RowEvaluator
from gozero.games.game import Game
from gozero.games.position import Move, Position
from gozero.play.report import LONGEST_LINE, Analysis, MoveAnalysis, Observer
from gozero.search.early_stop import StopRule
from gozero.search.memory import Memory
from gozero.search.result import RootResult
from gozero.search.root import SearchRequest
from gozero.search.search import Search
from gozero.search.settings import SearchSettings

UNLIMITED_VISITS = 100_000_000  # the budget if time alone limits a move
OWNERSHIP_NODES = 2_000  # of a short search for the owners of points
FIRST_MOVES = 5  # of a search, reported when it has ended
# what a search is for, if not for a move
ANALYSIS, PONDERING, OWNERSHIP, CHECK = "analysis", "pondering", "ownership", "check"


def never() -> bool:
    """Give no reason to stop."""
    return False


@dataclass(frozen=True)
class Limits:
    """What one question may cost: the first that is reached. Times are seconds on the clock of time.monotonic."""

    visits: int | None = 400  # simulations, those of the move before included; None: as many as there is time for
    deadline: float = math.inf
    target: float = math.inf  # when to end, sooner or later as `gozero.search.early_stop` judges; infinite: never
    should_stop: Callable[[], bool] = never  # asked all the time; true: end now


@dataclass(frozen=True)
class Searched:
    """A search that has ended."""

    purpose: str | None  # None: a move
    analysis: Analysis  # with the first moves
    reused: int  # visits that were there when it began
    seconds: float


class Searcher:
    """The searches of one game at a time, in trees of up to `memory` bytes. `open_evaluator` gives the evaluator for a
    board, at the first search on one of its size; `random` the seed of each board's tree.
    """

    def __init__(
        self, open_evaluator: Callable[[Game], Evaluator], settings: SearchSettings, random: np.random.Generator,
        memory: int,
    ) -> None:  # fmt: skip
        self._open_evaluator, self._settings, self._random = open_evaluator, settings, random
        self._memory = Memory(memory)
        self._evaluators: dict[int, Evaluator] = {}  # those opened, by board size
        self._tree: Search | None = None  # follows the game
        self._line: list[Move] = []  # the moves that lead to its root
        self._mask: np.ndarray | None = None  # bool [A], what was searched there
        self.on_search: Callable[[Searched], None] | None = None  # callback after each search
        self.on_full: Callable[[int], None] | None = None  # callback with the memory limit, in bytes, that ended one

    def open(self, game: Game) -> Search:
        """The tree that follows the game on this board; opens its evaluator if need be."""
        if self._tree is None or self._tree.game.size != game.size:
            seed = int(self._random.integers(2**63))
            self._evaluators[game.size] = self._open_evaluator(game)
            self._tree, self._line, self._mask = self._new_tree(game, seed), [], None
        return self._tree

    def has_opened(self, size: int) -> bool:
        """Whether there is an evaluator for this board size already."""
        return size in self._evaluators

    def change(self, settings: SearchSettings) -> None:
        """Search like this from now on; if it differs, what was searched is dropped."""
        if settings != self._settings:
            self._tree = None
            self._settings = settings

    def restart(self) -> None:
        """Drop the tree; the next search begins as the first one did, but for evaluations in the cache."""
        if self._tree is not None:
            self._tree.restart(self._tree.evaluator, self._tree.seed)
            if (owners := _owners_of(self._tree)) is not None:
                owners.forget()
            self._line = []

    def forget(self) -> None:
        """Drop the tree and the cached evaluations."""
        self.restart()
        for evaluator in self._evaluators.values():
            if isinstance(evaluator, CachedEvaluator):
                evaluator.forget()

    # Search

    def search(
        self, root: Position, mask: np.ndarray, limits: Limits, observer: Observer | None = None,
        purpose: str | None = None, *, aside: bool = False, left_out: np.ndarray | None = None,
        max_nodes: int | None = None, wide_root_noise: float = 0.0,
    ) -> RootResult:  # fmt: skip
        """Search ``root`` among ``mask`` bool [A] within the limits, on the tree there is if the moves lead into it; or
        ``aside``, without chance, in a tree of at most ``max_nodes`` that is then dropped; see `SearchRequest`.
        """
        begun, tree = time.monotonic(), self.open(root.game)
        if aside:
            tree = self._new_tree(root.game, 0, max_nodes)
        visits = UNLIMITED_VISITS if limits.visits is None else limits.visits
        request = SearchRequest(
            root.state, root.history_row(0), visits, root_mask=mask, left_out=left_out, wide_root_noise=wide_root_noise
        )
        try:
            if not aside:
                request = replace(request, keep=self._follow(tree, root.moves, mask))
                self._line, self._mask = list(root.moves), mask
            tree.begin(0, request)
            reused, owners = tree.root_visits(), _owners_of(tree)
            if owners is not None:
                owners.hits = None
                if not reused:
                    owners.forget()
            _run(tree, root, limits, observer)
            if self.on_search is not None:
                first = Observer(lambda analysis: None, least_moves=FIRST_MOVES, most_moves=FIRST_MOVES)
                self.on_search(Searched(purpose, analysis_of(tree, root, first), reused, time.monotonic() - begun))
            if self.on_full is not None and tree.memory is not None and tree.is_full():
                self.on_full(self._memory.limit)
            return tree.result()
        except BaseException:  # whatever state the tree is in
            if not aside:
                tree.drop()
                self._line = []
            raise

    def many(self, game: Game, settings: SearchSettings, leaves: int) -> Search:
        """A search beside the others for positions of this board, as many at once as have so many leaves in a wave; one
        if the evaluator takes one position at a time.
        """
        self.open(game)
        evaluator = self._evaluators[game.size]
        if isinstance(evaluator, RowEvaluator):
            return Search(evaluator.game, evaluator, settings, memory=self._memory)
        trees = max(1, leaves // settings.leaves)
        return Search(evaluator.game, Owners(evaluator), settings, trees, memory=self._memory)

    def _new_tree(self, game: Game, seed: int, max_nodes: int | None = None) -> Search:
        """A tree for this board, which grows as memory allows or has ``max_nodes``."""
        evaluator = self._evaluators[game.size]
        settings, memory = self._settings, self._memory if max_nodes is None else None
        if max_nodes is not None:
            settings = replace(settings, max_nodes=max_nodes)
        wrapped = evaluator if isinstance(evaluator, RowEvaluator) else Owners(evaluator)
        return Search(evaluator.game, wrapped, settings, seed=seed, memory=memory)

    def _follow(self, tree: Search, moves: list[Move], mask: np.ndarray) -> bool:
        """Advance the tree to the position after ``moves``; False if it lacks that, or had fewer actions there."""
        played = len(self._line)
        if moves[:played] != self._line:
            return False
        if len(moves) == played:
            return self._mask is not None and bool((self._mask >= mask).all())
        if (owners := _owners_of(tree)) is not None:
            owners.forget()
        return all(tree.advance(0, move.action) for move in moves[played:])

    # What else is asked

    def note(self, root: Position, action: int) -> Analysis:
        """What the last `search`, of ``root``, thinks of this action."""
        tree = self.open(root.game)
        return replace(analysis_of(tree, root, Observer(lambda analysis: None), [action]), hits=None)

    def last_owners(self, root: Position) -> np.ndarray | None:
        """Expected owner of each point, float32 [P], + for the side to move, by what the last `search`, of ``root``,
        evaluated; None if that is unknown.
        """
        owners = _owners_of(self.open(root.game))
        return owners.ownership(root) if owners is not None and owners.count else None

    def ownership(self, root: Position, among: np.ndarray, limits: Limits) -> np.ndarray | None:
        """Expected owner of each point, float32 [P], + for the side to move, by a search aside; None if unknown."""
        if _owners_of(self.open(root.game)) is None:
            return None
        analyses: list[Analysis] = []
        observer = Observer(analyses.append, ownership=True)
        self.search(root, among, limits, observer, OWNERSHIP, aside=True, max_nodes=OWNERSHIP_NODES)
        return analyses[-1].ownership


def analysis_of(
    search: Search,
    position: Position,
    observer: Observer,
    actions: list[int] | None = None,
    owners: Owners | None = None,
    tree: int = 0,
) -> Analysis:
    """A look at the search of `position` in this tree: at these actions, None: those that the observer asks for; with
    the ownership of `owners`, None: of the search's evaluator, which is the mean of all its trees.
    """
    owners = owners or _owners_of(search)
    result = search.result(tree)
    has_score = owners is not None and owners.knows_score
    if actions is None:
        tried = max(1, observer.least_moves, int((result.visits > 0).sum()))
        actions = result.ranked()[: min(tried, max(1, observer.most_moves))]
    moves = [_move(search, tree, result, action, has_score) for action in actions]
    if observer.moves_ownership and owners is not None:
        after = owners.after(position, actions)
        moves = [replace(move, ownership=ownership) for move, ownership in zip(moves, after, strict=True)]
    score = result.score if has_score else None
    ownership = owners.ownership(position) if observer.ownership and owners is not None else None
    hits = None if owners is None else owners.hits
    return Analysis(position.to_play, result.root_visits, result.value, score, tuple(moves), ownership, hits)


def _move(search: Search, tree: int, result: RootResult, action: int, has_score: bool) -> MoveAnalysis:
    visits = int(result.visits[action])
    value = float(result.q[action]) if visits else result.value
    line = search.principal_variation(tree, action, LONGEST_LINE)
    score = (line.score if visits else result.score) if has_score else None
    prior, bound = float(result.prior[action]), float(result.bound[action]) if visits else -1.0
    return MoveAnalysis(action, visits, prior, value, bound, score, tuple(line.actions), tuple(line.visits))


def _owners_of(tree: Search) -> Owners | None:
    """The evaluator of a tree, which accumulates ownership; None for a row evaluator, which knows no points."""
    return tree.evaluator if isinstance(tree.evaluator, Owners) else None


def _run(tree: Search, root: Position, limits: Limits, observer: Observer | None) -> None:
    """Search until the limits are reached, and report to the observer at intervals and at the end."""
    should_stop = limits.should_stop
    if limits.target < math.inf:
        rule = StopRule(limits.target)
        should_stop = lambda: limits.should_stop() or rule.is_met(tree.result(), time.monotonic())  # noqa: E731
    if observer is None:
        tree.run(limits.deadline, should_stop)
        return
    over, analyses = False, 0
    while not over:
        tree.run(min(limits.deadline, time.monotonic() + observer.interval), should_stop)
        stopped = should_stop()
        over = stopped or tree.is_finished or time.monotonic() >= limits.deadline
        if observer.sees_the_end or not stopped or analyses == 0:
            observer.report(analysis_of(tree, root, observer))
            analyses += 1
