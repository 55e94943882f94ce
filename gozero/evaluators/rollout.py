"""Evaluators without a network: random playouts (UCT, if the search selects by UCB1), and nothing at all.

Both give every move the same prior. A playout's moves come from the game's `sample`. Neither knows score or ownership.
"""

from __future__ import annotations

import numpy as np

from gozero.evaluators.row import EVALUATE_ROW, RowEvaluator
from gozero.games.game import NOT_OVER, TO_PLAY, Game
from gozero.system.jit import copy_row, kernel
from gozero.system.rng import uniform

UNEVENNESS = 1e-5  # of a prior by lots: far below any difference between two values


@kernel()
def playout(step, outcome, sample, state, history, generator, plies):
    """Play random moves on state int32 [S]. Returns the outcome for the last side to move; after `plies` a draw."""
    for _ in range(plies):
        result = outcome(state)
        if result != NOT_OVER:
            return result
        step(state, history, sample(state, history, generator))
    result = outcome(state)
    return np.int64(0) if result == NOT_OVER else result


@kernel(EVALUATE_ROW.signature)
def _evaluate_by_playouts(step, outcome, sample, state, spare, history, options, generator, logits):
    """options: number of playouts, plies of each, 1 for lots."""
    logits[:] = 0.0
    if options[2]:
        for action in range(logits.shape[0]):
            logits[action] = UNEVENNESS * uniform(generator)
    total = 0
    for _ in range(options[0]):
        copy_row(spare, state)
        result = playout(step, outcome, sample, spare, history, generator, options[1])
        total += result if spare[TO_PLAY] == state[TO_PLAY] else -result
    return total / options[0]


@kernel(EVALUATE_ROW.signature)
def _evaluate_as_even(step, outcome, sample, state, spare, history, options, generator, logits):
    logits[:] = 0.0
    return 0.0


class RolloutEvaluator(RowEvaluator):
    """Uniform prior; value = mean outcome of random playouts."""

    def __init__(self, game: Game, rollouts: int = 1, seed: int = 0, *, lots: bool = False) -> None:
        """Play `rollouts` >= 1 playouts for a state. `lots`: the search tries moves of one score in random order."""
        if rollouts < 1:
            raise ValueError(f"{rollouts} rollouts: expected at least 1")
        plies = 3 * game.max_plies
        super().__init__(game, _evaluate_by_playouts, (rollouts, plies, int(lots)), plies, seed)


class UniformEvaluator(RowEvaluator):
    """Uniform prior and value 0: no cost and no knowledge. For tests and for measuring the search itself."""

    def __init__(self, game: Game) -> None:
        super().__init__(game, _evaluate_as_even)
