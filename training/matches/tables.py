"""Tables as text: for the terminal, as CSV and as HTML."""

from __future__ import annotations

import csv
import html
import io
from collections.abc import Collection, Mapping, Sequence


def aligned(cells: Sequence[Sequence[object]], left: Collection[int] = (1,)) -> list[str]:
    """Rows as lines with columns of equal width; some columns to the left, by default that of names, all else to the
    right.
    """
    rows = [[str(cell) for cell in row] for row in cells]
    widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
    return [
        "  ".join(
            cell.ljust(width) if column in left else cell.rjust(width)
            for column, (cell, width) in enumerate(zip(row, widths, strict=True))
        ).rstrip()
        for row in rows
    ]


def csv_text(rows: Sequence[Mapping[str, object]]) -> str:
    """At least one row, under a heading with the names of its columns."""
    text = io.StringIO(newline="")
    writer = csv.DictWriter(text, fieldnames=list(rows[0]))
    writer.writeheader()
    writer.writerows(rows)
    return text.getvalue()


def table_html(lines: Sequence[Sequence[str]], last: Sequence[str] = ()) -> str:
    """Cells as a table, the heads first; `last` is HTML for a last column."""
    heads, *body = [[f"<td>{html.escape(cell)}</td>" for cell in line] for line in lines]
    head = "".join(heads).replace("<td>", "<th>").replace("</td>", "</th>")
    more = [f'<td class="plot">{cell}</td>' for cell in last] or [""] * len(body)
    text = "".join(f"<tr>{''.join(line)}{cell}</tr>\n" for line, cell in zip(body, more, strict=True))
    return f"<table><tr>{head}</tr>\n{text}</table>"
