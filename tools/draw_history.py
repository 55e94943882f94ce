"""Draw how strength grew over the generations of a run that shipped: Elo, and agreement with a strong engine's labels.

    python -m tools.draw_history weights/best.csv --out weights/best.png

A row of the table is a generation: its evaluations in millions, the games against the row above and how many it won,
and what `gozero yardstick` says of it, in percent. The Elo of a row is the sum of the steps up to it: it
shows progress within the run and says nothing of other opponents.

Exit code 0: drawn. 2: not drawn, and one line on stderr says why.
"""

from __future__ import annotations

import argparse
import csv
from collections.abc import Sequence
from pathlib import Path

import numpy as np

from gozero.plots import Curve, Panel, curves
from gozero.system.console import Parser, run_command
from gozero.system.errors import ChoiceError
from training.matches.elo import elo, elo_error

EVALUATIONS = "million evaluations"
AGREEMENT = ("best move", "error of the win rate")


def read(path: Path) -> list[dict[str, float]]:
    """The rows of the table; an empty cell is 0. ChoiceError for a file that is no such table."""
    try:
        with path.open(newline="", encoding="utf-8") as file:
            rows = [{name: float(text or 0) for name, text in row.items()} for row in csv.DictReader(file)]
    except (ValueError, TypeError, AttributeError):
        rows = []
    if not rows or not {EVALUATIONS, "games", "won", *AGREEMENT} <= rows[0].keys():
        raise ChoiceError(f"{path} is no table of generations: compare it with weights/best.csv")
    return rows


def ratings(rows: Sequence[dict[str, float]]) -> tuple[np.ndarray, np.ndarray]:
    """Elo above the first row float64 [n], and its standard error [n].

    Half a point is added to each side of a match, so that a clean sweep stays finite.
    """
    games = [int(row["games"]) for row in rows[1:]]
    scores = [(row["won"] + 0.5) / (count + 1) for row, count in zip(rows[1:], games, strict=True)]
    steps = [0.0, *map(elo, scores)]
    errors = [0.0, *(elo_error(score, count + 1) for score, count in zip(scores, games, strict=True))]
    return np.cumsum(steps), np.sqrt(np.cumsum(np.square(errors)))


def draw(rows: Sequence[dict[str, float]]) -> bytes:
    """The picture as PNG. PlotError: matplotlib is missing."""
    evaluations = [row[EVALUATIONS] for row in rows]
    elos, errors = ratings(rows)
    strength = Curve("Elo", evaluations, elos.tolist(), (elos - errors).tolist(), (elos + errors).tolist())
    agreement = [Curve(f"{name}, %", evaluations, [row[name] for row in rows]) for name in AGREEMENT]
    return curves(
        [
            Panel("Elo above the first, with its standard error", [strength], EVALUATIONS),
            Panel("agreement with a strong engine", agreement, EVALUATIONS),
        ]
    )


def main(arguments: Sequence[str] | None = None) -> int:
    """Run from the command line; the exit code is described above."""
    parser = Parser(prog="python -m tools.draw_history", description=__doc__.split("\n\n")[0])
    parser.add_argument("table", type=Path, metavar="FILE.csv", help="the generations, oldest first")
    parser.add_argument("--out", type=Path, required=True, metavar="FILE.png", help="the picture to write")
    options = parser.parse_args(arguments)
    return run_command("tools.draw_history", lambda: _run(options))


def _run(options: argparse.Namespace) -> int:
    options.out.write_bytes(draw(read(options.table)))
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
