"""Answers the lines of a client: queries become tasks, which are searched many at once; actions are done at once.

A task waits until it has its turn, the highest priority first and the older first among equals. A wave takes some
leaves of every search under way: those of one board size go to the evaluator in one batch, whatever their komi, rules
and settings. Searches do not influence each other, so a position has the same numbers in company as alone.

Every turn of a query ends with exactly one answer that is not during the search, unless the query was refused; if
its search fails, for lack of memory, say, that answer is an error. Lines that cannot be used are answered with an error
and change nothing. What is heavy is imported at the first query, so that `query_version` is answered at once.
"""

from __future__ import annotations

import heapq
import itertools
import queue
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from itertools import groupby
from operator import attrgetter
from typing import TYPE_CHECKING, Any

from gozero import __version__
from gozero.frontends.analysis.queries import ACTION, TEXT, AnalysisSettings, Fields, Query, QueryError, read_query
from gozero.play.engine import MANY_LEAVES, no_more_memory
from gozero.system.console import report_bug
from gozero.system.errors import UserError, lack_of_memory
from gozero.system.files import from_json

if TYPE_CHECKING:
    from gozero.evaluators.base import Evaluation
    from gozero.evaluators.factory import Evaluators
    from gozero.frontends.analysis.tasks import AnalysisTask
    from gozero.nets.weights import Header


@dataclass(eq=False)
class Server:
    """Answers lines, and searches several tasks at once."""

    settings: AnalysisSettings
    header: Header  # of the weights
    evaluators: Evaluators  # of the same; one is opened when a task on its board has its turn, which may take seconds
    send: Callable[[Mapping[str, Any]], None]
    warn: Callable[[str], None]  # called once, when a search ended for lack of memory
    clock: Callable[[], float] = time.monotonic
    _has_warned: bool = False
    _waiting: list[tuple[int, int, AnalysisTask]] = field(default_factory=list)
    _running: list[AnalysisTask] = field(default_factory=list)
    _numbers: Iterator[int] = field(default_factory=itertools.count)

    @property
    def _memory(self) -> int:
        """Bytes for the tree of each search."""
        return self.settings.tree_memory // self.settings.positions

    @property
    def is_idle(self) -> bool:
        """Whether nothing is left to search."""
        return not self._running and not self._waiting

    # Lines

    def take(self, line: str) -> None:
        """Answer a line, or start its search; a blank line is ignored."""
        if not line.strip():
            return
        try:
            values = from_json(line, is_finite=True)
        except ValueError as error:
            self.send({"error": f"not a line of JSON: {error}"})
            return
        if not isinstance(values, dict):
            self.send({"error": "expected a JSON object"})
        elif not isinstance(values.get("id"), str):
            self.send({"error": 'expected a field "id" with a text'})
        else:
            self._take(values)

    def _take(self, values: Mapping[str, Any]) -> None:
        """Answer an object with an id."""
        try:
            if "action" in values:
                self.send({**values, **self._done(Fields(values))})
            else:
                self._ask(read_query(values, self.settings, self.header))
        except QueryError as error:
            self.send({"error": str(error), "field": error.field, "id": values["id"]})
        except BrokenPipeError:
            raise
        except RecursionError:
            self.send({"error": "its lists or objects are nested too deeply", "id": values["id"]})
        except Exception as error:  # noqa: BLE001 - the border: a bug in one query must not take the others with it
            self.send({**_internal(error), "id": values["id"]})

    def _ask(self, query: Query) -> None:
        from gozero.frontends.analysis.tasks import tasks

        found = tasks(query)
        for name, text in query.warnings:
            self.send({"warning": text, "field": name, "id": query.id})
        for task in found:
            self.add(task)

    def _done(self, fields: Fields) -> dict[str, Any]:
        """Carry out an action; the answer is the object itself with these results added."""
        name = fields.take("action", ACTION)
        if name == "query_version":
            return {"version": __version__, "git_hash": "<omitted>"}
        if name == "query_models":
            name, batch = self.evaluators.path.name, MANY_LEAVES * self.settings.positions
            model = {"name": name, "internalName": name, "maxBatchSize": batch, "usesHumanSLProfile": False}
            return {"models": [model]}
        if name == "clear_cache":
            self.evaluators.forget()
            return {}
        ended = fields.take("terminateId", TEXT) if name == "terminate" else None
        turns = fields.numbers("turnNumbers") if "turnNumbers" in fields else None
        self._terminate(lambda task: ended in (None, task.query.id) and (turns is None or task.turn in turns))
        return {}

    def _terminate(self, is_meant: Callable[[AnalysisTask], bool]) -> None:
        """End tasks now. Running ones are answered as far as they are, then those that waited, the oldest first."""
        dropped = [entry for entry in self._waiting if is_meant(entry[2])]
        self._waiting = [entry for entry in self._waiting if not is_meant(entry[2])]
        heapq.heapify(self._waiting)
        self._finish([running for running in self._running if is_meant(running)])
        for _, _, task in sorted(dropped, key=lambda entry: entry[1]):
            self.send({**task.head(is_during_search=False), "noResults": True})

    # Searches

    def add(self, task: AnalysisTask) -> None:
        heapq.heappush(self._waiting, (-task.query.priorities[task.turn], next(self._numbers), task))

    def wave(self) -> None:
        """One wave of all searches under way, after giving free places to tasks that wait. Answers what is due."""
        while self._waiting and len(self._running) < self.settings.positions:
            task = heapq.heappop(self._waiting)[2]
            with self._guarded(task):
                task.begin(self.evaluators.open(task.root.game), self.clock(), self._memory)
                self._running.append(task)
        size = attrgetter("query.size")
        for _, same_board in groupby(sorted(self._running, key=size), key=size):
            self._advance(list(same_board))
        now = self.clock()
        self._finish([running for running in self._running if running.search.is_finished or now >= running.deadline])
        for running in list(self._running):
            if now >= running.next_report:
                running.next_report = now + running.query.report_interval
                self._answer(running, is_during_search=True)

    def _advance(self, group: list[AnalysisTask]) -> None:
        """Run a wave of searches on boards of one size: in one batch, or if that fails each by itself."""
        from gozero.frontends.analysis.tasks import evaluated

        leaves = [running.collect() for running in group]
        try:
            parts: list[Evaluation | None] = evaluated(group[0].evaluator, leaves)
        except Exception:  # noqa: BLE001 - it was too much at once, or one of them is to blame
            parts = []
        for number, running in enumerate(group):
            with self._guarded(running):
                running.absorb(parts[number] if parts else evaluated(running.evaluator, [leaves[number]])[0])

    def _finish(self, ended: list[AnalysisTask]) -> None:
        self._running = [running for running in self._running if running not in ended]
        for running in ended:
            self._answer(running, is_during_search=False)

    def _answer(self, running: AnalysisTask, *, is_during_search: bool) -> None:
        """Send what was found; if the answer cannot be made, which may need an evaluation, the search has failed."""
        from gozero.frontends.analysis import answers

        if running.search.is_full() and not self._has_warned:
            self._has_warned = True
            self.warn(no_more_memory(self._memory, "more --max-memory MB or fewer --positions help"))
        with self._guarded(running):
            self.send(answers.answer(running, is_during_search=is_during_search))

    @contextmanager
    def _guarded(self, task: AnalysisTask) -> Iterator[None]:
        """Around what may fail for this task, for lack of memory, say: the other searches go on."""
        try:
            yield
        except (BrokenPipeError, UserError):  # nobody reads; these weights, or this backend, serve no board
            raise
        except Exception as error:  # noqa: BLE001 - the border
            self._running = [other for other in self._running if other is not task]
            self.send({**_internal(error), "id": task.query.id, "turnNumber": task.turn})


def serve(server: Server, lines: queue.Queue[str | None], *, finish: bool = True) -> None:
    """Answer lines until None, their end; then finish the remaining queries, unless ``finish`` is false."""
    ended = False
    while not (ended and (server.is_idle or not finish)):
        while not ended and (server.is_idle or not lines.empty()):
            line = lines.get()
            ended = line is None
            server.take(line or "")
        if finish or not ended:
            server.wave()


def _internal(error: Exception) -> dict[str, str]:
    """The answer after an error that is ours or the machine's, not the client's; stderr gets the rest of it."""
    if (said := lack_of_memory(error)) is None:
        report_bug("gozero analysis", error)
    return {"error": said or f"internal error: {type(error).__name__}: {error}"}
