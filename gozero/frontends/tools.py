"""Commands that show parts of the engine: `gozero weights`, `net`, `graph`, `perft` and `levels`.

Each checks its arguments first and then imports what it needs.
"""

from __future__ import annotations

import argparse
from collections.abc import Sequence
from pathlib import Path

from gozero.games import GAMES
from gozero.nets.locations import find
from gozero.nets.weights import describe
from gozero.play.engine import check_choices
from gozero.play.levels import LEVELS
from gozero.system.console import Parser
from gozero.system.errors import ChoiceError

DEEPEST_PERFT = 1_000  # plies: no count of so many ever ends


def levels(arguments: Sequence[str] | None = None) -> int:
    """Print how each level chooses its moves."""

    def work(_: argparse.Namespace) -> None:
        print("level  visits  temperature  top-p  most loss")
        for number, level in enumerate(LEVELS, 1):
            drawn = f"  {level.temperature:11g}  {level.top_p:5g}  {level.most_loss:9g}" if level.temperature else ""
            print(f"{number:5}  {level.visits:6}{drawn}")

    about = (
        "The levels of --level: visits a move and, if moves are drawn, the temperature, the share of the network's "
        "probability that the moves drawn from have, and the points that a move may lose."
    )
    parser = Parser(prog="gozero levels", description=about)
    return parser.run(work, arguments)


def perft(arguments: Sequence[str] | None = None) -> int:
    """Print how many sequences of 1, 2 … depth moves the game has."""

    def work(options: argparse.Namespace) -> None:
        if not 1 <= options.depth <= DEEPEST_PERFT:
            raise ChoiceError(f"--depth {options.depth}: expected 1 to {DEEPEST_PERFT:,}")
        check_choices(options.game, options.size, options.rules)
        from gozero import games
        from gozero.games.perft import counts

        print(*counts(games.make(options.game, size=options.size, rules=options.rules), options.depth))

    parser = Parser(prog="gozero perft", description="Count move sequences, to compare rules with other programs.")
    parser.add_argument("game", type=str.lower, help=f"name of the game: {', '.join(GAMES)}")
    parser.add_argument("--size", type=int, help="points a side (default: the game's own)")
    parser.add_argument("--depth", type=int, default=4, help="longest sequence, in plies (default: %(default)s)")
    parser.add_argument("--rules", help="rule set (default: the game's own)")
    return parser.run(work, arguments)


def net(arguments: Sequence[str] | None = None) -> int:
    """Print a network's layers, as PyTorch shows them, and how many parameters it has."""

    def work(options: argparse.Namespace) -> None:
        check_choices(options.game, None, None)
        from gozero import games
        from gozero.nets import model

        game = None if options.game == "go" else games.make(options.game)
        built = model.build(model.config(options.name, game))
        print(f"{built}\n{model.parameter_count(built):,} parameters")

    parser = Parser(prog="gozero net", description="Print the layers of a network.")
    add = parser.add_argument
    add("name", help="b10c64 (blocks, channels), se4c64, vgg2c64, mlp2x200 (layers, units) and the like, agz13 or agz9c32")
    games = ", ".join(GAMES)
    add("--game", type=str.lower, default="go", help=f"whose positions it sees: {games} (default: %(default)s)")
    return parser.run(work, arguments)


def weights(arguments: Sequence[str] | None = None) -> int:
    """Describe a weights file, draw its first layer, or write its network as an ONNX file."""

    def work(options: argparse.Namespace) -> None:
        file = find(options.file)
        if options.filters is not None:
            from gozero.nets import filters

            print(filters.draw(file, Path(options.filters)))
        elif options.onnx is not None:
            from gozero.evaluators import onnx_file

            print(onnx_file.write(file, Path(options.onnx)))
        else:
            print(describe(file))

    parser = Parser(prog="gozero weights", description="Describe a weights file.")
    places = "looked for in the working directory and among the shipped weights"
    parser.add_argument("file", help=places)
    drawing = "instead, draw the first layer's filters into this file: red the first player or the side to move, blue "
    add = parser.add_mutually_exclusive_group().add_argument
    add("--filters", metavar="PNG", help=f"{drawing}the other (needs matplotlib)")
    onnx = "instead, write the network for programs of others, checked with onnxruntime (needs gozero[train,onnx])"
    add("--onnx", metavar="OUT", help=onnx)
    return parser.run(work, arguments)


def graph(arguments: Sequence[str] | None = None) -> int:
    """Put the inference graph of weights files into them, so that they can be played with if torch is missing."""

    def work(options: argparse.Namespace) -> None:
        files = [find(name) for name in options.files]
        from gozero.evaluators.graphs import embed

        for file in files:
            embed(file)
            print(f"{file}: carries its inference graph ({file.stat().st_size:,} bytes)")

    about = "Put the inference graph into weights files, which then play without PyTorch."
    parser = Parser(prog="gozero graph", description=about)
    parser.add_argument("files", nargs="+", metavar="FILE", help="weights file; it is replaced")
    return parser.run(work, arguments)
