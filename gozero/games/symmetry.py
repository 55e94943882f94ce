"""The 8 symmetries of the square, applied to planes, policies and ownership. Pass and resign stay where they are.

Symmetry 0 … 7: bit 2 first mirrors left and right, then bits 0-1 are quarter turns anticlockwise. A board that is not
square, given as (rows, cols), has the even numbers only.
"""

from __future__ import annotations

from functools import cache

import numpy as np

SYMMETRIES = 8

Shape = int | tuple[int, int]  # points a side, or (rows, cols)


def inverse(symmetry: int) -> int:
    """The symmetry that undoes this one: a mirrored one undoes itself."""
    return symmetry if symmetry >= 4 else -symmetry % 4


def apply_planes(planes: np.ndarray, symmetry: int) -> np.ndarray:
    """Transform an array [..., rows, cols]; the result is a view."""
    mirrored = planes[..., ::-1] if symmetry >= 4 else planes
    return np.rot90(mirrored, symmetry % 4, axes=(-2, -1))


@cache
def point_map(shape: Shape, symmetry: int) -> np.ndarray:
    """int64 [points]: the new point k holds what was at point_map[k]. Read-only."""
    rows, cols = (shape, shape) if isinstance(shape, int) else shape
    points = np.ascontiguousarray(apply_planes(np.arange(rows * cols).reshape(rows, cols), symmetry)).reshape(-1)
    points.setflags(write=False)
    return points


@cache
def action_map(shape: Shape, symmetry: int) -> np.ndarray:
    """int64 [A]: the new action k is what action_map[k] was; pass and resign are fixed. Read-only."""
    points = point_map(shape, symmetry)
    actions = np.concatenate([points, [len(points), len(points) + 1]])
    actions.setflags(write=False)
    return actions


def apply_points(values: np.ndarray, shape: Shape, symmetry: int) -> np.ndarray:
    """Transform values per point [..., P], such as ownership."""
    return values[..., point_map(shape, symmetry)]


def apply_policy(policy: np.ndarray, shape: Shape, symmetry: int) -> np.ndarray:
    """Transform values per action [..., A]."""
    return policy[..., action_map(shape, symmetry)]


def apply_action(action: int, shape: Shape, symmetry: int) -> int:
    """Where an action goes."""
    return int(action_map(shape, inverse(symmetry))[action])
