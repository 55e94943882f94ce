"""Opens a run from its newest checkpoint, and writes its weights.pt."""

from __future__ import annotations

from pathlib import Path

from torch import nn

from gozero.evaluators.factory import carry_graph
from gozero.nets import weights
from gozero.nets.model import NetConfig
from training.learner.trainer import Trainer
from training.settings.config import LoopSettings
from training.storage import checkpoint, storage
from training.storage.checkpoint import CheckpointError, Progress, Snapshot

COUNTERS = ("generation", "games", "rows", "evaluations", "hours")  # of the progress, in reports and in the weights


def open_snapshot(settings: LoopSettings, folder: Path, trainer: Trainer) -> tuple[Snapshot | None, list[str]]:
    """(the newest readable snapshot of the folder, a line for each newer one that cannot be read); `trainer` takes its
    weights. None: there is none yet.

    Raises:
        CheckpointError: a folder that cannot be continued.
    """
    found = checkpoint.latest(folder / "checkpoints")
    if found is None:
        return None, []
    snapshot, complaints = found
    try:
        trainer.load_state_dict(snapshot.learner)
    except RuntimeError:  # settings.json, which would have shown it, is gone
        what = f"the checkpoints in {folder.absolute()} are not of {settings.network} for {settings.game}"
        raise CheckpointError(f"{what}; give another --run, or the settings that they were made with") from None
    if snapshot.playing is None:
        snapshot.progress.handed_steps = trainer.steps
    return snapshot, complaints


def save_weights(path: Path, net: nn.Module, config: NetConfig, settings: LoopSettings, progress: Progress) -> None:
    """Write `net`, the network that plays, with the run's counters and settings. Raises StorageError."""
    counters = {name: getattr(progress, name) for name in COUNTERS}
    provenance = {"run": path.parent.name, **counters, "steps": progress.handed_steps, "settings": settings.portable()}
    with storage.writing(path):
        weights.save(
            path,
            net,
            config,
            game=settings.game,
            size=settings.stage[-1].main_size,
            trained_sizes=progress.trained_sizes,
            provenance=provenance,
        )
        carry_graph(path)
