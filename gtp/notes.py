"""The evaluation of a position or a move in words: for SGF comments, GoGui's status line, records and the log."""

from __future__ import annotations

from typing import TYPE_CHECKING

from gozero.games import coords
from gozero.games.colours import COLOUR_WORDS
from gozero.system.words import counted

if TYPE_CHECKING:
    from gozero.play.report import Analysis, MoveAnalysis
    from gozero.play.searcher import Searched


SMALLEST_SHARE = 0.005
"""Moves with a smaller share are left out: they would show as 0 %."""


def summary(look: Analysis, board: tuple[int, int]) -> str:
    """One line: the win rate of the best move for the side to move, the visits, the lead where it is known, the
    expected line.
    """
    best = look.moves[0]
    parts = [f"win rate {50 * (1 + best.value):.1f} %", counted(look.visits, "visit")]
    if best.score is not None:
        parts.append(f"score {best.score:+.1f}")
    return f"{', '.join(parts)}: {line(best.line, board)}"


def searched(found: Searched, board: tuple[int, int]) -> str:
    """One line on a whole search: side, purpose unless it is a move, visits, speed, win rate, the first moves with their
    shares, the expected line.
    """
    look, seconds = found.look, max(found.seconds, 1e-6)
    sources = [f"{found.kept} kept"] if found.kept else []
    sources += [f"{look.hits} from the cache"] if look.hits else []
    from_before = f" ({', '.join(sources)})" if sources else ""
    purpose = "" if found.purpose is None else f", {found.purpose}"
    parts = [
        f"{COLOUR_WORDS[look.colour]}{purpose}: {counted(look.visits, 'visit')}{from_before}",
        f"{(look.visits - found.kept) / seconds:.0f}/s",
        f"{seconds:.2f} s",
        f"win rate {50 * (1 + look.value):.1f} %",
    ]
    parts += [] if look.score is None else [f"score {look.score:+.1f}"]
    notable = [(move, share(move, look)) for move in look.moves if share(move, look) >= SMALLEST_SHARE]
    moves = ", ".join(f"{coords.vertex(move.action, *board)} {100 * part:.0f} %" for move, part in notable)
    return f"{', '.join(parts)}; {moves}; {line(look.moves[0].line, board)}"


def share(move: MoveAnalysis, look: Analysis) -> float:
    """Of the visits, or of the network's probabilities where no move has a visit."""
    return move.visits / (look.visits - 1) if look.visits > 1 else move.prior


def line(actions: tuple[int, ...], board: tuple[int, int]) -> str:
    """The vertices of a line of moves."""
    return " ".join(coords.vertex(action, *board) for action in actions)
