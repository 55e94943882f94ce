"""The learner's steps in a run: how many the recorded rows have paid for, and how one is taken.

The rows of a step depend on the seed and its number only, however often the run was stopped.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping

import numpy as np
import torch

from training.learner.learner import Learner
from training.learner.pace import Pace
from training.records.replay import Replay
from training.settings.config import LoopSettings
from training.storage.checkpoint import Progress


class Steps:
    """Takes the learner's steps on the rows of the window, and keeps their losses for the next report."""

    def __init__(
        self, settings: LoopSettings, learner: Learner, pace: Pace, replay: Replay, progress: Progress
    ) -> None:
        self.settings, self.learner, self.pace, self.replay, self.progress = settings, learner, pace, replay, progress
        self.watch: Callable[[int, Mapping[str, torch.Tensor]], None] | None = None  # is told each step and its losses
        self._losses: list[dict[str, torch.Tensor]] = []  # since the last report

    def paid_by(self, rows: float, games: float = 0) -> float:
        """Steps that so many new rows, which are so many games, pay for: their own uses, or their part of a
        generation's steps or passes over the window.
        """
        settings, whole = self.settings.learner, self.settings.generation_games
        share = games / whole if whole else rows / self.settings.generation_rows
        if settings.generation_steps:
            return settings.generation_steps * share
        uses = settings.epochs * sum(self.replay.sizes().values()) * share if settings.epochs else rows * settings.reuse
        return uses / settings.batch

    def between_rests(self) -> int:
        """Steps between two checkpoints within a generation; 0: there are none."""
        rows, progress = self.settings.checkpoint_rows, self.progress
        return rows and max(1, round(self.paid_by(rows, rows * progress.games / max(1, progress.rows))))

    def owed(self) -> int:
        """The number of whole steps that can be taken now: none while the window holds fewer rows than it must."""
        rows = sum(self.replay.sizes().values())
        return int(self.progress.steps_owed) if rows >= max(1, self.settings.replay.least_rows) else 0

    def take(self) -> None:
        """Take one of the steps that are owed."""
        generator = np.random.default_rng([self.settings.seed, self.learner.steps])
        batch = self.replay.sample(self.settings.learner.batch, generator)
        with self.pace.piece(batch.planes.shape) as threads:
            torch.set_num_threads(threads)
            self._losses.append(self.learner.train(batch, self.progress.rate))
        if self.watch:
            self.watch(self.learner.steps, self._losses[-1])
        if (columns := batch.planes.shape[-1]) not in self.progress.trained_sizes:
            self.progress.trained_sizes.append(columns)
        self.progress.steps_owed -= 1

    def report(self) -> dict[str, float]:
        """The mean losses of the steps since the last report."""
        losses, self._losses = self._losses, []
        names = losses[0] if losses else ()
        return {f"train/{name}": float(np.mean([float(step[name]) for step in losses])) for name in names}
