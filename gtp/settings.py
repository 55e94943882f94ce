"""The settings of `gozero-gtp`, as a table of options; `gozero.options` reads and checks them.

This module opens no weights and imports nothing heavy.
"""

from __future__ import annotations

from dataclasses import dataclass

from gozero import options
from gozero.engine import BACKENDS, DEFAULT_GAME, MAX_SIZE
from gozero.options import option
from gozero.weights import WEIGHTS
from gtp.time_controls import LAG

DESCRIPTION = "Plays Go and other games over the Go Text Protocol (GTP 2) on standard input and output."
HELP_EPILOG = """\
With neither --visits nor --time, and no clock from the controller, a move takes at most 400 visits or 5 seconds.

Sabaki:  Engines > Show Engines Sidebar > Attach Engine > Manage Engines > Add.  Path: the full path of gozero-gtp
         (`command -v gozero-gtp`; in this source tree .venv/bin/gozero-gtp).  Arguments: --visits 400
GoGui:   Program > New Program.  Command: /full/path/to/gozero-gtp --visits 400
         Other games: add --game NAME; the same command under Game > Rules makes GoGui keep to the game's rules.
CGOS:    the command line is split at blanks: no blanks in paths.  Give --log FILE to keep a record.
By hand: type `genmove b`, `showboard`, `list_commands`; docs/gtp.md describes every command.
"""


@dataclass(frozen=True)
class Settings:
    """What the user may choose; None: the program chooses."""

    game: str | None = option(
        None, f"{', '.join(WEIGHTS)} (default: the one that --weights plays, else {DEFAULT_GAME})", choices=tuple(WEIGHTS), metavar="NAME"
    )
    weights: str | None = option(
        None,
        "weights file; looked for in the working directory, beside the executable, among the shipped ones (default: the game's, "
        f"{', '.join(WEIGHTS.values())})",
        metavar="FILE",
    )
    visits: int | None = option(None, "simulations per move", low=1, high=100_000_000)
    analysis_visits: int | None = option(
        None, "simulations after which an analysis rests until the controller ends it (default: it goes on)", low=1, high=100_000_000
    )
    time: float | None = option(None, "seconds per move", low=0.01, high=1e6, metavar="SECONDS")
    lag: float = option(
        LAG,
        f"seconds kept back on a clock for what passes between an answer and the server's stopping it (default {LAG:g})",
        low=0,
        high=60,
        metavar="SECONDS",
    )
    ponder: bool = option(False, "think in the opponent's time too")
    threads: int | None = option(None, "CPU threads (default: as many cores as this process may use)", low=1, high=1024)
    seed: int | None = option(None, "whole number; with --visits the same seed plays the same game", low=0, high=2**63 - 1)
    size: int | None = option(
        None, "board size, in Go 5 to 19, until the controller sends another (default: that of the weights)", low=2, high=MAX_SIZE
    )
    komi: float | None = option(None, "komi of Go until the controller sends one (default 7.5)", low=-1000, high=1000)
    rules: str | None = option(
        None, "rule set, such as chinese, tromp-taylor or aga in Go, freestyle or exact in gomoku (default: the first)", metavar="NAME"
    )
    friendly_pass: bool = option(
        False, "in Go, pass once the opponent has, counting on agreement about dead stones (default: take off what decides the game first)"
    )
    no_resign: bool = option(False, "never resign")
    resign_threshold: float = option(
        -0.9, "resign when the expected result stays below this for several moves, -1 (certain loss) to 0 (default -0.9)", low=-1, high=0
    )
    backend: str = option("auto", f"what evaluates the network: {', '.join(BACKENDS)} (default auto)", choices=BACKENDS, metavar="NAME")
    gogui_gfx: bool = option(False, "draw what it thinks on GoGui's board, through stderr, while it chooses a move")
    check: bool = option(False, "test this installation instead of playing: weights, caches, speed, a move, memory")
    log: str | None = option(None, "append all that passes over GTP to this file", metavar="FILE")


def from_arguments(arguments: list[str], version: str) -> Settings:
    """The settings for a command line. SystemExit for --help and --version; SettingsError for anything wrong."""
    return options.from_arguments(Settings, arguments, prog="gozero-gtp", version=version, description=DESCRIPTION, epilog=HELP_EPILOG)
