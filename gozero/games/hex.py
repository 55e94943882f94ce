"""Hex (Piet Hein 1942, John Nash 1948) on 2x2 to 19x19: each point of the rhombus touches six others, those beside it
in its row and column, the one above to the right and the one below to the left. Black wins by a chain from top to bottom,
White from left to right; one of them does before the board is full.

The second player may swap instead of the second move: play the point of the only stone, which is taken off and put back
in the own colour with row and column exchanged. The state row:

  TO_PLAY, PLY  as in every game
  SIZE          points a side
  WON           1 where the last stone made the chain: the side to move has lost
  colours       from COLOURS on, one cell a point: EMPTY, BLACK or WHITE
  parents       a union-find over the points: the next one on the way to the root of a chain, -1 at the root
  edges         at a chain's root the edges that it touches: 1 its colour's first (top or left), 2 the last
"""

from __future__ import annotations

from functools import partial

import numpy as np
from numba import types

from gozero.games.colours import opponent
from gozero.games.game import (
    BLACK,
    COLOURS,
    EMPTY,
    PLY,
    SIZE,
    TO_PLAY,
    WHITE,
    WON,
    Game,
    check_size,
    outcome_of_won,
    stones_of_cells,
)  # fmt: skip
from gozero.system.errors import SetUpError
from gozero.system.jit import LEGAL, MASK, SAMPLE, STATE, STEP, kernel
from gozero.system.rng import below

MIN_SIZE, MAX_SIZE = 2, 19
BOTH_EDGES = 3
# nothing and a half turn; the two diagonals with the colours exchanged
SYMMETRIES = (0, 2, 13, 15)


@kernel()
def _root(state, point, points):
    """The root of the chain at `point`; what is passed on the way is moved nearer to it."""
    parents = COLOURS + points
    while state[parents + point] >= 0:
        above = state[parents + point]
        if state[parents + above] >= 0:
            state[parents + point] = state[parents + above]
        point = np.int64(above)
    return np.int64(point)


@kernel(types.void(STATE, types.int64, types.int64))
def _put_stone(state, point, colour):
    """Put a stone on an empty point, in place, join the chains beside it, and set WON."""
    size = np.int64(state[SIZE])
    points = size * size
    edges = COLOURS + 2 * points
    row, col = point // size, point % size
    place = row if colour == BLACK else col
    state[COLOURS + point] = colour
    state[COLOURS + points + point] = -1
    state[edges + point] = (place == 0) + 2 * (place == size - 1)
    for down, right in ((-1, 0), (-1, 1), (0, -1), (0, 1), (1, -1), (1, 0)):
        inside = 0 <= row + down < size and 0 <= col + right < size
        beside = point + down * size + right
        if inside and state[COLOURS + beside] == colour:
            root, other = _root(state, point, points), _root(state, beside, points)
            if root != other:
                state[COLOURS + points + root] = other
                state[edges + other] |= state[edges + root]
    state[WON] = state[edges + _root(state, point, points)] == BOTH_EDGES


@kernel(STEP.signature)
def step(state, history, action):
    """Put a stone of the side to move on an empty point, or swap the only stone, in place."""
    size, colour = np.int64(state[SIZE]), np.int64(state[TO_PLAY])
    swaps = state[COLOURS + action] != EMPTY
    state[COLOURS + action] = EMPTY
    _put_stone(state, action % size * size + action // size if swaps else action, colour)
    state[TO_PLAY] = BLACK + WHITE - colour
    state[PLY] += 1


@kernel(LEGAL.signature)
def legal(state, history, out):
    """Every empty point, and in the second ply that of the stone, into out uint8 [A], or nothing once the game is won;
    returns their number.
    """
    points, count = np.int64(state[SIZE]) ** 2, 0
    for point in range(points):
        out[point] = not state[WON] and (state[COLOURS + point] == EMPTY or state[PLY] == 1)
        count += out[point]
    out[points] = 0
    out[points + 1] = 0
    return count


@kernel(SAMPLE.signature)
def sample(state, history, generator):
    """A uniformly random legal point: points are drawn until one is; two or three times in a whole game's mean."""
    points = np.int64(state[SIZE]) ** 2
    while True:
        point = below(generator, points)
        if state[COLOURS + point] == EMPTY or state[PLY] == 1:
            return point


@kernel(types.int64(STATE, MASK, types.int64))
def _place(state, colours, colour):
    """Put the stones of a colour, of colours uint8 [points], on the board; whether they have its chain."""
    won = np.int64(0)
    for point in range(colours.shape[0]):
        if colours[point] == colour:
            _put_stone(state, point, colour)
            won |= state[WON]
    return won


def set_up(size: int, colours: np.ndarray, to_play: int) -> np.ndarray:
    """int32 [S]: the position with these stones, uint8 [points]. ValueError if no game can have them. A lone stone may
    be swapped if it is Black's and White is to move.
    """
    black, white = (int(np.count_nonzero(colours == colour)) for colour in (BLACK, WHITE))
    if abs(black - white) > 1:
        raise SetUpError(f"{black} black and {white} white stones: expected one more of either side at most")
    state = np.zeros(COLOURS + 3 * size * size, np.int32)
    state[TO_PLAY], state[SIZE] = to_play, size
    is_swapped = black + white == 1 and not (black == 1 and to_play == WHITE)
    state[PLY] = black + white + is_swapped
    given = np.require(colours, np.uint8, ["C", "W"])
    if _place(state, given, to_play):
        raise SetUpError("the side to move has its chain already: the game ended before")
    state[WON] = _place(state, given, opponent(to_play))
    return state


def make(size: int = 11) -> Game:
    """Hex on a size x size board, size 2 to 19."""
    check_size(size, "Hex", MIN_SIZE, MAX_SIZE)
    return Game(
        name="hex", rows=size, cols=size, has_pass=False, symmetries=SYMMETRIES, max_plies=size * size + 1,
        initial=set_up(size, np.zeros(size * size, np.uint8), BLACK), step=step, legal=legal,
        outcome=outcome_of_won, sample=sample, stones=stones_of_cells, set_up=partial(set_up, size), hexagons=True,
    )  # fmt: skip
