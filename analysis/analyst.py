"""The searches of many positions at once, in waves whose leaves are evaluated together.

Vocabulary. A *task* is a position to be searched (`analysis.positions.Task`); it *waits* until it has its turn, the highest priority first
and the older first among equals, and is then *under way*. A *wave* takes some leaves of every search under way: those of one board size
go to the evaluator in one batch, whatever their komi, rules and settings. Searches do not influence each other, so a position has the same
numbers in company as alone.

This module knows no JSON and starts no thread.
"""

from __future__ import annotations

import heapq
import itertools
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from itertools import groupby

import numpy as np

from analysis.positions import Task
from gozero.analysis import Analysis, Owners, Watch, look
from gozero.engine import search_settings
from gozero.evaluators.base import Evaluation, Evaluator
from gozero.games.game import Game
from gozero.search.memory import Memory
from gozero.search.request import SearchRequest
from gozero.search.search import Search


@dataclass(frozen=True)
class Opinion:
    """What the evaluator alone says of a position, for the side to move.

    Attributes:
        logits: float32 [A].
        value: expected result, -1..1.
        score: expected lead in points, None where it knows none.
    """

    logits: np.ndarray
    value: float
    score: float | None


class Study:
    """A task under way."""

    def __init__(self, task: Task, evaluator: Evaluator, now: float, memory: Memory) -> None:
        query, root = task.query, task.root
        settings = search_settings(query.visits, root.game.name)
        room = min(settings.max_nodes, query.visits + settings.leaves)
        self.task = task
        self.evaluator = evaluator
        self.opinion: Opinion | None = None
        self.deadline = now + query.seconds
        self.next_report = now + query.first_report
        self._owners = Owners(evaluator)
        self._search = Search(root.game, evaluator, replace(settings, max_nodes=room), memory=memory)
        request = SearchRequest(
            root.state, root.history_row(0), query.visits,
            noise=query.temperature is not None, temperature=query.temperature, left_out=task.left_out,
        )  # fmt: skip
        self._search.begin(0, request)

    @property
    def is_finished(self) -> bool:
        """Whether its visits are spent, or its tree can grow no further."""
        return self._search.is_finished

    @property
    def is_full(self) -> bool:
        """Whether it ended for want of memory."""
        return self._search.is_full()

    def collect(self) -> np.ndarray:
        """int32 [n, S], the leaves of its next wave: the position itself in the first one; see `Search.collect`."""
        self._leaves = self._search.collect()
        return self._leaves

    def absorb(self, found: Evaluation | None) -> None:
        """Take what the evaluator says of those leaves; None where there were none."""
        if found is not None:
            self._owners.hear(self._leaves, found)
            if self.opinion is None:
                score = None if found.score is None else float(found.score[0])
                self.opinion = Opinion(found.logits[0].copy(), float(found.value[0]), score)
        self._search.absorb(found)

    def look(self) -> Analysis:
        """What it has found so far; at least one wave must be over."""
        wishes = self.task.query.wishes
        watch = Watch(lambda analysis: None, ownership=wishes.ownership, moves_ownership=wishes.moves_ownership)
        return look(self._search, self._owners, self.task.root, watch)


class Analyst:
    """Searches tasks, so many at once.

    Args:
        open_evaluator: gives the evaluator for a board; called when a task on it has its turn. It may take seconds.
        positions: searches under way at most.
        report: told of a study, and whether it still goes on: at the intervals that its query asks for, and once at its end.
        memory: for the trees of all searches together.
        clock: seconds.
    """

    def __init__(
        self,
        open_evaluator: Callable[[Game], Evaluator],
        positions: int,
        report: Callable[[Study, bool], None],
        memory: Memory,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        self._open_evaluator = open_evaluator
        self._positions = positions
        self._report = report
        self._memory = memory
        self._clock = clock
        self._waiting: list[tuple[int, int, Task]] = []
        self._numbers = itertools.count()
        self._studies: list[Study] = []

    @property
    def is_idle(self) -> bool:
        return not self._studies and not self._waiting

    def add(self, task: Task) -> None:
        """Let a task wait for its turn."""
        heapq.heappush(self._waiting, (-task.priority, next(self._numbers), task))

    def end(self, is_meant: Callable[[Task], bool]) -> list[Task]:
        """End tasks now. Those under way are reported with what they have found; those that waited are returned, oldest first."""
        dropped = [entry for entry in self._waiting if is_meant(entry[2])]
        self._waiting = [entry for entry in self._waiting if not is_meant(entry[2])]
        heapq.heapify(self._waiting)
        self._finish([study for study in self._studies if is_meant(study.task)])
        return [task for _, _, task in sorted(dropped, key=lambda entry: entry[1])]

    def wave(self) -> None:
        """One wave of all searches under way, after giving free places to tasks that wait. Reports what is due."""
        while self._waiting and len(self._studies) < self._positions:
            task = heapq.heappop(self._waiting)[2]
            self._studies.append(Study(task, self._open_evaluator(task.root.game), self._clock(), self._memory))
        for _, same_board in groupby(sorted(self._studies, key=_size), key=_size):
            _advance(list(same_board))
        now = self._clock()
        self._finish([study for study in self._studies if study.is_finished or now >= study.deadline])
        for study in self._studies:
            if now >= study.next_report:
                study.next_report = now + study.task.query.report_interval
                self._report(study, True)

    def _finish(self, studies: list[Study]) -> None:
        self._studies = [study for study in self._studies if study not in studies]
        for study in studies:
            self._report(study, False)


def _size(study: Study) -> int:
    return study.task.query.size


def _advance(studies: list[Study]) -> None:
    """A wave of searches on boards of one size."""
    leaves = [study.collect() for study in studies]
    states = np.concatenate(leaves)
    parts: Iterator[Evaluation | None] = itertools.repeat(None)
    if len(states):
        parts = _parts(studies[0].evaluator.evaluate(states), [len(part) for part in leaves])
    for study, part in zip(studies, parts, strict=False):
        study.absorb(part)


def _parts(evaluation: Evaluation, lengths: list[int]) -> Iterator[Evaluation | None]:
    """An evaluation of many states in parts of these lengths; None for an empty one."""
    end = 0
    for length in lengths:
        start, end = end, end + length
        yield _part(evaluation, start, end) if length else None


def _part(evaluation: Evaluation, start: int, end: int) -> Evaluation:
    logits, value, score, ownership = evaluation
    return Evaluation(
        logits[start:end],
        value[start:end],
        None if score is None else score[start:end],
        None if ownership is None else ownership[start:end],
    )
