"""How the networks of the course learn: cross-entropy on boards under all symmetries of the game, by Adam.

Every pass shows each board once under one symmetry, another one each time, so that as many passes as there are
symmetries show the data set enlarged by all of them. Boards stay as bytes and become planes batch by batch.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from dataclasses import dataclass

import numpy as np
import torch
from torch import nn
from torch.nn.functional import cross_entropy

from gozero.games.game import Game
from gozero.games.symmetry import inverse, point_map
from gozero.system.console import progress_bar
from training.course.networks import Networks, planes
from training.course.playing import Rows


@dataclass(frozen=True)
class Hyperparameters:
    """How long and how fast to learn."""

    epochs: int
    batch: int = 256
    learning_rate: float = 2e-3  # at the start; it falls to 0 along half a cosine


def learn(
    networks: Networks, rows: Rows, game: Game, hyperparameters: Hyperparameters, seed: int, *, points: bool = False
) -> None:
    """Teach each network its rows; `points` as in `fit`."""
    total = hyperparameters.epochs * sum(len(boards) for boards, _ in rows)
    with progress_bar(total, "learning", " rows") as bar:

        def report(count: int, loss: float) -> None:
            bar.set_postfix_str(f"loss {loss:.4f}", refresh=False)
            bar.update(count)

        for network, (boards, targets) in zip(networks, rows, strict=True):
            fit(network, boards, targets, game, hyperparameters, seed, report, points=points)


def fit(
    network: nn.Module,
    boards: np.ndarray,
    targets: np.ndarray,
    game: Game,
    hyperparameters: Hyperparameters,
    seed: int,
    report: Callable[[int, float], None],
    *,
    points: bool = False,
) -> None:
    """Teach a network.

    Args:
        network: gives logits of the targets' classes.
        boards: uint8 [n, P], n >= 1.
        targets: int64 [n], classes.
        game: whose symmetries are used.
        hyperparameters: how long, and how fast.
        seed: of the order of the rows.
        report: called with the number of rows of each batch and its loss.
        points: the targets are points of the board, which turn with it.
    """
    # where each point of a turned board comes from, and where each point of the board goes, int64 [symmetries, P]
    maps = np.stack([point_map(game.shape, symmetry) for symmetry in game.symmetries])
    backwards = np.stack([point_map(game.shape, inverse(symmetry)) for symmetry in game.symmetries])
    first = np.random.default_rng(seed).integers(len(maps), size=len(boards))
    steps = hyperparameters.epochs * -(-len(boards) // hyperparameters.batch)
    optimiser = torch.optim.Adam(network.parameters(), lr=hyperparameters.learning_rate)
    schedule = torch.optim.lr_scheduler.LambdaLR(optimiser, lambda step: (1 + math.cos(math.pi * step / steps)) / 2)
    network.train()
    for number, rows in _batches(len(boards), hyperparameters, seed):
        turns = (first[rows] + number) % len(maps)
        classes = backwards[turns, targets[rows]] if points else targets[rows]
        turned = boards[rows[:, None], maps[turns]]
        loss = cross_entropy(network(planes(turned, game.shape)), torch.from_numpy(classes))
        optimiser.zero_grad()
        loss.backward()
        optimiser.step()
        schedule.step()
        report(len(rows), loss.item())
    network.eval()


def _batches(count: int, hyperparameters: Hyperparameters, seed: int) -> Iterator[tuple[int, np.ndarray]]:
    """(number of the pass, rows int64 [at most a batch]); each pass has every row once, in an order of its own."""
    random = np.random.default_rng([seed, 1])
    for number in range(hyperparameters.epochs):
        order = random.permutation(count)
        for start in range(0, count, hyperparameters.batch):
            yield number, order[start : start + hyperparameters.batch]
