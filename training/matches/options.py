"""The options that the commands which play matches share, and what they mean. Nothing heavy is imported before a game
is made.
"""

from __future__ import annotations

import argparse
import os
import shlex
import tempfile
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from gozero import games
from gozero.system.errors import ChoiceError
from gozero.system.options import number_of
from training.matches.interface import check_limits, check_seed

if TYPE_CHECKING:
    from gozero.games.game import Game

GO = "go"
SIMS = "{sims}"  # stands in an opponent's command for its simulations a move
IN_PROCESS_PARALLEL = 32  # games in progress when both players are in this process: fills evaluation batches


def add_game(parser: argparse.ArgumentParser) -> None:
    """The options that `open_game` reads."""
    add, known = parser.add_argument, ", ".join(games.GAMES)
    add("--game", type=str.lower, default=GO, metavar="NAME", help=f"{known} (default {GO})")
    add("--size", type=int, help="board size (default: the game's own; Go 13)")
    add("--komi", type=number_of, help="points, Go only (default: the board's usual one, mostly 7.5)")
    add("--rules", help="rule set of the referee (default: the game's own; Go chinese)")


def add_play(parser: argparse.ArgumentParser) -> None:
    """The options of how players are run, but for the number of games."""
    add = parser.add_argument
    add("--opening-moves", type=int, default=0, metavar="N", help="random plies before the players begin (default 0)")
    add("--seed", type=int, default=1, help="fixes openings and random players (default 1)")
    parallel = "games in progress at once (default: 1 with a GTP engine, else 32)"
    add("--parallel", type=int, metavar="N", help=parallel)
    add("--move-seconds", type=number_of, default=60.0, metavar="S", help="limit for one GTP answer (default 60)")
    add_threads(parser)


def add_threads(parser: argparse.ArgumentParser) -> None:
    """The option of a network's threads."""
    what = "threads for network evaluation (default: all this process may use)"
    parser.add_argument("--threads", type=int, metavar="N", help=what)


def open_game(options: argparse.Namespace) -> tuple[Game, float]:
    """As `usual_game`, of the options of `add_game`."""
    return usual_game(options.game, options.size, options.rules, options.komi)


def usual_game(
    name: str, size: int | None, rules: str | None, komi: float | None, longest: float | None = None
) -> tuple[Game, float]:
    """(the game, its komi in points, 0 if it has none); what is None is the game's own.

    ChoiceError for what the game does not have. `longest`: plies of a game for each point, Go only.
    """
    from training.records import scoring

    if name != GO:
        return games.make(name, size=size, rules=rules, komi=komi), komi or 0.0
    size = games.usual(name, "size") if size is None else size
    komi = scoring.usual_komi(name, size) if komi is None else komi
    limit = None if longest is None else int(longest * size * size)
    return games.make(name, size=size, rules=rules, komi=komi, move_limit=limit), komi


def check_play(options: argparse.Namespace) -> None:
    """ChoiceError for a game, a komi, a seed or a time that cannot be, before the rules are loaded."""
    check_game(options.game)
    check_komi("--komi", options.komi)
    check_seed(options.seed)
    check_limits(options.move_seconds, options.threads)


def check_komi(name: str, komi: float | None) -> None:
    """ChoiceError for a komi beyond all boards."""
    if komi is not None and not abs(komi) <= games.MOST_KOMI:
        raise ChoiceError(f"{name} {komi:g}: expected -{games.MOST_KOMI} to {games.MOST_KOMI}")


def check_game(name: str) -> None:
    """ChoiceError for a game that there is not."""
    if name not in games.GAMES:
        raise ChoiceError(f"unknown game {name!r}: expected one of {', '.join(games.GAMES)}")


def check_once(name: str, given: Sequence[object]) -> None:
    """ChoiceError for a value of an option that is given twice: the same games would count as others."""
    for number, value in enumerate(given):
        if value in given[:number]:
            raise ChoiceError(f"--{name} {value} is given twice: name each once")


def check_opponent(command: str) -> None:
    """ChoiceError for an opponent's command that is no command line, or has no place for its simulations."""
    try:
        words = shlex.split(command)
    except ValueError as error:
        raise ChoiceError(f"--opponent {command!r} is no command line: {error}") from None
    if not any(SIMS in word for word in words):
        raise ChoiceError(f"--opponent {command!r} does not say where its simulations go: write {SIMS} there")


def check_files(*wanted: Path | None) -> None:
    """ChoiceError for a file that could not be written once the games are over; None: not asked for.

    A file that is there stays as it is, and none is left that was not.
    """
    for file in filter(None, wanted):
        try:
            if not file.absolute().parent.is_dir():
                raise ChoiceError(f"cannot write {file}: there is no folder {file.absolute().parent}")
            if file.is_dir():
                raise ChoiceError(f"cannot write {file}: it is a folder")
            target = Path(os.path.realpath(file))  # not the link itself: what is made for the trial is taken away again
            if not target.exists():
                target.touch()
                target.unlink()
            elif target.is_file():  # no pipe: opening one waits for its reader
                target.open("ab").close()
        except OSError as error:
            raise ChoiceError(f"cannot write {file}: {error.strerror}") from None


def check_folder(folder: Path) -> None:
    """ChoiceError for a folder of games that is none and cannot be made; it is made if need be."""
    try:
        folder.mkdir(parents=True, exist_ok=True)
        with tempfile.TemporaryFile(dir=folder):
            pass
    except OSError as error:
        raise ChoiceError(f"cannot write into {folder}: {error.strerror}") from None


def described(game: Game, komi: float, options: argparse.Namespace) -> str:
    """`go 13x13, komi 7.5, chinese`; only what the game has."""
    rules = options.rules or games.usual(game.name, "rules")
    points = f", komi {komi:g}" if game.name == GO else ""
    return f"{game.name} {game.dimensions}{points}" + (f", {rules}" if rules else "")


def in_parallel(options: argparse.Namespace, *descriptions: str) -> int:
    """Games in progress at once: as asked for; else 1 where a player is another program or Pachi, which know no
    batches, and many where both play in this process.
    """
    outside = any(text.startswith(("gtp:", "pachi:")) for text in descriptions)
    return (1 if outside else IN_PROCESS_PARALLEL) if options.parallel is None else int(options.parallel)
