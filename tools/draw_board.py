"""Draw what a network thinks of a position of a recorded game: its policy, and who it expects to own each point.

    python -m tools.draw_board docs/board:1 --move 49 --weights weights/best.pt --out docs/board.png

This makes the picture in README.md. GAME is a name that `gozero records list` prints. The move numbered
`--move` is the one that is about to be played: 1 draws the empty board.

Exit code 0: drawn. 2: not drawn, and one line on stderr says why.
"""

from __future__ import annotations

import argparse
from collections.abc import Sequence
from pathlib import Path

from gozero.nets import locations, weights
from gozero.system.console import Parser, run_command
from gozero.system.errors import ChoiceError
from training.doctor import gallery
from training.records import library

DPI = 130  # two boards are then 754 pixels wide, about the width of a README's text


def draw(name: str, move: int, file: Path) -> bytes:
    """The picture as PNG.

    Raises:
        LibraryError: there is no such game. ChoiceError: the game has no such move, or another board than the network.
        WeightsError: the weights cannot be used, or are of another game or board. PlotError: matplotlib is missing.
    """
    entry = library.find(name)
    game, moves = entry.game(), len(entry.record.moves)
    if not 1 <= move <= moves:
        raise ChoiceError(f"{name} has no move {move}: it has 1 to {moves}")
    loaded = weights.load(locations.find(file), game=game.name)
    if loaded.config.board not in (None, game.shape):
        raise ChoiceError(f"the network of {file} plays another board than {name}, which is {game.rows}x{game.cols}")
    return gallery.position(loaded.network(), game, entry.record, move - 1, DPI)


def main(arguments: Sequence[str] | None = None) -> int:
    """Run from the command line; the exit code is described above."""
    parser = Parser(prog="python -m tools.draw_board", description=__doc__.split("\n\n")[0])
    parser.add_argument("game", metavar="GAME", help="a recorded game, such as docs/board:1")
    parser.add_argument(
        "--move", type=int, required=True, metavar="N", help="the number of the move that is to be played, from 1"
    )
    parser.add_argument(
        "--weights", type=Path, default=Path("best.pt"), metavar="FILE", help="weights file (default best.pt)"
    )
    parser.add_argument("--out", type=Path, required=True, metavar="FILE", help="the PNG file to write")
    options = parser.parse_args(arguments)
    return run_command("tools.draw_board", lambda: _run(options))


def _run(options: argparse.Namespace) -> int:
    options.out.write_bytes(draw(options.game, options.move, options.weights))
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
