"""The command `gozero play`: a game against the engine in the terminal."""

from __future__ import annotations

import argparse
import io
import sys
from collections.abc import Sequence

from gozero.frontends.terminal import results
from gozero.frontends.terminal.settings import PlaySettings
from gozero.games import GAMES
from gozero.nets.locations import find
from gozero.play.engine import check_choices
from gozero.system.console import Parser, run_command
from gozero.system.errors import ChoiceError

PROG = "gozero play"


def main(arguments: Sequence[str] | None = None) -> int:
    """Play one game, or print the results of earlier ones. Returns the exit code."""
    options = _parser().parse_args(arguments)
    return run_command(PROG, lambda: _run(options))


def _run(options: argparse.Namespace) -> None:
    for stream in (sys.stdin, sys.stdout):
        if isinstance(stream, io.TextIOWrapper):  # whatever is typed can be read and shown
            stream.reconfigure(errors="backslashreplace")
    if options.results:
        _print_results(options.game)
        return
    if options.game is None:
        raise ChoiceError(f"give the name of a game: {', '.join(GAMES)}; see {PROG} --help")
    settings = PlaySettings(**{name: value for name, value in vars(options).items() if name != "results"})
    if settings.weights is not None:
        find(settings.weights)
    from gozero.frontends.terminal import play

    play.play(settings)


def _print_results(game: str | None) -> None:
    """The results of people's games, of one kind if a game is named."""
    if game is not None:
        check_choices(game, None, None)
    file = results.path()
    found = [each for each in results.read(file) if game in (None, each.opponent.game)]
    print(results.table(found) if found else "There are no results yet.", flush=True)
    print(f"The results are in {file}.", file=sys.stderr)


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
    parser.add_argument("--results", action="store_true", help="show how many games you have won, and play none")
    parser.add_argument("--no-results", dest="saved", action="store_false", help="do not save the result")
    return parser


if __name__ == "__main__":
    sys.exit(main())
