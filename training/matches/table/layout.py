"""A table in the publication's layout, our cells beside its figures: as text, as HTML and as CSV.

A cell of ours, `58.0% [53.6, 62.3] 500`, has the share of the points, its 95 % interval (Wilson's) and the games
played; `4/500` if more are wanted, and `not played` before the first.
"""

from __future__ import annotations

import html
from collections.abc import Iterator
from itertools import zip_longest

from training.matches.elo import MatchScore, wilson
from training.matches.table.contest import Contest
from training.matches.table.picture import Line, picture
from training.matches.table.published import COLUMNS, Part, PublishedPair
from training.matches.tables import aligned, csv_text
from training.matches.tournament.page import table_html
from training.matches.tournament.results import Results, remarks

NOT_PLAYED = "not played"
HEADS = ("ours", "theirs", "network", "source", "games", "won", "drawn", "lost", "score", "low", "high")


def cell_text(total: MatchScore, wanted: int) -> str:
    """A cell of which so many games are wanted."""
    if not total.games:
        return NOT_PLAYED
    low, high = total.interval
    games = f"{total.games}" if total.games >= wanted else f"{total.games}/{wanted}"
    return f"{total.score:.1%} [{100 * low:.1f}, {100 * high:.1f}] {games}"


class TableLayout:
    """Shows the results of a contest."""

    def __init__(self, contest: Contest) -> None:
        self._contest = contest

    def text(self, results: Results) -> str:
        """For the terminal: what is compared, each part, and what is to be said of the games."""
        lines = [*self._about(results), ""]
        for part in self._contest.table.part:
            cells = self._split(part, results)
            lines += [part.title, *aligned(cells, left=range(len(cells[0]))), ""]
        return "\n".join([*lines, *remarks(results)]).rstrip()

    def html(self, results: Results) -> Iterator[str]:
        """For the head of the page: the parts and the picture."""
        yield "".join(f"<p>{html.escape(line)}</p>" for line in self._about(results))
        for part in self._contest.table.part:
            yield f"<h2>{html.escape(part.title)}</h2>"
            heads, *rows = self._cells(part, results)
            yield table_html(heads, rows, "published")
        yield "<h2>All pairs</h2>"
        yield self.picture(results)
        yield "<h1>The tournament behind it</h1>"

    def picture(self, results: Results) -> str:
        """All pairs with published and own intervals, as SVG."""
        title = f"grey: published, against {self._contest.table.opponent}; blue: here, against {self._contest.opponent}"
        return picture(title, [(f"{pair}", list(self._lines(pair, results))) for pair in self._contest.table.pairs])

    def csv(self, results: Results) -> str:
        """A row for each figure that was published and for each cell of ours."""
        rows = []
        for pair in self._contest.table.pairs:
            for line in self._lines(pair, results):
                total = line.total
                counts = ("", "", "") if total is None else (total.wins, total.draws, total.losses)
                start = (
                    pair.our_side.replace(",", ""),
                    pair.theirs,
                    line.name,
                    "published" if total is None else "here",
                )
                shares = ("" if share is None else f"{share:.4f}" for share in (line.score, line.low, line.high))
                rows.append(dict(zip(HEADS, (*start, line.games, *counts, *shares), strict=True)))
        return csv_text(rows)

    def _about(self, results: Results) -> list[str]:
        """What the numbers are."""
        table, field = self._contest.table, results.field
        lines = [
            f"{table.source}.",
            f"{table.game} {table.size}x{table.size}, the network's simulations : the opponent's. Published against "
            f"{table.opponent}, {2 * table.games} games a figure.",
            f"Here against {self._contest.opponent}, {field.games} games wanted in a cell, {field.games // 2} with each "
            "colour: share of the points [95 % interval] games played.",
        ]
        if (field.game, field.size) != (table.game, table.size):
            lines.append(f"Here {field.game} {field.size}x{field.size} is played: the figures are of different games.")
        return lines

    def _cells(self, part: Part, results: Results) -> list[list[str]]:
        """The part as rows of text, its heads first; networks in columns or rows as they were published."""
        ours = [
            (f"here, {file}", [self._cell(file, pair, results) for pair in part.cells])
            for file in self._contest.weights
        ]
        published = [(network.name, [str(figure) for figure in network.figures]) for network in part.network]
        columns = [("simulations", [str(pair) for pair in part.cells]), *published, *ours]
        listed = [[name, *cells] for name, cells in columns]
        return [list(row) for row in zip(*listed, strict=True)] if part.networks == COLUMNS else listed

    def _split(self, part: Part, results: Results) -> list[list[str]]:
        """As `_cells`, the heads over several lines where they have commas."""
        heads, *rows = self._cells(part, results)
        if part.networks != COLUMNS:
            return [heads, *rows]
        return [*([*line] for line in zip_longest(*(head.split(", ") for head in heads), fillvalue="")), *rows]

    def _cell(self, file: str, pair: PublishedPair, results: Results) -> str:
        return cell_text(self._contest.total(results.found, file, pair), results.field.games)

    def _lines(self, pair: PublishedPair, results: Results) -> Iterator[Line]:
        """What is known of a pair: the publication's figures, then our networks."""
        games = 2 * self._contest.table.games
        for name, figure in self._contest.table.figures_of(pair).items():
            if figure.is_bound:
                yield Line(name, None, None, figure.share, games)
            else:
                yield Line(name, figure.share, *wilson(figure.share * games, games), games)
        for file in self._contest.weights:
            total = self._contest.total(results.found, file, pair)
            if total.games:
                yield Line(file, total.score, *total.interval, total.games, total)
            else:
                yield Line(file, None, None, None, 0, total)
