"""The curves of a run in TensorBoard: the report of each generation, and the losses within a generation.

The two have their own folders, because a curve that a crash cut is cut by its place on the axis: by the generation in
one, by the step in the other. Only this module imports TensorBoard.
"""

from __future__ import annotations

import threading
from collections.abc import Mapping
from contextlib import ExitStack
from pathlib import Path
from typing import TYPE_CHECKING, Any

import torch

from training.doctor.history import Report

if TYPE_CHECKING:
    from torch.utils.tensorboard import SummaryWriter

GROUP = "steps"
FLUSH = 20  # seconds until the losses of a step are on disk


class Curves:
    """Writes a run's curves into its folder `tensorboard`. What a crash undid is not drawn twice."""

    def __init__(self, folder: Path, every: int) -> None:
        """`every`: steps between two points of the losses; 0: none. OSError if TensorBoard's folder cannot be made."""
        from torch.utils.tensorboard import SummaryWriter

        self._board, self._every, self._open = folder / "tensorboard", every, SummaryWriter
        for place in (self._board, self._board / GROUP)[: 2 if every else 1]:
            place.mkdir(exist_ok=True)  # a file in its place is an error now, not after a generation
        self._writers: dict[str, SummaryWriter] = {}  # by folder
        self._usual, self._is_closed = threading.excepthook, False
        threading.excepthook = self._on_thread_error

    def _on_thread_error(self, fault: threading.ExceptHookArgs) -> None:
        """Leave out a full disk that TensorBoard's own thread meets: the next number that is written raises it."""
        is_tensorboards = type(fault.thread).__module__.startswith("tensorboard.")
        if self._is_closed or not (isinstance(fault.exc_value, OSError) and is_tensorboards):
            self._usual(fault)

    def _writer(self, name: str, first: int) -> SummaryWriter:
        """The writer of a folder, opened with its first number, which the curves may hold already."""
        if name not in self._writers:
            self._writers[name] = self._open(str(self._board / name), purge_step=first, flush_secs=FLUSH)
        return self._writers[name]

    def report(self, found: Report, verdict: str) -> None:
        """Draw a generation's report, and its verdict as a text."""
        generation = int(found["run/generation"])
        writer = self._writer("", generation)
        for name, value in found.items():
            writer.add_scalar(name, value, generation)
        writer.add_text("doctor", verdict, generation)
        writer.flush()

    def step(self, number: int, losses: Mapping[str, torch.Tensor]) -> None:
        """Draw the losses, scalars by name, of the learner's step of that number, from 1 on, if its turn is come."""
        if not self._every or number % self._every:
            return
        from tensorboard.compat.proto.summary_pb2 import Summary

        numbers = torch.stack(list(losses.values())).tolist()
        points = [
            Summary.Value(tag=f"{GROUP}/{name}", simple_value=value)
            for name, value in zip(losses, numbers, strict=True)
        ]
        # one event for all of them: ten calls of add_scalar would cost a small network 2 % of its step
        writer: Any = self._writer(GROUP, number).file_writer
        writer.add_summary(Summary(value=points), number)

    def close(self) -> None:
        """Write what is waiting, and close the files."""
        try:
            with ExitStack() as boards:  # both, also where one cannot be written
                for board in self._writers.values():
                    boards.callback(board.close)
        finally:
            self._is_closed = True
            if threading.excepthook == self._on_thread_error:
                threading.excepthook = self._usual
