"""Measures how often a network predicts the move and the winner of held-out games, beside a constant predictor."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
import torch

from training.learner.learner import Learner
from training.matches.elo import Z95, wilson
from training.supervised.collection import Collection, SizedRows

CHUNK = 256  # positions measured at once
FEW_GAMES = 10  # fewer tell little of how much games differ


@dataclass(frozen=True)
class CorrectShare:
    """The share of positions that were right, with the half width of its 95 % interval.

    Games are taken as independent, not positions.
    """

    share: float
    half: float  # not a number with fewer than two games
    count: int  # positions

    def __str__(self) -> str:
        if not self.count:
            return "nothing to measure"
        if np.isnan(self.half):
            return f"{self.share:.1%} of {self.count:,}, all of one game"
        return f"{self.share:.1%} ± {self.half:.1%} of {self.count:,}"


def share_of(right: np.ndarray, game: np.ndarray) -> CorrectShare:
    """The share of right bool [n], clustered by game int [n] (Cochran 1977, eq. 2.46, ratio estimator).

    From fewer than `FEW_GAMES`, or if all have the same share, it is at least as wide as Wilson's for as many results
    as games: a few games that agree by chance are not sure.
    """
    if not len(right):
        return CorrectShare(float("nan"), float("nan"), 0)
    _, number = np.unique(game, return_inverse=True)
    counts, hits = np.bincount(number), np.bincount(number, weights=right)
    share, games = float(hits.sum() / counts.sum()), len(counts)
    if games < 2:
        return CorrectShare(share, float("nan"), len(right))
    spread = float(((hits - share * counts) ** 2).sum()) * games / (games - 1)
    half = Z95 * spread**0.5 / float(counts.sum())
    if games < FEW_GAMES or spread == 0:
        low, high = wilson(share * games, games)
        half = max(half, (high - low) / 2)
    return CorrectShare(share, half, len(right))


Predictor = Callable[[SizedRows, np.ndarray], tuple[np.ndarray, np.ndarray]]
"""(moves int [n], values float [n] for the side to move) of rows of one size, by their indices int [n]."""


def shares(
    held: dict[int, SizedRows], predict: Predictor, stop: Callable[[], bool] = lambda: False
) -> tuple[CorrectShare, CorrectShare]:
    """(top-1, value accuracy) on the held-out positions, the latter where a winner is known."""
    parts = [(np.zeros(0, bool), np.zeros(0, bool), np.zeros(0, np.int64), np.zeros(0, bool))]
    for _, found in sorted(held.items()):
        for start in range(0, len(found), CHUNK):
            if stop():
                break
            chosen = np.arange(start, min(start + CHUNK, len(found)))
            moves, values = predict(found, chosen)
            results = found.rows.value[chosen]
            decided = found.known[chosen, 0] & (results != 0)
            right = moves == found.rows.policy[chosen].argmax(1)
            parts.append((right, np.sign(values) == results, found.game[chosen], decided))
    top1, value, game, known = (np.concatenate(part) for part in zip(*parts, strict=True))
    return share_of(top1, game), share_of(value[known], game[known])


@torch.inference_mode()
def measure(
    learner: Learner, held: dict[int, SizedRows], stop: Callable[[], bool] = lambda: False
) -> tuple[CorrectShare, CorrectShare]:
    """The averaged network's (top-1, value accuracy) on the held-out positions."""

    def predict(found: SizedRows, chosen: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        output = learner.ema(*map(torch.from_numpy, found.batch(chosen).inputs))
        return output.policy.argmax(1).numpy(), output.value.numpy()

    return shares(held, predict, stop)


def constant(data: Collection) -> tuple[CorrectShare, CorrectShare]:
    """The same for a predictor that does not look at the board."""

    def predict(found: SizedRows, chosen: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        known = data.train.get(found.board.size)
        move = int(known.rows.policy.sum(0, dtype=np.float32).argmax()) if known else 0
        value = 1.0 if known is None or known.rows.value.mean() >= 0 else -1.0
        return np.full(len(chosen), move), np.full(len(chosen), value)

    return shares(data.held, predict)
