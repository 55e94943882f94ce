"""Connected sets of points on a square board, as masks bool [size, size]."""

from __future__ import annotations

from collections.abc import Iterable

import numpy as np

from gozero.games.game import BLACK, EMPTY, WHITE

Chain = list[int]  # the actions of a string's stones, ascending


def mask_of(actions: Iterable[int], size: int) -> np.ndarray:
    """A mask of these points."""
    mask = np.zeros(size * size, np.bool_)
    mask[list(actions)] = True
    return mask.reshape(size, size)


def touches(mask: np.ndarray) -> np.ndarray:
    """The points with a neighbour in ``mask``."""
    touched = np.zeros_like(mask)
    touched[1:] |= mask[:-1]
    touched[:-1] |= mask[1:]
    touched[:, 1:] |= mask[:, :-1]
    touched[:, :-1] |= mask[:, 1:]
    return touched


def connected(start: np.ndarray, within: np.ndarray) -> np.ndarray:
    """All points of ``within`` that are connected with ``start`` through ``within``."""
    reached = start & within
    while True:
        grown = (reached | touches(reached)) & within
        if (grown == reached).all():
            return reached
        reached = grown


def components(mask: np.ndarray) -> list[np.ndarray]:
    """The connected parts of a mask, in the order of their first points."""
    left, parts = mask.copy(), []
    while left.any():
        parts.append(connected(mask_of([int(left.argmax())], len(mask)), mask))
        left &= ~parts[-1]
    return parts


def points(mask: np.ndarray) -> Chain:
    """The actions of a mask of any shape."""
    return [int(point) for point in np.flatnonzero(mask)]


def chains_of(board: np.ndarray) -> list[Chain]:
    """Every chain of a board uint8 [size, size], in the order of their first points."""
    colours = [colour for colour in np.unique(board) if colour != EMPTY]
    return sorted(points(part) for colour in colours for part in components(board == colour))


def liberties_of(board: np.ndarray) -> np.ndarray:
    """Liberties of the chain on each point of a board uint8 [size, size], int64 [size, size]; 0 on empty points."""
    counts = np.zeros(board.shape, np.int64)
    for colour in (BLACK, WHITE):
        for chain in components(board == colour):
            counts[chain] = np.count_nonzero(touches(chain) & (board == EMPTY))
    return counts
