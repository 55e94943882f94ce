"""The learner's steps in a run: how many the recorded rows have paid for, and what their losses were."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from training.run.trainer import Losses, RunTrainer
from training.settings.config import LoopSettings
from training.storage.checkpoint import Progress


class Steps:
    """Has the trainer take the learner's steps, and keeps their losses for the next report."""

    def __init__(self, settings: LoopSettings, trainer: RunTrainer, progress: Progress) -> None:
        self.settings, self.trainer, self.progress = settings, trainer, progress
        self.watch: Callable[[int, Losses], None] | None = None  # is told each step and its losses
        self._losses: list[Losses] = []  # since the last report

    def paid_by(self, rows: float, games: float = 0) -> float:
        """Steps that so many new rows, which are so many games, pay for: their own uses, or their part of a
        generation's steps or passes over the window.
        """
        settings, whole = self.settings.learner, self.settings.generation_games
        share = games / whole if whole else rows / self.settings.generation_rows
        if settings.generation_steps:
            return settings.generation_steps * share
        uses = settings.epochs * self.trainer.holding.drawable * share if settings.epochs else rows * settings.reuse
        return uses / settings.batch

    def between_rests(self) -> int:
        """Steps between two checkpoints within a generation; 0: there are none."""
        rows, progress = self.settings.checkpoint_rows, self.progress
        return rows and max(1, round(self.paid_by(rows, rows * progress.games / max(1, progress.rows))))

    def owed(self) -> int:
        """The number of whole steps that can be taken now: none while the window holds fewer rows than it must."""
        rows = self.trainer.holding.drawable
        return int(self.progress.steps_owed) if rows >= max(1, self.settings.replay.least_rows) else 0

    def take(self, count: int = 1) -> None:
        """Take so many of the steps that are owed."""
        before = self.trainer.steps
        losses, widths = self.trainer.train(count, self.progress.rate)
        self._losses += losses
        if self.watch:
            for number, each in enumerate(losses, start=before + 1):
                self.watch(number, each)
        self.progress.trained_sizes += sorted(widths - set(self.progress.trained_sizes))
        self.progress.steps_owed -= len(losses)

    def report(self) -> dict[str, float]:
        """The mean losses of the steps since the last report."""
        losses, self._losses = self._losses, []
        names = losses[0] if losses else ()
        return {f"train/{name}": float(np.mean([float(step[name]) for step in losses])) for name in names}
