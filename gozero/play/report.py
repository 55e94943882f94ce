"""The result of a search for analysis: the moves, the position itself, and the expected owner of each point.

Vocabulary. A *look* is a snapshot of a search that may still be running; taking it does not change the search. A *line*
is a move and the most visited moves after it. The *ownership* of a point is its expected owner, the mean over the
positions that the search evaluated. All numbers are for the side to move at the root. This module knows no protocol:
how numbers are written is the front end's business.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass, replace

import numpy as np

from gozero.evaluators.base import Evaluation, Evaluator, preferred_batch
from gozero.games.game import BLACK, TO_PLAY, Game
from gozero.games.position import Position
from gozero.search.search import RootResult, Search

LONGEST_LINE = 15


@dataclass(frozen=True)
class MoveAnalysis:
    """One move at the root.

    Attributes:
        action: the move.
        visits: of the search below it; 0 where only the network's prior is known.
        prior: the network's probability.
        value: expected result, -1..1; that of the root where there are no visits.
        bound: lower confidence bound of the value, see `gozero.search.puct_root`; -1 where there are no visits.
        score: expected lead in points, None where the evaluator knows none.
        line: actions, this one first, at most `LONGEST_LINE`.
        line_visits: visits of each.
        ownership: float32 [P] after the move, -1..1, or None if not requested.
    """

    action: int
    visits: int
    prior: float
    value: float
    bound: float
    score: float | None
    line: tuple[int, ...]
    line_visits: tuple[int, ...]
    ownership: np.ndarray | None = None


@dataclass(frozen=True)
class Analysis:
    """One look at a search.

    Attributes:
        colour: the side to move at the root.
        visits: of the root.
        value: expected result, -1..1.
        score: expected lead in points, None where the evaluator knows none.
        moves: the best one first.
        ownership: float32 [P], -1..1, or None if not requested or the evaluator gives none.
        hits: evaluations of this search that a cache had; None where the evaluator has none.
    """

    colour: int
    visits: int
    value: float
    score: float | None
    moves: tuple[MoveAnalysis, ...]
    ownership: np.ndarray | None
    hits: int | None = None


@dataclass(frozen=True)
class Observer:
    """A callback for reports during a search, and what they hold.

    Attributes:
        report: called with each look, at least once.
        interval: seconds between two looks.
        sees_the_end: whether a stopped search makes a last report; one that ends by itself always does.
        least_moves, most_moves: how many moves a report lists; untried ones, by prior, fill up the least number.
        ownership, moves_ownership: whether reports hold the ownership at the root and after each move.
    """

    report: Callable[[Analysis], None]
    interval: float = math.inf
    sees_the_end: bool = True
    least_moves: int = 0
    most_moves: int = 10**6
    ownership: bool = False
    moves_ownership: bool = False


class Owners:
    """An evaluator that wraps another and accumulates its ownership: the mean since `forget`.

    Ownership from a network whose game has none is ignored: that head was never trained.
    """

    def __init__(self, evaluator: Evaluator) -> None:
        self._evaluator = evaluator
        self.knows_score = False  # whether the evaluator says something of points: known once it was asked
        self.forget()

    @property
    def game(self) -> Game:
        return self._evaluator.game

    @property
    def preferred_batch(self) -> int:
        """That of the other evaluator."""
        return preferred_batch(self._evaluator)

    def forget(self) -> None:
        """Start a new mean."""
        self._sum = np.zeros(self.game.points, np.float64)  # for Black
        self._count = 0
        self.hits: int | None = None  # evaluations that a cache had, since it was set to None

    def evaluate(self, states: np.ndarray) -> Evaluation:
        """The other evaluator's answer for states int32 [n, S]."""
        found = self._evaluator.evaluate(states)
        self.hear(states, found)
        return found

    def _owners(self, states: np.ndarray) -> np.ndarray | None:
        """float32 [n, P] for the sides to move of states int32 [n, S], not accumulated; None where the game has no
        ownership.
        """
        return None if self.game.owner is None else self._evaluator.evaluate(states).ownership

    def hear(self, states: np.ndarray, found: Evaluation) -> None:
        """Add the ownership of states int32 [n, S] to the mean, and count what was in a cache."""
        self.knows_score = found.score is not None and self.game.score is not None
        if found.ownership is not None and self.game.owner is not None:
            self._sum += np.where(states[:, TO_PLAY] == BLACK, 1.0, -1.0) @ found.ownership
            self._count += len(states)
        if found.known is not None:
            self.hits = (self.hits or 0) + int(found.known.sum())

    def ownership(self, position: Position) -> np.ndarray | None:
        """float32 [P] for the side to move; where nothing was evaluated yet, what is said of the position itself."""
        if self._count == 0:
            found = self._owners(position.state[None])
            return None if found is None else found[0]
        mean = self._sum / self._count
        return (mean if position.to_play == BLACK else -mean).astype(np.float32)

    def after(self, position: Position, actions: list[int]) -> list[np.ndarray | None]:
        """The evaluator's ownership after each of these actions, float32 [P] for the side to move before
        them.
        """
        children = []
        for action in actions:
            child = position.copy()
            child.play(action)
            children.append(child.state)
        found = self._owners(np.stack(children)) if children else None
        return [None] * len(actions) if found is None else [-row for row in found]


def note(search: Search, owners: Owners | None, position: Position, action: int) -> Analysis:
    """A look, as from `look`, with only this action's move."""
    result, has_score = search.result(), owners is not None and owners.knows_score
    score = result.score if has_score else None
    move = _move(search, result, action, has_score)
    return Analysis(position.to_play, result.root_visits, result.value, score, (move,), ownership=None)


def look(search: Search, owners: Owners | None, position: Position, observer: Observer) -> Analysis:
    """A look at tree 0 of a search whose root is `position`; `owners` is the search's evaluator, None where it knows no
    points.
    """
    result = search.result()
    has_score = owners is not None and owners.knows_score
    moves = [_move(search, result, action, has_score) for action in _told(result, observer)]
    if observer.moves_ownership and owners is not None:
        after = owners.after(position, [move.action for move in moves])
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


def counted(look: Analysis, lead: float) -> Analysis:
    """A look at a game that ends now: the side to move leads by this many points, in place of the estimates."""
    value, score = float(np.sign(lead)), None if look.score is None else lead
    moves = tuple(replace(move, value=value, bound=value if move.visits else -1.0, score=score) for move in look.moves)
    return replace(look, value=value, score=score, moves=moves)


def ranked(result: RootResult) -> list[int]:
    """The actions that were tried or could be: the chosen one, then by visits, then by prior."""
    actions = np.flatnonzero((result.visits > 0) | (result.prior > 0))
    order = np.lexsort((-result.prior[actions], -result.visits[actions], actions != result.best))
    return [int(action) for action in actions[order]]


def _told(result: RootResult, observer: Observer) -> list[int]:
    """The actions that a report lists."""
    wanted = max(1, observer.least_moves, int((result.visits > 0).sum()))
    return ranked(result)[: min(wanted, max(1, observer.most_moves))]


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
