"""Checkpoints: a run's learner and progress in one file that appears whole or not at all.

Vocabulary.
  checkpoint  checkpoints/NNNNNN.pt of a run folder, numbered by generation; the newest readable one is where a run goes on.
  progress    the run's counters. Records on disk are the only copy of the window, so a checkpoint does not hold it.

A file is read with `weights_only=True`: it holds tensors and plain values, nothing that could be executed.
"""

from __future__ import annotations

import os
import pickle
import tempfile
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any

import torch


class CheckpointError(Exception):
    """A run folder that cannot be continued; one line for the user."""


@dataclass
class Progress:
    """Where a run is. Counters of games and rows move when a generation's self-play is complete, so a crash cannot count a game twice."""

    generation: int = 1  # the one being worked on
    learning: bool = False  # its self-play is complete
    games: int = 0
    rows: int = 0
    evaluations: int = 0  # positions given to an evaluator
    hours: float = 0.0  # of work, all sittings
    steps_owed: float = 0.0  # learner's steps that the recorded rows have paid for
    rows_owed: dict[int, float] = field(default_factory=dict)  # per board size, what earlier generations left over (negative: too many)


def save(folder: Path, progress: Progress, learner: dict[str, Any], settings: dict[str, Any], keep: int) -> None:
    """Write checkpoints/GENERATION.pt and remove all but it and the `keep` before it."""
    folder.mkdir(parents=True, exist_ok=True)
    content = {"progress": asdict(progress), "learner": learner, "settings": settings}
    descriptor, name = tempfile.mkstemp(dir=folder, suffix=".tmp")
    try:
        with os.fdopen(descriptor, "wb") as file:
            torch.save(content, file)
            file.flush()
            os.fsync(file.fileno())
        Path(name).replace(folder / f"{progress.generation:06d}.pt")
    finally:
        Path(name).unlink(missing_ok=True)
    for old in sorted(folder.glob("*.pt"))[: -keep - 1]:
        old.unlink()


def latest(folder: Path) -> tuple[Progress, dict[str, Any], list[str]] | None:
    """(progress, learner's state, complaints about newer files that could not be read); None where there is no checkpoint.

    Raises:
        CheckpointError: there are checkpoints, but none can be read.
    """
    complaints: list[str] = []
    for path in sorted(folder.glob("*.pt"), reverse=True):
        try:
            content = torch.load(path, map_location="cpu", weights_only=True)
            return Progress(**content["progress"]), content["learner"], complaints
        except (OSError, RuntimeError, EOFError, KeyError, TypeError, ValueError, pickle.UnpicklingError) as error:
            complaints.append(f"cannot read the checkpoint {path.absolute()}: {str(error).splitlines()[0][:120]}; trying the one before it")
    if complaints:
        raise CheckpointError(
            f"none of the {len(complaints)} checkpoints in {folder.absolute()} can be read; move the folder away to start anew"
        )
    return None
