"""Measures how often a network predicts the move and the winner of held-out games, beside a constant predictor."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field

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
        half = (
            f"± {self.half:.1%} of {self.count:,}" if np.isfinite(self.half) else f"of {self.count:,}, all of one game"
        )
        return f"{self.share:.1%} {half}"


def share_of(right: np.ndarray, game: np.ndarray) -> CorrectShare:
    """The share of right bool [n], clustered by game int [n] (Cochran 1977, eq. 2.46, ratio estimator).

    From fewer than `FEW_GAMES`, or where all have the same share, it is at least as wide as Wilson's for as many results
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


@dataclass
class Predictions:
    """For each held-out position, whether the predicted move was right, and the predicted winner where one is known."""

    top1: list[np.ndarray] = field(default_factory=list)
    value: list[np.ndarray] = field(default_factory=list)
    game: list[np.ndarray] = field(default_factory=list)
    decided: list[np.ndarray] = field(default_factory=list)

    def add(self, found: SizedRows, rows: slice, moves: np.ndarray, values: np.ndarray) -> None:
        """The predictions for some rows of one size: moves int [n] and values float [n] for the side to move."""
        self.top1.append(moves == found.rows.policy[rows].argmax(1))
        self.value.append(np.sign(values) == found.rows.value[rows])
        self.game.append(found.game[rows])
        self.decided.append(found.known[rows, 0] & (found.rows.value[rows] != 0))

    def shares(self) -> tuple[CorrectShare, CorrectShare]:
        """(top-1, value accuracy)."""
        if not self.top1:
            nothing = share_of(np.zeros(0), np.zeros(0))
            return nothing, nothing
        top1, value, game, decided = (np.concatenate(part) for part in (self.top1, self.value, self.game, self.decided))
        return share_of(top1, game), share_of(value[decided], game[decided])


@torch.inference_mode()
def measure(
    learner: Learner, held: dict[int, SizedRows], stop: Callable[[], bool] = lambda: False
) -> tuple[CorrectShare, CorrectShare]:
    """The averaged network's (top-1, value accuracy) on the held-out positions."""
    predictions = Predictions()
    for _, found in sorted(held.items()):
        for start in range(0, len(found), CHUNK):
            if stop():
                break
            rows = slice(start, min(start + CHUNK, len(found)))
            batch = found.batch(np.arange(rows.start, rows.stop))
            output = learner.ema(*map(torch.from_numpy, batch.inputs))
            predictions.add(found, rows, output.policy.argmax(1).numpy(), output.value.numpy())
    return predictions.shares()


def constant(data: Collection) -> tuple[CorrectShare, CorrectShare]:
    """The same for a predictor that does not look at the board."""
    predictions = Predictions()
    for size, found in sorted(data.held.items()):
        known = data.train.get(size)
        move = int(known.rows.policy.sum(0, dtype=np.float32).argmax()) if known else 0
        value = 1.0 if known is None or known.rows.value.mean() >= 0 else -1.0
        rows = slice(0, len(found))
        predictions.add(found, rows, np.full(len(found), move), np.full(len(found), value))
    return predictions.shares()
