"""Games won by a line (m,n,k-games): the sides put stones on the board by turns, and the first to make a line wins.

A run is stones of one colour side by side along a row, a column or a diagonal, as far as they go; a run of a winning
length is a line. A full board without one is a draw. The state row:

  TO_PLAY, PLY  as in every game; PLY is the number of stones on the board
  WON           1 where the last stone made a line: the side to move has lost
  ROWS, COLS    the board
  LEAST, MOST   the shortest and the longest run that wins
  cells         from HEADER on: the colours, COLS + 1 cells a row, the first of them empty, with an empty row above and
                below, so that every run ends at the edge of the board by itself

A game's own fields follow; those of a free game, in which every empty point may be played, make `sample` one draw:

  order, places the points: the PLY that hold a stone, then the empty ones; and for each point its place in `order`
"""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any

import numpy as np
from numba import types

from gozero.games.game import BLACK, EMPTY, NOT_OVER, PLY, TO_PLAY, WHITE, Game
from gozero.system.errors import SetUpError
from gozero.system.jit import LEGAL, OUTCOME, SAMPLE, STATE, STEP, STONES, kernel
from gozero.system.rng import below

WON, ROWS, COLS, LEAST, MOST, HEADER = 2, 3, 4, 5, 6, 7
# times the colour, which is one bit (BLACK 1, WHITE 2): the bits of `line_threats`
WINS, THREATENS = 1, 4

SetUp = Callable[[np.ndarray, np.ndarray, int], np.ndarray]


def cells_end(rows: int, cols: int) -> int:
    """Where in the state row the fields of a game's own begin."""
    return HEADER + (rows + 2) * (cols + 1) + 1


@kernel()
def cell_of(action, cols):
    """The index of a point's colour in the state row."""
    return HEADER + action + action // cols + cols + 2


@kernel()
def stones_beyond(state, cell, step, colour):
    """How many stones of the colour follow each other, `step` cells apart, from the one after `cell` on."""
    count = 0
    while state[cell + (count + 1) * step] == colour:
        count += 1
    return count


@kernel()
def _in_line(state, cell, colour):
    """Whether the stone of this colour on this cell is part of a line."""
    below = np.int64(state[COLS]) + 1  # cells from one to that below it
    for step in (1, below - 1, below, below + 1):
        run = stones_beyond(state, cell, -step, colour) + 1 + stones_beyond(state, cell, step, colour)
        if state[LEAST] <= run <= state[MOST]:
            return True
    return False


@kernel(types.boolean(STATE, types.int64))
def _has_line(state, colour):
    """Whether any stone of the colour is part of a line."""
    cols = np.int64(state[COLS])
    for action in range(state[ROWS] * cols):
        cell = cell_of(action, cols)
        if state[cell] == colour and _in_line(state, cell, colour):
            return True
    return False


@kernel()
def put_stone(state, action):
    """Put a stone of the side to move on an empty point, in place, and give the turn to the other."""
    colour = state[TO_PLAY]
    cell = cell_of(action, np.int64(state[COLS]))
    state[cell] = colour
    state[WON] = _in_line(state, cell, colour)
    state[TO_PLAY] = BLACK + WHITE - colour
    state[PLY] += 1


@kernel(OUTCOME.signature)
def outcome(state):
    """-1 for the side to move after a line, 0 on a full board, else NOT_OVER."""
    if state[WON]:
        return -1
    return 0 if state[PLY] == state[ROWS] * state[COLS] else NOT_OVER


@kernel(STONES.signature)
def stones(state, out):
    """Write the colours of the points into out uint8 [>= points]."""
    rows, cols = np.int64(state[ROWS]), np.int64(state[COLS])
    for row in range(rows):
        first = cell_of(row * cols, cols)
        for col in range(cols):
            out[row * cols + col] = state[first + col]


def _board(state: np.ndarray) -> np.ndarray:
    """int32 [rows, cols]: the colours of the points, a view of the state row."""
    rows, cols = int(state[ROWS]), int(state[COLS])
    return state[HEADER : cells_end(rows, cols) - 1].reshape(rows + 2, cols + 1)[1:-1, 1:]


def set_up(initial: np.ndarray, colours: np.ndarray, to_play: int) -> np.ndarray:
    """The position with stones uint8 [points] under the rules of `initial`. ValueError if no game can have them."""
    black, white = (int(np.count_nonzero(colours == colour)) for colour in (BLACK, WHITE))
    if abs(black - white) > 1:
        raise SetUpError(f"{black} black and {white} white stones: expected one more of either side at most")
    state = initial.copy()
    state[TO_PLAY], state[PLY] = to_play, black + white
    board = _board(state)
    board[:] = colours.reshape(board.shape)
    if _has_line(state, to_play):
        raise SetUpError("the side to move has made a line already: the game ended before")
    state[WON] = _has_line(state, BLACK + WHITE - to_play)
    return state


def game(
    name: str, rows: int, cols: int, least: int, most: int, own: list[int], set_up: SetUp,
    symmetries: tuple[int, ...], **kernels: Any,
) -> Game:  # fmt: skip
    """The game that runs of `least` to `most` stones win, with `own` as its own fields and step, legal and sample as its
    own kernels; all else is common to games of lines.
    """
    initial = np.zeros(cells_end(rows, cols) + len(own), np.int32)
    initial[TO_PLAY], initial[ROWS], initial[COLS], initial[LEAST], initial[MOST] = BLACK, rows, cols, least, most
    initial[cells_end(rows, cols) :] = own
    return Game(
        name=name, rows=rows, cols=cols, has_pass=False, symmetries=symmetries, max_plies=rows * cols, initial=initial,
        outcome=outcome, stones=stones, set_up=partial(set_up, initial), **kernels,
    )  # fmt: skip


# ---- threats


@kernel()
def _mark_window(state, out, row, col, down, right):
    """Mark the empty points of LEAST points in a line for each colour that lacks one or two of them."""
    cols, least = np.int64(state[COLS]), np.int64(state[LEAST])
    step = down * (cols + 1) + right
    first = cell_of(row * cols + col, cols)
    black = white = 0
    for k in range(least):
        black += state[first + k * step] == BLACK
        white += state[first + k * step] == WHITE
    lacking = least - black - white
    if (black and white) or not 1 <= lacking <= 2:
        return
    bit = WINS if lacking == 1 else THREATENS
    for colour in (BLACK, WHITE):
        if (black and colour == WHITE) or (white and colour == BLACK):
            continue
        before = stones_beyond(state, first, -step, colour)
        after = stones_beyond(state, first + (least - 1) * step, step, colour)
        if before + least + after > state[MOST]:
            continue
        for k in range(least):
            if state[first + k * step] == EMPTY:
                out[(row + k * down) * cols + col + k * right] |= bit * colour


@kernel(STONES.signature)
def line_threats(state, out):
    """Write into out uint8 [points], 0 on stones, what a stone on each empty point would do, playable or not: WINS *
    colour, make a line; THREATENS * colour, lack only one more.
    """
    rows, cols = np.int64(state[ROWS]), np.int64(state[COLS])
    last = np.int64(state[LEAST]) - 1
    for point in range(rows * cols):
        out[point] = 0
    for down, right in ((0, 1), (1, -1), (1, 0), (1, 1)):
        leftmost, end = last if right < 0 else np.int64(0), cols - last if right > 0 else cols
        for row in range(rows - last * down):
            for col in range(leftmost, end):
                _mark_window(state, out, row, col, down, right)


# ---- free games


@kernel()
def _point_count(state):
    return np.int64(state[ROWS]) * state[COLS]


@kernel(STEP.signature)
def free_step(state, history, action):
    """Play an empty point, in place: in `order` it changes places with the first of the empty points."""
    places = state.shape[0] - _point_count(state)
    order = places - _point_count(state)
    ply = np.int64(state[PLY])
    place, first = state[places + action], state[order + ply]
    state[order + place], state[places + first] = first, place
    state[order + ply], state[places + action] = action, ply
    put_stone(state, action)


@kernel(LEGAL.signature)
def free_legal(state, history, out):
    """Every empty point into out uint8 [A], or nothing once a line is made; returns their number."""
    points = _point_count(state)
    going_on = state[WON] == 0
    stones(state, out)
    for action in range(points):
        out[action] = going_on and out[action] == EMPTY
    out[points] = 0
    out[points + 1] = 0
    return points - state[PLY] if going_on else 0


@kernel(SAMPLE.signature)
def free_sample(state, history, generator):
    """A uniformly random empty point."""
    points, ply = _point_count(state), np.int64(state[PLY])
    order = state.shape[0] - 2 * points
    return np.int64(state[order + ply + below(generator, points - ply)])


def _free_set_up(initial: np.ndarray, colours: np.ndarray, to_play: int) -> np.ndarray:
    """As `set_up`, with the fields of a free game."""
    state = set_up(initial, colours, to_play)
    order = np.argsort(colours == EMPTY, kind="stable")
    state[-2 * len(order) :] = np.concatenate([order, np.argsort(order)])
    return state


def free_game(name: str, size: int, least: int, most: int) -> Game:
    """The free game on a size x size board that runs of `least` to `most` stones win."""
    points = list(range(size * size))
    return game(
        name, size, size, least, most, [*points, *points], _free_set_up, tuple(range(8)),
        step=free_step, legal=free_legal, sample=free_sample,
    )  # fmt: skip
