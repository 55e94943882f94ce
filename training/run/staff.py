"""Who does the work of a run: this process, or others.

Vocabulary.
  staff  a crew for self-play, a trainer for learning, and somebody to play the matches of the gate. The run itself
         decides and keeps the files; it is the same with any staff.
"""

from __future__ import annotations

from typing import Protocol

from torch import nn

from training.run import gate
from training.run.gate import PlayParts
from training.run.resources import device_of, pace_of, threads_of
from training.run.trainer import LocalTrainer, RunTrainer
from training.selfplay.crew import LocalCrew, SelfPlayCrew
from training.selfplay.processes import ProcessCrew
from training.settings.config import LoopSettings


class Staff(Protocol):
    """Those who work for a run."""

    def device(self, settings: LoopSettings) -> str:
        """`cpu` or `cuda`: where this process measures the network."""

    def trainer(self, settings: LoopSettings) -> RunTrainer:
        """A new trainer, with fresh weights and an empty window."""

    def crew(self, settings: LoopSettings, net: nn.Module) -> SelfPlayCrew:
        """A crew that plays with a copy of `net`."""

    @property
    def matches(self) -> PlayParts:
        """Plays the parts of a match."""


class LocalStaff:
    """All work is done in this process, but for self-play where the settings share it out among several."""

    def device(self, settings: LoopSettings) -> str:
        return device_of(settings.device)

    def trainer(self, settings: LoopSettings) -> LocalTrainer:
        device = self.device(settings)
        return LocalTrainer(settings, device, pace_of(settings, device))

    def crew(self, settings: LoopSettings, net: nn.Module) -> SelfPlayCrew:
        device = self.device(settings)
        kind = LocalCrew if settings.selfplay.processes == 1 else ProcessCrew
        return kind(settings, net, threads_of(settings, device), device)

    @property
    def matches(self) -> PlayParts:
        return gate.play_here


HERE = LocalStaff()
