"""Packed positions say exactly what the planes and numbers say."""

import numpy as np
import pytest
import torch

from gozero import games
from gozero.evaluators.cuda_evaluator import Unpack
from gozero.games.game import PLY, TO_PLAY
from gozero.games.go.header import BONUS, PASS_BITS, set_komi
from gozero.nets import features
from tests.trained import random_states


def positions(size: int, count: int = 60) -> np.ndarray:
    """States of random games, some after passes, with all kinds of komi and bonus."""
    game, generator = games.make("go", size=size), np.random.default_rng(size)
    states = random_states(game, count)
    for state in states[: count // 2]:
        set_komi(state, float(generator.integers(-4000, 4000)) / 8)
        state[BONUS] = generator.integers(0, 9)
        history = np.zeros(state[PLY] + 2, np.uint64)
        if generator.random() < 0.5:
            game.step(state, history, game.pass_action)
    assert len(set(states[:, PASS_BITS])) > 1
    assert set(states[:, TO_PLAY]) == {1, 2}
    return states


def packed(states: np.ndarray, size: int, tactics: int = 0) -> np.ndarray:
    rows = np.full((len(states) + 3, features.packed_ints(size, tactics)), -1, np.int32)
    features.pack_into(states, rows, size, tactics)
    assert (rows[len(states) :] == -1).all(), "wrote beyond the states"
    return rows[: len(states)]


@pytest.mark.parametrize("size", [2, 5, 9, 13, 19])
def test_unpacking_equals_encoding(size: int) -> None:
    states = positions(size)
    planes, numbers = Unpack(size)(torch.from_numpy(packed(states, size)))
    expected_planes, expected_numbers = features.encode(games.make("go", size=size), states)
    np.testing.assert_array_equal(planes.numpy(), expected_planes)
    np.testing.assert_array_equal(numbers.numpy(), expected_numbers)
    assert (planes.dtype, numbers.dtype) == (torch.float32, torch.float32)
    assert planes.is_contiguous(memory_format=torch.channels_last)


@pytest.mark.parametrize("version", [2, 3])
@pytest.mark.parametrize("size", [2, 9, 19])
def test_tactics_are_unpacked_too(size: int, version: int) -> None:
    states, game = positions(size), games.make("go", size=size)
    count = len(features.layout("go", version).tactics)
    found = Unpack(size, count)(torch.from_numpy(packed(states, size, count)))
    for one, two in zip(found, features.encode(game, states, version), strict=True):
        np.testing.assert_array_equal(one.numpy(), two)
    assert found[2].any(), "or nothing was tested"


def test_a_packed_position_is_small() -> None:
    assert features.packed_ints(13) * 4 <= 300
    assert features.packed_ints(13) * 4 * 20 < features.PLANES * 13 * 13 * 4
