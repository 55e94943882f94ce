"""The laws of the 8 symmetries: each has its inverse, they act alike on planes, points, policies and actions, and pass
and resign stay. That games know them: tests/contract.
"""

from __future__ import annotations

import numpy as np
import pytest

from gozero.games import symmetry
from gozero.games.coords import pass_action, resign_action

ALL = range(symmetry.SYMMETRIES)
SIZES = [2, 5, 9, 13, 19]


def numbered(size: int) -> np.ndarray:
    """A plane whose every value is different."""
    return np.arange(size * size).reshape(size, size)


@pytest.mark.parametrize("size", SIZES)
def test_there_are_eight_and_they_differ(size: int) -> None:
    assert len({symmetry.apply_planes(numbered(size), k).tobytes() for k in ALL}) == symmetry.SYMMETRIES == 8


@pytest.mark.parametrize("size", SIZES)
def test_number_zero_changes_nothing(size: int) -> None:
    assert (symmetry.apply_planes(numbered(size), 0) == numbered(size)).all()
    assert (symmetry.action_map(size, 0) == np.arange(resign_action(size) + 1)).all()


@pytest.mark.parametrize("size", SIZES)
def test_each_is_undone_by_its_inverse(size: int) -> None:
    policy = np.arange(resign_action(size) + 1)
    for k in ALL:
        back = symmetry.inverse(k)
        assert (symmetry.apply_planes(symmetry.apply_planes(numbered(size), k), back) == numbered(size)).all(), k
        assert (symmetry.apply_policy(symmetry.apply_policy(policy, size, k), size, back) == policy).all(), k


@pytest.mark.parametrize("size", SIZES)
def test_pass_and_resign_stay(size: int) -> None:
    for k in ALL:
        for fixed in (pass_action(size), resign_action(size)):
            assert symmetry.action_map(size, k)[fixed] == fixed
            assert symmetry.apply_action(fixed, size, k) == fixed


@pytest.mark.parametrize("size", SIZES)
def test_planes_points_policies_and_actions_move_alike(size: int) -> None:
    for k in ALL:
        plane = symmetry.apply_planes(numbered(size), k)
        assert (symmetry.apply_points(np.arange(size * size), size, k) == plane.ravel()).all(), k
        policy = symmetry.apply_policy(np.arange(resign_action(size) + 1), size, k)
        assert (policy[: size * size] == plane.ravel()).all(), k
        for point in range(size * size):
            assert plane.ravel()[symmetry.apply_action(point, size, k)] == point, k


def test_the_first_five_by_eye() -> None:
    """Quarter turns anticlockwise, then the mirror of left and right."""
    square = np.array([[1, 2], [3, 4]])
    assert symmetry.apply_planes(square, 1).tolist() == [[2, 4], [1, 3]]
    assert symmetry.apply_planes(square, 2).tolist() == [[4, 3], [2, 1]]
    assert symmetry.apply_planes(square, 3).tolist() == [[3, 1], [4, 2]]
    assert symmetry.apply_planes(square, 4).tolist() == [[2, 1], [4, 3]]


def test_leading_dimensions_are_carried_along() -> None:
    planes = np.random.default_rng(1).random((4, 11, 9, 9))
    policies = np.random.default_rng(2).random((4, resign_action(9) + 1))
    for k in ALL:
        for n in range(4):
            assert (symmetry.apply_planes(planes, k)[n, 3] == symmetry.apply_planes(planes[n, 3], k)).all()
            assert (symmetry.apply_policy(policies, 9, k)[n] == symmetry.apply_policy(policies[n], 9, k)).all()


def test_boards_that_are_not_square_have_their_own_symmetries() -> None:
    """Connect-4's, 6 rows of 7: the mirror, the half turn and both."""
    plane = np.arange(42).reshape(6, 7)
    for k in (0, 2, 4, 6):
        seen = symmetry.apply_planes(plane, k)
        assert seen.shape == (6, 7)
        assert (symmetry.apply_points(np.arange(42), (6, 7), k) == seen.ravel()).all(), k
        assert seen.ravel()[symmetry.apply_action(5, (6, 7), k)] == 5
        assert symmetry.apply_action(42, (6, 7), k) == 42 and symmetry.apply_action(43, (6, 7), k) == 43
    assert symmetry.apply_action(0, (6, 7), 4) == 6
