"""Stones, chains and liberties on a square board: what Go and NoGo share.

  cell       the place of a point's record inside the state row. The board is padded by one ring of EDGE cells (left and
             right share a column), so every point has four neighbours and none is off the array.
  record     four int32 fields: COLOUR, HEAD, NEXT, LIBERTIES, read as state[cell + FIELD].
  chain      stones of one colour joined along lines, linked in a circle by NEXT; HEAD is the same cell for all of them.
  COLOUR     the colour in its lowest bits and the past above them: the colours 1 … 4 plies before the stone was put or
             taken, whether one was ever taken (TOUCHED), and the ply when it happened. A cell changes rarely, so five
             boards are known without a step at each ply.
  LIBERTIES  at a chain's head: its pseudo-liberties, one for each (stone, empty neighbour) pair. Zero exactly when
             the chain has no liberty, which is all the rules ask, and it takes one addition per neighbour.
             Empty and EDGE cells are their own heads, so that the additions need no branch: an empty cell's are the
             empty cells beside it, those of EDGE mean nothing.
  empties    the empty cells, unordered, in a list at the end of the cells; an empty cell's NEXT is its place there.
  touched    of a point: a stone was ever removed from it. Only there can a move repeat an earlier position.

Colours are bits, so a set of colours is a number too: BLACK | EDGE.

This module knows no turn order, no ko and no scoring, and it never refuses a move.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from numba import types

from gozero.games.coords import MAX_SIZE
from gozero.games.game import BLACK, EMPTY, PLY, TO_PLAY, WHITE
from gozero.system.errors import SetUpError
from gozero.system.jit import STATE, STONES, kernel

EDGE = 4
PAST_BOARDS = 5  # the present one is the first of them

# Header of the state row; fields 0 and 1 are TO_PLAY and PLY, 4 to 47 belong to the game.
SIZE, EMPTY_COUNT = 2, 3
HEADER = 48

# Record of a cell.
COLOUR, HEAD, NEXT, LIBERTIES = 0, 1, 2, 3
RECORD = 4

# The field COLOUR: bits 0 … 2 the colour, 8 … 15 those before it, the newest lowest, 16 TOUCHED, 17 … 30 the ply of the
# first position with it, modulo 2**14: a stone of exactly that age looks new for four plies.
COLOUR_BITS, PAST, TOUCHED, SINCE = 0b111, 8, 1 << 16, 17
PLIES = (1 << 14) - 1
BLACK_ALWAYS = 0b01_01_01_01_01  # five times BLACK; a colour times this is the past of a point that never changed


def _zobrist() -> np.ndarray:
    """uint64 [3, cells of the largest board]: one fixed random word per colour and cell, 0 for EMPTY."""
    cells = (MAX_SIZE + 2) * (MAX_SIZE + 1) + 1
    words = np.random.default_rng(20080613).integers(0, 2**64, (2, cells), np.uint64)
    return np.concatenate([np.zeros((1, cells), np.uint64), words])


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
    return at(state, cell + COLOUR) & COLOUR_BITS


@kernel()
def liberties_at(state, cell):
    """Pseudo-liberties of the chain at `cell`."""
    return at(state, at(state, cell + HEAD) + LIBERTIES)


@kernel()
def quotient(number, divisor):
    """number // divisor for a cell or action and 1 <= divisor <= 20, by multiplication: cheaper than a division."""
    return (number * at(RECIPROCALS, divisor)) >> 16


@kernel()
def cell_count(size):
    """Cells of the padded board: 211 at 13x13."""
    return (size + 2) * (size + 1) + 1


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
    """Number of a cell among the cells: the index into ZOBRIST."""
    return (cell - HEADER) // RECORD


@kernel()
def zobrist(colour, cell):
    """The Zobrist word of a stone."""
    return ZOBRIST[np.uint64(colour), np.uint64(index_of(cell))]


@kernel()
def action_of(cell, size):
    index = index_of(cell)
    return index - quotient(index, size + 1) - size - 1


@kernel()
def empties_start(size):
    return HEADER + cell_count(size) * RECORD


@kernel()
def state_ints(size):
    """S: length of the state row (1061 at 13x13)."""
    return empties_start(size) + size * size


@kernel()
def _list_empty(state, cell, size):
    place = state[EMPTY_COUNT]
    put(state, empties_start(size) + place, cell)
    put(state, cell + NEXT, place)
    state[EMPTY_COUNT] = place + 1


@kernel()
def count_liberty(state, cell, change, size):
    """Add `change` (+1 or -1) to the liberties of what is beside a cell: to a chain's once for each stone there."""
    down = row_step(size)
    for offset in (-down, -RECORD, RECORD, down):
        count = at(state, cell + offset + HEAD) + LIBERTIES
        put(state, count, at(state, count) + change)


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
    for action in range(size * size):
        count_liberty(state, cell_of(action, size), 1, size)


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
def plies_stood(state, cell, ply):
    """How many plies before `ply` a point last changed, if it has not changed since."""
    return (ply - (at(state, cell + COLOUR) >> SINCE)) & PLIES


@kernel()
def past_colours(state, cell, ply):
    """The colours of a point at `ply` and 1 … 4 plies before, two bits each, the newest lowest."""
    field = np.int64(at(state, cell + COLOUR))
    colour = field & 3
    colours = ((field >> PAST) & 0xFF) << 2 | colour
    stood = 2 * min(plies_stood(state, cell, ply), PAST_BOARDS - 1)
    return (colours << stood | (colour * BLACK_ALWAYS) & ((1 << stood) - 1)) & 0x3FF


@kernel()
def _turn(state, cell, colour, touched):
    """Give a point another colour in the position that this ply makes; `touched` is TOUCHED or 0."""
    ply = state[PLY] + 1
    past = past_colours(state, cell, ply) >> 2
    put(state, cell + COLOUR, colour | past << PAST | touched | (ply & PLIES) << SINCE)


@kernel()
def is_touched(state, cell):
    """Not 0 where a stone was ever removed from a point."""
    return at(state, cell + COLOUR) & TOUCHED


@kernel()
def forget_past(state, size):
    """Let all past boards of a position before its first ply be this one."""
    for action in range(size * size):
        cell = cell_of(action, size)
        colour = colour_at(state, cell)
        put(state, cell + COLOUR, colour | (colour * BLACK_ALWAYS >> 2) << PAST)


@kernel()
def colours_beside(state, cell, size):
    """The colours of a cell's neighbours, as a set."""
    down = row_step(size)
    found = 0
    for offset in (-down, -RECORD, RECORD, down):
        found |= colour_at(state, cell + offset)
    return found


@kernel()
def fates_beside(state, cell, size):
    """(alive, dead), as sets: colours of the chains beside a cell that keep a liberty after a stone there, or not."""
    down = row_step(size)
    alive, dead = 0, 0
    for offset in (-down, -RECORD, RECORD, down):
        head = at(state, cell + offset + HEAD)
        taken = 0
        for other in (-down, -RECORD, RECORD, down):
            taken += at(state, cell + other + HEAD) == head
        breathes = at(state, head + LIBERTIES) > taken
        alive |= colour_at(state, cell + offset) if breathes else 0
        dead |= 0 if breathes else colour_at(state, cell + offset)
    return alive, dead


@kernel()
def put_stone(state, cell, colour, size):
    """Put a stone on an empty cell and join it to its neighbours of the same colour. Returns its Zobrist word. Chains
    left without liberties stay.
    """
    down = row_step(size)
    _unlist_empty(state, cell, size)
    _turn(state, cell, colour, is_touched(state, cell))
    head = np.int64(cell)
    for offset in (-down, -RECORD, RECORD, down):
        beside = np.int64(at(state, cell + offset + HEAD))
        put(state, beside + LIBERTIES, at(state, beside + LIBERTIES) - 1)
        own = colour_at(state, cell + offset) == colour
        head = beside if own else head
    _link(state, cell, head)
    for offset in (-down, -RECORD, RECORD, down):
        own = colour_at(state, cell + offset) == colour
        if own & (at(state, cell + offset + HEAD) != at(state, cell + HEAD)):
            _join(state, at(state, cell + HEAD), at(state, cell + offset + HEAD))
    return zobrist(colour, cell)


@kernel()
def _link(state, cell, head):
    """Add a stone to the chain of `head`, or make it one where that is its cell; a branch would be taken at random."""
    liberties = at(state, cell + LIBERTIES)
    put(state, cell + LIBERTIES, 0)
    put(state, head + LIBERTIES, at(state, head + LIBERTIES) + liberties)
    put(state, cell + HEAD, head)
    put(state, cell + NEXT, cell)
    following = at(state, head + NEXT)
    put(state, head + NEXT, cell)
    put(state, cell + NEXT, following)


@kernel()
def _join(state, first, second):
    """Make one chain of two, given their heads. That with fewer pseudo-liberties, mostly the smaller, is relabelled."""
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
    first = state[EMPTY_COUNT]
    taken = np.uint64(0)
    stone = np.int64(cell)
    while True:
        following = np.int64(at(state, stone + NEXT))
        taken ^= zobrist(colour, stone)
        _turn(state, stone, EMPTY, TOUCHED)
        put(state, stone + HEAD, stone)
        put(state, stone + LIBERTIES, 0)
        _list_empty(state, stone, size)
        stone = following
        if stone == cell:
            break
    end = state[EMPTY_COUNT]
    for place in range(first, end):
        count_liberty(state, np.int64(at(state, empties_start(size) + place)), 1, size)
    return taken, end - first


@kernel()
def chain_hash(state, cell):
    """XOR of the Zobrist words of the chain at `cell`."""
    colour = colour_at(state, cell)
    total = np.uint64(0)
    stone = cell
    while True:
        total ^= zobrist(colour, stone)
        stone = at(state, stone + NEXT)
        if stone == cell:
            return total


@kernel()
def fills_own_eye(state, cell, colour, size):
    """Whether an empty cell is a one-point eye of `colour`: own neighbours or edge, too few hostile diagonals."""
    rival = BLACK + WHITE - colour
    if at(state, cell + LIBERTIES) or colours_beside(state, cell, size) & rival:
        return False
    down = row_step(size)
    hostile, found = 0, 0
    for offset in (-down - RECORD, -down + RECORD, down - RECORD, down + RECORD):
        diagonal = colour_at(state, cell + offset)
        hostile += diagonal == rival
        found |= diagonal
    return hostile + (found & EDGE != 0) < 2


@kernel(allocates=True)
def padded_board(state, size):
    """int8 [(size + 2) * (size + 1) + 1]: colours by cell number."""
    board = np.empty(cell_count(size), np.int8)
    for index in range(board.shape[0]):
        board[index] = colour_at(state, HEADER + index * RECORD)
    return board


@kernel(STONES.signature)
def stones(state, out):
    """Write the colours of the points into out uint8 [points]."""
    size = np.int64(state[SIZE])
    for action in range(size * size):
        out[action] = colour_at(state, cell_of(action, size))


def set_up(
    initial: np.ndarray, place: Callable[[np.ndarray, np.ndarray], bool], colours: np.ndarray, to_play: int
) -> np.ndarray:
    """The position with stones uint8 [points] on the empty board `initial`. ValueError if a chain has no liberty, which
    the game's kernel `place(state, colours)` returns.
    """
    state = initial.copy()
    state[TO_PLAY] = to_play
    if not place(state, np.require(colours, np.uint8, ["C", "W"])):
        raise SetUpError("a chain of the set-up position has no liberty")
    return state
