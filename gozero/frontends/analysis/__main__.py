"""`gozero analysis`: settings, the take-over of standard output, and the server that answers lines."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from gozero import __version__ as VERSION
from gozero.frontends.analysis.queries import PERSPECTIVES, Defaults
from gozero.frontends.analysis.server import Server, serve
from gozero.play.engine import EngineSettings, find_weights, supported_sizes
from gozero.system.console import SUCCESS, from_arguments, run_server, say, warn
from gozero.system.options import option
from gozero.system.streams import Log, ProtocolOutput, read_ahead
from gozero.system.words import counted

PROGRAM = "gozero analysis"
READY = "Started, ready to begin handling requests"
"""KataGo's line on stderr that some clients wait for."""
DESCRIPTION = (
    "Analyses positions of Go over KataGo's JSON analysis protocol on standard input and output, many at once."
)
HELP_EPILOG = """\
KaTrain:  General & Engine Settings > Override Engine Command: exec (not on Windows), the full path of gozero, analysis,
          --quit-without-waiting and other options.
By hand:  echo '{"id":"a","moves":[["B","G7"]],"rules":"chinese","boardXSize":13,"boardYSize":13}' | gozero analysis
docs/analysis.md describes queries and answers.
"""


@dataclass(frozen=True)
class AnalysisSettings(EngineSettings):
    """What the user may choose; None: the program chooses."""

    weights: str | None = option(
        None,
        "weights file of Go, searched in the working directory and among the shipped ones "
        "(default best.pt)",
        metavar="FILE",
    )
    visits: int = option(
        500, "simulations for a position where the query does not say (default 500)", low=1, high=100_000_000
    )
    time: float | None = option(
        None, "most seconds for a position where the query does not say (default: no limit)", low=0.01, high=1e6,
        metavar="SECONDS",
    )  # fmt: skip
    positions: int = option(
        16, "positions searched at once; more of them fill a GPU, fewer are answered sooner (default 16)",
        low=1, high=4096,
    )  # fmt: skip
    report_winrates_as: str = option(
        "black", f"side for which win rate, lead and ownership are given: {', '.join(PERSPECTIVES.values())} (default black)",
        choices=tuple(PERSPECTIVES.values()), metavar="SIDE",
    )  # fmt: skip
    quit_without_waiting: bool = option(
        False, "stop at once at the end of the input, without answering the remaining queries"
    )
    log: str | None = option(None, "append all input and output of the protocol to this file", metavar="FILE")


def main(arguments: list[str] | None = None) -> None:
    """Serve until the end of the input; exit code 0, or 2 after one line on stderr that says what was wrong."""
    run_server(PROGRAM, lambda: read_settings(arguments), start)


def read_settings(arguments: list[str] | None) -> AnalysisSettings:
    """The settings for a command line. SystemExit for --help and --version; SettingsError for anything wrong."""
    return from_arguments(AnalysisSettings, arguments, PROGRAM, DESCRIPTION, HELP_EPILOG)


def start(settings: AnalysisSettings, log: Log | None) -> int:
    """Serve. Returns the exit code; WeightsError and SettingsError if weights or backend cannot be used."""
    output = ProtocolOutput.take_over(log)
    path, header = find_weights(settings.weights, "go")
    evaluators = settings.evaluators(path)

    def send(answer: Mapping[str, Any]) -> None:
        output.write(json.dumps(answer, separators=(",", ":")) + "\n")

    seconds = {} if settings.time is None else {"seconds": settings.time}
    sizes, side = tuple(supported_sizes(header)), settings.report_winrates_as
    defaults = Defaults(sizes, settings.visits, perspective=side, trained=header.trained, **seconds)
    memory, positions = settings.tree_memory, settings.positions
    server = Server(
        path.name, defaults, positions, evaluators.open, send, memory, evaluators.forget,
        lambda text: warn(PROGRAM, text, log),
    )  # fmt: skip
    limits = f"{counted(settings.visits, 'visit')} a position, {counted(positions, 'position')} at once"
    say(f"{PROGRAM}: gozero {VERSION}, weights {path}; {limits}")
    say(f"{PROGRAM}: {READY}")
    output.end_process_when_unread()
    serve(server, read_ahead(output, str), finish=not settings.quit_without_waiting)
    return SUCCESS


if __name__ == "__main__":
    main()
