"""Where the stones of a handicap stand, as GTP 2 and custom have it."""

from __future__ import annotations

from gozero.games import coords

FEWEST_STONES, MOST_STONES = 2, 9  # one alone is a first move


def most_fixed(size: int) -> int:
    """The largest fixed handicap on a board of that size (GTP 2, section 4.1.1); 0 where there is none."""
    if size < 7:
        return 0
    return MOST_STONES if size % 2 and size > 7 else 4


def fixed_points(stones: int, size: int) -> list[int]:
    """Actions of the fixed handicap of ``stones``, 2 to ``most_fixed(size)``, in the order of GTP 2; on a board that
    has none, two stones.
    """
    low = 3 if size >= 13 else 2 if size >= 7 else (size - 1) // 3
    high, middle = size - 1 - low, size // 2
    # (row from the bottom, column): D4 K10 D10 K4 on 13x13
    corners = [(low, low), (high, high), (high, low), (low, high)]
    sides = [(middle, low), (middle, high), (low, middle), (high, middle)]
    moves = corners[:stones] if stones < 6 else corners + sides[: stones - stones % 2 - 4]
    if stones in (5, 7, 9):
        moves = [*moves, (middle, middle)]
    return [coords.action(size - 1 - row, col, size) for row, col in moves]
