"""The value and policy networks of the course project (KAIST EE488C, 2016), in PyTorch.

All that a network sees is a board uint8 [P]: EMPTY, BLACK or WHITE at each point. So they fit neither features nor the
outputs of `gozero.nets.model`: they have no history, no side to move and no pass.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np
import torch
from torch import nn

from gozero.games.colours import opponent
from gozero.games.game import BLACK, EMPTY, WHITE, Game
from training.course.boards import Course

TIE = EMPTY  # the classes of a value network are TIE, BLACK and WHITE
CLASSES = 3
BATCH = 4096  # boards given to a network at once


def planes(boards: np.ndarray, shape: tuple[int, int]) -> torch.Tensor:
    """One-hot planes float32 [n, 3, rows, cols] of boards uint8 [n, P]."""
    stacked = np.stack([boards == BLACK, boards == WHITE, boards == EMPTY], axis=1)
    return torch.from_numpy(stacked.reshape(len(boards), CLASSES, *shape).astype(np.float32))


def _convolutions(channels: Sequence[int]) -> list[nn.Module]:
    """3x3 convolutions with zero padding, a ReLU after each."""
    layers: list[nn.Module] = []
    for before, after in zip((CLASSES, *channels[:-1]), channels, strict=True):
        layers += [nn.Conv2d(before, after, 3, padding=1), nn.ReLU()]
    return layers


class ValueNetwork(nn.Module):
    """Who will win: 3x3 convolutions, two linear layers, logits of TIE, BLACK and WHITE."""

    def __init__(self, game: Game, course: Course) -> None:
        super().__init__()
        flat = course.channels[-1] * game.points
        self.layers = nn.Sequential(
            *_convolutions(course.channels),
            nn.Flatten(),
            nn.Linear(flat, course.units),
            nn.ReLU(),
            nn.Linear(course.units, CLASSES),
        )

    def forward(self, boards: torch.Tensor) -> torch.Tensor:
        """Logits float32 [n, 3] of planes float32 [n, 3, rows, cols]."""
        return self.layers(boards)


class PolicyNetwork(nn.Module):
    """Where to play: 3x3 convolutions, a 1x1 convolution to one plane, a bias for each point; no linear layer."""

    def __init__(self, game: Game, course: Course) -> None:
        super().__init__()
        self.layers = nn.Sequential(
            *_convolutions(course.policy_channels), nn.Conv2d(course.policy_channels[-1], 1, 1, bias=False)
        )
        self.bias = nn.Parameter(torch.zeros(game.points))

    def forward(self, boards: torch.Tensor) -> torch.Tensor:
        """Logits float32 [n, P] of planes float32 [n, 3, rows, cols]."""
        return self.layers(boards).flatten(1) + self.bias


Networks = list[nn.Module]  # one, which serves both colours, or two: Black's, then White's


def new_networks(kind: Callable[[Game, Course], nn.Module], game: Game, course: Course, seed: int) -> Networks:
    """Fresh networks, one or two as the course has them; the same seed gives the same ones."""
    with torch.random.fork_rng(devices=[]):
        torch.manual_seed(seed)
        return [kind(game, course) for _ in range(course.colours)]


@torch.inference_mode()
def outputs(network: nn.Module, boards: np.ndarray, shape: tuple[int, int]) -> np.ndarray:
    """The network's logits float32 [n, 3] or [n, P] of boards uint8 [n, P], n >= 1; equal boards are computed once."""
    distinct, places = np.unique(
        np.ascontiguousarray(boards).view(f"V{boards.shape[1]}").reshape(-1), return_inverse=True
    )
    rows = distinct.view(np.uint8).reshape(len(distinct), -1)
    inputs = (planes(rows[start : start + BATCH], shape) for start in range(0, len(rows), BATCH))
    # convolutions on a CPU are half as fast again in this order of memory
    found = [network(part.to(memory_format=torch.channels_last)) for part in inputs]
    return torch.cat(found).numpy()[places]


def by_colour(
    networks: Networks, boards: np.ndarray, colours: np.ndarray, shape: tuple[int, int], classes: int
) -> np.ndarray:
    """The logits float32 [n, classes] of boards uint8 [n, P], each from the network of its colour int [n]."""
    found = np.zeros((len(boards), classes), np.float32)
    for colour in (BLACK, WHITE):
        own = colours == colour
        if own.any():
            found[own] = outputs(networks[(colour - BLACK) % len(networks)], boards[own], shape)
    return found


def expected_results(networks: Networks, boards: np.ndarray, colours: np.ndarray, shape: tuple[int, int]) -> np.ndarray:
    """What boards uint8 [n, P] after a move of colours int [n] are worth to these: the chance that they win less that
    they lose, float32 [n].
    """
    logits = by_colour(networks, boards, colours, shape, CLASSES)
    shares = np.exp(logits - logits.max(axis=1, keepdims=True))
    shares /= shares.sum(axis=1, keepdims=True)
    rows = np.arange(len(boards))
    return shares[rows, colours] - shares[rows, opponent(colours)]
