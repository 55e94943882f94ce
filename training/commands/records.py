"""`gozero records`: look at games of self-play: list, show, check, and export them as SGF.

    gozero records list runs/go13 --size 13 --sort moves --limit 20
    gozero records show runs/go13/000012:7 --every 20
    gozero records check runs/go13
    gozero records export runs/go13 --generation 30-33 --sgf /tmp/games

PATH is a run folder, a folder of shards or a shard; `list` prints the name of each game, which `show` takes. Tables and
boards go to stdout, complaints to stderr. Exit code: 0; 1 when `check` finds a damaged or impossible game; 2 for a
request that makes no sense. No record is changed: a damaged one is skipped and counted, here as in training.
"""

from __future__ import annotations

import argparse
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

from gozero.system.console import Parser, positive
from gozero.system.errors import ChoiceError
from training.records.records import COLUMNS, ENDINGS


def main(arguments: Sequence[str] | None = None) -> int:
    parser = Parser(prog="gozero records", description=__doc__)
    commands = parser.add_subparsers(required=True, metavar="list | show | check | export")
    listing = _command(commands, "list", "show_list", "a line for each game", filters=True)
    check = _command(commands, "check", "check_all", "play every game again under its rules")
    for command in (listing, check):
        command.add_argument("--json", action="store_true", help="for machines")
    exporting = _command(
        commands,
        "export",
        "export_sgf",
        "one SGF file a game, with what the searches saw; of games that are not written as SGF, such as Hex, "
        "a list of moves",
        filters=True,
    )
    exporting.add_argument("--sgf", type=Path, required=True, metavar="FOLDER", help="where the files go")
    show = commands.add_parser("show", help="boards, with what the searches saw")
    show.set_defaults(run="show_game")
    show.add_argument("game", metavar="GAME", help="a name that `list` printed")
    show.add_argument("--ply", type=int, metavar="N", help="the position after N moves (default: the last)")
    show.add_argument("--every", type=positive, metavar="K", help="the positions after 0, K, 2K ... moves, and the last")
    for command in (exporting, show):
        top = "moves of a search to name (default 5)"
        command.add_argument("--top", type=positive, default=5, metavar="M", help=top)
    return parser.run(_run, arguments)


def _run(options: argparse.Namespace) -> int:
    longest = getattr(options, "max_length", None)
    if longest is not None and longest < options.min_length:
        raise ChoiceError(f"--max-length {longest} is below --min-length {options.min_length}; change one")
    from training.records import browse

    run: Callable[[argparse.Namespace], int] = getattr(browse, options.run)
    return run(options)


def _command(commands: Any, name: str, run: str, about: str, filters: bool = False) -> argparse.ArgumentParser:
    """A command on PATHs, with the filters if it has them."""
    command: argparse.ArgumentParser = commands.add_parser(name, help=about)
    command.set_defaults(run=run)
    add = command.add_argument
    add("paths", nargs="+", metavar="PATH", help="run folder, folder of shards, or shard")
    if filters:
        add("--min-length", type=int, default=0, metavar="MOVES")
        add("--max-length", type=int, metavar="MOVES")
        add("--result", choices=("B", "W", "draw"))
        add("--size", type=int, action="append", default=[], metavar="N", help="may be given more than once")
        add("--ending", choices=ENDINGS, action="append", default=[], help="may be given more than once")
        add("--generation", type=_range, metavar="A-B", help="one generation, or from A to B")
        add("--limit", type=positive, metavar="N", help="at most N games")
        add("--sort", choices=COLUMNS, help="order by a column of `list`")
        add("--reverse", action="store_true", help="largest first")
    return command


def _range(text: str) -> tuple[int, int]:
    first, _, last = text.partition("-")
    if not text.isascii() or not first.isdigit() or not (last or first).isdigit() or int(last or first) < int(first):
        raise argparse.ArgumentTypeError(f"{text!r} is neither a generation nor a range such as 10-20")
    return int(first), int(last or first)
