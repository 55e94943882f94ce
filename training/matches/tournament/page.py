"""The results of a tournament as one page of HTML, tournament.html. It needs no network and no server.

The browser of the games knows no rules: each move comes with the points that it changes, as the engine played it, and
page.js only draws them. The page holds at most `MOST_GAMES` games, those lost by faults and the newest; all are in
the folder `games`.
"""

from __future__ import annotations

import html
import json
import math
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any

import numpy as np

from gozero.games import GAMES_ON_SQUARES
from gozero.games.game import Game
from gozero.games.position import IllegalMove, Position
from training.matches.elo import Z95
from training.matches.tournament.journal import PlayedGame, file_name, moves_of
from training.matches.tournament.results import COLUMNS, Results, Standing, cross, remarks, rows, signed

MOST_GAMES = 1000
FOLDER = Path(__file__).resolve().parent
LINE, LEFT, PLOT, MARGIN = 22, 190, 520, 30  # pixels of the plot: height of a line, names, ratings, sides
TICKS = 8  # about


class Pages:
    """Makes the page; what a game's moves change is found once."""

    def __init__(self, game: Game) -> None:
        self._game = game
        self._made: dict[tuple[str, str, int], dict[str, Any]] = {}

    def page(self, results: Results, first: Iterable[str] = ()) -> str:
        """The whole page; HTML that is to stand `first` follows the title."""
        title = html.escape(f"Tournament: {results.field}")
        style, script = ((FOLDER / name).read_text(encoding="utf-8") for name in ("page.css", "page.js"))
        head = f'<meta charset="utf-8"><title>{title}</title><style>{style}</style>'
        parts = [f"<h1>{title}</h1>", *first, *_parts(results), *self._browser(results)]
        body = "\n".join(parts)
        return f'<!DOCTYPE html>\n<html lang="en"><head>{head}</head><body>\n{body}\n<script>{script}</script></body></html>\n'

    def _browser(self, results: Results) -> Iterator[str]:
        shown = chosen(results.games)
        if not shown:
            return
        game = self._game
        data = {
            "rows": game.rows,
            "cols": game.cols,
            "lines": results.field.game not in GAMES_ON_SQUARES,
            "entrants": results.field.names,
            "games": [self._entry(played, results) for played in shown],
        }
        yield "<h2>Games</h2>"
        if len(shown) < len(results.games):
            yield f"<p>{len(shown)} of {len(results.games)} games; all are in the folder games.</p>"
        yield (FOLDER / "browser.html").read_text(encoding="utf-8")
        text = json.dumps(data, separators=(",", ":")).replace("<", "\\u003c")  # a name may hold </script>
        yield f'<script type="application/json" id="data">{text}</script>'

    def _entry(self, played: PlayedGame, results: Results) -> dict[str, Any]:
        if played.key not in self._made:
            self._made[played.key] = {
                "b": results.field.names.index(played.black),
                "w": results.field.names.index(played.white),
                "i": played.index + 1,
                "r": played.result,
                "e": played.ended,
                "d": played.detail,
                "f": file_name(played, results.field),
                "m": played.moves.split()[1::2],
                "c": played.moves.split()[::2],
                "s": changes(self._game, played),
            }
        return self._made[played.key]


def chosen(games: list[PlayedGame] | Any) -> list[PlayedGame]:
    """The games of the page in the order of the journal."""
    if len(games) <= MOST_GAMES:
        return list(games)
    faulty = [game for game in games if game.detail][-MOST_GAMES:]
    sound = [game for game in games if not game.detail]
    chosen_keys = {game.key for game in faulty + sound[len(sound) - (MOST_GAMES - len(faulty)) :]}
    return [game for game in games if game.key in chosen_keys]


def changes(game: Game, played: PlayedGame) -> list[list[int]]:
    """For each move the points that it changes: point, colour (0 empty, 1 Black, 2 White), point, colour, ...; what
    stands on the board before the first move comes first. A move that the rules refuse ends the list.
    """
    position = Position(game)
    before = np.zeros(game.points, np.uint8)
    found = [_changed(before, game.board(position.state).ravel())]
    for colour, action in moves_of(played, game):
        before = game.board(position.state).ravel().copy()
        try:
            position.play(action, colour)
        except IllegalMove:
            break
        found.append(_changed(before, game.board(position.state).ravel()))
    return found


def _changed(before: np.ndarray, after: np.ndarray) -> list[int]:
    return [int(number) for point in np.flatnonzero(before != after) for number in (point, after[point])]


def _parts(results: Results) -> Iterator[str]:
    """Table, remarks, plot, crosstable, likelihoods."""
    yield table_html(COLUMNS, rows(results), "standings")
    yield "<p>LOS: how likely the entrant is stronger than the next one below. Elo: with the 95 % interval, the mean of all at 0.</p>"
    yield "".join(f"<p>{html.escape(line)}</p>" for line in remarks(results))
    yield "<h2>Elo</h2>"
    yield plot(results.table)
    numbers = [str(place) for place in range(1, len(results.table) + 1)]
    heads = [(number, row.name) for number, row in zip(numbers, results.table, strict=True)]
    yield "<h2>Crosstable</h2>\n<p>The row's points of the games against the column. A click shows the games.</p>"
    cells = [
        [*head, *(_button(row.name, other.name, cell) for other, cell in zip(results.table, line, strict=True))]
        for head, row, line in zip(heads, results.table, cross(results), strict=True)
    ]
    yield table_html(["", "entrant", *numbers], cells, "cross", escape_from=2)
    yield "<h2>Likelihood of superiority</h2>\n<p>How likely the row is stronger than the column.</p>"
    chances = [[*head, *_chances(results, row)] for head, row in zip(heads, results.table, strict=True)]
    yield table_html(["", "entrant", *numbers], chances, "cross")


def _chances(results: Results, row: Standing) -> Iterator[str]:
    for other in results.table:
        chance = results.ratings.superiority(row.name, other.name)
        yield "-" if other is row else "" if math.isnan(chance) else f"{chance:.1%}"


def _button(a: str, b: str, cell: str) -> str:
    if not cell or cell == "-":
        return cell
    return f'<button data-a="{html.escape(a)}" data-b="{html.escape(b)}">{html.escape(cell)}</button>'


def table_html(head: Any, lines: Any, kind: str, escape_from: int | None = None) -> str:
    """Cells as a table; those from column `escape_from` on are HTML already."""
    heads = "".join(f"<th>{html.escape(cell)}</th>" for cell in head)
    body = "".join(
        "<tr>"
        + "".join(
            f"<td>{cell if escape_from is not None and column >= escape_from else html.escape(cell)}</td>"
            for column, cell in enumerate(line)
        )
        + "</tr>\n"
        for line in lines
    )
    return f'<div class="wide"><table class="{kind}"><tr>{heads}</tr>\n{body}</table></div>'


def plot(table: list[Standing]) -> str:
    """Elo with its 95 % interval, a line for each rated entrant, as SVG."""
    rated = [row for row in table if not math.isnan(row.elo)]
    if not rated:
        return "<p>Nobody is rated yet.</p>"
    low = min(row.elo - Z95 * row.error for row in rated)
    high = max(row.elo + Z95 * row.error for row in rated)
    span = max(high - low, 1.0)

    def across(elo: float) -> float:
        return LEFT + MARGIN + PLOT * (elo - low) / span

    height = LINE * (len(rated) + 2)
    parts = [f'<svg class="elo" viewBox="0 0 {LEFT + PLOT + 2 * MARGIN} {height}" role="img" aria-label="Elo">']
    for tick in _ticks(low, high):
        x, foot = across(tick), height - LINE
        parts.append(f'<line x1="{x:.1f}" x2="{x:.1f}" y1="4" y2="{foot}" class="grid"/>')
        parts.append(f'<text x="{x:.1f}" y="{height - 6}" text-anchor="middle">{signed(tick)}</text>')
    for place, row in enumerate(rated):
        y, half = LINE * (place + 0.8), Z95 * row.error
        ends = across(row.elo - half), across(row.elo + half)
        parts.append(f'<text x="{LEFT}" y="{y + 4:.1f}" text-anchor="end">{html.escape(_short(row.name))}</text>')
        parts.append(f'<line x1="{ends[0]:.1f}" x2="{ends[1]:.1f}" y1="{y:.1f}" y2="{y:.1f}" class="interval"/>')
        parts.append(f'<circle cx="{across(row.elo):.1f}" cy="{y:.1f}" r="4"><title>')
        parts.append(f"{html.escape(row.name)}: {signed(row.elo)} ± {half:.0f}</title></circle>")
    return "".join(parts) + "</svg>"


def _short(name: str, most: int = 28) -> str:
    return name if len(name) <= most else f"{name[: most - 1]}…"


def _ticks(low: float, high: float) -> Iterator[float]:
    """Round numbers between low and high, about `TICKS` of them."""
    raw = max(high - low, 1.0) / TICKS
    power = 10.0 ** math.floor(math.log10(raw))
    step = next(power * factor for factor in (1, 2, 5, 10) if power * factor >= raw)
    for number in range(math.ceil(low / step), math.floor(high / step) + 1):
        yield number * step
