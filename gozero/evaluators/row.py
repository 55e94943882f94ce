"""Evaluators that are kernels: they look at one state and need no batch, so whole searches run inside one kernel.

A row evaluator has a function of the type EVALUATE_ROW,

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
from gozero.games.game import PLY, Game
from gozero.system.jit import HISTORY, OUTCOME, SAMPLE, STATE, STEP, RowKernel, as_argument, kernel

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
