"""The search as drawings of GoGui, in an answer or live on stderr.

Vocabulary. A *drawing* is lines of GoGui's type `gfx`, each a command and what it is about: `LABEL D4 12 E5 3`, `VAR b
D4 w E5`. *Influence* is -1 to 1, Black's above 0. *Live graphics* are drawings that GoGui reads from stderr while a
command is under way: the lines between `gogui-gfx:` and an empty one. A pass is no point: only texts and
variations can show it.
"""

from __future__ import annotations

import sys
from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING

from gozero.games import coords
from gozero.games.colours import BLACK, WHITE
from gtp.notes import SMALLEST_SHARE, summary

if TYPE_CHECKING:
    from gozero.play.report import Analysis, MoveAnalysis, Observer

INTERVAL = 0.5
"""Seconds between two live drawings."""

LETTERS = {BLACK: "b", WHITE: "w"}


def visits(look: Analysis, board: tuple[int, int]) -> str:
    """The moves that were searched, with their visits, the best one in green."""
    searched = [move for move in look.moves if move.visits]
    best = [f"COLOR green {coords.vertex(move.action, *board)}" for move in searched[:1] if _is_point(move, board)]
    most = max((move.visits for move in searched), default=1)
    marks = [(move, move.visits / most, short(move.visits)) for move in searched]
    return "\n".join([*best, *_marked(marks, look.colour, board), f"TEXT {summary(look, board)}"])


def policy(look: Analysis, board: tuple[int, int]) -> str:
    """What the network would play, in per cent; squares are in proportion to the likeliest move."""
    likely = [move for move in look.moves if move.prior >= SMALLEST_SHARE]
    most = max((move.prior for move in likely), default=1.0)
    marks = [(move, move.prior / most, f"{100 * move.prior:.0f}") for move in likely]
    passing = sum(move.prior for move in look.moves if move.action == coords.pass_action(*board))
    return "\n".join([*_marked(marks, look.colour, board), f"TEXT pass {100 * passing:.1f} %"])


def variation(look: Analysis, board: tuple[int, int]) -> str:
    """The line that the search expects, as numbered stones."""
    colours = [LETTERS[look.colour], LETTERS[BLACK + WHITE - look.colour]]
    moves = [f"{colours[ply % 2]} {coords.vertex(action, *board)}" for ply, action in enumerate(look.moves[0].line)]
    return f"VAR {' '.join(moves)}\nTEXT {summary(look, board)}"


@contextmanager
def live(board: tuple[int, int]) -> Iterator[Observer]:
    """Around a search: gives an observer that draws it on stderr; at the end the board is cleared."""
    from gozero.play.report import Observer

    try:
        yield Observer(lambda look: _write(f"gogui-gfx:\n{visits(look, board)}\n\n"), INTERVAL)
    finally:
        _write("gogui-gfx: CLEAR\n")


def short(count: int) -> str:
    """A number in four characters, so that it fits on a point."""
    if count < 10_000:
        return str(count)
    return f"{count // 1000}k" if count < 1_000_000 else f"{count // 1_000_000}M"


def _marked(marks: list[tuple[MoveAnalysis, float, str]], colour: int, board: tuple[int, int]) -> list[str]:
    """Moves with the sizes of their squares, 0..1, and their labels; nothing where there are none."""
    sign = 1 if colour == BLACK else -1
    points = [
        (coords.vertex(move.action, *board), sign * size, label)
        for move, size, label in marks
        if _is_point(move, board)
    ]
    if not points:
        return []
    influence = " ".join(f"{vertex} {size:.3f}" for vertex, size, _ in points)
    labels = " ".join(f"{vertex} {label}" for vertex, _, label in points)
    return [f"INFLUENCE {influence}", f"LABEL {labels}"]


def _is_point(move: MoveAnalysis, board: tuple[int, int]) -> bool:
    return move.action < coords.pass_action(*board)


def _write(text: str) -> None:
    sys.stderr.write(text)
    sys.stderr.flush()
