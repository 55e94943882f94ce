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
from gozero.system.console import finite
from gozero.system.errors import ChoiceError
from training.matches.interface import check_limits, check_seed

if TYPE_CHECKING:
    from gozero.games.game import Game

GO = "go"
SIMS = "{sims}"  # stands in an opponent's command for its simulations a move
IN_PROCESS_PARALLEL = 32  # games in progress when both players are in this process: fills evaluation batches


def add_game(parser: argparse.ArgumentParser) -> None:
    """The options that `open_game` reads."""
    parser.add_argument(
        "--game", type=str.lower, default=GO, metavar="NAME", help=f"{', '.join(games.GAMES)} (default {GO})"
    )
    parser.add_argument("--size", type=int, help="board size (default: the game's own; Go 13)")
    parser.add_argument("--komi", type=finite, help="points, Go only (default: the board's usual one, mostly 7.5)")
    parser.add_argument("--rules", help="rule set of the referee (default: the game's own; Go chinese)")


def add_play(parser: argparse.ArgumentParser) -> None:
    """The options of how players are run, but for the number of games."""
    parser.add_argument("--seed", type=int, default=1, help="fixes openings and random players (default 1)")
    parser.add_argument(
        "--parallel", type=int, metavar="N", help="games in progress at once (default: 1 with a GTP engine, else 32)"
    )
    parser.add_argument(
        "--move-seconds", type=finite, default=60.0, metavar="S", help="limit for one GTP answer (default 60)"
    )
    parser.add_argument(
        "--threads", type=int, metavar="N", help="threads for network evaluation (default: all this process may use)"
    )


def open_game(options: argparse.Namespace) -> tuple[Game, float]:
    """(the game, its komi in points), where what is not given is the game's own.

    ChoiceError for what the game does not have.
    """
    from training.records import scoring

    size = games.usual(options.game, "size") if options.size is None else options.size
    komi = scoring.usual_komi(options.game, size) if options.komi is None else options.komi
    given = komi if options.game == GO else options.komi
    return games.make(options.game, size=size, rules=options.rules, komi=given), komi


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


def check_files(*files: Path | None) -> None:
    """ChoiceError for a file that could not be written once the games are over; None: not asked for.

    A file that is there stays as it is, and none is left that was not.
    """
    for file in files:
        try:
            if file is not None:
                _check_file(file)
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


def _check_file(file: Path) -> None:
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


def described(game: Game, komi: float, options: argparse.Namespace) -> str:
    """`go 13x13, komi 7.5, chinese`; only what the game has."""
    rules = options.rules or games.usual(game.name, "rules")
    return (
        f"{game.name} {game.dimensions}"
        + (f", komi {komi:g}" if game.name == GO else "")
        + (f", {rules}" if rules else "")
    )


def in_parallel(options: argparse.Namespace, *descriptions: str) -> int:
    """Games in progress at once: as asked for; else 1 where a player is another program or Pachi, which know no
    batches, and many where both play in this process.
    """
    outside = any(text.startswith(("gtp:", "pachi:")) for text in descriptions)
    return (1 if outside else IN_PROCESS_PARALLEL) if options.parallel is None else int(options.parallel)
