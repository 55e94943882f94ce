"""What the doctor reads of a run; `training.run.run.Run` has it."""

from __future__ import annotations

from contextlib import AbstractContextManager
from pathlib import Path
from typing import Protocol

from training.learner.trainer import Trainer
from training.selfplay.actor import Actor
from training.selfplay.local import SelfPlay
from training.settings.config import LoopSettings
from training.storage.checkpoint import Progress


class MeasuredRun(Protocol):
    """A run whose generation is done; `device` is where its network is measured, `turn` the lock of what it reads."""

    settings: LoopSettings
    folder: Path
    device: str
    progress: Progress
    trainer: Trainer
    actor: Actor
    selfplay: SelfPlay

    def turn(self) -> AbstractContextManager[None]: ...
