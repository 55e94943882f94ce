"""The curves of a run in TensorBoard: the report of each generation, and the losses within a generation.

The two have their own folders, because a curve that a crash cut is cut by its place on the axis: by the generation in
one, by the step in the other. Only this module imports TensorBoard.
"""

from __future__ import annotations

import threading
from collections.abc import Mapping
from contextlib import ExitStack
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

import torch

from training.doctor.history import Report

if TYPE_CHECKING:
    from torch.utils.tensorboard import SummaryWriter

GROUP = "steps"
FLUSH = 20  # seconds until a step's losses are on disk


class Curves:
    """Writes a run's curves. What a crash undid is not drawn twice.

    Args:
        folder: of the run; TensorBoard's files are in its folder `tensorboard`.
        every: steps between two points of the losses; 0: none.

    Raises:
        OSError: TensorBoard's folder cannot be made.
    """

    def __init__(self, folder: Path, every: int) -> None:
        from torch.utils.tensorboard import SummaryWriter

        board = folder / "tensorboard"
        for place in (board, board / GROUP)[: 2 if every else 1]:
            place.mkdir(exist_ok=True)  # a file in its place is an error now, not after a generation
        self._every = every
        self._open_reports = partial(SummaryWriter, str(board))
        self._open_steps = partial(SummaryWriter, str(board / GROUP), flush_secs=FLUSH)
        # opened with the first number, which the curves may hold already
        self._reports: SummaryWriter | None = None
        self._steps: SummaryWriter | None = None
        self._usual, self._is_closed = threading.excepthook, False
        threading.excepthook = self._hear

    def _hear(self, fault: threading.ExceptHookArgs) -> None:
        """Leave out a full disk that TensorBoard's own thread meets: the next number that is written raises it."""
        is_tensorboards = type(fault.thread).__module__.startswith("tensorboard.")
        if self._is_closed or not (isinstance(fault.exc_value, OSError) and is_tensorboards):
            self._usual(fault)

    def report(self, found: Report, verdict: str) -> None:
        """Draw a generation's report, and its verdict as a text."""
        generation = int(found["run/generation"])
        if self._reports is None:
            self._reports = self._open_reports(purge_step=generation)
        for name, value in found.items():
            self._reports.add_scalar(name, value, generation)
        self._reports.add_text("doctor", verdict, generation)
        self._reports.flush()

    def step(self, number: int, losses: Mapping[str, torch.Tensor]) -> None:
        """Draw the losses, scalars by name, of the learner's step of that number, counted from 1, if its turn is come."""
        if not self._every or number % self._every:
            return
        from tensorboard.compat.proto.summary_pb2 import Summary

        if self._steps is None:
            self._steps = self._open_steps(purge_step=number)
        numbers = torch.stack(list(losses.values())).tolist()
        points = [
            Summary.Value(tag=f"{GROUP}/{name}", simple_value=value)
            for name, value in zip(losses, numbers, strict=True)
        ]
        # one event for all of them: ten calls of add_scalar would cost a small network 2 % of its step
        writer: Any = self._steps.file_writer
        writer.add_summary(Summary(value=points), number)

    def close(self) -> None:
        """Write what is waiting, and close the files."""
        try:
            with ExitStack() as boards:  # both, also where one cannot be written
                for board in (self._reports, self._steps):
                    if board is not None:
                        boards.callback(board.close)
        finally:
            self._is_closed = True
            if threading.excepthook == self._hear:
                threading.excepthook = self._usual
