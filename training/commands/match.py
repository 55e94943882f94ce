"""`gozero match A B`: a match between any two players, refereed, listed game by game, with its interval.

    gozero match weights:weights/best.pt:100 random --size 9 --games 100 --seed 1
    gozero match "gtp:gozero-gtp --visits 100 --no-resign" "gtp:gnugo --mode gtp --level 1" --out matches/gnugo
    gozero match uct:1000 perfect --game connect4

A match is a tournament of two (docs/tournaments.md). Games and verdict go to stdout, progress and complaints to stderr.
Exit code: 0 when every game was sound; 1 when a player made an illegal move, failed, did not start, or named another
winner than the referee; 2 when the request makes no sense; 130 after Ctrl-C. Games that are won by no number of points
have the results `B+`, `W+` and `0`.
"""

from __future__ import annotations

import argparse
from collections.abc import Sequence
from pathlib import Path

from gozero.system.console import Parser
from training.matches.interface import DESCRIPTIONS
from training.matches.options import add_game, add_play, check_files, check_game, check_komi


def main(arguments: Sequence[str] | None = None) -> int:
    """Play one match; the exit code is described above."""
    return _parser().run(_run, arguments)


def _parser() -> Parser:
    parser = Parser(prog="gozero match", description=__doc__.split("\n\n")[0], epilog=DESCRIPTIONS)
    add = parser.add_argument
    add("a", metavar="A", help="the player whose score is counted")
    add("b", metavar="B", help="the opponent")
    add_game(parser)
    add("--games", type=int, default=20, help="even: each opening is played with both colours (default 20)")
    add_play(parser, "none is left")
    add("--csv", type=Path, metavar="FILE", help="save the list of games")
    return parser


def _run(options: argparse.Namespace) -> int:
    check_game(options.game)
    check_komi("--komi", options.komi)
    check_files(options.csv)
    from training.matches import arena

    return arena.play(options)
