"""Reports on a search, for analysis: snapshots, with all numbers for the side to move at the root."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass, replace

import numpy as np

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
