"""Which moves a weak player draws from: those that a person would think of. Whether one loses too much is not asked
here but of a search, by `gozero.play.player`.
"""

from __future__ import annotations

import numpy as np

from gozero.games import GO_FAMILY
from gozero.games.game import EMPTY
from gozero.games.position import Position
from gozero.scoring.regions import touches

OPENING = 0.4  # plies per point of the board in which Go's first line is only for contact with stones


def nucleus(weights: np.ndarray, top_p: float) -> np.ndarray:
    """bool [A]: the fewest actions, heaviest first, that have this share of the sum of weights [A] (Holtzman et al.
    2020).
    """
    order = np.argsort(-weights, kind="stable")
    before = np.cumsum(weights[order]) - weights[order]
    chosen = np.zeros(len(weights), np.bool_)
    chosen[order] = before < top_p * weights.sum()
    return chosen & (weights > 0)


def has_reason(position: Position) -> np.ndarray:
    """bool [A]: all actions, but in the opening of Go not those on the first line that touch no stone."""
    game = position.game
    allowed = np.ones(game.actions, np.bool_)
    if game.name in GO_FAMILY and position.ply < OPENING * game.points:
        sound = touches(game.board(position.state) != EMPTY)
        sound[1:-1, 1:-1] = True
        allowed[: game.points] = sound.reshape(-1)
    return allowed
