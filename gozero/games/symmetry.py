"""The 8 symmetries of the square, applied to planes, policies and ownership. Pass and resign stay where they are.

Symmetry 0 … 7: bit 2 first mirrors left and right, then bits 0-1 are quarter turns anticlockwise. A board that is not
square, given as (rows, cols), has the even numbers only. 8 … 15 are the same for games in which the colours must be
exchanged too: here they move the points alone.
"""

from __future__ import annotations

from functools import cache

import numpy as np

from gozero.games.coords import PLACING, Directions

SYMMETRIES = 8
COLOURS_EXCHANGED = 8  # the bit of a symmetry that exchanges them

Shape = int | tuple[int, int]  # points a side, or (rows, cols)


def inverse(symmetry: int) -> int:
    """The symmetry that undoes this one: a mirrored one undoes itself."""
    return symmetry if symmetry & 4 else symmetry & COLOURS_EXCHANGED | -symmetry % 4


def apply_planes(planes: np.ndarray, symmetry: int) -> np.ndarray:
    """Transform an array [..., rows, cols]; the result is a view."""
    mirrored = planes[..., ::-1] if symmetry & 4 else planes
    return np.rot90(mirrored, symmetry % 4, axes=(-2, -1))


@cache
def point_map(shape: Shape, symmetry: int) -> np.ndarray:
    """int64 [points]: the new point k holds what was at point_map[k]. Read-only."""
    rows, cols = (shape, shape) if isinstance(shape, int) else shape
    points = np.ascontiguousarray(apply_planes(np.arange(rows * cols).reshape(rows, cols), symmetry)).reshape(-1)
    points.setflags(write=False)
    return points


def _turned(direction: tuple[int, int], symmetry: int) -> tuple[int, int]:
    """A direction (rows down, columns right) after the symmetry."""
    down, right = direction[0], -direction[1] if symmetry & 4 else direction[1]
    for _ in range(symmetry % 4):
        down, right = -right, down
    return down, right


@cache
def action_map(shape: Shape, symmetry: int, directions: Directions = PLACING) -> np.ndarray:
    """int64 [A]: the new action k is what action_map[k] was; pass and resign are fixed. Read-only."""
    points, before = point_map(shape, symmetry), [_turned(each, inverse(symmetry)) for each in directions]
    moves = [directions.index(each) * len(points) + points for each in before]
    end = len(directions) * len(points)
    actions = np.concatenate([*moves, [end, end + 1]])
    actions.setflags(write=False)
    return actions


def apply_points(values: np.ndarray, shape: Shape, symmetry: int) -> np.ndarray:
    """Transform values per point [..., P], such as ownership."""
    return values[..., point_map(shape, symmetry)]


def apply_policy(
    policy: np.ndarray, shape: Shape, symmetry: int, directions: Directions = PLACING
) -> np.ndarray:
    """Transform values per action [..., A]."""
    return policy[..., action_map(shape, symmetry, directions)]


def apply_action(action: int, shape: Shape, symmetry: int, directions: Directions = PLACING) -> int:
    """Where an action goes."""
    return int(action_map(shape, inverse(symmetry), directions)[action])
