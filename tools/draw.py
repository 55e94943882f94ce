"""Draw pictures of this repository.

    python -m tools.draw board docs/board:1 --move 49 --weights weights/best.pt --out docs/board.png
    python -m tools.draw history weights/best.csv --out docs/experiments/best.png
    python -m tools.draw levels tournaments/levels/results.json --out docs/levels.png

board    What a network thinks of a position of a recorded game: its policy, and who it expects to own each point. GAME
         is a name that `gozero records list` prints. The move numbered `--move` is about to be played: 1 draws the
         empty board.
history  How strength grew over the generations of a run that shipped. A row of the table is a generation: its
         evaluations in millions, the games against the row above and how many it won, and what `gozero yardstick` says
         of it, in percent. The Elo of a row is the sum of the steps up to it, and says nothing of other opponents.
levels   Elo of the levels in a tournament, with 95 % intervals of the difference to another entrant.

Exit code 0: drawn. 2: not drawn, and one line on stderr says why.
"""

from __future__ import annotations

import argparse
import csv
import json
from collections.abc import Sequence
from pathlib import Path

import numpy as np

from gozero.nets import locations, weights
from gozero.plots import Curve, Panel, curves
from gozero.system.console import Parser
from gozero.system.errors import ChoiceError
from training.doctor import gallery
from training.matches.elo import Z95, MatchScore, elo, elo_error, rate
from training.records import library

DPI = 130  # two boards are then 754 pixels wide, about the width of a README's text
EVALUATIONS = "million evaluations"
AGREEMENT = ("best move", "error of the win rate")


def draw_board(options: argparse.Namespace) -> bytes:
    """The picture of a position as PNG.

    Raises:
        LibraryError: there is no such game. ChoiceError: the game has no such move, or another board than the network.
        WeightsError: the weights cannot be used, or are of another game or board. PlotError: matplotlib is missing.
    """
    entry, file = library.find(options.game), options.weights
    game, moves = entry.game(), len(entry.record.moves)
    if not 1 <= options.move <= moves:
        raise ChoiceError(f"{options.game} has no move {options.move}: it has 1 to {moves}")
    loaded = weights.load(locations.find(file), game=game.name)
    if loaded.config.board not in (None, game.shape):
        raise ChoiceError(f"the network of {file} plays another board than {options.game}, {game.rows}x{game.cols}")
    return gallery.position(loaded.network(), game, entry.record, options.move - 1, DPI)


def ratings(rows: Sequence[dict[str, float]]) -> tuple[np.ndarray, np.ndarray]:
    """Elo above the first row float64 [n], and its standard error [n].

    Half a point is added to each side of a match, so that a clean sweep stays finite.
    """
    games = [int(row["games"]) for row in rows[1:]]
    scores = [(row["won"] + 0.5) / (count + 1) for row, count in zip(rows[1:], games, strict=True)]
    steps = [0.0, *map(elo, scores)]
    errors = [0.0, *(elo_error(score, count + 1) for score, count in zip(scores, games, strict=True))]
    return np.cumsum(steps), np.sqrt(np.cumsum(np.square(errors)))


def draw_history(options: argparse.Namespace) -> bytes:
    """The picture of a table as PNG. ChoiceError for a file that is no such table; PlotError: matplotlib is missing."""
    try:
        with options.table.open(newline="", encoding="utf-8") as file:
            rows = [{name: float(text or 0) for name, text in row.items()} for row in csv.DictReader(file)]
        if not rows:
            raise ValueError("it is empty")
        evaluations = [row[EVALUATIONS] for row in rows]
        elos, errors = ratings(rows)
        agreement = [Curve(f"{name}, %", evaluations, [row[name] for row in rows]) for name in AGREEMENT]
    except (ValueError, TypeError, LookupError) as error:
        raise ChoiceError(f"{options.table} is no table of generations such as weights/best.csv ({error!r})") from None
    strength = Curve("Elo", evaluations, elos.tolist(), (elos - errors).tolist(), (elos + errors).tolist())
    title = "Elo above the first, with its standard error"
    return curves(
        [
            Panel(title, [strength], EVALUATIONS),
            Panel("agreement with a strong engine", agreement, EVALUATIONS),
        ]
    )


def draw_levels(options: argparse.Namespace) -> bytes:
    """The picture of a tournament's results as PNG. ChoiceError for a file that is none; PlotError as above."""
    try:
        pairings = json.loads(options.results.read_text(encoding="utf-8"))["pairings"]
        found = {(each["a"], each["b"]): MatchScore(each["won"], each["lost"], each["drawn"]) for each in pairings}
        ratings = rate(sorted({name for pair in found for name in pair}), found)
        names = [name for name in ratings.names if name.startswith("level ")]
        levels = sorted((int(name[6:]), *ratings.difference(name, options.zero)) for name in names)
        numbers, values, _ = zip(*levels, strict=True)
        ratings.names.index(options.zero)
    except (OSError, ValueError, TypeError, LookupError) as error:
        expected = f"expected results.json of a tournament with {options.zero} and level N"
        raise ChoiceError(f"{options.results}: {expected} ({error})") from None
    low, high = ([elo + sign * Z95 * error for _, elo, error in levels] for sign in (-1, 1))
    levels_curve = Curve("levels", numbers, values, low, high)
    return curves([Panel(f"Elo above {options.zero}, with 95 % intervals", [levels_curve], "level")])


def main(arguments: Sequence[str] | None = None) -> int:
    """Run from the command line; the exit code is described above."""
    parser = Parser(prog="python -m tools.draw", description=__doc__)
    pictures = parser.add_subparsers(required=True, metavar="board | history | levels")
    board = pictures.add_parser("board", help="a position of a recorded game")
    board.set_defaults(draw=draw_board)
    board.add_argument("game", metavar="GAME", help="a recorded game, such as docs/board:1")
    board.add_argument("--move", type=int, required=True, metavar="N", help="the move that is to be played, from 1")
    board.add_argument("--weights", type=Path, default=Path("best.pt"), metavar="FILE", help="(default best.pt)")
    history = pictures.add_parser("history", help="the generations of a run")
    history.set_defaults(draw=draw_history)
    history.add_argument("table", type=Path, metavar="FILE.csv", help="the generations, oldest first")
    levels = pictures.add_parser("levels", help="the levels of a tournament")
    levels.set_defaults(draw=draw_levels)
    levels.add_argument("results", type=Path, metavar="results.json", help="what the tournament left")
    levels.add_argument("--zero", default="GNU Go 1", metavar="NAME", help="the entrant that has 0 Elo (default: %(default)s)")
    for each in (board, history, levels):
        each.add_argument("--out", type=Path, required=True, metavar="FILE", help="the PNG file to write")
    return parser.run(_run, arguments)


def _run(options: argparse.Namespace) -> None:
    options.out.write_bytes(options.draw(options))


if __name__ == "__main__":
    raise SystemExit(main())
