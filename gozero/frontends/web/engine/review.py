"""The review of a line: what each move lost, the mistakes of both sides, and what would have been better.

A move's loss is the difference between what was expected before it and after it; the engine's own choice loses nothing.
Moves are graded by points in Go, as KaTrain does, and by the chance to win in other games.
"""

from __future__ import annotations

from typing import Any, NamedTuple

from gozero.frontends.web.engine.session import GameSession
from gozero.games.colours import BLACK, COLOUR_WORDS, WHITE
from gozero.play.current_game import GoGame

# losses from which a move has the grades 1 to 5: points (KaTrain's), and shares of the chance to win
LIMITS = {"points": (0.5, 1.5, 3.0, 6.0, 12.0), "chance": (0.02, 0.05, 0.1, 0.2, 0.3)}
MISTAKE = 3  # the grade from which a move is a mistake
LAST_MOVES = 3  # that are graded on the board
DIGITS = 4


class Judgement(NamedTuple):
    """What a move lost, for its side."""

    node: int
    colour: int
    chance: float  # share of the chance to win, below 0 if it gained
    points: float | None  # None if no points are known
    grade: int


def judged(session: GameSession, node: int, measure: str) -> Judgement | None:
    """The move that leads to a node, graded by "points" or "chance"; None unless both positions were analysed, and for a
    pass that ends the game, as its count does not compare with a search.
    """
    move, passing = session.tree[node], session.game.definition.pass_action
    parent = session.tree[move.parent]
    known, then = parent.estimate, move.estimate
    if known is None or then is None or parent.action == move.action == passing:
        return None
    sign = 1 if move.colour == BLACK else -1
    chance = sign * (known.chance - then.chance)
    points = None if known.score is None or then.score is None else sign * (known.score - then.score)
    if known.line[:1] == (move.action,):
        chance, points = min(chance, 0.0), points and min(points, 0.0)
    loss = points if measure == "points" and points is not None else chance
    return Judgement(node, move.colour, chance, points, sum(loss >= limit for limit in LIMITS[measure]))


def measure_of(session: GameSession) -> str:
    """What moves are graded by."""
    return "points" if isinstance(session.game, GoGame) and session.tree.is_scored else "chance"


def review(session: GameSession) -> dict[str, Any]:
    """The review of the line that is shown, as plain JSON: `grades` and `mistakes` in the order of its moves."""
    measure, line = measure_of(session), session.line
    moves = [judged(session, node, measure) for node in line[1:]]
    last = moves[: line.index(session.at)][-LAST_MOVES:]
    return {
        "measure": measure,
        "limits": LIMITS[measure],
        "grades": [move and {"colour": COLOUR_WORDS[move.colour], "grade": move.grade} for move in moves],
        "sides": {COLOUR_WORDS[colour]: _side(moves, colour, measure) for colour in (BLACK, WHITE)},
        "mistakes": [_values(session, move) for move in moves if move is not None and move.grade >= MISTAKE],
        "last": [_values(session, move) for move in last if move is not None],
    }


def _side(moves: list[Judgement | None], colour: int, measure: str) -> dict[str, Any]:
    """How a side played: moves judged, mean loss, share of best moves, and the number of moves of each grade."""
    own = [move for move in moves if move is not None and move.colour == colour]
    losses = [max(0.0, (move.points if measure == "points" else move.chance) or 0.0) for move in own]
    counts = [sum(move.grade == grade for move in own) for grade in range(len(LIMITS[measure]) + 1)]
    total = max(1, len(own))
    mean = sum(losses) / total
    return {"moves": len(own), "mean": round(mean, DIGITS), "best": round(counts[0] / total, DIGITS), "counts": counts}


def _values(session: GameSession, move: Judgement) -> dict[str, Any]:
    """A move with the line that was expected in its place."""
    action, before = session.tree[move.node].action, session.tree[move.node].parent
    known = session.tree[before].estimate
    line = () if known is None else known.line
    return {
        "node": move.node,
        "before": before,
        "number": len(session.tree.path(before)),
        "colour": COLOUR_WORDS[move.colour],
        "vertex": session.vertex(action),
        "point": session.ends(action)[1],
        "loss": round(move.chance, DIGITS),
        "points": None if move.points is None else round(move.points, 1),
        "grade": move.grade,
        "better": [session.vertex(action) for action in line],
        "betterPoints": [session.ends(action) for action in line],
    }
