"""Breakthrough (Dan Troyka, 2000) on 5x5 to 8x8: each side has two rows of pieces, Black at the bottom. A piece moves
one row ahead, straight or slantwise, onto an empty point; slantwise it may capture. Who reaches the last row, or
captures all, wins. Some move is always legal: the foremost piece has none of its own ahead.

An action is a point and a direction: three lead up, for Black, and three down, so that an action says by itself where a
piece goes. The state row:

  TO_PLAY, PLY  as in every game; a position that was set up begins at 0
  SIZE          points a side
  WON           1 where the last move won: the side to move has lost
  colours       from COLOURS on, one cell a point: EMPTY, BLACK or WHITE
  pieces        two fields: the number of Black's pieces, and of White's
"""

from __future__ import annotations

from functools import partial

import numpy as np

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
from gozero.system.jit import LEGAL, SAMPLE, STEP, kernel
from gozero.system.rng import below

MIN_SIZE, MAX_SIZE = 5, 8
DIRECTIONS = ((-1, -1), (-1, 0), (-1, 1), (1, -1), (1, 0), (1, 1))  # Black's three, then White's
AHEAD = 3  # directions of a side
# nothing and left for right; a half turn, and top for bottom, with the colours exchanged
SYMMETRIES = (0, 4, 10, 14)


@kernel()
def _target(state, point, direction):
    """The point that a piece of the side to move at `point` may go to, one of its three directions; else -1."""
    size = np.int64(state[SIZE])
    row = point // size + (-1 if direction < AHEAD else 1)
    right = direction % AHEAD - 1
    col = point % size + right
    if row < 0 or row >= size or col < 0 or col >= size:
        return np.int64(-1)
    found = state[COLOURS + row * size + col]
    blocked = found == state[TO_PLAY] if right else found != EMPTY
    return np.int64(-1) if blocked else row * size + col


@kernel()
def _first_direction(state):
    return np.int64(0) if state[TO_PLAY] == BLACK else np.int64(AHEAD)


@kernel(STEP.signature)
def step(state, history, action):
    """Move a piece of the side to move, in place."""
    size, colour = np.int64(state[SIZE]), np.int64(state[TO_PLAY])
    points, other = size * size, BLACK + WHITE - colour
    pieces = COLOURS + points + other - BLACK
    target = _target(state, action % points, action // points)
    if state[COLOURS + target] == other:
        state[pieces] -= 1
    state[COLOURS + action % points] = EMPTY
    state[COLOURS + target] = colour
    last = np.int64(0) if colour == BLACK else size - 1
    state[WON] = target // size == last or state[pieces] == 0
    state[TO_PLAY] = other
    state[PLY] += 1


@kernel(LEGAL.signature)
def legal(state, history, out):
    """The moves of the side to move into out uint8 [A], or nothing once the game is won; returns their number."""
    for action in range(out.shape[0]):
        out[action] = 0
    points, first, count = np.int64(state[SIZE]) ** 2, _first_direction(state), 0
    for point in range(points):
        if state[COLOURS + point] == state[TO_PLAY] and not state[WON]:
            for direction in range(first, first + AHEAD):
                if _target(state, point, direction) >= 0:
                    out[direction * points + point] = 1
                    count += 1
    return count


@kernel(SAMPLE.signature)
def sample(state, history, generator):
    """A uniformly random move: points and directions are drawn until one is a move."""
    points, first = np.int64(state[SIZE]) ** 2, _first_direction(state)
    while True:
        drawn = below(generator, AHEAD * points)
        point, direction = drawn % points, first + drawn // points
        if state[COLOURS + point] == state[TO_PLAY] and _target(state, point, direction) >= 0:
            return direction * points + point


def set_up(size: int, colours: np.ndarray, to_play: int) -> np.ndarray:
    """int32 [S]: the position with these pieces, uint8 [points]. ValueError if the side to move, or both, have won."""
    board = colours.reshape(size, size)
    pieces = {colour: int(np.count_nonzero(board == colour)) for colour in (BLACK, WHITE)}
    arrived = {BLACK: (board[0] == BLACK).any(), WHITE: (board[-1] == WHITE).any()}
    other = opponent(to_play)
    if arrived[to_play] or pieces[other] == 0:
        raise SetUpError("the side to move has won already: the game ended before")
    if max(pieces.values()) > 2 * size:
        raise SetUpError(f"more than {2 * size} pieces of a colour")
    won = arrived[other] or pieces[to_play] == 0
    return np.array([to_play, 0, size, won, *colours, pieces[BLACK], pieces[WHITE]], np.int32)


def make(size: int = MAX_SIZE) -> Game:
    """Breakthrough on a size x size board, size 5 to 8."""
    check_size(size, "Breakthrough", MIN_SIZE, MAX_SIZE)
    first = np.repeat(np.array([WHITE, EMPTY, BLACK], np.uint8), [2 * size, (size - 4) * size, 2 * size])
    longest = 2 * size * (2 * size - 3)  # all pieces of both sides on their last row, each move a row ahead
    return Game(
        name="breakthrough", rows=size, cols=size, has_pass=False, symmetries=SYMMETRIES, max_plies=longest,
        initial=set_up(size, first, BLACK), step=step, legal=legal, outcome=outcome_of_won, sample=sample,
        stones=stones_of_cells, set_up=partial(set_up, size), directions=DIRECTIONS,
    )  # fmt: skip
