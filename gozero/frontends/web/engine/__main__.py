"""The engine process of a room: `python -m gozero.frontends.web.engine`, which the server starts.

It reads requests on standard input, one JSON object a line, and answers with reports on standard output in the same
form. Between requests it works (`gozero.frontends.web.engine.thinking`); a request that arrives ends the piece of work, but
the engine's own move: most requests are answered while it is being chosen. Nothing here listens on a network.
"""

from __future__ import annotations

import json
import os
import queue
import sys
import threading
import time
import traceback
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from typing import TYPE_CHECKING, Any

from gozero.frontends.web.settings import EngineProcessSettings
from gozero.nets.weights import WeightsError
from gozero.system import jit
from gozero.system.console import SUCCESS, exit_after, from_arguments
from gozero.system.errors import ChoiceError
from gozero.system.input import arriving_lines
from gozero.system.options import SettingsError
from gozero.system.output import Log, ProtocolOutput, tell

if TYPE_CHECKING:
    from gozero.frontends.web.engine.desk import Desk

URGENT = ("new", "undo", "resign", "load", "review", "restore", "catalogue")
"""Requests for which a move that is being chosen is cut short; the others leave the live game as it is."""
LOADING = (
    "Preparing the rules and the search for this processor: {seconds} s so far. The first time for each version they "
    "are compiled, which takes about half a minute, longer on a busy machine."
)
PATIENCE = 0.3  # seconds that a page waits for the rules before it is told that they are being prepared


class Inbox:
    """The requests that have arrived and are not taken yet.

    Args:
        lines: of standard input; their end ends the process.
        note: hears each of them.
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

    def take_aside(self) -> dict[str, Any] | None:
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
    """Serve one room until the end of the input."""
    exit_after(
        lambda: from_arguments(
            EngineProcessSettings, sys.argv[1:] if arguments is None else arguments,
            prog="gozero.frontends.web.engine", version="", description=__doc__ or "", epilog="",
        ),
        serve, lambda text: tell("gozero web", text),
    )  # fmt: skip


def serve(settings: EngineProcessSettings, log: Log | None) -> int:
    """Answer requests until their end. Returns the exit code."""
    output = ProtocolOutput.take_over(log)
    inbox = Inbox(arriving_lines(0), output.note)

    def report(values: dict[str, Any]) -> None:
        output.write(json.dumps(values, separators=(",", ":"), allow_nan=False) + "\n")

    with deferred() as compilation:
        from gozero import games  # noqa: F401  # the evaluator's kernels with the others
        from gozero.frontends.web.engine.desk import Desk
        from gozero.games import connect4, gomoku, nogo, othello, tictactoe  # noqa: F401
        from gozero.games.go import go, simple_go  # noqa: F401
        from gozero.nets import features  # noqa: F401  # the evaluator's kernels with the others

    def answer(request: dict[str, Any]) -> None:
        page = request.get("page")
        guarded(lambda: desk.do(request), lambda values: report({**values, "to": page}))
        if page is not None:
            report({"is": "done", "to": page})

    def is_cut() -> bool:
        while (request := inbox.take_aside()) is not None:
            answer(request)
        return inbox.is_waiting()

    desk = Desk(settings, inbox.is_waiting, is_cut, report, lambda: wait(compilation[0], report))
    while (request := next_request(desk, inbox, report)) is not None:
        answer(request)
    os._exit(SUCCESS)  # threads that load or compile are not waited for


@contextmanager
def deferred() -> Iterator[list[jit.Compilation]]:
    """Modules imported inside define their kernels, which are compiled in a thread of its own; gives a list that holds
    the compilation afterwards.
    """
    found: list[jit.Compilation] = []
    with jit.collecting() as kernels:
        yield found
    found.append(jit.Compilation(kernels))


def wait(compilation: jit.Compilation, report: Callable[[dict[str, Any]], None]) -> None:
    """Wait until the kernels are compiled; where that takes long, the page is told so each second."""
    begun = time.monotonic()
    if compilation.wait(PATIENCE):
        return
    while True:
        report({"is": "loading", "text": LOADING.format(seconds=round(time.monotonic() - begun))})
        if compilation.wait(1.0):
            break
    report({"is": "loading", "text": ""})


def next_request(desk: Desk, inbox: Inbox, report: Callable[[dict[str, Any]], None]) -> dict[str, Any] | None:
    """The next request; until it comes the engine works, and watches the clock of a person."""
    while True:
        left = desk.seconds_left(time.monotonic())
        if left == 0:
            guarded(desk.time_is_up, report)
        elif desk.has_work and not inbox.is_waiting():
            guarded(desk.work, report)
        else:
            with suppress(queue.Empty):
                return inbox.take(left)


def guarded(act: Callable[[], None], report: Callable[[dict[str, Any]], None]) -> None:
    """Do it; what cannot be done is told to the page in one sentence, and a bug does not end the game."""
    from gozero.frontends.web.engine.table import RefusedError

    try:
        act()
    except RefusedError as refused:
        report({"is": "refused", "text": str(refused)})
    except (ChoiceError, SettingsError, WeightsError) as error:
        report({"is": "refused", "text": f"{str(error)[:1].upper()}{str(error)[1:]}."})
    except BrokenPipeError:
        raise
    except Exception as error:  # noqa: BLE001 - the border: a bug in one request must not take the game with it
        sys.stderr.write("gozero web: internal error; please report this:\n")
        traceback.print_exception(error, file=sys.stderr)
        report(
            {"is": "refused", "text": f"Internal error: {type(error).__name__}; the terminal says more.", "bug": True}
        )


if __name__ == "__main__":
    main()
