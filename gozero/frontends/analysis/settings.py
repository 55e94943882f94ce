"""The settings of `gozero analysis`, as a table of options (`gozero.system.options`)."""

from __future__ import annotations

from dataclasses import dataclass

from gozero.play.engine import EngineSettings
from gozero.system import console
from gozero.system.options import option

PROGRAM = "gozero analysis"
PERSPECTIVES = ("black", "white", "side_to_move")
DESCRIPTION = (
    "Analyses positions of Go over KataGo's JSON analysis protocol on standard input and output, many at once."
)
HELP_EPILOG = """\
KaTrain:  General & Engine Settings > Override Engine Command: exec (not on Windows), the full path of gozero, analysis,
          --quit-without-waiting and other options.
By hand:  echo '{"id":"a","moves":[["B","G7"]],"rules":"chinese","boardXSize":13,"boardYSize":13}' | gozero analysis --visits 100
docs/analysis.md describes queries and answers.
"""


@dataclass(frozen=True)
class AnalysisSettings(EngineSettings):
    """What the user may choose; None: the program chooses."""

    weights: str | None = option(
        None,
        "weights file of Go, searched in the working directory, beside the executable, and among the shipped ones "
        "(default best.pt)",
        metavar="FILE",
    )
    visits: int = option(
        500, "simulations for a position where the query does not say (default 500)", low=1, high=100_000_000
    )
    time: float | None = option(
        None,
        "most seconds for a position where the query does not say (default: no limit)",
        low=0.01,
        high=1e6,
        metavar="SECONDS",
    )
    positions: int = option(
        16,
        "positions searched at once; more of them fill a GPU, fewer are answered sooner (default 16)",
        low=1,
        high=4096,
    )
    report_winrates_as: str = option(
        "black",
        f"side for which win rate, lead and ownership are given: {', '.join(PERSPECTIVES)} (default black)",
        choices=PERSPECTIVES,
        metavar="SIDE",
    )
    quit_without_waiting: bool = option(
        False, "stop at once at the end of the input, without answering the remaining queries"
    )
    log: str | None = option(None, "append all input and output of the protocol to this file", metavar="FILE")


def from_arguments(arguments: list[str] | None) -> AnalysisSettings:
    """The settings for a command line. SystemExit for --help and --version; SettingsError for anything wrong."""
    return console.from_arguments(AnalysisSettings, arguments, PROGRAM, DESCRIPTION, HELP_EPILOG)
