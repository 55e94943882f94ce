"""The search tree that follows the moves of a game, with the limits of a search and its observers.

Vocabulary. *Limits* say what one search may cost. The *line* is the moves that lead to the tree's root; visits are
*kept* where the moves since then lead into the tree. Which moves make sense, and which of them is played, is the
player's judgement.
"""

from __future__ import annotations

import math
import time
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from gozero.evaluators.base import Evaluator
from gozero.evaluators.row import RowEvaluator
from gozero.games.position import Move, Position
from gozero.play.report import Analysis, Observer, Owners, look, note
from gozero.search.early_stop import Patience
from gozero.search.memory import Memory
from gozero.search.request import SearchRequest
from gozero.search.search import RootResult, Search
from gozero.search.settings import SearchSettings

UNLIMITED_VISITS = 100_000_000  # the budget where time alone limits a move


def never() -> bool:
    """Give no reason to stop."""
    return False


@dataclass(frozen=True)
class Limits:
    """What one move may cost: whichever is reached first. Times are seconds on the clock of time.monotonic."""

    visits: int | None = (
        400  # simulations, those kept from the move before included; None: as many as there is time for
    )
    deadline: float = math.inf
    target: float = (
        math.inf
    )  # when to end, sooner or later as `gozero.search.early_stop` judges; infinite: the other limits alone count


class GameTree:
    """One search tree that follows the game: an earlier search is kept where the moves played since lead into its tree.

    Args:
        evaluator, settings, seed: as for `Search`.
        left_out: int32 [2, A], what all its searches leave out, see `SearchRequest`; None: nothing.
        memory: as for `Search`.
    """

    def __init__(
        self,
        evaluator: Evaluator,
        settings: SearchSettings,
        seed: int,
        left_out: np.ndarray | None = None,
        memory: Memory | None = None,
    ) -> None:
        self.evaluator = evaluator
        self._left_out = left_out
        self._owners = None if isinstance(evaluator, RowEvaluator) else Owners(evaluator)
        self._search = Search(evaluator.game, self._owners or evaluator, settings, seed=seed, memory=memory)
        self._may_grow = memory is not None
        self.kept = 0  # visits that the last search found in the tree
        self._line: list[Move] = []  # the moves that lead to the tree's root
        self._mask = np.zeros(evaluator.game.actions, np.bool_)  # what was searched there

    def search(
        self,
        root: Position,
        mask: np.ndarray,
        limits: Limits,
        should_stop: Callable[[], bool],
        observer: Observer | None = None,
    ) -> RootResult:
        """Search ``root`` among the actions of ``mask`` bool [A] until the limits are reached, the tree is full or
        ``should_stop()``.
        """
        try:
            return self._searched(root, mask, limits, should_stop, observer)
        except BaseException:  # whatever state the tree is in
            self._search.drop()
            self._line = []
            raise

    def _searched(
        self,
        root: Position,
        mask: np.ndarray,
        limits: Limits,
        should_stop: Callable[[], bool],
        observer: Observer | None,
    ) -> RootResult:
        visits = UNLIMITED_VISITS if limits.visits is None else limits.visits
        keep = self._follow(root.moves, mask)
        self._search.begin(
            0,
            SearchRequest(root.state, root.history_row(0), visits, root_mask=mask, left_out=self._left_out, keep=keep),
        )
        self.kept = self._search.root_visits()
        if self._owners is not None:
            self._owners.hits = None
            if not self.kept:
                self._owners.forget()
        self._line, self._mask = list(root.moves), mask
        stop = should_stop if limits.target == math.inf else self._impatient(limits.target, should_stop)
        if observer is None:
            self._search.run(limits.deadline, stop)
        else:
            self._run_observed(root, limits, stop, observer)
        return self._search.result(0)

    @property
    def is_full(self) -> bool:
        """Whether the last search ended because the tree reached the limit of its memory."""
        return self._may_grow and self._search.is_full()

    def _impatient(self, target: float, should_stop: Callable[[], bool]) -> Callable[[], bool]:
        """``should_stop``, or the judgement that the search has found out enough."""
        patience = Patience(target)
        return lambda: should_stop() or patience.is_exhausted(self._search.result(), time.monotonic())

    def forget(self) -> None:
        """Begin again as a new tree would."""
        self._search.restart(self._search.evaluator, self._search.seed)
        if self._owners is not None:
            self._owners.forget()
        self._line = []

    def note(self, root: Position, action: int) -> Analysis:
        """What the search of ``root`` thinks of this action."""
        return note(self._search, self._owners, root, action)

    def look(self, root: Position, moves: int) -> Analysis:
        """What the search of ``root`` has found, with its first moves."""
        return look(self._search, self._owners, root, Observer(_ignore, least_moves=moves, most_moves=moves))

    def text(self, depth: int) -> str:
        """The tree, ``depth`` plies deep."""
        return self._search.text(depth=depth)

    def _run_observed(
        self, root: Position, limits: Limits, should_stop: Callable[[], bool], observer: Observer
    ) -> None:
        """Search, and report to the observer at intervals and at the end."""
        over, looks = False, 0
        while not over:
            self._search.run(min(limits.deadline, time.monotonic() + observer.interval), should_stop)
            stopped = should_stop()
            over = stopped or self._search.is_finished or time.monotonic() >= limits.deadline
            if observer.sees_the_end or not stopped or looks == 0:
                observer.report(look(self._search, self._owners, root, observer))
                looks += 1

    def _follow(self, moves: list[Move], mask: np.ndarray) -> bool:
        """Advance the tree to the position after ``moves``; False where that is not below its root, or was searched
        among fewer actions.
        """
        if moves[: len(self._line)] != self._line:
            return False
        if len(moves) == len(self._line):
            return bool((self._mask >= mask).all())
        if self._owners is not None:
            self._owners.forget()
        return all(self._search.advance(0, move.action) for move in moves[len(self._line) :])


def _ignore(look: Analysis) -> None:
    """Ignore a report."""
