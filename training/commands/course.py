"""The commands `gozero course generations`, `imitate`, `reinforce` and `play`: the stages of a course project, and its
strategies as opponents. Nothing heavy is imported before the arguments are checked.
"""

from __future__ import annotations

import argparse
from collections.abc import Callable, Sequence
from importlib import import_module
from pathlib import Path
from typing import Any

from gozero.system.console import Parser, run_command, seed, whole
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

A strategy is val[:LEVELS], pol or val_and_pol[:VISITS]; docs/students.md says what each does."""


def generations(arguments: Sequence[str] | None = None) -> int:
    """Make generations of value networks."""
    return _stage("generations", arguments)


def imitate(arguments: Sequence[str] | None = None) -> int:
    """Make policy networks that imitate the winners."""
    return _stage("imitate", arguments)


def reinforce(arguments: Sequence[str] | None = None) -> int:
    """Improve the policy networks by REINFORCE."""
    return _stage("reinforce", arguments)


def play(arguments: Sequence[str] | None = None) -> int:
    """Play against a strategy, or serve it over GTP."""
    parser = _parser("play", PLAY)
    add = parser.add_argument
    add("player", metavar="FOLDER:STRATEGY", help="such as runs/course-simple_go:val:2")
    colour = "yours; Black moves first (default black)"
    add("--colour", choices=("black", "white"), default="black", help=colour)
    add("--seed", type=seed, help="of the search's chance in the opening (default: another each time)")
    add("--gtp", action="store_true", help="speak the Go Text Protocol on standard input and output")
    options = parser.parse_args(arguments)

    def run() -> int:
        from training.course import opponent

        return opponent.work(options)

    return run_command(parser.prog, run)


def _stage(command: str, arguments: Sequence[str] | None) -> int:
    """Run a stage of the course. Returns the exit code."""
    module, description, own = STAGES[command]
    parser = _parser(command, description)
    where = "folder of the course's files (default runs/course-GAME)"
    parser.add_argument("--run", type=Path, metavar="DIR", help=where)
    for flag, kind, default, about in (*own, *SHARED):
        parser.add_argument(flag, type=kind, default=default, help=about.format(default))
    options = parser.parse_args(arguments)
    path = options.run or Path("runs") / f"course-{options.game}"

    def run() -> None:
        from training.course import folder

        folder.run(import_module(f"training.course.{module}").work, options, path)

    saved = f"what was finished is in {path}, and the same command goes on from there"
    return run_command(parser.prog, run, interrupted=saved)


def _parser(command: str, description: str) -> Parser:
    """The options that all commands of the course have."""
    made = Parser(prog=f"gozero course {command}", description=description)
    made.add_argument("--game", type=str.lower, choices=COURSES, required=True, help="which of the course's games")
    return made


def _even(text: str) -> int:
    """An even number from 2 on."""
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


def _moves(text: str) -> str:
    if text not in ("all", "chosen"):
        raise argparse.ArgumentTypeError(f"{text!r}: choose all or chosen")
    return text


_share.__name__ = _rate.__name__ = "number"  # argparse names the type of what is none in its message

Option = tuple[str, Callable[[str], Any], Any, str]  # flag, type, default, help
SHARED: tuple[Option, ...] = (
    ("--seed", seed, 1, "fixes games and networks (default {})"),
    ("--threads", whole(1), 1, "for the networks; these are small: few help (default {})"),
)
PASSES: Option = ("--passes", whole(1), None, "over the data while learning (default: the game's own)")
GENERATION: Option = ("--generation", whole(0), None, "of the value networks (default: the newest)")
STAGES: dict[str, tuple[str, str, tuple[Option, ...]]] = {  # command -> module, description, options
    "generations": (
        "generations",
        GENERATIONS,
        (
            ("--generations", whole(1), 2, "how many there shall be (default {})"),
            ("--first-games", whole(1), 10_000, "random games for generation 0 (default {:,})"),
            ("--games", whole(1), 25_000, "games for each later one (default {:,})"),
            ("--test-games", whole(1), 25_000, "against random, with each colour (default {:,})"),
            ("--duel-games", whole(2), 1_000, "against the one before (default {:,})"),
            ("--levels", whole(1), 1, "plies that players look ahead (default {})"),
            PASSES,
        ),
    ),
    "imitate": (
        "imitation",
        IMITATE,
        (
            ("--games", whole(1), 25_000, "between them (default {:,})"),
            ("--test-games", whole(1), 1_000, "against random, with each colour (default {:,})"),
            ("--moves", _moves, "all", "all: every move of the winners; chosen: without the random ones (default {})"),
            PASSES,
            GENERATION,
        ),
    ),
    "reinforce": (
        "reinforcement",
        REINFORCE,
        (
            ("--rounds", whole(1), 20, "how many there shall be (default {})"),
            ("--updates", whole(1), 20, "of each round (default {})"),
            ("--games", _even, 256, "of each update, half with each colour (default {})"),
            ("--value-share", _share, 0.1, "of the updates, 0 to 1: the value network is the opponent (default {})"),
            ("--rate", _rate, 3e-4, "learning rate (default {})"),
            ("--test-games", whole(2), 1_000, "against start and pool, each round (default {:,})"),
            GENERATION,
        ),
    ),
}
