"""Counting move sequences (perft): the standard way to compare two implementations of rules.

A leaf is a sequence of exactly d plies from the first position; a pass is a ply, and a finished game has no moves. The
known counts are in tests/games/test_perft.py.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numba import types

from gozero.games.game import NOT_OVER, Game
from gozero.system.jit import HISTORY, LEGAL, OUTCOME, STATE, STEP, as_argument, kernel


@kernel(types.int64(STEP, LEGAL, OUTCOME, STATE, HISTORY, types.int64, types.int64), allocates=True)
def _leaves(
    step: Any, legal: Any, outcome: Any, initial: np.ndarray, history: np.ndarray, actions: int, depth: int
) -> int:
    """Leaves at `depth` below `initial` int32 [S]: depth-first, one state row and one list of untried actions a ply."""
    states = np.empty((depth + 1, initial.shape[0]), np.int32)
    untried = np.zeros((depth + 1, actions), np.uint8)
    following = np.zeros(depth + 1, np.int64)
    states[0] = initial
    legal(states[0], history, untried[0])
    leaves, ply = 0, 0
    while ply >= 0:
        action = following[ply]
        if action == actions or outcome(states[ply]) != NOT_OVER:
            ply -= 1
            continue
        following[ply] += 1
        if not untried[ply, action]:
            continue
        if ply + 1 == depth:
            leaves += 1
            continue
        states[ply + 1] = states[ply]
        step(states[ply + 1], history, action)
        legal(states[ply + 1], history, untried[ply + 1])
        following[ply + 1] = 0
        ply += 1
    return leaves


def counts(game: Game, depth: int) -> list[int]:
    """Number of leaves at depths 1 … depth."""
    history = game.new_histories(1, plies=depth + 1)[0]
    rules = as_argument(game.step, STEP), as_argument(game.legal, LEGAL), as_argument(game.outcome, OUTCOME)
    return [_leaves(*rules, game.initial.copy(), history, game.actions, d) for d in range(1, depth + 1)]
