"""Actions, points, vertices and SGF points: the only place that converts between them.

On a board of `size` x `size`; a board that is not square has `size` columns and `rows` rows:

  action  int. Points row-major from the top left, then pass (size²), then resign (size² + 1). Where pieces move in D
          directions, a move from a point is the point + k · size² for direction k; pass is D · size².
  point   (row, col), row 0 at the top.
  vertex  GTP text: column letter without I, row number from the bottom, of a move `D2-E3`; `pass`, `resign`.
  SGF     column and row as small letters, `aa` at the top left; empty for a pass.

Front ends for people may write a vertex in the `Notation` of a game's players.
"""

from __future__ import annotations

import re
from typing import NamedTuple

_SGF = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ"
LETTERS = "ABCDEFGHJKLMNOPQRSTUVWXYZ"
MAX_SIZE = 19  # points a side of the largest board of any game
Directions = tuple[tuple[int, int], ...]  # (rows down, columns right) of each move from a point
PLACING: Directions = ((0, 0),)  # of games whose pieces stay where they are put


class Notation(NamedTuple):
    """How points are named: the letters of the columns, and whether row 1 is at the top."""

    letters: str = LETTERS
    from_top: bool = False


GTP = Notation()


def pass_action(size: int, rows: int | None = None) -> int:
    return size * (rows or size)


def resign_action(size: int, rows: int | None = None) -> int:
    return size * (rows or size) + 1


def action(row: int, col: int, size: int) -> int:
    return row * size + col


def point(action: int, size: int, rows: int | None = None) -> tuple[int, int]:
    """(row, col) of an action that is a point. ValueError for pass, resign or a number off the board."""
    if not 0 <= action < size * (rows or size):
        raise ValueError(f"action {action} is not a point of a {size}x{rows or size} board")
    return divmod(action, size)


def vertex(
    action: int, size: int, rows: int | None = None, directions: Directions = PLACING, notation: Notation = GTP
) -> str:
    """Text of an action; `pass` and `resign` in lower case."""
    points = size * (rows or size)
    stays = len(directions) * points
    if action in (stays, stays + 1):
        return ("pass", "resign")[action - stays]
    if directions != PLACING and 0 <= action < stays:
        both = ends(action, size, points // size, directions)
        return "-".join(vertex(end, size, rows, notation=notation) for end in both)
    row, col = point(action, size, rows)
    return f"{notation.letters[col]}{row + 1 if notation.from_top else (rows or size) - row}"


def ends(action: int, size: int, rows: int, directions: Directions) -> tuple[int, int]:
    """The points from which and to which an action of the board goes; one point twice if a piece is put there.
    ValueError if it leads off the board.
    """
    direction, origin = divmod(action, size * rows)
    row, col = origin // size + directions[direction][0], origin % size + directions[direction][1]
    if not (0 <= row < rows and 0 <= col < size):
        raise ValueError(f"action {action} leads off the board")
    return origin, row * size + col


def parse_move(text: str, size: int, rows: int, directions: Directions) -> int:
    """As `parse_vertex` for a game whose pieces move: `D2-E3`, or without the hyphen."""
    points, word = size * rows, text.strip().upper()
    if word in ("PASS", "RESIGN"):
        return (len(directions) - 1) * points + parse_vertex(word, size, rows)
    found = re.fullmatch(r"([A-Z]\d\d?)-?([A-Z]\d\d?)", word)
    if found is None:
        raise ValueError(f"invalid move {text!r}: expected where from and where to, such as A2-B3")
    origin, target = (parse_vertex(end, size, rows) for end in found.groups())
    step = target // size - origin // size, target % size - origin % size
    if step not in directions:
        raise ValueError(f"invalid move {text!r}: no piece moves so")
    return directions.index(step) * points + origin


def parse_vertex(text: str, size: int, rows: int | None = None) -> int:
    """The action a GTP vertex names (any case; `pass`, `resign` and KataGo's `(column,row)`, from 0 at the top left,
    too). ValueError if it is none of this board.
    """
    word = text.strip().upper()
    if word == "PASS":
        return pass_action(size, rows)
    if word == "RESIGN":
        return resign_action(size, rows)
    col = LETTERS.find(word[:1]) if word else -1
    digits = word[1:]
    height = rows or size
    row = height - int(digits) if digits.isascii() and digits.isdigit() and len(digits) <= 2 else -1
    if pair := re.fullmatch(r"\(([0-9]{1,2}), *([0-9]{1,2})\)", word):
        col, row = map(int, pair.groups())
    if not (0 <= col < size and 0 <= row < height):
        raise ValueError(f"invalid vertex {text!r}: expected A1 to {vertex(size - 1, size, rows)}, or pass")
    return action(row, col, size)


def to_sgf(action: int, size: int) -> str:
    """SGF's letters of a point, "" for a pass."""
    if action == pass_action(size):
        return ""
    row, col = point(action, size)
    return _SGF[col] + _SGF[row]


def from_sgf(text: str, size: int) -> int:
    """The action of SGF's letters; older files write `tt` for a pass. ValueError if that is no point of the board."""
    word = text.strip()
    if size <= len(LETTERS):  # larger boards have capitals for the points beyond z
        word = word.lower()
    if word in ("", "pass") or (word == "tt" and size <= MAX_SIZE):
        return pass_action(size)
    if len(word) != 2 or not all(0 <= _SGF.find(letter) < size for letter in word):
        raise ValueError(f"{text[:20]!r} is no point of a {size}x{size} board")
    return action(_SGF.index(word[1]), _SGF.index(word[0]), size)
