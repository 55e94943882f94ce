"""Connect-4: discs fall to the lowest empty point of a column, 6 rows and 7 columns, and four in a row win.

An action is the point on which the disc comes to rest, so that at most 7 are legal. The state row is that of
gozero.games.lines; behind its cells stand

  HEIGHTS  7 fields: the number of discs in each column
"""

from __future__ import annotations

import numpy as np

from gozero.games import lines
from gozero.games.game import EMPTY, Game, check_size
from gozero.system.errors import SetUpError
from gozero.system.jit import LEGAL, SAMPLE, STEP, kernel
from gozero.system.rng import below

ROWS, COLS, FOUR = 6, 7, 4
HEIGHTS = lines.cells_end(ROWS, COLS)
MIRRORS = (0, 4)  # numbers in gozero.games.symmetry: nothing, and left for right


@kernel(STEP.signature)
def step(state, history, action):
    """Drop a disc of the side to move onto its landing point, in place."""
    state[HEIGHTS + action % COLS] += 1
    lines.put_stone(state, action)


@kernel()
def _landing_point(state, col):
    """The cell where a disc dropped into this column lands; negative where the column is full."""
    return (ROWS - 1 - np.int64(state[HEIGHTS + col])) * COLS + col


@kernel(LEGAL.signature)
def legal(state, history, out):
    """The landing points into out uint8 [A], or nothing once a line is made; returns their number."""
    for action in range(out.shape[0]):
        out[action] = 0
    count = 0
    for col in range(COLS):
        action = _landing_point(state, col)
        if action >= 0 and not state[lines.WON]:
            out[action] = 1
            count += 1
    return count


@kernel(SAMPLE.signature)
def sample(state, history, generator):
    """The landing point in a uniformly random column with room. Columns are drawn until one has: mostly the first."""
    action = _landing_point(state, below(generator, COLS))
    while action < 0:
        action = _landing_point(state, below(generator, COLS))
    return action


def set_up(initial: np.ndarray, colours: np.ndarray, to_play: int) -> np.ndarray:
    """The position with these discs, uint8 [points]. ValueError as `lines.set_up`, or if a disc floats."""
    discs = colours.reshape(ROWS, COLS) != EMPTY
    if (discs[:-1] & ~discs[1:]).any():
        raise SetUpError("a disc floats: the point below it is empty")
    state = lines.set_up(initial, colours, to_play)
    state[HEIGHTS:] = discs.sum(axis=0)
    return state


def make(size: int = COLS) -> Game:
    """Connect-4; ValueError for any size, which is the number of columns, but 7."""
    check_size(size, "Connect-4", COLS, COLS)
    heights = [0] * COLS
    return lines.game(
        "connect4", ROWS, COLS, FOUR, COLS, heights, set_up, MIRRORS, step=step, legal=legal, sample=sample
    )  # fmt: skip
