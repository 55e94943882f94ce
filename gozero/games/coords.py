"""Actions, points, vertices and SGF points: the only place that converts between them.

On a board of `size` x `size`; a board that is not square has `size` columns and `rows` rows:

  action  int. Points row-major from the top left, then pass (size²), then resign (size² + 1).
  point   (row, col), row 0 at the top.
  vertex  GTP text: column letter without I, row number from the bottom; `pass`, `resign`.
  SGF     column and row as small letters, `aa` at the top left; empty for a pass.
"""

from __future__ import annotations

_SGF = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ"
LETTERS = "ABCDEFGHJKLMNOPQRSTUVWXYZ"
MAX_SIZE = 19  # points a side of the largest board of any game


def action_count(size: int, rows: int | None = None) -> int:
    """Length of a policy: all points, pass and resign (171 at 13x13)."""
    return size * (rows or size) + 2


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


def vertex(action: int, size: int, rows: int | None = None) -> str:
    """GTP text of an action, upper case; `pass` and `resign` in lower case."""
    if action == pass_action(size, rows):
        return "pass"
    if action == resign_action(size, rows):
        return "resign"
    row, col = point(action, size, rows)
    return f"{LETTERS[col]}{(rows or size) - row}"


def parse_vertex(text: str, size: int, rows: int | None = None) -> int:
    """The action a GTP vertex names (any case; `pass` and `resign` too). ValueError if it is none of this board."""
    word = text.strip().upper()
    if word == "PASS":
        return pass_action(size, rows)
    if word == "RESIGN":
        return resign_action(size, rows)
    col = LETTERS.find(word[:1]) if word else -1
    digits = word[1:]
    height = rows or size
    row = height - int(digits) if digits.isascii() and digits.isdigit() and len(digits) <= 2 else -1
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
