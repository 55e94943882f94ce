"""Evaluators without a network: random playouts (UCT, if the search selects by UCB1), and nothing at all.

Both give every move the same prior. A playout's moves come from the game's `sample`. Neither knows score or ownership.
Both are kernels that look at one state and need no batch, so whole searches run inside one kernel: functions of the
type EVALUATE_ROW,

    evaluate(step, outcome, sample, state, spare, history, options, generator, logits) -> value

with state int32 [S] and its history, both free to be played on (the row may be left changed, entries of the history
after the state's own too), spare int32 [S] scratch, options int64 [...] of the evaluator's own, generator uint64 [1]
and logits float32 [A] to be written; value float64 is the expected result for the side to move, -1 … 1.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numba import types

from gozero.evaluators.base import Evaluation
from gozero.games.game import NOT_OVER, PLY, TO_PLAY, Game
from gozero.system.jit import HISTORY, OUTCOME, SAMPLE, STATE, STEP, RowKernel, as_argument, copy_row, kernel
from gozero.system.rng import uniform

OPTIONS = types.Array(types.int64, 1, "C")
LOGITS = types.Array(types.float32, 1, "C")
EVALUATE_ROW = RowKernel(types.float64(STEP, OUTCOME, SAMPLE, STATE, STATE, HISTORY, OPTIONS, HISTORY, LOGITS))
_I32_2, _F32_2 = types.int32[:, ::1], types.float32[:, ::1]


@kernel(types.void(EVALUATE_ROW, STEP, OUTCOME, SAMPLE, _I32_2, STATE, HISTORY, OPTIONS, HISTORY, _F32_2, LOGITS))
def _evaluate_rows(evaluate, step, outcome, sample, states, spare, history, options, generator, logits, values):
    for k in range(states.shape[0]):
        history[:] = 0
        values[k] = evaluate(step, outcome, sample, states[k], spare, history, options, generator, logits[k])


class RowEvaluator:
    """An evaluator whose work is one kernel of the type EVALUATE_ROW. `plies` is the room in a history that it needs
    beyond the state; `seed` that of `evaluate`: a search has its own.
    """

    def __init__(self, game: Game, function: Any, options: tuple[int, ...] = (), plies: int = 0, seed: int = 0) -> None:
        self.game = game
        self.function = as_argument(function, EVALUATE_ROW)
        self._rules = as_argument(game.step, STEP), as_argument(game.outcome, OUTCOME), as_argument(game.sample, SAMPLE)
        self.options = np.array(options, np.int64)
        self.plies = plies
        self._generator = np.array([seed], np.uint64)

    def evaluate(self, states: np.ndarray) -> Evaluation:
        """Evaluate states int32 [n, S]; the positions before them are unknown here, so superko is not seen."""
        n, game = len(states), self.game
        logits = np.zeros((n, game.actions), np.float32)
        values = np.zeros(n, np.float32)
        _evaluate_rows(
            self.function, *self._rules, np.array(states, np.int32, order="C"), np.zeros_like(game.initial),
            np.zeros(int(states[:, PLY].max()) + self.plies + 1, np.uint64),
            self.options, self._generator, logits, values,
        )  # fmt: skip
        return Evaluation(logits, values, None, None)


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
