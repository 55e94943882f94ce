"""What the engine thought of a position or of its own move, in words for people: SGF comments, GoGui's status line, gomill's records."""

from __future__ import annotations

from typing import TYPE_CHECKING

from gozero import coords

if TYPE_CHECKING:
    from gozero.analysis import Analysis


def summary(look: Analysis, board: tuple[int, int]) -> str:
    """One line: for the side that thought, its chances with the best move told of, the visits, the lead where it is known, the line."""
    best = look.moves[0]
    parts = [f"win rate {50 * (1 + best.value):.1f} %", f"{look.visits} visits"]
    if best.score is not None:
        parts.append(f"score {best.score:+.1f}")
    return f"{', '.join(parts)}: {line(best.line, board)}"


def line(actions: tuple[int, ...], board: tuple[int, int]) -> str:
    """The vertices of a line of moves."""
    return " ".join(coords.vertex(action, *board) for action in actions)
