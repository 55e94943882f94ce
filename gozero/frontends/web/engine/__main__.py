"""The engine process of a game: `python -m gozero.frontends.web.engine`, which the server starts.

It reads requests on standard input, one JSON object a line, and writes reports on standard output in the same form.
Between requests it searches; a request ends the search, but most are handled while the engine's own move is chosen.
"""

from __future__ import annotations

import json
import os
import queue
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import suppress
from typing import TYPE_CHECKING, Any

from gozero.frontends.web.settings import EngineProcessSettings
from gozero.nets.weights import WeightsError
from gozero.system import jit
from gozero.system.console import SUCCESS, from_arguments, report_bug, run_server
from gozero.system.errors import ChoiceError
from gozero.system.options import SettingsError
from gozero.system.streams import Log, ProtocolOutput, arriving_lines

if TYPE_CHECKING:
    from gozero.frontends.web.engine.handler import RequestHandler

URGENT = ("new", "undo", "resign", "load", "review", "restore", "catalogue")
"""Requests for which a move that is being chosen is cut short; the others leave the live game as it is."""
LOADING = (
    "Preparing the rules and the search for this processor: {seconds} s so far. The first time for each version they "
    "are compiled, which takes about half a minute, longer on a busy machine."
)
Report = Callable[[dict[str, Any]], None]
WAIT = 0.3  # seconds for the rules, before the page shows that they are being prepared


class RequestQueue:
    """The requests that wait.

    Args:
        lines: of standard input; their end ends the process.
        note: called with each of them.
    """

    def __init__(self, lines: Iterator[str], note: Callable[[str], None]) -> None:
        self._requests: queue.SimpleQueue[dict[str, Any] | None] = queue.SimpleQueue()
        self._seen: list[dict[str, Any] | None] = []  # at most the next one
        threading.Thread(target=self._read, args=(lines, note), name="requests", daemon=True).start()

    def _read(self, lines: Iterator[str], note: Callable[[str], None]) -> None:
        with suppress(ValueError):  # a line that was cut off, as when the server is killed
            for line in lines:
                note(line)
                self._requests.put(json.loads(line))
        self._requests.put(None)

    def is_waiting(self) -> bool:
        """Whether a request waits."""
        return bool(self._seen) or not self._requests.empty()

    def take_minor(self) -> dict[str, Any] | None:
        """The next request, if one has arrived and no move is cut short for it."""
        if not self.is_waiting():
            return None
        request = self.take(None)
        if request is None or request["do"] in URGENT:
            self._seen.append(request)
            return None
        return request

    def take(self, seconds: float | None) -> dict[str, Any] | None:
        """The next request; None at the end of the input. queue.Empty where none comes in this time."""
        return self._seen.pop() if self._seen else self._requests.get(timeout=seconds)


def main(arguments: list[str] | None = None) -> None:
    """Serve one game until the end of the input."""
    program, about = "gozero.frontends.web.engine", __doc__ or ""
    run_server("gozero web", lambda: from_arguments(EngineProcessSettings, arguments, program, about), serve)


def serve(settings: EngineProcessSettings, log: Log | None) -> int:
    """Answer requests until their end. Returns the exit code."""
    output = ProtocolOutput.take_over(log)
    requests = RequestQueue(arriving_lines(0), output.note)

    def report(values: dict[str, Any]) -> None:
        output.write(json.dumps(values, separators=(",", ":"), allow_nan=False) + "\n")

    with jit.collecting() as kernels:  # they are compiled in another thread
        from gozero import games  # noqa: F401  # the evaluator's kernels with the others
        from gozero.frontends.web.engine.handler import RequestHandler
        from gozero.games import connect4, gomoku, nogo, othello, tictactoe  # noqa: F401
        from gozero.games.go import go, simple_go  # noqa: F401
        from gozero.nets import features  # noqa: F401  # the evaluator's kernels with the others
    compilation = jit.Compilation(kernels)

    def answer(request: dict[str, Any]) -> None:
        page = request.get("page")
        guarded(lambda: handler.do(request), lambda values: report({**values, "to": page}))
        if page is not None:
            report({"is": "done", "to": page})

    def is_cut() -> bool:
        while (request := requests.take_minor()) is not None:
            answer(request)
        return requests.is_waiting()

    handler = RequestHandler(settings, requests.is_waiting, is_cut, report, lambda: wait(compilation, report))
    while (request := next_request(handler, requests, report)) is not None:
        answer(request)
    os._exit(SUCCESS)  # threads that load or compile are not waited for


def wait(compilation: jit.Compilation, report: Report) -> None:
    """Wait until the kernels are compiled; if that takes long, report the seconds to the page."""
    begun = time.monotonic()
    if compilation.wait(WAIT):
        return
    while True:
        report({"is": "loading", "text": LOADING.format(seconds=round(time.monotonic() - begun))})
        if compilation.wait(1.0):
            break
    report({"is": "loading", "text": ""})


def next_request(handler: RequestHandler, requests: RequestQueue, report: Report) -> dict[str, Any] | None:
    """The next request; until it comes the engine works, and watches the clock of a person."""
    while True:
        left = handler.seconds_left(time.monotonic())
        if left == 0:
            guarded(handler.time_is_up, report)
        elif handler.has_work and not requests.is_waiting():
            guarded(handler.work, report)
        else:
            with suppress(queue.Empty):
                return requests.take(left)


def guarded(act: Callable[[], None], report: Report) -> None:
    """Do it; report to the page in one sentence what cannot be done, or that there is a bug."""
    from gozero.frontends.web.engine.session import RefusedError

    try:
        act()
    except RefusedError as refused:
        report({"is": "refused", "text": str(refused)})
    except (ChoiceError, SettingsError, WeightsError) as error:
        report({"is": "refused", "text": f"{str(error)[:1].upper()}{str(error)[1:]}."})
    except BrokenPipeError:
        raise
    except Exception as error:  # noqa: BLE001 - the border: a bug in one request must not take the game with it
        report_bug("gozero web", error)
        text = f"Internal error: {type(error).__name__}; the terminal says more."
        report({"is": "refused", "text": text, "bug": True})


if __name__ == "__main__":
    main()
