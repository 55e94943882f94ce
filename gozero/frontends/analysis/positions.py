"""From a query to the positions that it asks about, with the moves to leave out at each.

The moves of a game are taken as `play` over GTP takes them: for either side at any time, and a move that only superko
forbids too. What the engine thinks of are the moves that the full rules allow.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from gozero import games
from gozero.frontends.analysis.fields import QueryError
from gozero.frontends.analysis.queries import Query
from gozero.games import coords
from gozero.games.go import go
from gozero.games.position import IllegalMove, Position
from gozero.search.restrictions import left_out
from gozero.system.errors import SetUpError


@dataclass(frozen=True, eq=False)
class Task:
    """One turn of a query, to be searched.

    Attributes:
        query: what it belongs to.
        turn: its number.
        priority: the highest comes first.
        root: the position, not over.
        left_out: int32 [2, A], in how many plies each move is left out, for the side to move and the other; at least
        one move is not.
    """

    query: Query
    turn: int
    priority: int
    root: Position
    left_out: np.ndarray


def tasks(query: Query) -> list[Task]:
    """The turns of a query, in the order of the game. QueryError for impossible stones or moves, and where no move is
    left.
    """
    position = _first(query)
    found = []
    for turn in range(len(query.moves) + 1):
        if turn > 0:
            _play(position, query, turn - 1)
        if turn in query.priorities:
            root = position.copy()
            if root.is_over:
                root.state[go.PASSES] = 0  # a query for a move means that the passes have not ended the game
            found.append(Task(query, turn, query.priorities[turn], root, _left_out(query, root, turn)))
    return found


def _first(query: Query) -> Position:
    game = games.make("go", size=query.size, rules=query.rules, komi=query.komi, handicap=query.handicap)
    position = Position(game)
    try:
        position.set_up(dict(query.stones), query.to_play)
    except SetUpError as error:
        raise QueryError("initialStones", str(error)) from None
    return position


def _play(position: Position, query: Query, number: int) -> None:
    colour, action = query.moves[number]
    try:
        position.play(action, colour, superko=False)
    except IllegalMove:
        raise QueryError("moves", f"Illegal move {number}: {coords.vertex(action, query.size)}") from None


def _left_out(query: Query, root: Position, turn: int) -> np.ndarray:
    """See `Task`."""
    plies = left_out(query.restrictions, root.to_play, root.game.actions)
    if not (root.legal() & (plies[0] == 0)).any():
        raise QueryError(
            "allowMoves" if query.restrictions[0].alone else "avoidMoves", f"no legal move is left at turn {turn}"
        )
    return plies
