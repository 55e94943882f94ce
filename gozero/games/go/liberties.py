"""The liberties of chains, counted: `gozero.games.go.chains` knows only whether there are any."""

from __future__ import annotations

import numpy as np

from gozero.games.go.chains import (
    BLACK,
    EMPTY,
    HEAD,
    NEXT,
    RECORD,
    SIZE,
    WHITE,
    action_of,
    at,
    cell_of,
    colour_at,
    row_step,
)
from gozero.system.jit import STONES, kernel

MANY_LIBERTIES = 4  # from here on they are not counted further


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
