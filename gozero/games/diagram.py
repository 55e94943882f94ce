"""Text diagrams of boards, both ways.

A diagram is a first line such as `X to play, ko C3, 1 pass` and one line per row from the top: the row's number, then
`X` (Black), `O` (White) or `.`; a last line names the columns. Ko and passes are left out when there are none.
"""

from __future__ import annotations

import re
from dataclasses import dataclass

import numpy as np

from gozero.games.coords import LETTERS, parse_vertex, vertex

SYMBOLS = ".XO"  # a colour's number is its place here
_TITLE = re.compile(r"([XO]) to play(?:, ko ([A-Z]\d+))?(?:, (\d+) pass(?:es)?)?$")
_ROW = re.compile(r"(?:\d+\s+)?([.XO](?:\s*[.XO])*)(?:\s+\d+)?$")


@dataclass(frozen=True)
class Diagram:
    """What a diagram says: colours uint8 [points], the side to move, the ko point's action or None, passes in a row."""

    colours: np.ndarray
    to_play: int
    ko: int | None
    passes: int


def print_diagram(colours: np.ndarray, to_play: int, *, ko: int | None, passes: int, slanted: bool) -> str:
    """The diagram of colours [rows, cols] (0 empty, 1 Black, 2 White); ``slanted``: of hexagons, each row further right."""
    height, size = colours.shape
    title = f"{SYMBOLS[to_play]} to play"
    if ko is not None:
        title += f", ko {vertex(ko, size, height)}"
    if passes:
        title += f", {passes} pass" + ("es" if passes > 1 else "")
    rows = [f"{height - row:2d} " + " ".join(SYMBOLS[colour] for colour in colours[row]) for row in range(height)]
    lines = [*rows, "   " + " ".join(LETTERS[:size])]
    return "\n".join([title, *(" " * row + line if slanted else line for row, line in enumerate(lines))])


def parse_diagram(text: str, size: int, height: int) -> Diagram:
    """Read a diagram of `size` columns and `height` rows. ValueError if it is no such board."""
    to_play, ko, passes = SYMBOLS.index("X"), None, 0
    rows: list[list[int]] = []
    for line in text.strip().splitlines():
        title, row = _TITLE.match(line.strip()), _ROW.match(line.strip())
        if title:
            to_play = SYMBOLS.index(title[1])
            ko = parse_vertex(title[2], size, height) if title[2] else None
            passes = int(title[3] or 0)
        elif row:
            rows.append([SYMBOLS.index(symbol) for symbol in row[1] if not symbol.isspace()])
    if len(rows) != height or any(len(row) != size for row in rows):
        lengths = [len(row) for row in rows]
        raise ValueError(f"the diagram has rows of {lengths} points: expected {height} rows of {size}")
    return Diagram(np.array(rows, np.uint8).reshape(-1), to_play, ko, passes)
