"""The options that the commands which play matches share, and what they mean. Nothing heavy is imported."""

from __future__ import annotations

import argparse
import shlex
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from gozero import games
from gozero.play.engine import find_weights
from gozero.system.console import positive, seed
from gozero.system.errors import ChoiceError
from gozero.system.options import number_of

GO = "go"
OUT = Path("tournaments")  # where results go, unless the user names another folder
SIMS = "{sims}"  # stands in an opponent's command for its simulations a move


def add_game(parser: argparse.ArgumentParser) -> None:
    add, known = parser.add_argument, ", ".join(games.GAMES)
    about = f"{known} (default: that of the weights, else {GO})"
    add("--game", type=str.lower, choices=games.GAMES, metavar="NAME", help=about)
    add("--size", type=int, help="board size (default: that of the weights, else the game's own; Go 13)")
    add("--komi", type=number_of, help="points, Go only (default 7.5, on 7x7 9.5)")
    add("--rules", help="rule set of the referee (default: the game's own; Go chinese)")


def complete(options: argparse.Namespace, weights: Sequence[str]) -> None:
    """Game and board size, where not given, are those of the first of these files; Go without any. WeightsError."""
    header = find_weights(weights[0], None)[1] if weights else None
    options.game = options.game or (header.game if header else GO)
    if header and header.game == options.game and options.size is None:
        options.size = header.size


def add_play(parser: argparse.ArgumentParser, folder: str, opening_moves: int | None = 0) -> None:
    """How the games are played, but for their number; `folder` says what --out is by default."""
    add = parser.add_argument
    opening = "random plies before the players begin (default %s)"
    opening %= "0; 4 with --run" if opening_moves is None else opening_moves
    add("--opening-moves", type=int, default=opening_moves, metavar="N", help=opening)
    add("--max-moves", type=positive, metavar="N", help="plies after which the board is counted (default 700)")
    add("--seed", type=seed, default=1, help="fixes openings and random players (default 1)")
    add("--processes", type=int, metavar="N", help="processes that play (default: one for each core)")
    answer = "what any answer of a player may take (default 60)"
    add("--answer-seconds", type=number_of, metavar="S", help=answer)
    about = f"folder of page, results, journal and games; the same command goes on with it (default: {folder})"
    add("--out", type=Path, metavar="DIR", help=about)
    add("--dry-run", action="store_true", help="only see whether all players start, and how long it will take")


def field_values(options: argparse.Namespace) -> dict[str, Any]:
    """The keys of a tournament's field that were given by the options above."""
    names = ("game", "size", "komi", "rules", "opening_moves", "max_moves", "seed", "processes", "answer_seconds")
    given = {name: getattr(options, name, None) for name in names}
    return {name: value for name, value in given.items() if value is not None}


def check_opponent(command: str) -> None:
    """ChoiceError for an opponent's command that is no command line, or has no place for its simulations."""
    try:
        words = shlex.split(command)
    except ValueError as error:
        raise ChoiceError(f"--opponent {command!r} is no command line: {error}") from None
    if not any(SIMS in word for word in words):
        raise ChoiceError(f"--opponent {command!r} does not say where its simulations go: write {SIMS} there")


def check_files(*wanted: Path | None) -> None:
    """ChoiceError for a file that cannot be written, before hours of games; what it holds stays."""
    for file in filter(None, wanted):
        try:
            file.open("ab").close()
        except OSError as error:
            raise ChoiceError(f"cannot write {file}: {error.strerror}") from None
