"""How the networks of the course learn: cross-entropy on boards under all symmetries of the game, by Adam.

Every pass shows each board once under one symmetry, another one each time, so that as many passes as there are
symmetries show the data set enlarged by all of them. Boards stay as bytes and become planes batch by batch.
"""

from __future__ import annotations

import math
from collections.abc import Callable

import numpy as np
import torch
from torch import nn
from torch.nn.functional import cross_entropy

from gozero.games.game import Game
from gozero.games.symmetry import inverse, point_map
from gozero.system.console import progress_bar
from training.course.networks import Networks, planes
from training.course.playing import Rows

BATCH = 256
LEARNING_RATE = 2e-3  # at the start; it falls to 0 along half a cosine


def learn(networks: Networks, rows: Rows, game: Game, passes: int, seed: int, *, points: bool = False) -> None:
    """Teach each network its rows; `points` as in `fit`."""
    with progress_bar(passes * sum(len(boards) for boards, _ in rows), "learning", " rows") as bar:
        for network, (boards, targets) in zip(networks, rows, strict=True):
            fit(network, boards, targets, game, passes, seed, bar.update, points=points)


def fit(
    network: nn.Module,
    boards: np.ndarray,
    targets: np.ndarray,
    game: Game,
    passes: int,
    seed: int,
    report: Callable[[int], object],
    *,
    points: bool = False,
    batch: int = BATCH,
) -> None:
    """Teach a network that gives logits of classes: `targets` int64 [n] of `boards` uint8 [n, P], n >= 1.

    The order of each pass is drawn by the seed; `report` is called with the number of rows of each batch. With
    `points` the targets are points of the board, which turn with it.
    """
    # where each point of a turned board comes from, and where each point of the board goes, int64 [symmetries, P]
    maps = np.stack([point_map(game.shape, symmetry) for symmetry in game.symmetries])
    backwards = np.stack([point_map(game.shape, inverse(symmetry)) for symmetry in game.symmetries])
    first = np.random.default_rng(seed).integers(len(maps), size=len(boards))
    order = np.random.default_rng([seed, 1])
    steps = passes * -(-len(boards) // batch)
    optimiser = torch.optim.Adam(network.parameters(), lr=LEARNING_RATE)
    schedule = torch.optim.lr_scheduler.LambdaLR(optimiser, lambda step: (1 + math.cos(math.pi * step / steps)) / 2)
    for number in range(passes):
        for rows in np.split(order.permutation(len(boards)), range(batch, len(boards), batch)):
            turns = (first[rows] + number) % len(maps)
            classes = backwards[turns, targets[rows]] if points else targets[rows]
            turned = boards[rows[:, None], maps[turns]]
            loss = cross_entropy(network(planes(turned, game.shape)), torch.from_numpy(classes))
            optimiser.zero_grad()
            loss.backward()
            optimiser.step()
            schedule.step()
            report(len(rows))
