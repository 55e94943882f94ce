"""`gozero analysis`: settings, the take-over of standard output, and the server that answers lines."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

from gozero import __version__ as VERSION
from gozero.frontends.analysis.queries import AnalysisSettings
from gozero.frontends.analysis.server import Server, serve
from gozero.play.engine import find_weights
from gozero.system.console import SUCCESS, from_arguments, run_server, say, warn
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


def main(arguments: list[str] | None = None) -> None:
    """Serve until the end of the input; exit code 0, or 2 after one line on stderr that says what was wrong."""
    run_server(PROGRAM, lambda: from_arguments(AnalysisSettings, arguments, PROGRAM, DESCRIPTION, HELP_EPILOG), start)


def start(settings: AnalysisSettings, log: Log | None) -> int:
    """Serve. Returns the exit code; WeightsError and SettingsError if weights or backend cannot be used."""
    output = ProtocolOutput.take_over(log)
    path, header = find_weights(settings.weights, "go")
    evaluators = settings.evaluators(path)

    def send(answer: Mapping[str, Any]) -> None:
        output.write(json.dumps(answer, separators=(",", ":")) + "\n")

    server = Server(settings, header, evaluators, send, lambda text: warn(PROGRAM, text, log))
    limits = f"{counted(settings.visits, 'visit')} a position, {counted(settings.positions, 'position')} at once"
    say(f"{PROGRAM}: gozero {VERSION}, weights {path}; {limits}")
    say(f"{PROGRAM}: {READY}")
    output.end_process_when_unread()
    serve(server, read_ahead(output, str), finish=not settings.quit_without_waiting)
    return SUCCESS


if __name__ == "__main__":
    main()
