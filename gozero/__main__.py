"""A game in the terminal, and small tools around the engine: `python -m gozero play | perft | net | weights | graph | warmup`.

Playing under a controller is not among them: that is `gozero-gtp`, in the package gtp. Every command imports only what
it needs; bad input ends with one line on stderr and exit code 2, Ctrl-C with 130.
"""

from __future__ import annotations

import argparse
import io
import sys
import time
from collections.abc import Callable, Sequence
from pathlib import Path

from gozero.games import GAMES
from gozero.nets.locations import WEIGHTS
from gozero.nets.weights import WeightsError
from gozero.play.engine import check_choices
from gozero.system.command_line import LineParser
from gozero.system.errors import ChoiceError, PlotError, ResultsError
from gozero.system.exits import INTERRUPTED, SUCCESS, printing
from gozero.system.options import SettingsError

DEFAULT_WEIGHTS = WEIGHTS["go"]
DEFAULT_SIZE = 13
FIRST = """\
try first:
  python -m gozero play connect4 --level 3    a game in this terminal; or othello, go, nogo ...
  gozero-web                                  the same, and more, in your browser
  gozero-gtp --check                          whether the engine works, before you add it to a client
  python -m training                          the commands that train networks
docs/play.md has the rest; each command has --help."""
DEEPEST_PERFT = 1_000  # plies: no count of so many ever ends


def main(arguments: Sequence[str] | None = None) -> int:
    """Run one command and return the exit code: 0, 2 for bad input, or 130 after Ctrl-C."""
    return printing("gozero", lambda: _run(arguments))


def _run(arguments: Sequence[str] | None) -> int:
    """`main`, but for standard output."""
    try:
        parser = _parser()
        options = parser.parse_args(arguments)
        if options.command is None:
            parser.print_help()
            return SUCCESS
        command: Callable[[argparse.Namespace], None] = options.command
        command(options)
    except (ChoiceError, SettingsError, WeightsError, PlotError, ResultsError) as error:
        print(f"gozero: {error}", file=sys.stderr)
        return 2
    except ModuleNotFoundError as error:
        if error.name != "torch":
            raise
        print("gozero: this needs PyTorch, which playing does not; run: pip install 'gozero[train]'", file=sys.stderr)
        return 2
    except KeyboardInterrupt:
        print("\ngozero: interrupted", file=sys.stderr)
        return INTERRUPTED
    return SUCCESS


def play(options: argparse.Namespace) -> None:
    """A game against the engine in the terminal, or the results of such games."""
    from gozero.frontends.terminal.settings import PlaySettings

    for stream in (sys.stdin, sys.stdout):
        if isinstance(stream, io.TextIOWrapper):  # whatever is typed can be read and shown
            stream.reconfigure(errors="backslashreplace")
    if options.results:
        _print_results(options.game)
        return
    if options.game is None:
        raise ChoiceError(f"play needs the name of a game: {', '.join(GAMES)}; see python -m gozero play --help")
    chosen = {name: value for name, value in vars(options).items() if name not in ("command", "results")}
    settings = PlaySettings(**chosen)
    from gozero.frontends.terminal import play

    play.play(settings)


def _print_results(game: str | None) -> None:
    """The results of people's games, of one kind if a game is named."""
    from gozero.frontends.terminal import results

    if game is not None:
        check_choices(game, None, None)
    file = results.path()
    found = [each for each in results.read(file) if game in (None, each.opponent.game)]
    print(results.table(found) if found else "There are no results yet.", flush=True)
    print(f"The results are in {file}.", file=sys.stderr)


def perft(options: argparse.Namespace) -> None:
    """Print how many sequences of 1, 2 … depth moves the game has."""
    check_choices(options.game, options.size, options.rules)
    if not 1 <= options.depth <= DEEPEST_PERFT:
        raise ChoiceError(f"--depth {options.depth}: expected 1 to {DEEPEST_PERFT:,}")
    from gozero import games
    from gozero.games.perft import counts

    settings = {"size": options.size, "rules": options.rules}
    game = games.make(options.game, **{name: value for name, value in settings.items() if value is not None})
    print(*counts(game, options.depth))


def net(options: argparse.Namespace) -> None:
    """Print a network's layers and how many parameters it has."""
    from gozero import games
    from gozero.nets import model
    from gozero.nets.layer_table import layer_table

    if options.size is not None and options.size < 1:
        raise ChoiceError(f"--size {options.size}: expected 1 or more")
    plain = options.game == "go" and options.size in (None, DEFAULT_SIZE)  # then no kernels need be loaded
    game = None if plain else games.make(options.game, size=options.size)
    board = (DEFAULT_SIZE, DEFAULT_SIZE) if game is None else game.shape
    print(layer_table(model.config(options.name, game, options.features, norm=options.norm), board))


def weights(options: argparse.Namespace) -> None:
    """Describe a weights file, or draw its first layer."""
    from gozero.nets.locations import find
    from gozero.nets.weights import describe

    if options.filters is None:
        print(describe(find(options.file)))
        return
    from gozero.nets import filters

    print(filters.draw(find(options.file), Path(options.filters)))


def graph(options: argparse.Namespace) -> None:
    """Put the inference graph of weights files into them, so that they can be played with where torch is missing."""
    from gozero.evaluators.graphs import embed
    from gozero.nets.locations import find

    for name in options.files:
        file = find(name)
        try:
            embed(file)
        except OSError as error:
            raise WeightsError(
                file, f"the file cannot be written: {(error.strerror or 'unwritable').lower()}"
            ) from None
        print(f"{file}: carries its inference graph ({file.stat().st_size:,} bytes)")


def warmup(options: argparse.Namespace) -> None:
    """Fill the caches of compiled kernels and converted networks, so that the engine's next start is quick."""
    steps = [
        (
            "kernels of the rules and the search: the first time a minute or more, several on a busy machine",
            _compile_kernels,
        ),
        ("network", lambda: _convert_network(options.weights, options.size)),
    ]
    for index, (what, step) in enumerate(steps, 1):
        print(f"[{index}/{len(steps)}] {what}", file=sys.stderr, flush=True)
        start = time.perf_counter()
        outcome = step() or "ready"
        print(f"      {outcome} ({time.perf_counter() - start:.1f} s)", file=sys.stderr, flush=True)


def _compile_kernels() -> None:
    """Import everything that compiles kernels when it is imported."""
    import gozero.games.go.go
    import gozero.nets.features
    import gozero.play.player  # noqa: F401  # and with it the search


def _convert_network(name: str | None, size: int) -> str | None:
    """Open the weights as `gozero-gtp` would and evaluate once; without a name, absent weights are not an error."""
    from gozero import games
    from gozero.evaluators.factory import open_evaluator
    from gozero.nets.locations import find

    try:
        path = find(name or DEFAULT_WEIGHTS)
    except WeightsError:
        if name is not None:
            raise
        return f"no {DEFAULT_WEIGHTS}, skipped"
    game = games.make("go", size=size)
    open_evaluator(path, game).evaluate(game.new_states(1))
    return None


def _parser() -> argparse.ArgumentParser:
    parser = LineParser(
        prog="python -m gozero",
        description="A game in this terminal, and tools around the engine; gozero-gtp is the engine itself.",
        epilog=FIRST,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.set_defaults(command=None)
    commands = parser.add_subparsers(title="commands", metavar="COMMAND")
    for run, words, add_options in (
        (play, "play against the engine in this terminal", _play_options),
        (perft, "count move sequences, to compare rules with another implementation", _perft_options),
        (net, "print the layers of a network", _net_options),
        (weights, "describe a weights file", _weights_options),
        (graph, "put the inference graph into weights files, which then play without PyTorch", _graph_options),
        (warmup, "fill the caches, so that the engine's next start is quick", _warmup_options),
    ):
        command = commands.add_parser(run.__name__, help=words)
        add_options(command)
        command.set_defaults(command=run)
    return parser


def _play_options(command: argparse.ArgumentParser) -> None:
    command.add_argument("game", nargs="?", type=str.lower, help=f"name of the game: {', '.join(GAMES)}")
    command.add_argument("--size", type=int, help="points a side (default: that of the weights, or the game's own)")
    command.add_argument(
        "--weights", metavar="FILE", help="weights file (default: the game's, if there is one; else random playouts)"
    )
    command.add_argument("--visits", type=int, help="simulations a move (default: 400, or 2000 with random playouts)")
    command.add_argument(
        "--level", type=int, help="1 (for beginners) to 20 (800 visits), in place of visits; needs weights"
    )
    command.add_argument(
        "--colour", choices=("black", "white"), default="black", help="yours; Black begins (default: %(default)s)"
    )
    command.add_argument("--seed", type=int, help="whole number; the same seed plays the same game")
    command.add_argument("--rules", help="rule set (default: the game's own)")
    command.add_argument("--komi", type=float, help="points for White in go (default: 7.5)")
    command.add_argument("--results", action="store_true", help="show how many games you have won, and play none")
    command.add_argument("--no-results", dest="saved", action="store_false", help="do not save the result")


def _perft_options(command: argparse.ArgumentParser) -> None:
    command.add_argument("game", type=str.lower, help=f"name of the game: {', '.join(GAMES)}")
    command.add_argument("--size", type=int, help="points a side (default: the game's own)")
    command.add_argument("--depth", type=int, default=4, help="longest sequence, in plies (default: %(default)s)")
    command.add_argument("--rules", help="rule set (default: the game's own)")


def _net_options(command: argparse.ArgumentParser) -> None:
    command.add_argument(
        "name", help="b10c64 (blocks, channels), se4c64, vgg2c64, mlp2x200 (layers, units) and the like, or agz13"
    )
    command.add_argument(
        "--game",
        type=str.lower,
        default="go",
        help=f"whose positions it sees: {', '.join(GAMES)} (default: %(default)s)",
    )
    command.add_argument(
        "--size", type=int, help="points a side, or columns, of the board that passes through (default: the game's own)"
    )
    command.add_argument(
        "--features",
        type=int,
        default=1,
        help="version of the input features: 1, 2 or 3, where the game has it (default: 1)",
    )
    command.add_argument(
        "--norm",
        choices=("renorm", "batch", "none"),
        help="what follows a convolution, as a run's setting of that name (default: batch in agz13, as in the preset s3; "
        "else renorm)",
    )


def _weights_options(command: argparse.ArgumentParser) -> None:
    command.add_argument(
        "file", help="looked for in the working directory, beside the executable and among the shipped weights"
    )
    command.add_argument(
        "--filters",
        metavar="PNG",
        help="instead, draw the first layer's filters into this file: red the first player or the side to move, blue the "
        "other (needs matplotlib)",
    )


def _graph_options(command: argparse.ArgumentParser) -> None:
    command.add_argument("files", nargs="+", metavar="FILE", help="weights file; it is replaced")


def _warmup_options(command: argparse.ArgumentParser) -> None:
    command.add_argument("--weights", help=f"weights file (default: {DEFAULT_WEIGHTS}, if there is one)")
    command.add_argument("--size", type=int, default=DEFAULT_SIZE, help="points a side (default: %(default)s)")


if __name__ == "__main__":
    sys.exit(main())
