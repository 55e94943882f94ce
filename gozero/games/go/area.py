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

_NEVER_VITAL = -1
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
def _vital_chains(colours, colour, chain, members, length, width, vital):
    """Write the chains to which a region is vital into vital int32 [4]: those beside its every empty point."""
    for side in range(4):
        vital[side] = _NEVER_VITAL
    first = True
    for k in range(length):
        if colours[members[k]] != EMPTY:
            continue
        if first:
            for side, offset in enumerate((-width, -1, 1, width)):
                if colours[members[k] + offset] == colour:
                    vital[side] = chain[members[k] + offset]
            for side in range(1, 4):
                for other in range(side):
                    if vital[side] == vital[other]:
                        vital[side] = _NEVER_VITAL
            first = False
            continue
        left = 0
        for side in range(4):
            if vital[side] == _NEVER_VITAL:
                continue
            beside = False
            for offset in (-width, -1, 1, width):
                beside |= colours[members[k] + offset] == colour and chain[members[k] + offset] == vital[side]
            if not beside:
                vital[side] = _NEVER_VITAL
            left += beside
        if left == 0:
            return


@kernel(allocates=True)
def _regions(colours, colour, size):
    """Label chains and regions of a colour by their lowest cell, 0 elsewhere. Returns (chain int32 [cells], region
    int32 [cells], vital int32 [cells, 4] at the regions' labels, eyes: how many regions are vital to any chain).
    """
    cells, width = colours.shape[0], size + 1
    chain = np.zeros(cells, np.int32)
    region = np.zeros(cells, np.int32)
    vital = np.full((cells, 4), _NEVER_VITAL, np.int32)
    members, eyes = np.empty(size * size, np.int64), 0
    for cell in range(cells):
        if colours[cell] == colour and chain[cell] == 0:
            _reach(colours, cell, 1 << colour, chain, cell, members, width)
    others = (1 << EMPTY) | (1 << (BLACK + WHITE - colour))
    for cell in range(cells):
        if colours[cell] != colour and colours[cell] != EDGE and region[cell] == 0:
            length, _ = _reach(colours, cell, others, region, cell, members, width)
            _vital_chains(colours, colour, chain, members, length, width, vital[cell])
            for side in range(4):
                if vital[cell, side] != _NEVER_VITAL:
                    eyes += 1
                    break
    return chain, region, vital, eyes


@kernel(allocates=True)
def _alive_chains(colours, colour, chain, region, vital, width):
    """Benson's iteration. Returns (alive uint8 [cells] by chain label, healthy uint8 [cells] by region label)."""
    cells = colours.shape[0]
    alive = np.zeros(cells, np.uint8)
    healthy = np.zeros(cells, np.uint8)
    for cell in range(cells):
        alive[cell] = chain[cell] == cell and cell > 0
        healthy[cell] = region[cell] == cell and cell > 0
    changed = True
    while changed:
        changed = False
        eyes = np.zeros(cells, np.int32)
        for cell in range(cells):
            if healthy[cell]:
                for side in range(4):
                    if vital[cell, side] != _NEVER_VITAL:
                        eyes[vital[cell, side]] += 1
        for cell in range(cells):
            if alive[cell] and eyes[cell] < 2:
                alive[cell] = 0
                changed = True
        for cell in range(cells):
            if colours[cell] == colour and not alive[chain[cell]]:
                for offset in (-width, -1, 1, width):
                    healthy[region[cell + offset]] = 0
    return alive, healthy


@kernel(_OF_BOARD, allocates=True)
def pass_alive_owners(colours, size):
    """Owners int8 [cells] of a padded board: pass-alive chains and the territory they surround; EMPTY elsewhere."""
    width = size + 1
    owners = np.zeros(colours.shape[0], np.int8)
    for colour in (BLACK, WHITE):
        chain, region, vital, eyes = _regions(colours, colour, size)
        if eyes < 2:
            continue  # no chain has the two that it needs
        alive, healthy = _alive_chains(colours, colour, chain, region, vital, width)
        for cell in range(colours.shape[0]):
            if colours[cell] == EMPTY and healthy[region[cell]]:
                touches = False
                for offset in (-width, -1, 1, width):
                    touches |= colours[cell + offset] == colour
                if not touches:
                    healthy[region[cell]] = 0
        for cell in range(colours.shape[0]):
            if (chain[cell] and alive[chain[cell]]) or (region[cell] and healthy[region[cell]]):
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
