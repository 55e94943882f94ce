"""The searches of many positions at once, in waves whose leaves are evaluated together.

A task is a position to be searched; it waits until it has its turn, the highest priority first and the older first
among equals. A wave takes some leaves of every search under way: those of one board size go to the evaluator in one
batch, whatever their komi, rules and settings. Searches do not influence each other, so a position has the same numbers
in company as alone.

The moves of a game are taken as `play` over GTP takes them: for either side at any time, and a move that only superko
forbids too. The engine considers the moves that the full rules allow.
"""

from __future__ import annotations

import heapq
import itertools
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from itertools import groupby

import numpy as np

from gozero import games
from gozero.evaluators.base import Evaluation, Evaluator
from gozero.evaluators.cache import Owners
from gozero.frontends.analysis.queries import Query, QueryError
from gozero.games import coords
from gozero.games.game import Game
from gozero.games.go import go
from gozero.games.position import IllegalMove, Position
from gozero.play.engine import search_settings
from gozero.play.searcher import Analysis, Observer, analysis_of
from gozero.search.root import SearchRequest, left_out
from gozero.search.search import Search
from gozero.search.tree import node_bytes
from gozero.system.errors import SetUpError, UserError


class AnalysisTask:
    """A turn of a query to be searched, and from `begin` on its search. Its root is a position that is not over; after
    the first wave `raw` is the evaluation of that position, n = 1.
    """

    def __init__(self, query: Query, turn: int, root: Position) -> None:
        self.query, self.turn, self.root = query, turn, root
        # int32 [2, A], in how many plies each move is left out, for the side to move and the other
        self._left_out = left_out(query.restrictions, root.to_play, root.game.actions)
        if not (root.legal() & (self._left_out[0] == 0)).any():
            field = "allowMoves" if query.restrictions[0].alone else "avoidMoves"
            raise QueryError(field, f"no legal move is left at turn {turn}")

    def begin(self, evaluator: Evaluator, now: float, memory: int) -> None:
        """Start the search, in a tree of that many bytes at most."""
        query, root = self.query, self.root
        settings = search_settings(query.visits, root.game.name)
        room = max(1, min(query.visits + settings.leaves, memory // node_bytes(root.game)))
        self.evaluator = evaluator
        self.raw: Evaluation | None = None
        self.deadline = now + query.seconds
        self.next_report = now + query.first_report
        self._owners = Owners(evaluator)
        self._search = Search(root.game, evaluator, replace(settings, max_nodes=room))
        request = SearchRequest(
            root.state, root.history_row(0), query.visits,
            noise=query.temperature is not None, temperature=query.temperature, left_out=self._left_out,
            wide_root_noise=query.wide_root_noise,
        )  # fmt: skip
        self._search.begin(0, request)

    @property
    def is_finished(self) -> bool:
        """Whether its visits are spent, or its tree is full."""
        return self._search.is_finished

    @property
    def is_full(self) -> bool:
        """Whether it ended for lack of memory."""
        return self._search.is_full()

    def collect(self) -> np.ndarray:
        """int32 [n, S], the leaves of its next wave, in the first one the position itself; see `Search.collect`."""
        self._leaves = self._search.collect()
        return self._leaves

    def absorb(self, found: Evaluation | None) -> None:
        """Take the evaluation of those leaves; None if there were none."""
        if found is not None:
            self._owners.add(self._leaves, found)
            if self.raw is None:
                self.raw = found.of([0])  # a copy: the evaluator may reuse its arrays
        self._search.absorb(found)

    def analysis(self) -> Analysis:
        """The result so far; at least one wave must be over."""
        query = self.query
        observer = Observer(lambda analysis: None, ownership=query.ownership, moves_ownership=query.moves_ownership)
        return analysis_of(self._search, self.root, observer, owners=self._owners)


def tasks(query: Query) -> list[AnalysisTask]:
    """The turns of a query, in the order of the game. QueryError for impossible stones or moves, and if no move is
    left.
    """
    position = Position(games.make("go", size=query.size, rules=query.rules, komi=query.komi, handicap=query.handicap))
    try:
        position.set_up(dict(query.stones), query.to_play)
    except SetUpError as error:
        raise QueryError("initialStones", str(error)) from None
    found = []
    for turn in range(len(query.moves) + 1):
        if turn > 0:
            _play(position, query, turn - 1)
        if turn in query.priorities:
            root = position.copy()
            if root.is_over:
                root.state[go.PASSES] = 0  # a query for a move means that the passes have not ended the game
            found.append(AnalysisTask(query, turn, root))
    return found


def _play(position: Position, query: Query, number: int) -> None:
    colour, action = query.moves[number]
    try:
        position.play(action, colour, superko=False)
    except IllegalMove:
        raise QueryError("moves", f"Illegal move {number}: {coords.vertex(action, query.size)}") from None


@dataclass(eq=False)
class Analyst:
    """Searches several tasks at once."""

    # gives the evaluator for a board when a task on it has its turn; that may take seconds
    open_evaluator: Callable[[Game], Evaluator]
    positions: int  # searches under way at most
    # called with a task and whether it continues: at the intervals of its query, and once at its end
    report: Callable[[AnalysisTask, bool], None]
    # called in the place of the last report with a task whose search raised an error: it has ended
    failed: Callable[[AnalysisTask, Exception], None]
    memory: int  # bytes for the trees of all searches together, shared evenly
    clock: Callable[[], float] = time.monotonic
    _waiting: list[tuple[int, int, AnalysisTask]] = field(default_factory=list)
    _running: list[AnalysisTask] = field(default_factory=list)
    _numbers: Iterator[int] = field(default_factory=itertools.count)

    @property
    def is_idle(self) -> bool:
        return not self._running and not self._waiting

    def add(self, task: AnalysisTask) -> None:
        """Queue a task."""
        heapq.heappush(self._waiting, (-task.query.priorities[task.turn], next(self._numbers), task))

    def end(self, is_meant: Callable[[AnalysisTask], bool]) -> list[AnalysisTask]:
        """End tasks now. Running ones are reported as far as they are; queued ones are returned, oldest first."""
        dropped = [entry for entry in self._waiting if is_meant(entry[2])]
        self._waiting = [entry for entry in self._waiting if not is_meant(entry[2])]
        heapq.heapify(self._waiting)
        self._finish([running for running in self._running if is_meant(running)])
        return [task for _, _, task in sorted(dropped, key=lambda entry: entry[1])]

    def wave(self) -> None:
        """One wave of all searches under way, after giving free places to tasks that wait. Reports what is due."""
        while self._waiting and len(self._running) < self.positions:
            self._start(heapq.heappop(self._waiting)[2])
        for _, same_board in groupby(sorted(self._running, key=_size), key=_size):
            self._advance(list(same_board))
        now = self.clock()
        self._finish([running for running in self._running if running.is_finished or now >= running.deadline])
        for running in list(self._running):
            if now >= running.next_report:
                running.next_report = now + running.query.report_interval
                self._report(running, goes_on=True)

    def _start(self, task: AnalysisTask) -> None:
        with self._guarded(task):
            task.begin(self.open_evaluator(task.root.game), self.clock(), self.memory // self.positions)
            self._running.append(task)

    def _advance(self, group: list[AnalysisTask]) -> None:
        """Run a wave of searches on boards of one size: in one batch, or if that fails each by itself."""
        leaves = [running.collect() for running in group]
        try:
            parts: list[Evaluation | None] = _evaluated(group[0].evaluator, leaves)
        except Exception:  # noqa: BLE001 - it was too much at once, or one of them is to blame
            parts = []
        for number, running in enumerate(group):
            with self._guarded(running):
                running.absorb(parts[number] if parts else _evaluated(running.evaluator, [leaves[number]])[0])

    def _finish(self, ended: list[AnalysisTask]) -> None:
        self._running = [running for running in self._running if running not in ended]
        for running in ended:
            self._report(running, goes_on=False)

    def _report(self, running: AnalysisTask, *, goes_on: bool) -> None:
        """Report; if the answer cannot be made, which may need an evaluation, the search has failed."""
        with self._guarded(running):
            self.report(running, goes_on)

    @contextmanager
    def _guarded(self, task: AnalysisTask) -> Iterator[None]:
        """Around what may fail for this task, for lack of memory, say: the other searches go on."""
        try:
            yield
        except (BrokenPipeError, UserError):  # nobody reads; these weights, or this backend, serve no board
            raise
        except Exception as error:  # noqa: BLE001 - the border
            self._running = [other for other in self._running if other is not task]
            self.failed(task, error)


def _size(running: AnalysisTask) -> int:
    return running.query.size


def _evaluated(evaluator: Evaluator, leaves: list[np.ndarray]) -> list[Evaluation | None]:
    """The evaluations of each search's leaves, int32 [n, S], in one batch; None if there are none."""
    states = np.concatenate(leaves)
    if not len(states):
        return [None] * len(leaves)
    evaluation = evaluator.evaluate(states)
    ends = np.cumsum([len(part) for part in leaves]).tolist()
    return [
        evaluation.of(slice(end - len(part), end)) if len(part) else None
        for part, end in zip(leaves, ends, strict=True)
    ]
