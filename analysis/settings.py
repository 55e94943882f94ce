"""The settings of `gozero-analysis`, as a table of options; `gozero.options` reads and checks them."""

from __future__ import annotations

from dataclasses import dataclass

from gozero import options
from gozero.engine import LEAST_MEMORY, MOST_MEMORY
from gozero.evaluators.backends import BACKENDS, PRECISIONS
from gozero.options import option

PERSPECTIVES = ("black", "white", "side_to_move")
DESCRIPTION = (
    "Analyses positions of Go over KataGo's JSON analysis protocol on standard input and output, many at once."
)
HELP_EPILOG = """\
KaTrain:  General & Engine Settings > Override Engine Command: the full path of gozero-analysis, then its options.
By hand:  echo '{"id":"a","moves":[["B","G7"]],"rules":"chinese","boardXSize":13,"boardYSize":13}' | gozero-analysis --visits 100
docs/analysis.md describes queries and answers.
"""


@dataclass(frozen=True)
class Settings:
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
    max_memory: int | None = option(
        None,
        "most memory in MB for the search trees of all positions together; a search that needs more ends "
        "(default: a quarter of the machine's)",
        low=LEAST_MEMORY,
        high=MOST_MEMORY,
        metavar="MB",
    )
    threads: int | None = option(None, "CPU threads (default: as many cores as this process may use)", low=1, high=1024)
    backend: str = option(
        "auto", f"what evaluates the network: {', '.join(BACKENDS)} (default auto)", choices=BACKENDS, metavar="NAME"
    )
    precision: str = option(
        "auto",
        f"number type of the network: {', '.join(PRECISIONS)} (default auto: the fastest that this processor has)",
        choices=PRECISIONS,
        metavar="NAME",
    )
    log: str | None = option(None, "append all input and output of the protocol to this file", metavar="FILE")


def from_arguments(arguments: list[str], version: str) -> Settings:
    """The settings for a command line. SystemExit for --help and --version; SettingsError for anything wrong."""
    return options.from_arguments(
        Settings, arguments, prog="gozero-analysis", version=version, description=DESCRIPTION, epilog=HELP_EPILOG
    )
