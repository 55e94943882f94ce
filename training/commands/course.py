"""The commands `gozero course generations`, `imitate`, `reinforce` and `play`: the stages of a course project, and its
strategies as opponents. Nothing heavy is imported before the arguments are checked.
"""

from __future__ import annotations

import argparse
from collections.abc import Sequence
from importlib import import_module
from pathlib import Path

from gozero.system.console import Parser, positive, run_command, seed, whole
from gozero.system.machine import MOST_THREADS
from gozero.system.options import number_of
from training.course.boards import COURSES

GENERATIONS = """Value networks by generations: of random play first, then of players that look one move ahead.

    gozero course generations --game tictactoe --generations 2
    gozero course generations --game othello --generations 2 --first-games 1000 --games 2000 --test-games 500

DIR/value-N.pt has the networks, DIR/value-N.json the figures, DIR/value-N.png what each first move is worth. A finished
generation is left out, so the same command continues where it stopped."""
IMITATE = """Policy networks from the winners' moves in games between the newest value networks.

    gozero course generations --game simple_go --generations 2
    gozero course imitate --game simple_go

DIR/policy-supervised.pt has the networks, DIR/policy-supervised.json the figures."""
REINFORCE = """The policy networks improved by REINFORCE, against a pool of their past selves.

    gozero course imitate --game simple_go
    gozero course reinforce --game simple_go --rounds 20

DIR/policy-reinforced.pt is written after each round: the same command continues there, and more --rounds continue a
finished run. DIR/policy-reinforced.png shows the win rates over the rounds. Ties count half."""
PLAY = """A strategy of the course as an opponent: on the terminal, or with --gtp as an engine.

    gozero course play runs/course-tictactoe:val --game tictactoe
    gozero course play runs/course-simple_go:val_and_pol:400 --game simple_go --colour white
    gozero course play runs/course-simple_go:val:2 --game simple_go --gtp

A strategy is val[:PLIES], pol or val_and_pol[:VISITS]; docs/students.md says what each does."""
PASSES = "over the data while learning (default: the game's own)"
GENERATION = "of the value networks (default: the newest)"


def generations(arguments: Sequence[str] | None = None) -> int:
    parser = _stage_parser("generations", GENERATIONS)
    add = parser.add_argument
    add("--generations", type=positive, default=2, help="how many there shall be (default %(default)s)")
    add("--first-games", type=positive, default=10_000, help="random games for generation 0 (default %(default)s)")
    add("--games", type=positive, default=25_000, help="games for each later one (default %(default)s)")
    add("--test-games", type=positive, default=25_000, help="against random, with each colour (default %(default)s)")
    add("--duel-games", type=whole(2), default=1_000, help="against the one before (default %(default)s)")
    add("--passes", type=positive, help=PASSES)
    return _run_stage(parser, "generations", arguments)


def imitate(arguments: Sequence[str] | None = None) -> int:
    parser = _stage_parser("imitate", IMITATE)
    add = parser.add_argument
    add("--games", type=positive, default=25_000, help="between them (default %(default)s)")
    add("--test-games", type=positive, default=1_000, help="against random, with each colour (default %(default)s)")
    moves = "all: every move of the winners; chosen: without the random ones (default %(default)s)"
    add("--moves", choices=("all", "chosen"), default="all", help=moves)
    add("--passes", type=positive, help=PASSES)
    add("--generation", type=whole(0), help=GENERATION)
    return _run_stage(parser, "imitation", arguments)


def reinforce(arguments: Sequence[str] | None = None) -> int:
    parser = _stage_parser("reinforce", REINFORCE)
    add = parser.add_argument
    add("--rounds", type=positive, default=20, help="how many there shall be (default %(default)s)")
    add("--updates", type=positive, default=20, help="of each round (default %(default)s)")
    add("--games", type=whole(2), default=256, help="of each update, half with each colour (default %(default)s)")
    share = "of the updates, 0 to 1: the value network is the opponent (default %(default)s)"
    add("--value-share", type=_share, default=0.1, help=share)
    add("--rate", type=_share, default=3e-4, help="learning rate (default %(default)s)")
    add("--test-games", type=whole(2), default=1_000, help="against start and pool, each round (default %(default)s)")
    add("--generation", type=whole(0), help=GENERATION)
    return _run_stage(parser, "reinforcement", arguments)


def play(arguments: Sequence[str] | None = None) -> int:
    parser = _parser("play", PLAY)
    add = parser.add_argument
    add("player", metavar="FOLDER:STRATEGY", help="such as runs/course-simple_go:val:2")
    colour = "yours; Black moves first (default black)"
    add("--colour", choices=("black", "white"), default="black", help=colour)
    add("--seed", type=seed, help="of the search's chance in the opening (default: another each time)")
    add("--gtp", action="store_true", help="speak the Go Text Protocol on standard input and output")
    return parser.run(lambda options: import_module("training.course.opponent").work(options), arguments)


def _parser(command: str, description: str) -> Parser:
    """The option that all commands of the course have."""
    made = Parser(prog=f"gozero course {command}", description=description)
    made.add_argument("--game", type=str.lower, choices=COURSES, required=True, help="which of the course's games")
    return made


def _stage_parser(command: str, description: str) -> Parser:
    """The options that all stages have."""
    parser = _parser(command, description)
    add = parser.add_argument
    add("--run", type=Path, metavar="DIR", help="folder of the course's files (default runs/course-GAME)")
    add("--seed", type=seed, default=1, help="fixes games and networks (default %(default)s)")
    threads = "for the networks; these are small: few help (default %(default)s)"
    add("--threads", type=whole(1, MOST_THREADS), default=1, help=threads)
    return parser


def _run_stage(parser: Parser, module: str, arguments: Sequence[str] | None) -> int:
    """Run a stage, alone in its folder. Returns the exit code."""
    options = parser.parse_args(arguments)
    path = options.run or Path("runs") / f"course-{options.game}"

    def run() -> None:
        from training.course import folder

        folder.run(import_module(f"training.course.{module}").work, options, path)

    saved = f"what was finished is in {path}, and the same command goes on from there"
    return run_command(parser.prog, run, interrupted=saved)


def _share(text: str) -> float:
    """The type of an option from 0 to 1."""
    if not 0.0 <= (share := number_of(text)) <= 1.0:
        raise argparse.ArgumentTypeError(f"{text!r}: expected a number from 0 to 1")
    return share


_share.__name__ = "number"  # argparse names the type of what is none in its message
