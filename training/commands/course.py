"""The commands `gozero course generations`, `imitate`, `reinforce` and `play`: the stages of a course project, and its
strategies as opponents. Nothing heavy is imported before the arguments are checked.
"""

from __future__ import annotations

import argparse
from collections.abc import Sequence
from importlib import import_module
from pathlib import Path

from gozero.system.console import Parser, run_command, seed, whole
from gozero.system.options import number_of
from training.course.boards import COURSES

PASSES = "over the data while learning (default: the game's own)"
NEWEST = "of the value networks (default: the newest)"
GENERATIONS = """Value networks, generation by generation: of random play first, then of players that look one move ahead.

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

A strategy is val[:LEVELS], pol or val_and_pol[:VISITS]; docs/students.md says what each does."""


def generations(arguments: Sequence[str] | None = None) -> int:
    """Make generations of value networks."""
    return _stage("training.course.generations", _generations_parser(), arguments)


def imitate(arguments: Sequence[str] | None = None) -> int:
    """Make policy networks that imitate the winners."""
    return _stage("training.course.imitation", _imitate_parser(), arguments)


def reinforce(arguments: Sequence[str] | None = None) -> int:
    """Improve the policy networks by REINFORCE."""
    return _stage("training.course.reinforcement", _reinforce_parser(), arguments)


def play(arguments: Sequence[str] | None = None) -> int:
    """Play against a strategy, or serve it over GTP."""
    parser = _play_parser()
    options = parser.parse_args(arguments)

    def run() -> int:
        from training.course import opponent

        return opponent.work(options)

    return run_command(parser.prog, run)


def _stage(module: str, parser: Parser, arguments: Sequence[str] | None) -> int:
    """Run a stage of the course. Returns the exit code."""
    options = parser.parse_args(arguments)
    path = options.run or Path("runs") / f"course-{options.game}"

    def run() -> None:
        from training.course import folder

        folder.run(import_module(module).work, options, path)

    saved = f"what was finished is in {path}, and the same command goes on from there"
    return run_command(parser.prog, run, interrupted=saved)


def _parser(command: str, description: str) -> Parser:
    """The options that all commands of the course have."""
    made = Parser(
        prog=f"gozero course {command}",
        description=description,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    made.add_argument("--game", type=str.lower, choices=COURSES, required=True, help="which of the course's games")
    return made


def _stage_parser(command: str, description: str) -> Parser:
    """The options that all stages have."""
    made = _parser(command, description)
    add = made.add_argument
    add("--run", type=Path, metavar="DIR", help="folder of the course's files (default runs/course-GAME)")
    add("--seed", type=seed, default=1, help="fixes games and networks (default 1)")
    add("--threads", type=whole(1), default=1, help="for the networks; these are small: few help (default 1)")
    return made


def _generations_parser() -> Parser:
    made = _stage_parser("generations", GENERATIONS)
    add = made.add_argument
    add("--generations", type=whole(1), default=2, help="how many there shall be (default 2)")
    add("--first-games", type=whole(1), default=10_000, help="random games for generation 0 (default 10,000)")
    add("--games", type=whole(1), default=25_000, help="games for each later one (default 25,000)")
    add("--test-games", type=whole(1), default=25_000, help="against random, with each colour (default 25,000)")
    add("--duel-games", type=whole(2), default=1_000, help="against the one before (default 1,000)")
    add("--passes", type=whole(1), help=PASSES)
    add("--levels", type=whole(1), default=1, help="plies that players look ahead (default 1)")
    return made


def _imitate_parser() -> Parser:
    made = _stage_parser("imitate", IMITATE)
    add = made.add_argument
    add("--generation", type=whole(0), help=NEWEST)
    add("--games", type=whole(1), default=25_000, help="between them (default 25,000)")
    add("--test-games", type=whole(1), default=1_000, help="against random, with each colour (default 1,000)")
    add("--passes", type=whole(1), help=PASSES)
    moves = "all moves of the winners, or only those that were not random (default all)"
    add("--moves", choices=("all", "chosen"), default="all", help=moves)
    return made


def _reinforce_parser() -> Parser:
    made = _stage_parser("reinforce", REINFORCE)
    add = made.add_argument
    add("--rounds", type=whole(1), default=20, help="how many there shall be (default 20)")
    add("--updates", type=whole(1), default=20, help="of each round (default 20)")
    add("--games", type=_even, default=256, help="of each update, half with each colour (default 256)")
    share = "of the updates, 0 to 1: the value network is the opponent (default 0.1)"
    add("--value-share", type=_share, default=0.1, metavar="S", help=share)
    add("--generation", type=whole(0), help=NEWEST)
    add("--rate", type=_rate, default=3e-4, help="learning rate (default 3e-4)")
    add("--test-games", type=whole(2), default=1_000, help="against start and pool, each round (default 1,000)")
    return made


def _play_parser() -> Parser:
    made = _parser("play", PLAY)
    add = made.add_argument
    add("player", metavar="FOLDER:STRATEGY", help="such as runs/course-simple_go:val:2")
    colour = "yours; Black moves first (default black)"
    add("--colour", choices=("black", "white"), default="black", help=colour)
    add("--seed", type=seed, help="of the search's chance in the opening (default: another each time)")
    add("--gtp", action="store_true", help="speak the Go Text Protocol on standard input and output")
    return made


def _even(text: str) -> int:
    """Reads an even number from 2 on."""
    if (number := whole(2)(text)) % 2:
        raise argparse.ArgumentTypeError(f"{text!r} is no even number")
    return number


def _share(text: str) -> float:
    """A number from 0 to 1."""
    if not 0.0 <= (share := number_of(text)) <= 1.0:
        raise argparse.ArgumentTypeError(f"{text!r} is no share: expected a number from 0 to 1")
    return share


def _rate(text: str) -> float:
    """A number above 0, at most 1."""
    if not (rate := _share(text)) > 0.0:
        raise argparse.ArgumentTypeError(f"{text!r}: expected a number above 0")
    return rate


_share.__name__ = _rate.__name__ = "number"  # argparse names the type of what is none in its message
