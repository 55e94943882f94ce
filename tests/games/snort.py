"""Snort (Simon Norton): a stone goes on an empty point that has no stone of the other side beside it; who cannot move
loses.

The state row:

  TO_PLAY, PLY  as in every game; PLY is the number of stones on the board
  SIZE          points a side
  colours       from COLOURS on, one cell a point: EMPTY, BLACK or WHITE
"""

from __future__ import annotations

from functools import partial

import numpy as np

from gozero.games.game import BLACK, EMPTY, NOT_OVER, PLY, TO_PLAY, WHITE, Game
from gozero.system.errors import ChoiceError, SetUpError
from gozero.system.jit import LEGAL, OUTCOME, SAMPLE, STEP, STONES, kernel
from gozero.system.rng import below

SIZE, COLOURS = 2, 3
MIN_SIZE, MAX_SIZE = 2, 9


@kernel()
def _points(state):
    return np.int64(state[SIZE]) * state[SIZE]


@kernel()
def _playable(state, point):
    """Whether the side to move may put a stone there."""
    size, other = np.int64(state[SIZE]), BLACK + WHITE - state[TO_PLAY]
    cell, row, col = COLOURS + point, point // size, point % size
    return (
        state[cell] == EMPTY
        and not (row > 0 and state[cell - size] == other)
        and not (row < size - 1 and state[cell + size] == other)
        and not (col > 0 and state[cell - 1] == other)
        and not (col < size - 1 and state[cell + 1] == other)
    )


@kernel(STEP.signature)
def step(state, history, action):
    """Put a stone of the side to move on a playable point, in place."""
    state[COLOURS + action] = state[TO_PLAY]
    state[TO_PLAY] = BLACK + WHITE - state[TO_PLAY]
    state[PLY] += 1


@kernel(LEGAL.signature)
def legal(state, history, out):
    """The playable points into out uint8 [A]; returns their number."""
    points, count = _points(state), 0
    for point in range(points):
        out[point] = _playable(state, point)
        count += out[point]
    out[points] = 0
    out[points + 1] = 0
    return count


@kernel(OUTCOME.signature)
def outcome(state):
    """-1 for the side to move where it cannot move, else NOT_OVER."""
    for point in range(_points(state)):
        if _playable(state, point):
            return NOT_OVER
    return -1


@kernel(SAMPLE.signature)
def sample(state, history, generator):
    """A uniformly random playable point: the k-th that is met takes the place of the one kept so far with probability
    1/k.
    """
    chosen, count = -1, 0
    for point in range(_points(state)):
        if _playable(state, point):
            count += 1
            if below(generator, count) == 0:
                chosen = point
    return chosen


@kernel(STONES.signature)
def stones(state, out):
    """Write the colours of the points into out uint8 [>= points]."""
    for point in range(_points(state)):
        out[point] = state[COLOURS + point]


def set_up(size: int, colours: np.ndarray, to_play: int) -> np.ndarray:
    """The position with these stones, uint8 [points]. SetUpError where stones of both sides are side by side."""
    board = colours.reshape(size, size)
    if (board[1:] * board[:-1] == BLACK * WHITE).any() or (board[:, 1:] * board[:, :-1] == BLACK * WHITE).any():
        raise SetUpError("a black and a white stone are side by side")
    return np.array([to_play, np.count_nonzero(colours), size, *colours], np.int32)


def make(size: int = 4) -> Game:
    """Snort on a size x size board, size 2 to 9."""
    if not MIN_SIZE <= size <= MAX_SIZE:
        raise ChoiceError(f"board size {size} is not supported: Snort has {MIN_SIZE} to {MAX_SIZE}")
    return Game(
        name="snort",
        rows=size,
        cols=size,
        has_pass=False,
        symmetries=tuple(range(8)),
        max_plies=size * size,
        initial=set_up(size, np.zeros(size * size, np.uint8), BLACK),
        step=step,
        legal=legal,
        outcome=outcome,
        sample=sample,
        stones=stones,
        set_up=partial(set_up, size),
    )
