"""Who owns what on a Go board: area as it stands, and what is safe whichever side moves (Benson).

A padded board is int8 [(size + 2) * (size + 1) + 1]: a colour for every cell number of `gozero.games.go.chains`, EDGE
around. A region of a colour is a maximal connected set of points without its stones. Owners are BLACK, WHITE or EMPTY.

Pass-alive (Benson, "Life in the game of Go", Information Sciences 10, 1976): chains are alive for ever if each has two
vital regions; a region is vital to a chain if all its empty points are liberties of that chain. A region bordered by
such chains alone, all of whose empty points touch them, is their territory.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from numba import types

from gozero.games.go.chains import BLACK, EDGE, EMPTY, WHITE
from gozero.system.jit import OWNERS, kernel

_OF_BOARD = OWNERS(OWNERS, types.int64)  # owners by a padded board and its size


@kernel()
def _reach(colours, start, inside, labels, label, members, width):
    """Flood from `start` over points whose colour's bit is in `inside`. Returns (members, the border's colour bits)."""
    members[0] = start
    labels[start] = label
    length, k, border = 1, 0, 0
    while k < length:
        for offset in (-width, -1, 1, width):
            beside = members[k] + offset
            if (inside >> colours[beside]) & 1:
                if labels[beside] != label:
                    labels[beside] = label
                    members[length] = beside
                    length += 1
            else:
                border |= 1 << colours[beside]
        k += 1
    return length, border


@kernel(_OF_BOARD, allocates=True)
def area_owners(colours, size):
    """Owners int8 [cells] of a padded board: stones, and empty regions that reach stones of one colour only."""
    owners = np.zeros(colours.shape[0], np.int8)
    labels = np.zeros(colours.shape[0], np.int32)
    members = np.empty(size * size, np.int64)
    for cell in range(colours.shape[0]):
        if colours[cell] == BLACK or colours[cell] == WHITE:
            owners[cell] = colours[cell]
        elif colours[cell] == EMPTY and labels[cell] == 0:
            length, border = _reach(colours, cell, 1 << EMPTY, labels, cell, members, size + 1)
            reached = (border >> 1) & 3
            if reached in (BLACK, WHITE):
                for k in range(length):
                    owners[members[k]] = reached
    return owners


@kernel(types.Array(types.int32, 1, "C")(OWNERS, types.int64), allocates=True)
def regions_of_one_colour(colours, size):
    """Label the chains and the empty regions of a padded board by their first cell: int32 [cells], 0 at the edge."""
    labels = np.zeros(colours.shape[0], np.int32)
    members = np.empty(size * size, np.int64)
    for cell in range(colours.shape[0]):
        if colours[cell] != EDGE and labels[cell] == 0:
            _reach(colours, cell, 1 << colours[cell], labels, cell, members, size + 1)
    return labels


@kernel()
def _enclosed(colours, start, colour, region, members, width):
    """Label the region of a colour from one of its empty points, until one is met that no stone of the colour touches:
    such a region is neither vital to a chain nor territory. Returns its members; 0 for it, whose label is not whole.
    """
    members[0] = start
    region[start] = start
    length, k = 1, 0
    while k < length:
        touched = colours[members[k]] != EMPTY
        for offset in (-width, -1, 1, width):
            beside = members[k] + offset
            if colours[beside] == colour:
                touched = True
            elif colours[beside] != EDGE and region[beside] == 0:
                region[beside] = start
                members[length] = beside
                length += 1
            elif region[beside] not in (0, start):
                return 0  # what was left before its end
        if not touched:
            return 0
        k += 1
    return length


@kernel()
def _vital_chains(colours, colour, chain, members, length, width, stones, vital):
    """Write the chains to which a region is vital into vital int32 [4], 0 for none: those beside its every empty point.
    Chains are labelled when they are met.
    """
    for side, offset in enumerate((-width, -1, 1, width)):  # the first member is empty
        beside = members[0] + offset
        vital[side] = 0
        if colours[beside] == colour:
            if chain[beside] == 0:
                _reach(colours, beside, 1 << colour, chain, beside, stones, width)
            vital[side] = chain[beside]
            for other in range(side):
                if vital[other] == vital[side]:
                    vital[other] = 0
    for k in range(1, length):
        if colours[members[k]] == EMPTY:
            for side in range(4):
                near = False
                for offset in (-width, -1, 1, width):
                    near |= colours[members[k] + offset] == colour and chain[members[k] + offset] == vital[side]
                if not near:
                    vital[side] = 0


@kernel(allocates=True)
def _regions(colours, colour, chain, region, size):
    """Label the regions of a colour by a point each, and the chains to which they are vital. Returns int32 [n, 5] of
    those that are enclosed: the chains to which each is vital, and its label.
    """
    members, stones = np.empty(size * size, np.int64), np.empty(size * size, np.int64)
    enclosed, count = np.empty((size * size, 5), np.int32), 0
    for cell in range(colours.shape[0]):
        if colours[cell] == EMPTY and region[cell] == 0:
            length = _enclosed(colours, cell, colour, region, members, size + 1)
            if length > 0:
                _vital_chains(colours, colour, chain, members, length, size + 1, stones, enclosed[count])
                enclosed[count, 4] = cell
                count += 1
    return enclosed[:count]


@kernel(allocates=True)
def _alive_chains(colours, colour, chain, region, enclosed, width):
    """Benson's iteration. Returns (alive uint8 [cells] by chain label, healthy uint8 [cells] by region label)."""
    cells, count = colours.shape[0], enclosed.shape[0]
    alive, healthy, eyes = np.zeros(cells, np.uint8), np.zeros(cells, np.uint8), np.zeros(cells, np.int32)
    for k in range(count):
        healthy[enclosed[k, 4]] = 1
    changed = True
    while changed:
        for k in range(count):
            for side in range(4):
                eyes[enclosed[k, side]] = 0
        for k in range(count):
            for side in range(4):
                eyes[enclosed[k, side]] += healthy[enclosed[k, 4]]
        living = False
        for k in range(count):
            for side in range(4):
                label = enclosed[k, side]
                alive[label] = label > 0 and eyes[label] >= 2
                living |= alive[label] > 0
        if not living:
            healthy[:] = 0
            break
        changed = False
        for cell in range(cells):
            if colours[cell] == colour and not alive[chain[cell]]:
                for offset in (-width, -1, 1, width):
                    changed |= healthy[region[cell + offset]] > 0
                    healthy[region[cell + offset]] = 0
    return alive, healthy


@kernel(_OF_BOARD, allocates=True)
def pass_alive_owners(colours, size):
    """Owners int8 [cells] of a padded board: pass-alive chains and the territory they surround; EMPTY elsewhere."""
    cells = colours.shape[0]
    owners = np.zeros(cells, np.int8)
    for colour in (BLACK, WHITE):
        chain, region = np.zeros(cells, np.int32), np.zeros(cells, np.int32)
        enclosed = _regions(colours, colour, chain, region, size)
        if enclosed.shape[0] < 2:
            continue  # a chain needs two
        alive, healthy = _alive_chains(colours, colour, chain, region, enclosed, size + 1)
        for cell in range(cells):
            if alive[chain[cell]] or healthy[region[cell]]:
                owners[cell] = colour
    return owners


@kernel(allocates=True)
def settled_owners(colours, size):
    """Owners int8 [cells] after taking off the stones inside the other side's pass-alive territory."""
    safe = pass_alive_owners(colours, size)
    cleared = colours.copy()
    for cell in range(colours.shape[0]):
        if colours[cell] != EDGE and safe[cell] != EMPTY and colours[cell] != safe[cell]:
            cleared[cell] = EMPTY
    owners = area_owners(cleared, size)
    for cell in range(colours.shape[0]):
        if safe[cell] != EMPTY:
            owners[cell] = safe[cell]
    return owners


@kernel()
def has_open_region(colours, owners, size):
    """Whether three connected empty points of a padded board belong to neither colour, by owners int8 [cells]."""
    for cell in range(colours.shape[0]):
        if colours[cell] == EMPTY and owners[cell] == EMPTY:
            beside = 0
            for offset in (-size - 1, -1, 1, size + 1):
                beside += colours[cell + offset] == EMPTY and owners[cell + offset] == EMPTY
            if beside >= 2:
                return True
    return False


def owners_of(kernel: Callable[[np.ndarray, int], np.ndarray], board: np.ndarray) -> np.ndarray:
    """Apply a kernel of this module to a board uint8 [size, size]: owners uint8 [P] in action order."""
    return applied(kernel, board).astype(np.uint8)


def applied(kernel: Callable[[np.ndarray, int], np.ndarray], board: np.ndarray) -> np.ndarray:
    """What a kernel says of the points of a board uint8 [size, size], [P] in action order."""
    size = len(board)
    padded = np.full((size + 2) * (size + 1) + 1, EDGE, np.int8)
    inside = slice(size + 2, size + 2 + size * (size + 1))
    padded[inside].reshape(size, size + 1)[:, :size] = board
    return kernel(padded, size)[inside].reshape(size, size + 1)[:, :size].reshape(-1)
