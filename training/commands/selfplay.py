"""The command `gozero selfplay`: trains by self-play, or plays the games alone.

    gozero selfplay                                     the default run: go13 in runs/go13, begun or continued
    gozero selfplay --preset s3                         the whole cycle, the same as `gozero train`
    gozero selfplay --weights best.pt --out FOLDER      games from a weights file into a shard of records; nothing is
                                                        learned

Nothing heavy is imported before the options are checked; `training.commands.games` plays the games.
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Sequence

from gozero.games import GAMES
from gozero.nets import locations
from gozero.system.console import Parser, positive, run_command, seed, whole
from gozero.system.machine import MOST_THREADS
from training.commands import train
from training.settings.config import SIMULATORS, SelfPlaySettings

PROG = "gozero selfplay"
DEFAULT_PRESET = "go13"
EPILOG = """\
Without options it begins or continues the default run, --preset go13 in runs/go13. With --preset or --config it trains
as they say: self-play, learning and new weights in turns, in a run folder, continuing where that stopped. With
--weights it only plays games and writes their records: gozero selfplay --weights FILE --help has the options."""


def main(arguments: Sequence[str] | None = None) -> int:
    """Train or play games from the command line. Returns 0; 1 if it failed under way; 2 for a wrong request."""
    given = sys.argv[1:] if arguments is None else list(arguments)
    if any(each.partition("=")[0] == "--weights" for each in given):
        options = _games_parser().parse_args(given)
        return run_command(PROG, lambda: _play(options), interrupted=f"finished games are in {options.out}")
    parser = Parser(prog=PROG, description="Train by self-play, or play the games alone.", epilog=EPILOG)
    train.add_options(parser)
    return parser.run(_train, given)


def _train(options: argparse.Namespace) -> int:
    if options.preset is None and options.config is None:
        options.preset = DEFAULT_PRESET
    return train.begin(options, PROG)


def _games_parser() -> Parser:
    parser = Parser(prog=PROG, description="Play games of self-play alone, into a new shard of records.")
    add, usual = parser.add_argument, SelfPlaySettings().games
    add("--weights", metavar="FILE", help="weights file, or none: PUCT with random playouts")
    add("--out", required=True, metavar="FOLDER", help="folder of the shards; each call writes another")
    add("--games", type=positive, default=100, help="games to finish (default %(default)s)")
    add("--game", type=str.lower, help=f"{', '.join(GAMES)} (default: that of the weights; go without)")
    add("--size", type=int, help="board size (default: that of the weights, or the game's own)")
    add("--rules", help="rule set (default: the game's own)")
    add("--full-visits", type=int, default=32, help="visits of a recorded move (default %(default)s)")
    add("--cheap-visits", type=int, default=8, help="visits of the other moves (default %(default)s)")
    add("--parallel", type=positive, default=usual, help="games at once (default %(default)s)")
    add("--seed", type=seed, default=1, help="the same seed gives the same games in a new folder (default %(default)s)")
    threads = "CPU threads of the network; 0: as many as help just now"
    add("--threads", type=whole(0, MOST_THREADS), default=0, help=threads)
    add("--simulator", choices=SIMULATORS, default="auto", help="board of Go (default %(default)s)")
    add("--device", choices=("auto", "cpu", "cuda"), default="auto", help="where the network runs")
    return parser


def _play(options: argparse.Namespace) -> int:
    if options.weights != "none":
        locations.find(options.weights)
    from training.commands import games

    return games.play(options, PROG)
