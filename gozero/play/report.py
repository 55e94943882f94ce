"""What a search found, for analysis: the moves, the position itself, and the expected owner of each point.

An `Analysis` is a snapshot of a search that may still be running. All numbers are for the side to move at the root.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass, replace

import numpy as np

from gozero.evaluators.base import Evaluation, Evaluator, preferred_batch
from gozero.games.game import BLACK, TO_PLAY, Game
from gozero.games.position import Position
from gozero.search.result import RootResult
from gozero.search.search import Search

LONGEST_LINE = 15


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

    report: Callable[[Analysis], None]  # called with each look, at least once
    interval: float = math.inf  # seconds between two looks
    sees_the_end: bool = True  # whether a stopped search makes a last report; one that ends by itself always does
    least_moves: int = 0  # that a report lists: untried ones, by prior, fill up
    most_moves: int = 10**6
    ownership: bool = False  # whether reports have the ownership at the root
    moves_ownership: bool = False  # and after each move


class Owners:
    """An evaluator that wraps another and accumulates its ownership: the mean since `forget`.

    Ownership from a network whose game has none is ignored: that head was never trained.
    """

    def __init__(self, evaluator: Evaluator) -> None:
        self._evaluator = evaluator
        self.knows_score = False  # whether the evaluator gives points: known after its first call
        self.forget()

    @property
    def game(self) -> Game:
        return self._evaluator.game

    @property
    def preferred_batch(self) -> int:
        return preferred_batch(self._evaluator)

    def forget(self) -> None:
        """Start a new mean."""
        self._sum = np.zeros(self.game.points, np.float64)  # for Black
        self._count = 0
        self.hits: int | None = None  # evaluations that a cache had, since it was set to None

    def evaluate(self, states: np.ndarray) -> Evaluation:
        """The other evaluator's answer for states int32 [n, S]."""
        found = self._evaluator.evaluate(states)
        self.add(states, found)
        return found

    def add(self, states: np.ndarray, found: Evaluation) -> None:
        """Add the ownership of states int32 [n, S] to the mean, and count what was in a cache."""
        self.knows_score = found.score is not None and self.game.score is not None
        if found.ownership is not None and self.game.owner is not None:
            self._sum += np.where(states[:, TO_PLAY] == BLACK, 1.0, -1.0) @ found.ownership
            self._count += len(states)
        if found.known is not None:
            self.hits = (self.hits or 0) + int(found.known.sum())

    def ownership(self, position: Position) -> np.ndarray | None:
        """float32 [P] for the side to move; if nothing was evaluated yet, that of the position itself."""
        if self._count == 0:
            found = self._owners(position.state[None])
            return None if found is None else found[0]
        mean = self._sum / self._count
        return (mean if position.to_play == BLACK else -mean).astype(np.float32)

    def after(self, position: Position, actions: list[int]) -> list[np.ndarray | None]:
        """The ownership after each of these actions, float32 [P] for the side to move before them."""
        children = [position.copy() for _ in actions]
        for child, action in zip(children, actions, strict=True):
            child.play(action)
        found = self._owners(np.stack([child.state for child in children])) if children else None
        return [None] * len(actions) if found is None else [-row for row in found]

    def _owners(self, states: np.ndarray) -> np.ndarray | None:
        """float32 [n, P] of states int32 [n, S], not accumulated; None if the game has no ownership."""
        return None if self.game.owner is None else self._evaluator.evaluate(states).ownership


def note(search: Search, owners: Owners | None, position: Position, action: int) -> Analysis:
    """A look, as from `look`, with only this action's move."""
    result, has_score = search.result(), owners is not None and owners.knows_score
    score = result.score if has_score else None
    move = _move(search, result, action, has_score)
    return Analysis(position.to_play, result.root_visits, result.value, score, (move,), ownership=None)


def look(search: Search, owners: Owners | None, position: Position, observer: Observer) -> Analysis:
    """A look at tree 0 of a search whose root is `position`; `owners` is the search's evaluator, None if it knows no
    points.
    """
    result = search.result()
    has_score = owners is not None and owners.knows_score
    tried = max(1, observer.least_moves, int((result.visits > 0).sum()))
    actions = ranked(result)[: min(tried, max(1, observer.most_moves))]
    moves = [_move(search, result, action, has_score) for action in actions]
    if observer.moves_ownership and owners is not None:
        after = owners.after(position, actions)
        moves = [replace(move, ownership=ownership) for move, ownership in zip(moves, after, strict=True)]
    return Analysis(
        colour=position.to_play,
        visits=result.root_visits,
        value=result.value,
        score=result.score if has_score else None,
        moves=tuple(moves),
        ownership=owners.ownership(position) if observer.ownership and owners is not None else None,
        hits=None if owners is None else owners.hits,
    )


def ranked(result: RootResult) -> list[int]:
    """The actions that were tried or could be: the chosen one, then by visits, then by prior."""
    actions = np.flatnonzero((result.visits > 0) | (result.prior > 0))
    order = np.lexsort((-result.prior[actions], -result.visits[actions], actions != result.best))
    return [int(action) for action in actions[order]]


def _move(search: Search, result: RootResult, action: int, has_score: bool) -> MoveAnalysis:
    visits = int(result.visits[action])
    value = float(result.q[action]) if visits else result.value
    line = search.principal_variation(0, action, LONGEST_LINE)
    score = (line.score if visits else result.score) if has_score else None
    return MoveAnalysis(
        action,
        visits,
        float(result.prior[action]),
        value,
        float(result.bound[action]) if visits else -1.0,
        score,
        tuple(line.actions),
        tuple(line.visits),
    )
