"""Self-play in several processes of this machine, each with an interpreter of its own.

Of the threads of one process only one plays moves at a time (Python's interpreter lock), which a GPU waits for: see
docs/training.md, *On a GPU*. If a process dies the run ends with one line, and continues from its last checkpoint.
"""

from __future__ import annotations

import pickle
from collections.abc import Collection
from concurrent.futures import FIRST_COMPLETED, Future, ProcessPoolExecutor, wait
from concurrent.futures.process import BrokenProcessPool
from threading import Timer
from typing import Any

import torch
from torch import nn

from gozero.system.workers import IGNORED, SPAWN, blocked, settle_in
from training.selfplay.pool import Stop
from training.selfplay.remote import NetworkVersion, PlayTask, RemoteSelfPlay, TaskPlayer, TaskResult, Tensors
from training.settings.config import LoopSettings

LOOK = 0.1  # seconds between two looks at whether to stop
LAST_SECONDS = 3.0  # that the processes have to end by themselves


class WorkerLostError(Exception):
    """A worker has died; one line for the user."""

    def __str__(self) -> str:
        return f"{self.args[0]}; the run continues from its last checkpoint with the same command"


class ProcessSelfPlay(RemoteSelfPlay):
    """Plays tasks in `selfplay.processes` processes, all at once. After an error it can only be closed."""

    def __init__(self, settings: LoopSettings, net: nn.Module, threads: int, device: str) -> None:
        super().__init__(settings, net, threads, device)
        self._halt = SPAWN.RawValue("b", 0)  # without a lock: a worker that is killed would never unlock it
        processes = settings.selfplay.processes
        begun = self._halt, settings, pickle.dumps(self.playing), max(1, threads // processes), device
        self._workers = ProcessPoolExecutor(processes, SPAWN, _begin, begun)

    def close(self) -> None:
        """End the processes; those that have not ended after a while are killed."""
        self._halt.value = 1
        processes, orders = dict(self._workers._processes or {}), self._workers._call_queue  # type: ignore[attr-defined]

        def kill() -> None:
            for process in processes.values():
                process.kill()
            # else the thread that writes orders waits for a reader for ever, in older Pythons (gh-94777)
            if orders is not None:
                orders._reader.close()

        # a pool that breaks sends the others SIGTERM, which they ignore, and waits for them
        limit = Timer(0 if self._workers._broken else LAST_SECONDS, kill)
        limit.start()
        self._workers.shutdown(cancel_futures=True)  # if this is interrupted the limit stays
        limit.cancel()

    def _sent(self) -> NetworkVersion:
        arrays = {name: tensor.numpy() for name, tensor in self.playing.state_dict().items()}
        return NetworkVersion(self._version, self._version, pickle.dumps(arrays))

    def _number(self) -> int:
        return 0

    def _send(self, order: PlayTask) -> Future[Any]:
        if not self._jobs:
            self._halt.value = 0
        try:
            with blocked(IGNORED):  # the first one starts the processes
                return self._workers.submit(_play, order)
        except BrokenProcessPool:
            raise _lost() from None

    def _first_done(self, jobs: Collection[Future[Any]], stop: Stop) -> Collection[Future[Any]]:
        while True:
            if stop() or any(self._jobs[job].weights.version != self._version for job in jobs):
                self._halt.value = 1
            if done := wait(jobs, LOOK, FIRST_COMPLETED).done:
                if any(isinstance(job.exception(), BrokenProcessPool) for job in done):
                    raise _lost() from None
                return done


def _lost() -> WorkerLostError:
    return WorkerLostError(
        "a process of self-play was killed, perhaps because memory was full: fewer selfplay.processes or "
        "selfplay.games need less"
    )


class _Process:
    """What a process works with, from its start on."""

    halt: Any
    arguments: tuple[LoopSettings, nn.Module, int, str]
    player: TaskPlayer | None = None


def _begin(halt: Any, settings: LoopSettings, net: bytes, threads: int, device: str) -> None:
    """The beginning of a process."""
    settle_in(IGNORED)
    torch.set_num_threads(threads)
    _Process.halt, _Process.arguments = halt, (settings, pickle.loads(net), threads, device)


def _play(order: PlayTask) -> TaskResult:
    """Carry out an order in a process."""
    if _Process.player is None:
        _Process.player = TaskPlayer(*_Process.arguments)
    return _Process.player.play(order, _tensors, lambda: bool(_Process.halt.value))


def _tensors(arrays: bytes) -> Tensors:
    return {name: torch.from_numpy(array) for name, array in pickle.loads(arrays).items()}
