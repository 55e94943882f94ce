"""Positions of Go as a few numbers each: what a GPU is sent instead of planes, and what an evaluation is cached by.

A packed position is int32 [10 words + 3], 292 bytes at 13x13, here by the names of `gozero.nets.features`.
`gozero.evaluators.cuda_evaluator` makes the same planes and numbers of it on the GPU, bit for bit:

  10 boards  planes 0 … 9 in turn, each a bit set over the cells of the padded board: point (row, col) is bit (row +
             1)(N + 1) + col + 1
  3 boards   the tactics, likewise; 8 in version 3, none in version 1
  komi       White's komi, thousandths of a point
  bonus      White's handicap bonus, points
  flags      bits 0 … 4: globals 2 … 6; bit 5: Black is to move
"""

from __future__ import annotations

import numpy as np
from numba import types

from gozero.games import GO_FAMILY
from gozero.games.game import BLACK, EMPTY, PLY, TO_PLAY, WHITE, Game
from gozero.games.go import chains
from gozero.games.go.chains import PAST_BOARDS
from gozero.games.go.header import BONUS, KOMI, PASS_BITS
from gozero.nets.features import mark_chains
from gozero.system.jit import kernel

PACKED_KOMI, PACKED_BONUS, PACKED_FLAGS = -3, -2, -1  # the last numbers of a packed position
BLACK_FLAG = 1 << PAST_BOARDS

_ROWS = types.Array(types.int32, 2, "C")


@kernel()
def words(size):
    """int32 words of a bit set over the cells of the padded board: 7 at 13x13."""
    return (chains.cell_count(size) + 31) >> 5


def packed_ints(size: int, tactics: int = 0) -> int:
    """Length of a packed position on a board of `size` with this many planes of tactics."""
    return (2 * PAST_BOARDS + tactics) * words(size) + 3


@kernel()
def _pack_present(state, row, size):
    """Write the stones as they stand into all ten boards of a packed row."""
    length, cells = words(size), chains.cell_count(size)
    for word in range(length):
        own, other = np.int64(0), np.int64(0)
        for bit in range(min(32, cells - 32 * word)):
            colour = chains.colour_at(state, chains.HEADER + (32 * word + bit) * chains.RECORD)
            own |= np.int64(colour == state[TO_PLAY]) << bit
            other |= np.int64(colour == BLACK + WHITE - state[TO_PLAY]) << bit
        for age in range(PAST_BOARDS):
            row[age * length + word] = np.int32(own)
            row[(PAST_BOARDS + age) * length + word] = np.int32(other)


@kernel()
def _flip(state, row, cell, colour, age, size):
    """Add a stone to the board of its colour and age in a packed row, or take it off."""
    bit = chains.index_of(cell)
    board = np.int64(colour != state[TO_PLAY]) * PAST_BOARDS + age
    row[board * words(size) + (bit >> 5)] ^= np.int32((colour != EMPTY) << (bit & 31))


@kernel()
def _pack_stones(state, row, size):
    """Write the ten boards of stones into a packed row: the present ones, and what changed in the last plies."""
    _pack_present(state, row, size)
    for point in range(size * size):
        cell = chains.cell_of(point, size)
        if chains.plies_stood(state, cell, state[PLY]) < PAST_BOARDS - 1:
            colours = chains.past_colours(state, cell, state[PLY])
            for age in range(1, PAST_BOARDS):
                _flip(state, row, cell, colours & 3, age, size)
                _flip(state, row, cell, (colours >> 2 * age) & 3, age, size)


@kernel()
def _pack_tactics(row, start, count, marked, size):
    """Write `count` boards of tactics, as `mark_chains` has them in marked uint8 [points], into a packed row from `start`
    on.
    """
    length = words(size)
    for k in range(count * length):
        row[start + k] = 0
    for point in range(size * size):
        bit = chains.index_of(chains.cell_of(point, size))
        for k in range(count if marked[point] else 0):
            row[start + k * length + (bit >> 5)] |= np.int32((marked[point] >> k & 1) << (bit & 31))


@kernel(types.void(_ROWS, _ROWS, types.int64, types.int64), allocates=True)
def pack_into(states: np.ndarray, packed: np.ndarray, size: int, tactics: int) -> None:
    """Pack states int32 [n, S] of one size into packed int32 [≥ n, packed_ints(size, tactics)]; the first n rows are
    written whole.
    """
    length = words(size)
    seen, marked = np.empty(size * size, np.uint8), np.empty(size * size, np.uint8)
    owners = np.empty(size * size, np.int8)
    for n in range(states.shape[0]):
        state, row = states[n], packed[n]
        _pack_stones(state, row, size)
        if tactics > 0:
            mark_chains(state, tactics, seen, owners, marked)
            _pack_tactics(row, 2 * PAST_BOARDS * length, tactics, marked, size)
        end = row.shape[0]
        row[end + PACKED_KOMI] = state[KOMI]
        row[end + PACKED_BONUS] = state[BONUS]
        row[end + PACKED_FLAGS] = state[PASS_BITS] | (BLACK_FLAG if state[TO_PLAY] == BLACK else 0)


def keys(game: Game, states: np.ndarray) -> list[bytes]:
    """For each of the game's states int32 [n, S] a key: two states of one board size with one key give the same inputs,
    in every version of the layout. (The converse need not hold in games other than Go.)
    """
    rows = np.require(states, requirements=["C", "W"])  # kernels take no read-only array
    if game.name in GO_FAMILY:
        packed = np.empty((len(states), packed_ints(game.size)), np.int32)
        pack_into(rows, packed, game.size, 0)
        rows = packed
    return [row.tobytes() for row in rows]
