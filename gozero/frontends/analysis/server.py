"""Answers the lines of a client: queries become tasks of the analyst, actions are done at once.

Every turn of a query ends with exactly one answer that is not during the search, unless the query was refused; if
its search fails, for lack of memory, say, that answer is an error. Lines that cannot be used are answered with an error
and change nothing. What is heavy is imported at the first query, so that `query_version` is answered at once.
"""

from __future__ import annotations

import json
import math
import queue
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, NoReturn

from gozero import __version__
from gozero.frontends.analysis.queries import ACTION, TEXT, Defaults, Fields, Query, QueryError, read_query
from gozero.play.engine import MANY_LEAVES, no_more_memory
from gozero.system.console import report_bug

if TYPE_CHECKING:
    from gozero.evaluators.base import Evaluator
    from gozero.frontends.analysis.analyst import AnalysisTask, Analyst
    from gozero.games.game import Game

Send = Callable[[Mapping[str, Any]], None]


@dataclass(eq=False)
class Server:
    """Answers lines."""

    model: str  # the name of the weights, for `query_models`
    defaults: Defaults
    positions: int  # searched at once
    open_evaluator: Callable[[Game], Evaluator]  # see `gozero.frontends.analysis.analyst.Analyst`
    send: Send
    memory: int  # bytes, for all searches together
    clear_cache: Callable[[], None]  # called at the action of that name
    warn: Callable[[str], None]  # called once, when a search ended for lack of memory
    _has_warned: bool = False
    _analyst: Analyst | None = None

    @property
    def is_idle(self) -> bool:
        """Whether nothing is left to search."""
        return self._analyst is None or self._analyst.is_idle

    def wave(self) -> None:
        """Run one wave of all searches."""
        if self._analyst is not None:
            self._analyst.wave()

    def take(self, line: str) -> None:
        """Answer a line, or start its search; a blank line is ignored."""
        if not line.strip():
            return
        try:
            values = json.loads(line, parse_constant=_refused, parse_float=_finite)
        except (ValueError, RecursionError) as error:
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
                self._ask(read_query(values, self.defaults))
        except QueryError as error:
            self.send({"error": str(error), "field": error.field, "id": values["id"]})
        except BrokenPipeError:
            raise
        except RecursionError:
            self.send({"error": "its lists or objects are nested too deeply", "id": values["id"]})
        except Exception as error:  # noqa: BLE001 - the border: a bug in one query must not take the others with it
            self.send({**_internal(error), "id": values["id"]})

    def _ask(self, query: Query) -> None:
        from gozero.frontends.analysis.analyst import Analyst, tasks

        found = tasks(query)
        for field, text in query.warnings:
            self.send({"warning": text, "field": field, "id": query.id})
        if self._analyst is None:
            self._analyst = Analyst(self.open_evaluator, self.positions, self._report, self._failed, self.memory)
        for task in found:
            self._analyst.add(task)

    def _done(self, fields: Fields) -> dict[str, Any]:
        """Carry out an action; the answer is the object itself with these results added."""
        name = fields.take("action", ACTION)
        if name == "query_version":
            return {"version": __version__, "git_hash": "<omitted>"}
        if name == "query_models":
            model = {"name": self.model, "internalName": self.model, "maxBatchSize": MANY_LEAVES * self.positions}
            return {"models": [{**model, "usesHumanSLProfile": False}]}
        if name == "clear_cache":
            self.clear_cache()
            return {}
        ended = fields.take("terminateId", TEXT) if name == "terminate" else None
        turns = fields.numbers("turnNumbers") if "turnNumbers" in fields else None
        self._end(lambda task: ended in (None, task.query.id) and (turns is None or task.turn in turns))
        return {}

    def _end(self, is_meant: Callable[[AnalysisTask], bool]) -> None:
        from gozero.frontends.analysis.answers import no_results

        for task in [] if self._analyst is None else self._analyst.end(is_meant):
            self.send(no_results(task))

    def _report(self, running: AnalysisTask, goes_on: bool) -> None:
        from gozero.frontends.analysis.answers import answer

        assert running.raw is not None
        if running.is_full and not self._has_warned:
            self._has_warned = True
            self.warn(no_more_memory(self.memory))
        self.send(answer(running, running.analysis(), running.raw, is_during_search=goes_on))

    def _failed(self, task: AnalysisTask, error: Exception) -> None:
        """Answer a turn whose search raised an error."""
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
    report_bug("gozero analysis", error)
    return {"error": f"internal error: {type(error).__name__}: {error}"}


def _finite(text: str) -> float:
    """A number with a point or an exponent. ValueError if it is too large for Python, which would read infinity."""
    value = float(text)
    return value if math.isfinite(value) else _refused(text)


def _refused(name: str) -> NoReturn:
    """Python reads NaN and Infinity, which no other reader of the answer would understand."""
    raise ValueError(f"{name[:40]} is no number in JSON, or too large for one")
