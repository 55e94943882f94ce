"""The command `gozero play`: a game against the engine in the terminal."""

from __future__ import annotations

import argparse
import io
import sys
from collections.abc import Sequence

from gozero.frontends.terminal import tally
from gozero.frontends.terminal.play_settings import PlaySettings
from gozero.games import GAMES
from gozero.nets.locations import find
from gozero.play.engine import check_choices
from gozero.system.console import Parser, run_command
from gozero.system.errors import ChoiceError

PROG = "gozero play"


def main(arguments: Sequence[str] | None = None) -> int:
    """Play one game, or print the tally. Returns the exit code."""
    options = _parser().parse_args(arguments)
    return run_command(PROG, lambda: _run(options))


def _run(options: argparse.Namespace) -> None:
    for stream in (sys.stdin, sys.stdout):
        if isinstance(stream, io.TextIOWrapper):  # whatever is typed can be read and shown
            stream.reconfigure(errors="backslashreplace")
    if options.tally:
        _print_tally(options.game)
        return
    if options.game is None:
        raise ChoiceError(f"give the name of a game: {', '.join(GAMES)}; see {PROG} --help")
    settings = PlaySettings(**{name: value for name, value in vars(options).items() if name != "tally"})
    if settings.weights is not None:
        find(settings.weights)
    from gozero.frontends.terminal import play

    play.play(settings)


def _print_tally(game: str | None) -> None:
    """The games of people, of one kind if a game is named."""
    if game is not None:
        check_choices(game, None, None)
    file = tally.path()
    entries = [entry for entry in tally.read(file) if game in (None, entry.key.game)]
    print(tally.table(entries) if entries else "No game is counted yet.", flush=True)
    print(f"The tally is {file}.", file=sys.stderr)


def _parser() -> argparse.ArgumentParser:
    parser = Parser(prog=PROG, description="Play against the engine in this terminal.")
    parser.add_argument("game", nargs="?", type=str.lower, help=f"name of the game: {', '.join(GAMES)}")
    parser.add_argument("--size", type=int, help="points a side (default: that of the weights, or the game's own)")
    parser.add_argument(
        "--weights", metavar="FILE", help="weights file (default: the game's, if there is one; else random playouts)"
    )
    parser.add_argument("--visits", type=int, help="simulations a move (default: 400, or 2000 with random playouts)")
    parser.add_argument(
        "--level", type=int, help="1 (for beginners) to 20 (800 visits), in place of visits; needs weights"
    )
    parser.add_argument(
        "--colour", choices=("black", "white"), default="black", help="yours; Black begins (default: %(default)s)"
    )
    parser.add_argument("--seed", type=int, help="whole number; the same seed plays the same game")
    parser.add_argument("--rules", help="rule set (default: the game's own)")
    parser.add_argument("--komi", type=float, help="points for White in go (default: 7.5)")
    parser.add_argument("--tally", action="store_true", help="show how many games you have won, and play none")
    parser.add_argument("--no-tally", dest="counted", action="store_false", help="do not count this game")
    return parser


if __name__ == "__main__":
    sys.exit(main())
