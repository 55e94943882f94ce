"""Stones, chains and liberties on a square board: what Go and NoGo share.

Vocabulary.
  cell       the place of a point's record inside the state row. The board is padded by one ring of EDGE cells (left and
             right share a column), so every point has four neighbours and none is off the array.
  record     four int32 fields: COLOUR, HEAD, NEXT, LIBERTIES, read as state[cell + FIELD].
  chain      stones of one colour joined along lines, linked in a circle by NEXT; HEAD is the same cell for all of them.
  LIBERTIES  at a chain's head: its pseudo-liberties, one for each (stone, empty neighbour) pair. Zero exactly when
             the chain has no liberty, which is all the rules ask, and it is kept with one addition per neighbour.
             Empty and EDGE cells are their own heads, so that the additions need no branch; their counts mean nothing.
  empties    the empty cells, unordered, in a list at the end of the cells; an empty cell's NEXT is its place there.
  boards     the last 5 positions as bit sets, the newest at ring place BOARD_PLACE: what features need of the past.
  touched    bit set of points a stone was ever removed from: only there can a move repeat an earlier position.

This module knows no turn order, no ko and no scoring, and it never refuses a move.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from numba import types

from gozero.coords import MAX_SIZE
from gozero.errors import SetUpError
from gozero.games.game import BLACK, EMPTY, TO_PLAY, WHITE
from gozero.jit import STATE, STONES, kernel

EDGE = 3
PAST_BOARDS = 5

MANY_LIBERTIES = 4  # from here on `chain_liberties` counts no further

# Header of the state row; fields 0 and 1 are TO_PLAY and PLY, 5 to 13 belong to the game.
SIZE, EMPTY_COUNT, BOARD_PLACE = 2, 3, 4
HEADER = 16

# Record of a cell.
COLOUR, HEAD, NEXT, LIBERTIES = 0, 1, 2, 3
RECORD = 4


def _zobrist() -> np.ndarray:
    """uint64 [2, cells of the largest board]: one fixed random word per colour and cell."""
    cells = (MAX_SIZE + 2) * (MAX_SIZE + 1) + 1
    return np.random.default_rng(20080613).integers(0, 2**64, (2, cells), np.uint64)


ZOBRIST = _zobrist()


RECIPROCALS = np.array([0] + [65536 // divisor + 1 for divisor in range(1, MAX_SIZE + 2)], np.int64)


@kernel()
def at(state, place):
    """state[place]. The unsigned index spares numba's test for negative ones: a fifth of the time of a move."""
    return state[np.uint64(place)]


@kernel()
def put(state, place, value):
    """state[place] = value, likewise."""
    state[np.uint64(place)] = value


@kernel()
def colour_at(state, cell):
    return at(state, cell + COLOUR)


@kernel()
def liberties_at(state, cell):
    """Pseudo-liberties of the chain at `cell`."""
    return at(state, at(state, cell + HEAD) + LIBERTIES)


@kernel()
def quotient(number, divisor):
    """number // divisor for a cell or action number and 1 <= divisor <= 20, by multiplication: divisions cost more than
    a stone.
    """
    return (number * RECIPROCALS[divisor]) >> 16


@kernel()
def cell_count(size):
    """Cells of the padded board: 211 at 13x13."""
    return (size + 2) * (size + 1) + 1


@kernel()
def words(size):
    """int32 words of a bit set over the cells: 7 at 13x13."""
    return (cell_count(size) + 31) >> 5


@kernel()
def row_step(size):
    """Distance in the state row from a cell to the cell below it."""
    return (size + 1) * RECORD


@kernel()
def cell_at(row, col, size):
    return HEADER + ((row + 1) * (size + 1) + col + 1) * RECORD


@kernel()
def cell_of(action, size):
    """cell_at, of the row-major number of a point: every row above adds its share of the ring."""
    return HEADER + (action + quotient(action, size) + size + 2) * RECORD


@kernel()
def index_of(cell):
    """Number of a cell among the cells: the index into ZOBRIST and the bit in a bit set."""
    return (cell - HEADER) // RECORD


@kernel()
def action_of(cell, size):
    index = index_of(cell)
    return index - quotient(index, size + 1) - size - 1


@kernel()
def empties_start(size):
    return HEADER + cell_count(size) * RECORD


@kernel()
def boards_start(size):
    return empties_start(size) + size * size


@kernel()
def touched_start(size):
    return boards_start(size) + PAST_BOARDS * 2 * words(size)


@kernel()
def state_ints(size):
    """S: length of the state row (1106 at 13x13)."""
    return touched_start(size) + words(size)


@kernel()
def _list_empty(state, cell, size):
    place = state[EMPTY_COUNT]
    put(state, empties_start(size) + place, cell)
    put(state, cell + NEXT, place)
    state[EMPTY_COUNT] = place + 1


@kernel(types.void(STATE, types.int64))
def clear(state, size):
    """Make `state` int32 [S] the empty board of that size; header fields of the game become 0."""
    state[:] = 0
    state[TO_PLAY] = BLACK
    state[SIZE] = size
    for index in range(cell_count(size)):
        put(state, HEADER + index * RECORD + COLOUR, EDGE)
        put(state, HEADER + index * RECORD + HEAD, HEADER + index * RECORD)
    for row in range(size):
        for col in range(size):
            cell = cell_at(row, col, size)
            put(state, cell + COLOUR, EMPTY)
            _list_empty(state, cell, size)


@kernel()
def _unlist_empty(state, cell, size):
    start = empties_start(size)
    last = state[EMPTY_COUNT] - 1
    moved = at(state, start + last)
    place = at(state, cell + NEXT)
    put(state, start + place, moved)
    put(state, moved + NEXT, place)
    state[EMPTY_COUNT] = last


@kernel()
def next_board(state, size):
    """Begin a new ply in the ring of past boards: the newest is copied and becomes the one that changes."""
    length = 2 * words(size)
    old = boards_start(size) + state[BOARD_PLACE] * length
    place = (state[BOARD_PLACE] + 1) % PAST_BOARDS
    state[BOARD_PLACE] = place
    new = boards_start(size) + place * length
    for k in range(length):
        put(state, new + k, at(state, old + k))


@kernel()
def _flip_bit(state, cell, colour, size):
    index = index_of(cell)
    word = boards_start(size) + (state[BOARD_PLACE] * 2 + colour - 1) * words(size) + (index >> 5)
    put(state, word, at(state, word) ^ np.int32(1 << (index & 31)))


@kernel()
def is_touched(state, cell, size):
    index = index_of(cell)
    return (at(state, touched_start(size) + (index >> 5)) >> (index & 31)) & 1


@kernel()
def count_liberty(state, cell, change, size):
    """Add `change` (+1 or -1) to the liberties of the chains beside a cell, once for each stone that touches it."""
    down = row_step(size)
    for offset in (-down, -RECORD, RECORD, down):
        count = at(state, cell + offset + HEAD) + LIBERTIES
        put(state, count, at(state, count) + change)


@kernel()
def put_stone(state, cell, colour, size):
    """Put a stone on an empty cell and join it to its neighbours of the same colour. Returns its Zobrist word.

    Chains left without liberties stay: the caller removes them.
    """
    down = row_step(size)
    _unlist_empty(state, cell, size)
    _flip_bit(state, cell, colour, size)
    put(state, cell + COLOUR, colour)
    put(state, cell + NEXT, cell)
    count_liberty(state, cell, -1, size)
    liberties = 0
    for offset in (-down, -RECORD, RECORD, down):
        liberties += colour_at(state, cell + offset) == EMPTY
    put(state, cell + LIBERTIES, liberties)
    for offset in (-down, -RECORD, RECORD, down):
        if colour_at(state, cell + offset) == colour and at(state, cell + offset + HEAD) != at(state, cell + HEAD):
            _join(state, at(state, cell + HEAD), at(state, cell + offset + HEAD))
    return ZOBRIST[colour - 1, index_of(cell)]


@kernel()
def _join(state, first, second):
    """Make one chain of two, given their heads. The one with fewer pseudo-liberties, mostly the smaller, is relabelled."""
    if at(state, first + LIBERTIES) < at(state, second + LIBERTIES):
        first, second = second, first
    put(state, first + LIBERTIES, at(state, first + LIBERTIES) + at(state, second + LIBERTIES))
    stone = second
    while True:
        put(state, stone + HEAD, first)
        stone = at(state, stone + NEXT)
        if stone == second:
            break
    after_first = at(state, first + NEXT)
    put(state, first + NEXT, at(state, second + NEXT))
    put(state, second + NEXT, after_first)


@kernel()
def remove_chain(state, cell, size):
    """Take the chain at `cell` off the board. Returns (XOR of its Zobrist words, number of stones)."""
    colour = colour_at(state, cell)
    touched = touched_start(size)
    taken = np.uint64(0)
    stones = 0
    stone = cell
    while True:
        following = at(state, stone + NEXT)
        index = index_of(stone)
        taken ^= ZOBRIST[colour - 1, index]
        put(state, touched + (index >> 5), at(state, touched + (index >> 5)) | np.int32(1 << (index & 31)))
        _flip_bit(state, stone, colour, size)
        put(state, stone + COLOUR, EMPTY)
        put(state, stone + HEAD, stone)
        _list_empty(state, stone, size)
        count_liberty(state, stone, 1, size)
        stones += 1
        stone = following
        if stone == cell:
            break
    return taken, stones


@kernel()
def chain_hash(state, cell):
    """XOR of the Zobrist words of the chain at `cell`."""
    row = colour_at(state, cell) - 1
    total = np.uint64(0)
    stone = cell
    while True:
        total ^= ZOBRIST[row, index_of(stone)]
        stone = at(state, stone + NEXT)
        if stone == cell:
            return total


@kernel()
def fills_own_eye(state, cell, colour, size):
    """Whether an empty cell is a one-point eye of `colour`: neighbours own or edge, and too few hostile diagonals to be
    false.
    """
    down = row_step(size)
    closed = 0
    for offset in (-down, -RECORD, RECORD, down):
        beside = colour_at(state, cell + offset)
        closed += (beside == colour) | (beside == EDGE)
    if closed < 4:
        return False
    hostile = 0
    off_board = 0
    for offset in (-down - RECORD, -down + RECORD, down - RECORD, down + RECORD):
        diagonal = colour_at(state, cell + offset)
        hostile += diagonal == BLACK + WHITE - colour
        off_board |= diagonal == EDGE
    return hostile + off_board < 2


@kernel(STONES.signature)
def stones(state, out):
    """Write the colours of the points into out uint8 [points]."""
    size = np.int64(state[SIZE])
    for action in range(size * size):
        out[action] = colour_at(state, cell_of(action, size))


@kernel()
def _count_chain(state, head, size):
    """Liberties of the chain at `head`, at most MANY_LIBERTIES: the first few found are remembered, so that none counts
    twice.
    """
    down = row_step(size)
    first = second = third = count = 0
    stone = head
    while True:
        for offset in (-down, -RECORD, RECORD, down):
            beside = stone + offset
            if colour_at(state, beside) == EMPTY and beside != first and beside != second and beside != third:
                first, second, third = beside, first, second
                count += 1
                if count == MANY_LIBERTIES:
                    return count
        stone = at(state, stone + NEXT)
        if stone == head:
            return count


@kernel(STONES.signature)
def chain_liberties(state, out):
    """Write into out uint8 [points] how many liberties the chain on each point has, at most MANY_LIBERTIES; 0 on empty
    points.
    """
    size = np.int64(state[SIZE])
    for action in range(size * size):
        out[action] = 0
    for action in range(size * size):
        cell = cell_of(action, size)
        if colour_at(state, cell) in (BLACK, WHITE) and at(state, cell + HEAD) == cell:
            count = _count_chain(state, cell, size)
            stone = cell
            while True:
                out[action_of(stone, size)] = count
                stone = at(state, stone + NEXT)
                if stone == cell:
                    break


def set_up(
    initial: np.ndarray, place: Callable[[np.ndarray, np.ndarray], bool], colours: np.ndarray, to_play: int
) -> np.ndarray:
    """The position with these stones, uint8 [points], on the empty board and under the rules of `initial`, without
    history.

    The game's kernel `place(state, colours)` puts them there; it returns whether every chain has a liberty.

    Raises:
        ValueError: a chain has no liberty.
    """
    state = initial.copy()
    state[TO_PLAY] = to_play
    if not place(state, np.ascontiguousarray(colours, np.uint8)):
        raise SetUpError("a chain of the set-up position has no liberty")
    return state
