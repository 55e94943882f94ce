"""`gozero match A B`: a match between any two players, refereed, listed game by game, with its interval.

    gozero match weights:weights/best.pt:100 random --size 9 --games 100 --seed 1
    gozero match "gtp:gozero-gtp --visits 100 --no-resign" "gtp:gnugo --mode gtp --chinese-rules --capture-all-dead"
    gozero match uct:1000 perfect --game connect4
    gozero match --run runs/go13 --visits 100 --generations 8
    gozero match --run runs/one --run runs/two

With --run generations of a run, or of two, meet each other after four random plies, by its game and rules, and Elo over
generations is drawn in elo.png, in a folder of tournaments/. A run has its newest `keep` checkpoints and its frozen
networks; --set keep=100 keeps more.

A match is a tournament of two (docs/tournaments.md), with the exit codes of `gozero tournament`. Games that are won by
no number of points have the results `B+`, `W+` and `0`.
"""

from __future__ import annotations

import argparse
import os
from collections.abc import Sequence
from pathlib import Path

from gozero.system.console import Parser, positive
from gozero.system.errors import ChoiceError
from training.matches.interface import DESCRIPTIONS, parse_player
from training.matches.options import OUT, add_game, add_play, check_files, complete

OF_RUNS = {"visits": 100, "generations": 8, "plot": None}  # options that --run alone has, and their defaults
RUN_OPENING_MOVES = 4  # with --run, where none are asked for


def main(arguments: Sequence[str] | None = None) -> int:
    parser = Parser(prog="gozero match", description=__doc__, epilog=DESCRIPTIONS)
    add = parser.add_argument
    add("a", metavar="A", nargs="?", help="the player whose score is counted")
    add("b", metavar="B", nargs="?", help="the opponent")
    whose = "in place of A and B: generations of this run folder against each other; twice: of two runs"
    add("--run", action="append", default=[], metavar="FOLDER", help=whose)
    add("--visits", type=positive, metavar="N", help=f"of a generation, a move (default {OF_RUNS['visits']})")
    most = f"at most so many of each run, from the first to the last (default {OF_RUNS['generations']})"
    add("--generations", type=positive, metavar="N", help=most)
    add("--plot", type=Path, metavar="FILE.png", help="where Elo over generations is drawn")
    add_game(parser)
    add("--games", type=int, default=20, help="even: each opening is played with both colours (default 20)")
    add_play(parser, f"none is left; with --run {OUT}/ and the last generation's name", None)
    add("--csv", type=Path, metavar="FILE", help="save the list of games")
    return parser.run(_run, arguments)


def _run(options: argparse.Namespace) -> int:
    for name, usual in OF_RUNS.items():
        if getattr(options, name) is None:
            setattr(options, name, usual)
        elif not options.run:
            raise ChoiceError(f"--{name} is of a run's generations: give --run FOLDER, or leave it out")
    check_files(options.csv, options.plot)
    if options.opening_moves is None:  # from the first position two networks play one game again and again
        options.opening_moves = RUN_OPENING_MOVES if options.run else 0
    if options.run:
        _check_runs(options)
        from training.matches import generations

        return generations.play(options)
    if options.b is None:
        raise ChoiceError("give two players, A and B, or --run FOLDER; --help lists the players")
    players = map(parse_player, (options.a, options.b))
    complete(options, [each.argument for each in players if each.kind == "weights"])
    from training.matches import arena

    return arena.play(options)


def _check_runs(options: argparse.Namespace) -> None:
    """ChoiceError for what --run cannot have."""
    if options.a is not None or options.csv is not None:
        raise ChoiceError(f"--run plays a run's generations: leave out {options.a or '--csv'}")
    if options.rules is not None:
        raise ChoiceError("--run plays by the rules of the run: leave out --rules")
    if len(options.run) > 2:
        raise ChoiceError(f"--run is given {len(options.run)} times: expected one run, or two")
    if len({os.path.realpath(run) for run in options.run}) < len(options.run):
        raise ChoiceError(f"--run {options.run[0]} is given twice: give it once, or another run")
    if options.generations < 2:
        raise ChoiceError(f"--generations {options.generations}: expected 2 or more")
