"""How the networks of the course learn: cross-entropy on boards under all symmetries of the game, by Adam.

Every pass shows each board once under one symmetry, another one each time, so that as many passes as there are
symmetries show the data set enlarged by all of them. Boards stay as bytes and become planes batch by batch.
"""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
import torch
from torch.nn.functional import cross_entropy

from gozero.games.colours import BLACK, COLOUR_NAMES
from gozero.games.game import Game
from gozero.games.symmetry import inverse, point_map
from gozero.system.console import say
from training.course.networks import Networks, planes
from training.course.playing import Rows

BATCH = 256
LEARNING_RATE = 2e-3  # at the start; it falls to 0 along half a cosine
LINE_EVERY = 200  # iterations from one line on the loss to the next


def learn(networks: Networks, rows: Rows, game: Game, passes: int, seed: int, *, points: bool = False) -> None:
    """Teach each network, which gives logits of classes, its rows: one at least, with their classes as targets.

    The order of each pass is drawn by the seed. With `points` the targets are points of the board, which turn with it.
    Lines on stderr have the mean loss, nats a row, since the line before.
    """
    for number, (network, (boards, targets)) in enumerate(zip(networks, rows, strict=True)):
        if len(networks) > 1:
            say(f"network of {COLOUR_NAMES[BLACK + number]}")
        iterations, losses = -(-len(boards) // BATCH), list[float]()
        optimiser = torch.optim.Adam(network.parameters(), lr=LEARNING_RATE)
        schedule = torch.optim.lr_scheduler.CosineAnnealingLR(optimiser, passes * iterations)
        for step, (turned, classes) in enumerate(_batches(boards, targets, game, passes, seed, points)):
            loss = cross_entropy(network(planes(turned, game.shape)), torch.from_numpy(classes))
            optimiser.zero_grad()
            loss.backward()
            optimiser.step()
            schedule.step()
            losses.append(float(loss.detach()))
            epoch, done = step // iterations, step % iterations + 1
            if done % LINE_EVERY == 0 or done == iterations:
                say(f"Epoch: {epoch:<6} | Iteration: {done:<6} | Loss: {np.mean(losses):.5f}")
                losses.clear()


def _batches(
    boards: np.ndarray, targets: np.ndarray, game: Game, passes: int, seed: int, points: bool
) -> Iterator[tuple[np.ndarray, np.ndarray]]:
    """(turned boards uint8 [BATCH, P], their classes int64 [BATCH]), pass after pass; see `learn`."""
    # where each point of a turned board comes from, and where each point of the board goes, int64 [symmetries, P]
    maps = np.stack([point_map(game.shape, symmetry) for symmetry in game.symmetries])
    backwards = np.stack([point_map(game.shape, inverse(symmetry)) for symmetry in game.symmetries])
    first = np.random.default_rng(seed).integers(len(maps), size=len(boards))
    order = np.random.default_rng([seed, 1])
    for number in range(passes):
        for rows in np.split(order.permutation(len(boards)), range(BATCH, len(boards), BATCH)):
            turns = (first[rows] + number) % len(maps)
            yield boards[rows[:, None], maps[turns]], backwards[turns, targets[rows]] if points else targets[rows]
