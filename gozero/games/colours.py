"""The colours of points and sides, their names, and results that name a winner.

Nothing heavy is imported, so that front ends can use it at once.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, TypeVar

if TYPE_CHECKING:
    import numpy as np

EMPTY, BLACK, WHITE = 0, 1, 2
COLOUR_NAMES = {BLACK: "Black", WHITE: "White"}
COLOUR_WORDS = {BLACK: "black", WHITE: "white"}  # as protocols and files have them
COLOUR_LETTERS = {BLACK: "B", WHITE: "W"}  # as in SGF
COLOURS = {"b": BLACK, "black": BLACK, "w": WHITE, "white": WHITE}  # as they are read, in lower case
Colour = TypeVar("Colour", int, "np.ndarray")


def opponent(colour: Colour) -> Colour:
    """WHITE for BLACK, BLACK for WHITE; of an array each."""
    return BLACK + WHITE - colour


def leader(lead: float) -> int:
    """BLACK, WHITE or EMPTY: who has more points, by Black's lead."""
    return BLACK if lead > 0 else WHITE if lead < 0 else EMPTY


def result_text(winner: int, by: float | str | None = None) -> str:
    """A result as SGF has it: `B+3.5` by points, `W+R` by a letter, the bare winner `B+`; `0` for a draw, EMPTY."""
    if winner == EMPTY:
        return "0"
    margin = by if isinstance(by, str) else "" if by is None else f"{abs(by):g}"
    return f"{COLOUR_LETTERS[winner]}+{margin}"
