"""Networks of the course: their planes, their symmetry in learning, and what they learn."""

import numpy as np
import pytest
import torch

from gozero.games.symmetry import inverse, point_map
from training.course import learning
from training.course.boards import COURSES, game_of
from training.course.learning import learn
from training.course.networks import PolicyNetwork, ValueNetwork, expected_results, new_networks, outputs, planes

COURSE = COURSES["tictactoe"]
GAME = game_of(COURSE)


@pytest.fixture(autouse=True)
def small_batches(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(learning, "BATCH", 32)


def test_planes_are_one_hot_black_white_empty() -> None:
    board = np.array([[1, 2, 0, 0, 0, 0, 0, 0, 1]], np.uint8)
    found = planes(board, (3, 3)).numpy()[0].reshape(3, 9)
    assert found.argmax(axis=0).tolist() == [0, 1, 2, 2, 2, 2, 2, 2, 0] and (found.sum(axis=0) == 1).all()


def test_a_policy_has_no_linear_layer_a_last_1x1_convolution_and_a_bias_for_each_point() -> None:
    (network,) = new_networks(PolicyNetwork, GAME, COURSE, 1)
    assert not any(isinstance(module, torch.nn.Linear) for module in network.modules())
    last = [module for module in network.modules() if isinstance(module, torch.nn.Conv2d)][-1]
    assert (last.in_channels, last.out_channels, last.kernel_size) == (70, 1, (1, 1)) and network.bias.shape == (9,)


def test_equal_boards_are_answered_alike_and_in_place() -> None:
    (network,) = new_networks(ValueNetwork, GAME, COURSE, 1)
    boards = np.random.default_rng(1).integers(0, 3, (40, 9)).astype(np.uint8)
    twice = np.concatenate([boards, boards[::-1]])
    found = outputs(network, twice, GAME.shape)
    with torch.no_grad():
        assert np.allclose(found[:40], network(planes(boards, GAME.shape)).numpy(), atol=1e-5)
    assert np.array_equal(found[:40], found[40:][::-1])
    black, white = (expected_results([network], boards, np.full(40, colour), GAME.shape) for colour in (1, 2))
    assert np.allclose(black, -white, atol=1e-6)


def test_eight_passes_show_a_board_under_all_eight_symmetries_and_points_turn_with_it() -> None:
    (network,) = new_networks(PolicyNetwork, GAME, COURSE, 1)
    board = np.array([1, 2, 0, 0, 0, 0, 0, 0, 0], np.uint8)
    rows = np.tile(board, (64, 1))
    learn([network], [(rows, np.full(64, 5))], GAME, 64, 1, points=True)
    for symmetry in GAME.symmetries:
        turned = board[point_map(GAME.shape, symmetry)]
        target = int(point_map(GAME.shape, inverse(symmetry))[5])
        assert outputs(network, turned[None], GAME.shape)[0].argmax() == target, f"symmetry {symmetry}"


def test_a_value_network_learns_who_wins(capsys: pytest.CaptureFixture[str]) -> None:
    (network,) = new_networks(ValueNetwork, GAME, COURSE, 1)
    boards = np.random.default_rng(1).integers(0, 3, (600, 9)).astype(np.uint8)
    targets = boards[:, 4].astype(np.int64)  # whoever holds the centre, or nobody
    learn([network], [(boards, targets)], GAME, 6, 1)
    assert (outputs(network, boards, GAME.shape).argmax(axis=1) == targets).mean() > 0.95
    losses = [float(line.rpartition(" ")[2]) for line in capsys.readouterr().err.splitlines()]
    assert len(losses) == 6 and losses[-1] < losses[0] / 2, "a line for each pass"
