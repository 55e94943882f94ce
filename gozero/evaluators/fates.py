"""Kernels for the life and death of strings in random playouts of Go (`gozero.scoring.life_and_death`)."""

from __future__ import annotations

import numpy as np
from numba import types

from gozero.evaluators.rollout import playout
from gozero.games.game import BLACK, NOT_OVER, TO_PLAY
from gozero.games.go import chains, go
from gozero.games.go.area import area_owners
from gozero.system.jit import HISTORY, OUTCOME, STATE, copy_row, kernel

# What stands behind the state row of a reading: the string's first point and its colour, then a mark for each point.
POINT, COLOUR, MARKS = 0, 1, 2
BESIDE = 1  # the mark of the stones of every string around it

_LABELS = types.Array(types.int64, 1, "C")
_TOTALS = types.Array(types.int64, 2, "C")


@kernel()
def _relieve(labels, point, size, relieved):  # type: ignore[no-untyped-def]
    """Note that a string around those beside this point was captured."""
    row, col = point // size, point % size
    if row > 0 and labels[point - size] not in (-1, labels[point]):
        relieved[labels[point - size]] = True
    if row < size - 1 and labels[point + size] not in (-1, labels[point]):
        relieved[labels[point + size]] = True
    if col > 0 and labels[point - 1] not in (-1, labels[point]):
        relieved[labels[point - 1]] = True
    if col < size - 1 and labels[point + 1] not in (-1, labels[point]):
        relieved[labels[point + 1]] = True


@kernel(types.void(STATE, STATE, HISTORY, HISTORY, types.int64, types.int64, _LABELS, _TOTALS), allocates=True)
def play_out(initial, state, history, generator, playouts, plies, labels, totals):  # type: ignore[no-untyped-def]
    """Add to totals int64 [2, P] the points' owners at the end, + for Black, and the fates by labels int64 [P]."""
    size = np.int64(initial[chains.SIZE])
    owner = np.empty(labels.shape[0], np.int8)
    strings = labels.max() + 1
    captured, alive, relieved = np.empty(strings, np.bool_), np.empty(strings, np.bool_), np.empty(strings, np.bool_)
    for _ in range(playouts):
        copy_row(state, initial)
        playout(go.step, go.outcome, go.sample, state, history, generator, plies)
        go.owner(state, owner)
        black = 1 if state[TO_PLAY] == BLACK else -1
        relieved[:] = False
        for point in range(labels.shape[0]):
            totals[0, point] += black * owner[point]
            if labels[point] >= 0:
                sign = black if chains.colour_at(initial, chains.cell_of(point, size)) == BLACK else -black
                alive[labels[point]] = owner[point] == sign
                captured[labels[point]] = chains.is_touched(state, chains.cell_of(point, size)) != 0
        for point in range(labels.shape[0]):
            if labels[point] >= 0 and captured[labels[point]]:
                _relieve(labels, point, size, relieved)
        for string in range(strings):
            totals[1, string] += 1 if alive[string] and (relieved[string] or not captured[string]) else -1


@kernel(OUTCOME.signature, allocates=True)
def fate_outcome(state):  # type: ignore[no-untyped-def]
    """+1 or -1 for the side to move after two passes, by the fate of the string at the row's end, else NOT_OVER."""
    if state[go.PASSES] < 2:
        return NOT_OVER
    size = np.int64(state[chains.SIZE])
    end = chains.state_ints(size)
    cell = chains.cell_of(np.int64(state[end + POINT]), size)
    colours = np.empty(chains.cell_count(size), np.int8)
    for index in range(colours.shape[0]):
        colours[index] = chains.colour_at(state, chains.HEADER + index * chains.RECORD)
    lives = area_owners(colours, size)[chains.index_of(cell)] == state[end + COLOUR]
    if lives and chains.is_touched(state, cell):
        relieved = False
        for point in range(size * size):
            if state[end + MARKS + point] == BESIDE:
                relieved |= chains.is_touched(state, chains.cell_of(point, size)) != 0
        lives = relieved
    return np.int64(1) if lives == (state[TO_PLAY] == state[end + COLOUR]) else np.int64(-1)
