"""`gozero analysis`: settings, the take-over of standard output, a thread that reads lines, and the server that answers
them.
"""

from __future__ import annotations

import json
import threading
from collections.abc import Mapping
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

from gozero import __version__ as VERSION
from gozero.frontends.analysis.queries import Defaults
from gozero.frontends.analysis.server import Lines, Server, serve
from gozero.frontends.analysis.settings import PROGRAM, AnalysisSettings, from_arguments
from gozero.play.engine import find_weights, supported_sizes
from gozero.search.memory import Memory
from gozero.system.console import SUCCESS, leave_when_unread, run_server, warn
from gozero.system.errors import ChoiceError
from gozero.system.input import arriving_lines
from gozero.system.options import SettingsError
from gozero.system.output import Log, ProtocolOutput, tell
from gozero.system.words import counted

if TYPE_CHECKING:
    from gozero.evaluators.base import Evaluator
    from gozero.games.game import Game

READY = "Started, ready to begin handling requests"
"""KataGo's line on stderr that some clients wait for."""

say = partial(tell, PROGRAM)
"""One line to the user, on stderr."""


def main(arguments: list[str] | None = None) -> None:
    """Serve until the end of the input; exit code 0, or 2 after one line on stderr that says what was wrong."""
    run_server(PROGRAM, lambda: from_arguments(arguments), start)


def start(settings: AnalysisSettings, log: Log | None) -> int:
    """Serve. Returns the exit code; WeightsError and SettingsError where weights or backend cannot be used."""
    output = ProtocolOutput.take_over(log)
    path, header = find_weights(settings.weights, "go")
    evaluators = settings.evaluators(path)

    def open_evaluator(game: Game) -> Evaluator:
        try:
            return evaluators.open(game)
        except ChoiceError as error:  # a backend or precision that is not there
            raise SettingsError(str(error)) from None

    def send(answer: Mapping[str, Any]) -> None:
        output.write(json.dumps(answer, separators=(",", ":")) + "\n")

    seconds = {} if settings.time is None else {"seconds": settings.time}
    defaults = Defaults(
        tuple(supported_sizes(header)),
        settings.visits,
        perspective=settings.report_winrates_as,
        trained=header.trained,
        **seconds,
    )

    memory = Memory(settings.tree_memory, settings.positions)
    positions = settings.positions
    server = Server(VERSION, path.name, defaults, positions, open_evaluator, send, memory, evaluators.forget,
        lambda text: warn(PROGRAM, text, log))
    say(greeting(settings, path))
    say(READY)
    leave_when_unread(output)
    serve(server, read_lines(output), finish=not settings.quit_without_waiting)
    return SUCCESS


def greeting(settings: AnalysisSettings, path: Path) -> str:
    """The line on stderr that names the weights and the limits."""
    visits, positions = counted(settings.visits, "visit"), counted(settings.positions, "position")
    return f"gozero {VERSION}, weights {path}; {visits} a position, {positions} at once"


def read_lines(output: ProtocolOutput) -> Lines:
    """The lines of standard input as they come, then None; they are read ahead, so that an action is seen while
    positions are searched.
    """
    lines = Lines()

    def read() -> None:
        for line in arriving_lines(0):
            output.note(line)
            lines.put(line)
        lines.put(None)

    threading.Thread(target=read, name="analysis-reader", daemon=True).start()
    return lines


if __name__ == "__main__":
    main()
