"""Othello on 4x4, 6x6 and 8x8: moves that enclose, flips, forced passes.

A bitboard is a uint64 with bit 8 * row + col for each disc, row 0 at the top, whatever the size. The state row:

  TO_PLAY  BLACK or WHITE
  PLY      plies up to now, passes included
  SIZE     points a side
  DISCS    bitboards in halves of 32 bits, low before high: Black's two, then White's

All eight directions are shifts by 1, 7, 8 or 9 points. A shift sideways runs over the edge into the next row, so the
discs between two ends are looked for in the inner columns alone, and the ends are limited to the board. The game is
over when neither side has a move: passes are not counted, and the history is unused.
"""

from __future__ import annotations

from functools import partial

import numpy as np
from numba import types

from gozero.games.game import BLACK, NOT_OVER, PLY, TO_PLAY, WHITE, Game
from gozero.system.errors import ChoiceError
from gozero.system.jit import LEGAL, OUTCOME, OWNER, SAMPLE, SCORE, STEP, STONES, kernel
from gozero.system.rng import below

SIZE, DISCS = 2, 3
SIZES = (4, 6, 8)
RULES = "standard"  # in records and journals
# the half turn and the two diagonals leave the first position as it is; the others exchange its colours
SYMMETRIES = (0, 2, 5, 7)

NONE, ONE, HALF, LOW = np.uint64(0), np.uint64(1), np.uint64(32), np.uint64(0xFFFFFFFF)
RIGHT, DOWN_LEFT, DOWN, DOWN_RIGHT = np.uint64(1), np.uint64(7), np.uint64(8), np.uint64(9)
INNER_COLUMNS = np.uint64(0x7E7E7E7E7E7E7E7E)
# `solved` plays on to the end where so many points or fewer are empty, else so many plies
SOLVED_EMPTY, SOLVED_PLIES = 9, 2
# all points, by size
BOARDS = np.array([sum((2**size - 1) << 8 * row for row in range(size)) for size in range(9)], np.uint64)


@kernel()
def _read(state, colour):
    """The bitboard of a colour."""
    half = DISCS + 2 * (colour - BLACK)
    return np.uint64(np.uint32(state[half])) | (np.uint64(np.uint32(state[half + 1])) << HALF)


@kernel()
def _write(state, colour, discs):
    """Make `discs` the bitboard of a colour."""
    half = DISCS + 2 * (colour - BLACK)
    state[half] = np.int32(np.uint32(discs & LOW))
    state[half + 1] = np.int32(np.uint32(discs >> HALF))


@kernel()
def _sides(state):
    """The bitboards of the side to move and of the other side."""
    return _read(state, state[TO_PLAY]), _read(state, BLACK + WHITE - state[TO_PLAY])


@kernel()
def _bit(action, size):
    """The bitboard of one point."""
    return ONE << np.uint64(8 * (action // size) + action % size)


@kernel()
def _holds(discs, row, col):
    """1 where there is a disc, else 0."""
    return np.int64((discs >> np.uint64(8 * row + col)) & ONE)


@kernel()
def _count(discs):
    """Number of discs."""
    count = 0
    while discs != NONE:
        discs &= discs - ONE
        count += 1
    return count


@kernel()
def _run_ahead(start, discs, shift):
    """Those of `discs`, at most six, in an unbroken line from a point of `start` towards the higher points."""
    run = discs & (start << shift)
    for _ in range(5):
        run |= discs & (run << shift)
    return run


@kernel()
def _run_back(start, discs, shift):
    """As `_run_ahead`, in the direction of the lower points."""
    run = discs & (start >> shift)
    for _ in range(5):
        run |= discs & (run >> shift)
    return run


@kernel()
def _ends(own, others, shift):
    """The points behind the lines of `others` that begin at `own`, both ways."""
    return (_run_ahead(own, others, shift) << shift) | (_run_back(own, others, shift) >> shift)


@kernel()
def _moves(own, other, size):
    """The points on which the side of `own` encloses discs of `other`."""
    inner = other & INNER_COLUMNS
    ends = _ends(own, other, DOWN) | _ends(own, inner, RIGHT)
    ends |= _ends(own, inner, DOWN_LEFT) | _ends(own, inner, DOWN_RIGHT)
    return ends & ~(own | other) & BOARDS[size]


@kernel()
def _enclosed(disc, own, others, shift):
    """The lines of `others` between a new disc and one of `own`, both ways."""
    ahead, back = _run_ahead(disc, others, shift), _run_back(disc, others, shift)
    flips = NONE
    if (ahead << shift) & own:
        flips |= ahead
    if (back >> shift) & own:
        flips |= back
    return flips


@kernel()
def _flips(disc, own, other):
    """The discs of `other` that a new disc of the side of `own` turns over."""
    inner = other & INNER_COLUMNS
    upright = _enclosed(disc, own, other, DOWN) | _enclosed(disc, own, inner, RIGHT)
    return upright | _enclosed(disc, own, inner, DOWN_LEFT) | _enclosed(disc, own, inner, DOWN_RIGHT)


@kernel(STEP.signature)
def step(state, history, action):
    """Play a legal action for the side to move, in place."""
    size, colour = np.int64(state[SIZE]), state[TO_PLAY]
    if action != size * size:
        own, other = _sides(state)
        disc = _bit(action, size)
        flips = _flips(disc, own, other)
        _write(state, colour, own | disc | flips)
        _write(state, BLACK + WHITE - colour, other & ~flips)
    state[TO_PLAY] = BLACK + WHITE - colour
    state[PLY] += 1


@kernel(LEGAL.signature)
def legal(state, history, out):
    """Write 0 / 1 for each action into out uint8 [A] and return how many are legal. Passing is where no point is."""
    size = np.int64(state[SIZE])
    own, other = _sides(state)
    moves = _moves(own, other, size)
    count = 0
    for row in range(size):
        for col in range(size):
            allowed = _holds(moves, row, col)
            out[row * size + col] = allowed
            count += allowed
    out[size * size] = count == 0
    out[size * size + 1] = 0
    return max(count, 1)


@kernel(SAMPLE.signature)
def sample(state, history, generator):
    """A uniformly random legal action."""
    size = np.int64(state[SIZE])
    own, other = _sides(state)
    moves = _moves(own, other, size)
    if moves == NONE:
        return size * size
    for _ in range(below(generator, _count(moves))):
        moves &= moves - ONE
    bit = _count(~moves & (moves - ONE))
    return bit // 8 * size + bit % 8


@kernel(STONES.signature)
def stones(state, out):
    """Write the colours of the points into out uint8 [points]."""
    size = np.int64(state[SIZE])
    black, white = _read(state, BLACK), _read(state, WHITE)
    for row in range(size):
        for col in range(size):
            out[row * size + col] = BLACK * _holds(black, row, col) + WHITE * _holds(white, row, col)


@kernel(OWNER.signature)
def owner(state, out):
    """The discs into out int8 [points]: +1 the side to move, -1 the other, 0 where there is none."""
    size = np.int64(state[SIZE])
    own, other = _sides(state)
    for row in range(size):
        for col in range(size):
            out[row * size + col] = _holds(own, row, col) - _holds(other, row, col)


@kernel(SCORE.signature)
def score(state):
    """Discs of the side to move above the other's; empty points do not count, at the end either."""
    own, other = _sides(state)
    return np.float64(_count(own) - _count(other))


@kernel(OUTCOME.signature)
def outcome(state):
    """+1, 0 or -1 for the side to move once neither side has a move, else NOT_OVER."""
    size = np.int64(state[SIZE])
    own, other = _sides(state)
    if _moves(own, other, size) | _moves(other, own, size):
        return NOT_OVER
    return np.int64(np.sign(_count(own) - _count(other)))


@kernel(types.int64(types.uint64, types.uint64, types.int64, types.int64))
def _solve(own, other, size, plies):
    """The outcome for the side to move, that of `own`, as far as so many plies show it, else NOT_OVER; passes are free."""
    moves, best = _moves(own, other, size), -1
    if moves == NONE:
        if _moves(other, own, size) == NONE:
            return np.int64(np.sign(_count(own) - _count(other)))
        result = _solve(other, own, size, plies)
        return result if result == NOT_OVER else -result
    if plies == 0:
        return NOT_OVER
    while moves != NONE:
        disc = moves & ~(moves - ONE)
        flips = _flips(disc, own, other)
        result = _solve(other & ~flips, own | disc | flips, size, plies - 1)
        if result == -1:
            return 1
        best = max(best, NOT_OVER if result == NOT_OVER else -result)  # a move that is open may win
        moves &= moves - ONE
    return best


@kernel(OUTCOME.signature)
def solved(state):
    """The outcome for the side to move of a position that is not over, near its end or where a side can lose its last
    disc at once, else NOT_OVER.
    """
    size = np.int64(state[SIZE])
    own, other = _sides(state)
    empty = size * size - _count(own | other)
    return _solve(own, other, size, empty if empty <= SOLVED_EMPTY else SOLVED_PLIES)


def set_up(size: int, colours: np.ndarray, to_play: int) -> np.ndarray:
    """int32 [S]: the position with these discs, uint8 [points]. Any discs may stand anywhere."""
    squares = np.zeros((8, 8), np.uint8)
    squares[:size, :size] = colours.reshape(size, size)
    boards = [np.packbits(squares == colour, bitorder="little").view(np.int32) for colour in (BLACK, WHITE)]
    return np.array([to_play, 0, size, *np.concatenate(boards)], np.int32)


def first_discs(size: int) -> np.ndarray:
    """uint8 [points]: two discs of each colour crosswise in the middle, Black's on D5 and E4 of 8x8."""
    colours = np.zeros((size, size), np.uint8)
    middle = slice(size // 2 - 1, size // 2 + 1)
    colours[middle, middle] = [[BLACK, WHITE], [WHITE, BLACK]]
    return colours.reshape(-1)


def make(size: int = 8, rules: str = RULES) -> Game:
    """Othello on a size x size board, size 4, 6 or 8; there is one set of rules."""
    if size not in SIZES:
        raise ChoiceError(f"board size {size} is not supported: expected 4, 6 or 8")
    if rules != RULES:
        raise ChoiceError(f"unknown rules {rules!r}: expected {RULES}")
    most = 2 * (size * size - 4)  # a pass is followed by a disc
    return Game(
        name="othello", rows=size, cols=size, has_pass=True, symmetries=SYMMETRIES, max_plies=most,
        initial=set_up(size, first_discs(size), BLACK), step=step, legal=legal, outcome=outcome, sample=sample,
        stones=stones, set_up=partial(set_up, size), solved=solved, owner=owner, score=score,
    )  # fmt: skip
