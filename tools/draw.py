"""Draw pictures of this repository.

    python -m tools.draw history weights/best.csv --out docs/experiments/best.png
    python -m tools.draw levels tournaments/levels/results.json --out docs/levels.png

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

from gozero.plots import Curve, Panel, curves
from gozero.system.console import Parser
from gozero.system.errors import ChoiceError
from training.elo import Z95, MatchScore, elo, elo_error, rate

EVALUATIONS = "million evaluations"
AGREEMENT = ("best move", "error of the win rate")


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
        raise ChoiceError(f"{options.table} is no table of generations such as weights/best.csv ({error})") from None
    strength = Curve("Elo", evaluations, elos.tolist(), (elos - errors).tolist(), (elos + errors).tolist())
    title = "Elo above the first, with its standard error"
    panels = (title, [strength]), ("agreement with a strong engine", agreement)
    return curves([Panel(heading, drawn, EVALUATIONS) for heading, drawn in panels])


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
    parser = Parser(prog="python -m tools.draw", description=__doc__)
    pictures = parser.add_subparsers(required=True, metavar="history | levels")
    history = pictures.add_parser("history", help="the generations of a run")
    history.set_defaults(draw=draw_history)
    history.add_argument("table", type=Path, metavar="FILE.csv", help="the generations, oldest first")
    levels = pictures.add_parser("levels", help="the levels of a tournament")
    levels.set_defaults(draw=draw_levels)
    levels.add_argument("results", type=Path, metavar="results.json", help="what the tournament left")
    levels.add_argument("--zero", default="GNU Go 1", metavar="NAME", help="the entrant that has 0 Elo (default: %(default)s)")
    for each in (history, levels):
        each.add_argument("--out", type=Path, required=True, metavar="FILE", help="the PNG file to write")
    return parser.run(_run, arguments)


def _run(options: argparse.Namespace) -> None:
    options.out.write_bytes(options.draw(options))


if __name__ == "__main__":
    raise SystemExit(main())
