"""`gozero match A B`: a match between any two players, refereed, listed game by game, with its interval.

    gozero match weights:weights/best.pt:100 random --size 9 --games 100 --seed 1
    gozero match "gtp:gozero-gtp --visits 100 --no-resign" "gtp:gnugo --mode gtp --level 1" --sgf games/
    gozero match uct:1000 perfect --game connect4

How games are played and end: `training.matches.match`.
The table and the verdict go to stdout, progress and complaints to stderr. Exit code: 0 when every game was sound; 1
when a player made an illegal move, failed, or named another winner than the referee; 2 when the request makes no sense,
or a player lost three games in a row, or both of two, by illegal moves, and then there is no verdict; 130 after Ctrl-C.
Games that are won by no number of points have the results `B+`, `W+` and `0`.
"""

from __future__ import annotations

import argparse
from collections.abc import Sequence
from pathlib import Path

from gozero.games import GO_FAMILY
from gozero.system.console import Parser, run_command
from gozero.system.errors import ChoiceError
from training.matches.interface import DESCRIPTIONS
from training.matches.options import add_game, add_play, check_files, check_folder, check_play


def main(arguments: Sequence[str] | None = None) -> int:
    """Play one match; the exit code is described above."""
    options = _parser().parse_args(arguments)
    return run_command("gozero match", lambda: _run(options), interrupted="no game was finished")


def _parser() -> argparse.ArgumentParser:
    parser = Parser(prog="gozero match", description=__doc__.split("\n\n")[0], epilog=DESCRIPTIONS)
    parser.formatter_class = argparse.RawDescriptionHelpFormatter
    add = parser.add_argument
    add("a", metavar="A", help="the player whose score is counted")
    add("b", metavar="B", help="the opponent")
    add_game(parser)
    add_play(parser)
    add("--games", type=int, default=20, help="even: each opening is played with both colours (default 20)")
    add("--max-moves", type=int, default=700, metavar="N", help="plies after which the board is counted (default 700)")
    add("--sgf", type=Path, metavar="DIR", help="save every game of Go as DIR/game-NNN.sgf")
    add("--csv", type=Path, metavar="FILE", help="save the list of games, each as it ends")
    add("--json", type=Path, metavar="FILE", help="save settings, result and games")
    return parser


def _run(options: argparse.Namespace) -> int:
    check_play(options)
    if options.sgf and options.game not in GO_FAMILY:
        raise ChoiceError(f"--sgf saves games of Go only: --csv and --json have the moves of {options.game}")
    check_files(options.csv, options.json)
    if options.sgf:
        check_folder(options.sgf)
    from training.matches import arena

    return arena.play(options)
