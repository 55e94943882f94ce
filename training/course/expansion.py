"""All moves of many positions at once, as kernels: the one ply of a full-width search, and moves at random.

The candidates are the actions of the game's random moves: in `simple_go` no point that is an own one-point eye, and a
pass only if nothing else is left; elsewhere all legal ones. None of the course's games has superko, so one scratch history serves
all positions.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numba import types

from gozero.games import GO_FAMILY
from gozero.games.game import NOT_OVER, PLY, TO_PLAY, Game
from gozero.games.go import chains, go
from gozero.system.jit import HISTORY, LEGAL, MASK, OUTCOME, STEP, STONES, as_argument, copy_row, kernel

_STATES = types.int32[:, ::1]
_BOARDS = types.uint8[:, ::1]
_INTEGERS = types.int64[::1]


@kernel(LEGAL.signature)
def candidates_of_go(state, history, out):
    """Write the candidates of Go's rules into out uint8 [A]; returns their number."""
    count = go.legal(state, history, out)
    size = np.int64(state[chains.SIZE])
    for action in range(size * size):
        if out[action] and chains.fills_own_eye(state, chains.cell_of(action, size), state[TO_PLAY], size):
            out[action] = 0
            count -= 1
    if count > 1:
        out[size * size] = 0
        count -= 1
    return count


@kernel(
    types.int64(
        STEP, LEGAL, OUTCOME, STONES, _STATES, HISTORY, MASK, _INTEGERS, _INTEGERS, _STATES, _BOARDS, types.float32[::1]
    )
)
def _expand(step, candidates, outcome, stones, states, history, mask, parents, actions, children, boards, results):
    child = 0
    for b in range(states.shape[0]):
        candidates(states[b], history, mask)
        for action in range(mask.shape[0]):
            if mask[action]:
                parents[child] = b
                actions[child] = action
                copy_row(children[child], states[b])
                step(children[child], history, action)
                stones(children[child], boards[child])
                result = outcome(children[child])
                if result == NOT_OVER:
                    results[child] = np.nan
                else:
                    results[child] = result if children[child, TO_PLAY] == states[b, TO_PLAY] else -result
                child += 1
    return child


@dataclass(frozen=True)
class Children:
    """The m positions after each candidate of n parents, in the order of their parents, every parent's together."""

    parents: np.ndarray  # int64 [m], 0 … n-1
    actions: np.ndarray  # int64 [m]
    states: np.ndarray  # int32 [m, S]
    boards: np.ndarray  # uint8 [m, P]
    results: np.ndarray  # float32 [m]: of a game that is over, for the parent's side to move; nan if it goes on


class Expander:
    """Everything that can be asked of many positions of one game, which has no superko."""

    def __init__(self, game: Game) -> None:
        self.game = game
        self._candidates = candidates_of_go if game.name in GO_FAMILY else game.legal
        self._kernels = (
            as_argument(game.step, STEP), as_argument(self._candidates, LEGAL),
            as_argument(game.outcome, OUTCOME), as_argument(game.stones, STONES),
        )  # fmt: skip
        self._mask = np.zeros(game.actions, np.uint8)

    def boards(self, states: np.ndarray) -> np.ndarray:
        """The stones uint8 [n, P] of states int32 [n, S]."""
        found = np.empty((len(states), self.game.points), np.uint8)
        for state, board in zip(np.require(states, requirements=["C", "W"]), found, strict=True):
            self.game.stones(state, board)
        return found

    def random_actions(self, states: np.ndarray, generator: np.ndarray) -> np.ndarray:
        """A random move int64 [n] of each of states int32 [n, S], by generator uint64 [1]; see `gozero.system.rng`."""
        history = self._history(states)
        return np.array([self.game.sample(state, history, generator) for state in states.copy()], np.int64)

    def masks(self, states: np.ndarray) -> np.ndarray:
        """The candidates bool [n, A] of states int32 [n, S] that are not over."""
        masks = np.empty((len(states), self.game.actions), np.uint8)
        history = self._history(states)
        for state, mask in zip(np.require(states, requirements=["C", "W"]), masks, strict=True):
            self._candidates(state, history, mask)
        return masks.view(np.bool_)

    def children(self, states: np.ndarray) -> Children:
        """The positions after all candidates of states int32 [n, S] that are not over."""
        game, states = self.game, np.require(states, requirements=["C", "W"])
        most = len(states) * game.actions
        arrays = (
            np.empty(most, np.int64),
            np.empty(most, np.int64),
            np.empty((most, game.state_ints), np.int32),
            np.empty((most, game.points), np.uint8),
            np.empty(most, np.float32),
        )
        count = _expand(*self._kernels, states, self._history(states), self._mask, *arrays)
        return Children(*(array[:count] for array in arrays))

    def _history(self, states: np.ndarray) -> np.ndarray:
        return np.zeros(int(states[:, PLY].max(initial=0)) + 2, np.uint64)
