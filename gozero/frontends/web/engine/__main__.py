"""The engine process of a game: `python -m gozero.frontends.web.engine`, which the server starts.

It reads requests on standard input, one JSON object a line, and writes reports on standard output in the same form.
Between requests it searches; a request ends the search, but most are handled while the engine's own move is chosen.
"""

from __future__ import annotations

import json
import os
import queue
from collections.abc import Callable
from importlib import import_module
from typing import Any

from gozero.frontends.web.settings import EngineProcessSettings
from gozero.games import GAMES
from gozero.system import jit
from gozero.system.console import SUCCESS, from_arguments, run_server
from gozero.system.streams import Log, ProtocolOutput, read_ahead

LOADING = (
    "Preparing the rules and the search for this processor. The first time for each version they are compiled, which "
    "takes about half a minute, longer on a busy machine."
)
MOST_READ = 50  # requests that are read ahead, so that the server knows of the others
WAIT = 3.0  # seconds for the rules, before the page shows that they are being prepared; cached ones take one


def main(arguments: list[str] | None = None) -> None:
    """Serve one game until the end of the input."""
    program, about = "gozero.frontends.web.engine", __doc__ or ""
    run_server("gozero web", lambda: from_arguments(EngineProcessSettings, arguments, program, about), serve)


def serve(settings: EngineProcessSettings, log: Log | None) -> int:
    """Answer requests until their end. Returns the exit code."""
    output = ProtocolOutput.take_over(log)
    requests: queue.Queue[dict[str, Any] | None] = read_ahead(output, json.loads, MOST_READ)

    def report(values: dict[str, Any]) -> None:
        output.write(json.dumps(values, separators=(",", ":"), allow_nan=False) + "\n")

    with jit.collecting() as kernels:  # they are compiled in another thread
        from gozero.frontends.web.engine.handler import RequestHandler
        from gozero.nets import features  # noqa: F401  # the evaluator's kernels with the others

        for module in GAMES.values():
            import_module(module)
    compilation = jit.Compilation(kernels)
    RequestHandler(settings, requests, report, lambda: wait(compilation, report)).run()
    os._exit(SUCCESS)  # threads that load or compile are not waited for


def wait(compilation: jit.Compilation, report: Callable[[dict[str, Any]], None]) -> None:
    """Wait until the kernels are compiled; if that takes long, the page shows why."""
    if not compilation.wait(WAIT):
        report({"is": "loading", "text": LOADING})
        compilation.wait()
        report({"is": "loading", "text": ""})


if __name__ == "__main__":
    main()
