"""Runs the searches of a game in progress, in a tree that follows its moves or in one for a single question, and reports
on them. A report is a snapshot, with all numbers for the side to move at the root.

A search for a move on a clock can stop early, to save time for other moves. The leader is the move that would be played
now. A search is settled when no rival can be expected to overtake it, and then ends before its target; it is undecided
while the leader is doubtful, and then goes on until the deadline. Times are of time.monotonic.
"""

from __future__ import annotations

import math
import time
from collections.abc import Callable
from dataclasses import dataclass, field, replace

import numpy as np

from gozero.evaluators.base import Evaluator
from gozero.evaluators.cache import CachedEvaluator, Owners
from gozero.evaluators.rollout import RowEvaluator
from gozero.games.game import Game
from gozero.games.position import Move, Position
from gozero.search.root import RootResult, SearchRequest
from gozero.search.search import MAX_VISITS, Search
from gozero.search.settings import SearchSettings
from gozero.search.tree import node_bytes

LONGEST_LINE = 15  # moves of a line in a report
ASIDE_SHARE = 16  # a search aside has one part in this many of the memory, the tree that follows the game the others
FEWEST_NODES = 20_000  # of a tree for which the system must have memory
SPARE = 2**30  # bytes that a larger one must leave to the rest of the process: libraries end it if they get none
OWNERSHIP_NODES = 2_000  # of a short search for the owners of points
# what a search is for
MOVE, ANALYSIS, PONDERING, OWNERSHIP, CHECK = "move", "analysis", "pondering", "ownership", "check"


# share of the simulations to come by which a rival may gain on the leader (Lc0's smart pruning factor 1.33, inverted)
CATCH_UP = 0.75
FIRST_LOOK = 0.1  # share of the time to the target that is searched in any case, to have something to judge by
NOTABLE = 0.25  # share of the most visits from which a move's value counts
SMALL_SHARE = 0.3  # of all visits: if no move has a larger one, the leader is doubtful


def never() -> bool:
    """Give no reason to stop."""
    return False


@dataclass(frozen=True)
class Limits:
    """What one question may cost: the first that is reached. Times are seconds on the clock of time.monotonic."""

    visits: int | None = 400  # simulations, those of the move before included; None: as many as there is time for
    deadline: float = math.inf
    target: float = math.inf  # when to end, sooner or later as `StopRule` judges; infinite: never
    should_stop: Callable[[], bool] = never  # asked all the time; true: end now
    begun: float = field(default_factory=time.monotonic)  # when they were made

    @property
    def end(self) -> float:
        """When the answer should be there."""
        return min(self.deadline, self.target)


@dataclass(frozen=True)
class MoveAnalysis:
    """One move at the root."""

    action: int
    visits: int  # of the search below it; 0 if only the network's prior is known
    prior: float  # the network's probability
    value: float  # expected result, -1..1; that of the root if there are no visits
    bound: float  # lower confidence bound of the value, see `gozero.search.puct`; -1 if there are no visits
    score: float | None  # expected lead in points, None if the evaluator knows none
    line: tuple[int, ...]  # this action and the most visited ones after it, at most `LONGEST_LINE`
    line_visits: tuple[int, ...]  # of each
    ownership: np.ndarray | None = None  # float32 [P] after the move, -1..1, or None if not requested


@dataclass(frozen=True)
class Analysis:
    """One look at a search."""

    colour: int  # the side to move at the root
    visits: int  # of the root
    value: float  # expected result, -1..1
    score: float | None  # expected lead in points, None if the evaluator knows none
    moves: tuple[MoveAnalysis, ...]  # the best one first
    ownership: np.ndarray | None  # float32 [P]: expected owner of each point, -1..1; None if not requested or not known
    hits: int | None = None  # evaluations of this search that a cache had; None if there is no cache

    def ended(self, lead: float) -> Analysis:
        """The same of a game that ends now: the side to move leads by this many points, in place of the estimates."""
        value, score = float(np.sign(lead)), None if self.score is None else lead
        moves = (replace(move, value=value, bound=value if move.visits else -1.0, score=score) for move in self.moves)
        return replace(self, value=value, score=score, moves=tuple(moves))


@dataclass(frozen=True)
class Observer:
    """A callback for reports during a search, and what they contain."""

    report: Callable[[Analysis], None] = lambda analysis: None  # called with each look, at least once
    interval: float = math.inf  # seconds between two looks
    sees_the_end: bool = True  # whether a stopped search makes a last report; one that ends by itself always does
    least_moves: int = 0  # that a report lists: untried ones, by prior, fill up
    most_moves: int = 10**6
    ownership: bool = False  # whether reports have the ownership at the root
    moves_ownership: bool = False  # and after each move


class Searcher:
    """The searches of one game at a time, in trees of up to `memory` bytes. `open_evaluator` gives the evaluator for a
    board, at the first search on one of its size; `random` the seed of each board's tree.
    """

    def __init__(
        self, open_evaluator: Callable[[Game], Evaluator], settings: SearchSettings, random: np.random.Generator,
        memory: int,
    ) -> None:  # fmt: skip
        self._open_evaluator, self._settings, self._random = open_evaluator, settings, random
        self.memory = memory
        self._evaluators: dict[int, Evaluator] = {}  # those opened, by board size
        self._tree: Search | None = None  # follows the game
        self._line: list[Move] = []  # the moves that lead to its root
        self._mask: np.ndarray | None = None  # bool [A], what was searched there
        # callback after each search: its purpose, its best move, the visits that were there before, and its seconds
        self.on_search: Callable[[str, Analysis, int, float], None] | None = None
        # callback, once, when the memory limit, in bytes, has ended a search
        self.on_full: Callable[[int], None] | None = None

    def open(self, game: Game) -> Search:
        """The tree that follows the game on this board; opens its evaluator if need be."""
        if self._tree is None or self._tree.game.size != game.size:
            seed = int(self._random.integers(2**63))
            self._tree = None  # gives its memory to the next one
            self._evaluators[game.size] = self._open_evaluator(game)
            self._tree, self._line, self._mask = self._new_tree(game, seed, self._nodes(game)), [], None
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
            game, seed, self._tree = self._tree.game, self._tree.seed, None  # the system takes its memory back
            self._tree, self._line = self._new_tree(game, seed, self._nodes(game)), []

    def forget(self) -> None:
        """Drop the tree and the cached evaluations."""
        self.restart()
        for evaluator in self._evaluators.values():
            if isinstance(evaluator, CachedEvaluator):
                evaluator.forget()

    # Search

    def search(
        self, root: Position, mask: np.ndarray, limits: Limits, observer: Observer | None = None,
        purpose: str = MOVE, *, aside: bool = False, left_out: np.ndarray | None = None,
        max_nodes: int | None = None, wide_root_noise: float = 0.0,
    ) -> RootResult:  # fmt: skip
        """Search ``root`` among ``mask`` bool [A] within the limits, on the tree there is if the moves lead into it; or
        ``aside``, without chance, in a tree of at most ``max_nodes`` that is then dropped; see `SearchRequest`.
        """
        begun, tree = time.monotonic(), self.open(root.game)
        if aside:
            tree = self._new_tree(root.game, 0, max_nodes or self._nodes(root.game) // ASIDE_SHARE)
        visits = MAX_VISITS if limits.visits is None else limits.visits
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
                best = analysis_of(tree, root, Observer(most_moves=1))
                self.on_search(purpose, best, reused, time.monotonic() - begun)
            if self.on_full is not None and max_nodes is None and tree.is_full():
                on_full, self.on_full = self.on_full, None
                on_full(tree.settings.max_nodes * node_bytes(root.game))
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
            return Search(evaluator.game, evaluator, settings)
        return Search(evaluator.game, Owners(evaluator), settings, max(1, leaves // settings.leaves))

    def _nodes(self, game: Game) -> int:
        """Nodes of the tree that follows the game."""
        return max(ASIDE_SHARE, (self.memory - self.memory // ASIDE_SHARE) // node_bytes(game))

    def _new_tree(self, game: Game, seed: int, nodes: int) -> Search:
        """A tree for this board, of fewer nodes if the system does not have the memory."""
        evaluator = self._evaluators[game.size]
        wrapped = evaluator if isinstance(evaluator, RowEvaluator) else Owners(evaluator)
        while True:
            try:
                if nodes > FEWEST_NODES:
                    np.empty(SPARE + nodes * node_bytes(game), np.uint8)
                return Search(evaluator.game, wrapped, replace(self._settings, max_nodes=nodes), seed=seed)
            except MemoryError:
                if nodes <= FEWEST_NODES:
                    raise
                nodes //= 2

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
        return replace(analysis_of(tree, root, Observer(), [action]), hits=None)

    def last_owners(self, root: Position) -> np.ndarray | None:
        """Expected owner of each point, float32 [P], + for the side to move, by what the last `search` of ``root`` in the
        tree that follows the game evaluated, whatever was searched aside since; None if that is unknown.
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


def is_settled(result: RootResult, simulations: float) -> bool:
    """Whether the leader has the most visits, and no rival can be expected to overtake it in so many simulations."""
    rivals = np.delete(result.visits, result.best)
    return bool(result.visits[result.best] - rivals.max() > CATCH_UP * simulations)


def is_undecided(result: RootResult) -> bool:
    """Whether a well tried move has a better value than the leader, or the visits are spread widely."""
    most = result.visits.max()
    better = result.q[result.visits >= max(1, NOTABLE * most)].max(initial=-1.0) > result.q[result.best]
    return bool(better or most < SMALL_SHARE * result.visits.sum())


class StopRule:
    """Whether one search should end; `target` is when one that is neither settled nor undecided ends."""

    def __init__(self, target: float) -> None:
        self._target = target
        self._first: tuple[float, int] | None = None  # when it was asked first, and the visits there were then

    def is_met(self, result: RootResult, now: float) -> bool:
        """Whether the search should end, with what it has found by `now`."""
        if now >= self._target:
            return not is_undecided(result)
        if self._first is None:
            self._first = now, result.root_visits
        begun, visits = self._first
        if now - begun <= FIRST_LOOK * (self._target - begun):
            return False
        rate = (result.root_visits - visits) / (now - begun)
        return is_settled(result, rate * (self._target - now))
