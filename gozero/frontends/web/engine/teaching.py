"""What a hint explains and what a warning says: facts of a move by the rules, and how much a move lost by a search.

The page puts them into words.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from gozero.frontends.web.engine.game_tree import Mistake
from gozero.frontends.web.engine.review import LIMITS, judged
from gozero.frontends.web.engine.session import GameSession
from gozero.games import GO_FAMILY, descriptions
from gozero.games.colours import opponent
from gozero.games.position import Position
from gozero.scoring.settlement import liberties_of

CHECK_VISITS = 100  # of each of the two searches behind a warning
LEAST_POINTS, LEAST_CHANCE = LIMITS["points"][3], LIMITS["chance"][3]  # that a move must lose for a warning


def facts(position: Position, action: int) -> dict[str, Any]:
    """What a legal action does at once; only what is so is named.

    `wins`: whether it ends the game well; `stops`: the move with which the other side would win otherwise; `takes`: how
    many stones of the other side it captures or turns over; `saves`: how many own stones it frees from atari.
    """
    game, side = position.game, position.to_play
    if action == game.pass_action:
        return {}
    (after,) = position.children([action])
    before, then = game.board(position.state), game.board(after.state)
    rival = opponent(side)
    found: dict[str, Any] = {
        "wins": _is_won_by(after, side),
        "stops": _threat(position, after),
        "takes": int(((before == rival) & (then != rival)).sum()),
    }
    if game.name in (*GO_FAMILY, "course_go"):
        found["saves"] = int(((before == side) & (liberties_of(before) == 1) & (liberties_of(then) > 1)).sum())
    return {name: value for name, value in found.items() if value}


def _is_won_by(position: Position, side: int) -> bool:
    return position.outcome() == (1 if position.to_play == side else -1)


def _threat(position: Position, after: Position) -> str:
    """The move with which the other side would win now, if it cannot do so after the move; in games without passing."""
    game, rival = position.game, opponent(position.to_play)
    if game.has_pass or game.name == "nogo" or after.is_over:
        return ""
    turned = position.copy()
    turned.give_turn(rival)
    threats = _winning(turned, rival)
    return descriptions.vertex(game, threats[0]) if threats and not _winning(after, rival) else ""


def _winning(position: Position, side: int) -> list[int]:
    """The legal actions with which the side to move wins at once."""
    actions = [] if position.is_over else np.flatnonzero(position.legal()).tolist()
    children = position.children(actions)
    return [action for action, child in zip(actions, children, strict=True) if _is_won_by(child, side)]


def mistake_of(session: GameSession, node: int) -> Mistake | None:
    """What the move that leads to a node has lost, if that is much, by what was found before and after it."""
    move = judged(session, node, "chance")
    if move is None:
        return None
    points = round(move.points, 1) if move.points is not None and move.points >= LEAST_POINTS else None
    is_mistake = points is not None or move.chance >= LEAST_CHANCE
    return Mistake(node, round(move.chance, 2), points) if is_mistake else None
