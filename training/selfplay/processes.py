"""Self-play in several processes of this machine, each with an interpreter of its own.

Of the threads of one process only one plays moves at a time (Python's interpreter lock), which a GPU waits for: see
docs/training.md, *On a GPU*. If a process dies the run ends with one line, and continues from its last checkpoint.
"""

from __future__ import annotations

import copy
import pickle
import sys
from collections.abc import Collection
from concurrent.futures import Future, ProcessPoolExecutor
from concurrent.futures.process import BrokenProcessPool
from typing import Any

import torch
from torch import nn

from gozero.system.workers import IGNORED, SPAWN, blocked, settle_in
from training.selfplay.remote import KILLED, NetworkVersion, PlayTask, TaskPlayer, TaskResult, WorkerLostError
from training.settings.config import LoopSettings


class ProcessWorkers:
    """`selfplay.processes` processes, which play the tasks of a round. After an error they can only be closed."""

    def __init__(self, settings: LoopSettings, net: nn.Module, threads: int, device: str) -> None:
        """As `LocalSelfPlay`; the processes start with the first order."""
        self._halt = SPAWN.RawValue("b", 0)  # without a lock: a worker that is killed would never unlock it
        self._jobs: set[Future[Any]] = set()  # of the round
        processes, copied = settings.selfplay.processes, pickle.dumps(copy.deepcopy(net).cpu())
        begun = self._halt, settings, copied, max(1, threads // processes), device
        self._executor = ProcessPoolExecutor(processes, SPAWN, _begin, begun)

    def close(self) -> None:
        """End the processes, which have nothing to save."""
        orders = self._executor._call_queue  # type: ignore[attr-defined]
        for process in list((self._executor._processes or {}).values()):
            process.kill()
        # else its thread waits for a reader for ever (gh-94777); newer Pythons close it, and twice is once too often:
        # by then another file may have its descriptor
        if sys.version_info < (3, 11, 5) and orders is not None:
            orders._reader.close()
        self._executor.shutdown(cancel_futures=True)

    def put(self, net: nn.Module, version: int) -> NetworkVersion:
        arrays = {name: tensor.numpy() for name, tensor in net.state_dict().items()}
        return NetworkVersion(version, version, pickle.dumps(arrays))

    def submit(self, order: PlayTask) -> Future[Any]:
        self._jobs = {job for job in self._jobs if not job.done()}
        if not self._jobs:
            self._halt.value = 0
        try:
            with blocked(IGNORED):  # the first one starts the processes
                job = self._executor.submit(_play, order)
        except BrokenProcessPool:
            raise WorkerLostError(KILLED) from None
        self._jobs.add(job)
        return job

    def cut(self, jobs: Collection[Future[Any]]) -> None:
        if jobs:
            self._halt.value = 1

    def report(self) -> dict[str, float]:
        return {}


class _Process:
    """What a process works with, from its start on."""

    halt: Any
    arguments: tuple[LoopSettings, nn.Module, int, str]
    player: TaskPlayer | None = None


def _begin(halt: Any, settings: LoopSettings, net: bytes, threads: int, device: str) -> None:
    settle_in(IGNORED)
    torch.set_num_threads(threads)
    _Process.halt, _Process.arguments = halt, (settings, pickle.loads(net), threads, device)


def _play(order: PlayTask) -> TaskResult:
    if _Process.player is None:
        _Process.player = TaskPlayer(*_Process.arguments)
    return _Process.player.play(order, _tensors, lambda: bool(_Process.halt.value))


def _tensors(arrays: bytes) -> dict[str, torch.Tensor]:
    return {name: torch.from_numpy(array) for name, array in pickle.loads(arrays).items()}
