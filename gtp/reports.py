"""Evaluations and searches as text: a line for comments and the log, and drawings for GoGui's board.

A drawing is lines of GoGui's type `gfx`, each a command and what it is about: `LABEL D4 12 E5 3`, `VAR b D4 w E5`.
GoGui reads live ones from stderr, between `gogui-gfx:` and an empty line. A pass is no point: only texts and variations
can show it; of games whose pieces move there are texts alone.
"""

from __future__ import annotations

import sys
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING

from gozero.games.colours import BLACK, COLOUR_LETTERS, COLOUR_WORDS, opponent
from gozero.system.words import counted

if TYPE_CHECKING:
    from gozero.games.game import Game
    from gozero.play.searcher import Analysis, MoveAnalysis, Observer, Searched

LISTED_MOVES = 10  # likely moves that are named where no point can be marked
SMALLEST_SHARE = 0.005
"""Moves with a smaller share are left out: they would show as 0 %."""
LIVE_INTERVAL = 0.5
"""Seconds between two live drawings."""


def vertices(actions: Iterable[int], kind: Game) -> str:
    """The vertices of these actions, in a line."""
    return " ".join(kind.vertex(action) for action in actions)


def summary(analysis: Analysis, kind: Game) -> str:
    """One line: the win rate of the best move for the side to move, visits, lead if known, the expected line."""
    best = analysis.moves[0]
    score = "" if best.score is None else f", score {best.score:+.1f}"
    chance, line = 50 * (1 + best.value), vertices(best.line, kind)
    return f"win rate {chance:.1f} %, {counted(analysis.visits, 'visit')}{score}: {line}"


def searched(search: Searched, kind: Game) -> str:
    """One line on a whole search: side, purpose unless it is a move, visits, speed, win rate, moves, expected line."""
    analysis, seconds = search.analysis, max(search.seconds, 1e-6)
    sources = [f"{search.reused} kept"] if search.reused else []
    sources += [f"{analysis.hits} from the cache"] if analysis.hits else []
    from_before = f" ({', '.join(sources)})" if sources else ""
    purpose = "" if search.purpose is None else f", {search.purpose}"
    parts = [
        f"{COLOUR_WORDS[analysis.colour]}{purpose}: {counted(analysis.visits, 'visit')}{from_before}",
        f"{(analysis.visits - search.reused) / seconds:.0f}/s",
        f"{seconds:.2f} s",
        f"win rate {50 * (1 + analysis.value):.1f} %",
    ]
    parts += [] if analysis.score is None else [f"score {analysis.score:+.1f}"]
    below = analysis.visits - 1
    shares = [(move, move.visits / below if below > 0 else move.prior) for move in analysis.moves]
    large = [(move.action, 100 * share) for move, share in shares if share >= SMALLEST_SHARE]
    moves = ", ".join(f"{kind.vertex(action)} {share:.0f} %" for action, share in large)
    return f"{', '.join(parts)}; {moves}; {vertices(analysis.moves[0].line, kind)}"


# Drawings


def visits(analysis: Analysis, kind: Game) -> str:
    """The moves that were searched, with their visits, the best one in green."""
    tried = [move for move in analysis.moves if move.visits]
    best = [f"COLOR green {vertices([move.action], kind)}" for move in tried[:1] if _is_point(move, kind)]
    most = max((move.visits for move in tried), default=1)
    marks = [(move, move.visits / most, short(move.visits)) for move in tried]
    return "\n".join([*best, *_marked(marks, analysis.colour, kind), f"TEXT {summary(analysis, kind)}"])


def policy(analysis: Analysis, kind: Game) -> str:
    """What the network would play, in per cent; squares are in proportion to the likeliest move."""
    likely = [move for move in analysis.moves if move.prior >= SMALLEST_SHARE]
    most = max((move.prior for move in likely), default=1.0)
    marks = [(move, move.prior / most, f"{100 * move.prior:.0f}") for move in likely]
    if kind.moves_pieces:
        return f"TEXT {', '.join(f'{kind.vertex(move.action)} {label} %' for move, _, label in marks[:LISTED_MOVES])}"
    passing = sum(move.prior for move in analysis.moves if move.action == kind.pass_action)
    return "\n".join([*_marked(marks, analysis.colour, kind), f"TEXT pass {100 * passing:.1f} %"])


def variation(analysis: Analysis, kind: Game) -> str:
    """The line that the search expects, as numbered stones."""
    colours = [COLOUR_LETTERS[colour].lower() for colour in (analysis.colour, opponent(analysis.colour))]
    moves = [f"{colours[ply % 2]} {kind.vertex(action)}" for ply, action in enumerate(analysis.moves[0].line)]
    shown = "" if kind.moves_pieces else f"VAR {' '.join(moves)}\n"
    return f"{shown}TEXT {summary(analysis, kind)}"


@contextmanager
def live(kind: Game) -> Iterator[Observer]:
    """Around a search: gives an observer that draws it on stderr; at the end the board is cleared."""
    from gozero.play.searcher import Observer

    def write(text: str) -> None:
        sys.stderr.write(text)
        sys.stderr.flush()

    try:
        yield Observer(lambda analysis: write(f"gogui-gfx:\n{visits(analysis, kind)}\n\n"), LIVE_INTERVAL)
    finally:
        write("gogui-gfx: CLEAR\n")


def short(count: int) -> str:
    """A number in four characters, so that it fits on a point."""
    if count < 10_000:
        return str(count)
    return f"{count // 1000}k" if count < 1_000_000 else f"{count // 1_000_000}M"


def _marked(marks: list[tuple[MoveAnalysis, float, str]], colour: int, kind: Game) -> list[str]:
    """Moves with the sizes of their squares, 0 to 1, and their labels; empty if no move is a point."""
    sign = 1 if colour == BLACK else -1
    shown = [mark for mark in marks if _is_point(mark[0], kind)]
    points = [(kind.vertex(move.action), sign * size, label) for move, size, label in shown]
    if not points:
        return []
    influence = " ".join(f"{vertex} {size:.3f}" for vertex, size, _ in points)
    labels = " ".join(f"{vertex} {label}" for vertex, _, label in points)
    return [f"INFLUENCE {influence}", f"LABEL {labels}"]


def _is_point(move: MoveAnalysis, kind: Game) -> bool:
    return not kind.moves_pieces and move.action < kind.points
