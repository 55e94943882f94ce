"""The results of a tournament as one page of HTML, tournament.html. It needs no network and no server."""

from __future__ import annotations

import html
import math
from collections.abc import Iterable, Sequence

from training.matches.elo import Z95
from training.matches.tournament.results import COLUMNS, Results, Standing, crosstable, remarks, rows

STYLE = """\
body { font: 15px/1.45 system-ui, sans-serif; margin: 2em auto; max-width: 1080px; padding: 0 1em; color: #222 }
table { border-collapse: collapse; display: block; overflow-x: auto }
td, th { padding: .2em .7em; text-align: right; white-space: nowrap } th { border-bottom: 1px solid #999 }
td:nth-child(2), th:nth-child(2) { text-align: left } tr:nth-child(even) { background: #f6f6f6 }
.plot { width: 300px } .interval { height: 3px; background: #269 }"""


def page(results: Results, head: Iterable[str] = ()) -> str:
    """The whole page; the HTML in `head` follows the title."""
    title = html.escape(f"Tournament: {results.field}")
    parts = [
        f"<h1>{title}</h1>",
        *head,
        table_html([COLUMNS, *rows(results)], intervals(results.table)),
        "<p>LOS: how likely the entrant is stronger than the next one below. Elo: with the 95 % interval, which the "
        "bars show too, the mean of all at 0.</p>",
        *(f"<p>{html.escape(line)}</p>" for line in remarks(results)),
        "<h2>Crosstable</h2>",
        "<p>The row's points of the games against the column. All games are in the folder games.</p>",
        table_html(crosstable(results)),
    ]
    body = "\n".join(parts)
    return (
        f'<!DOCTYPE html>\n<html lang="en"><head><meta charset="utf-8"><title>{title}</title>'
        f"<style>{STYLE}</style></head><body>\n{body}\n</body></html>\n"
    )


def table_html(lines: Sequence[Sequence[str]], last: Sequence[str] = ()) -> str:
    """Cells as a table, the heads first; `last` is HTML for a last column."""
    heads, *body = [[f"<td>{html.escape(cell)}</td>" for cell in line] for line in lines]
    head = "".join(heads).replace("<td>", "<th>").replace("</td>", "</th>")
    more = [f'<td class="plot">{cell}</td>' for cell in last] or [""] * len(body)
    text = "".join(f"<tr>{''.join(line)}{cell}</tr>\n" for line, cell in zip(body, more, strict=True))
    return f"<table><tr>{head}</tr>\n{text}</table>"


def intervals(table: Sequence[Standing]) -> list[str]:
    """The 95 % interval of each entrant's Elo as a bar, all on one scale; empty for one that is not rated."""
    ends = [(row.elo - Z95 * row.standard_error, row.elo + Z95 * row.standard_error) for row in table]
    rated = [end for pair in ends for end in pair if not math.isnan(end)]
    start, span = min(rated, default=0.0), max(rated, default=0.0) - min(rated, default=0.0) or 1.0
    return [
        ""
        if math.isnan(low)
        else f'<div class="interval" style="margin-left:{100 * (low - start) / span:.1f}%;'
        f'width:{100 * (high - low) / span:.1f}%"></div>'
        for low, high in ends
    ]
