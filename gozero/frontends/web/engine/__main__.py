"""The engine process of a game: `python -m gozero.frontends.web.engine`, which the server starts.

It reads requests on standard input, one JSON object a line, and writes reports on standard output in the same form.
Between requests it searches; a request ends the search, but most are handled while the engine's own move is chosen.
"""

from __future__ import annotations

import json
import os
import queue
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from importlib import import_module
from typing import Any

from gozero.frontends.web.settings import EngineProcessSettings
from gozero.games import GAMES
from gozero.system.console import SUCCESS, from_arguments, run_server
from gozero.system.streams import Log, ProtocolOutput, arriving_lines

LOADING = (
    "Preparing the rules and the search for this processor. The first time for each version they are compiled, which "
    "takes about half a minute, longer on a busy machine."
)
WAIT = 3.0  # seconds for the rules, before the page shows that they are being prepared; cached ones take one


def main(arguments: list[str] | None = None) -> None:
    """Serve one game until the end of the input."""
    program, about = "gozero.frontends.web.engine", __doc__ or ""
    run_server("gozero web", lambda: from_arguments(EngineProcessSettings, arguments, program, about), serve)


def serve(settings: EngineProcessSettings, log: Log | None) -> int:
    """Answer requests until their end. Returns the exit code."""
    output = ProtocolOutput.take_over(log)
    requests: queue.Queue[dict[str, Any] | None] = queue.Queue()

    def report(values: dict[str, Any]) -> None:
        output.write(json.dumps(values, separators=(",", ":"), allow_nan=False) + "\n")

    def read() -> None:
        with suppress(ValueError):  # a line that was cut off, as when the server is killed
            for line in arriving_lines(0):
                output.note(line)
                requests.put(json.loads(line))
        requests.put(None)

    threading.Thread(target=read, name="requests", daemon=True).start()
    with reporting(report):
        from gozero.frontends.web.engine.handler import RequestHandler

        for module in GAMES.values():
            import_module(module)
    RequestHandler(settings, requests, report).run()
    os._exit(SUCCESS)  # threads that load are not waited for


@contextmanager
def reporting(report: Callable[[dict[str, Any]], None]) -> Iterator[None]:
    """If what is done here takes long, let the page show why."""
    timer = threading.Timer(WAIT, report, [{"is": "loading", "text": LOADING}])
    timer.daemon = True
    timer.start()
    yield
    timer.cancel()
    timer.join()
    report({"is": "loading", "text": ""})


if __name__ == "__main__":
    main()
