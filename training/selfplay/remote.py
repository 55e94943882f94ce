"""Self-play by workers elsewhere, in processes of this machine or on a cluster: the orders that they get, what a worker
does with one, and the side that sends them.

An order says all that is needed, so a worker keeps nothing that would be lost with it, and the games are the same
in whatever process. Between its tasks the state of each pool is here, as the worker compressed it.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Collection, Generator
from concurrent.futures import FIRST_COMPLETED, Future, wait
from concurrent.futures.process import BrokenProcessPool
from dataclasses import dataclass
from typing import Any, NamedTuple, Protocol

import numpy as np
import torch
from torch import nn

from training.records.records import Record
from training.selfplay.local import Found, Key, LocalSelfPlay, SelfPlay, Task, TaskEnd
from training.selfplay.pool import Stop
from training.selfplay.resign import Calibration
from training.settings.config import LoopSettings
from training.storage import checkpoint

POLL = 0.05  # seconds between two looks at whether to stop
KILLED = (
    "a process of self-play was killed, perhaps because memory was full: fewer selfplay.processes or selfplay.games "
    "need less"
)
Tensors = dict[str, torch.Tensor]


class WorkerLostError(Exception):
    """A worker has died; one line for the user."""

    def __str__(self) -> str:
        return f"{self.args[0]}; the run continues from its last checkpoint with the same command"


class NetworkVersion(NamedTuple):
    """A network's tensors, on their way."""

    number: int  # of no other network that the same workers may have
    version: int  # how many networks played before
    reference: Any  # to the tensors, or these as bytes


@dataclass(frozen=True)
class PlayTask:
    """The order to play a task. The answer is a `TaskResult`, or None if it was cut before it began."""

    task: Task
    pool: bytes  # the state that it goes on from, by `training.storage.checkpoint.compress`
    weights: NetworkVersion


@dataclass(frozen=True)
class TaskResult:
    """A task has ended, or was cut: its games, and the pool then."""

    records: list[Record]
    end: TaskEnd
    pool: bytes
    seconds: float  # of work


class TaskPlayer:
    """What a worker plays orders with: the pool and the network that it had last are caches."""

    def __init__(self, settings: LoopSettings, net: nn.Module, threads: int, device: str) -> None:
        """As `LocalSelfPlay`."""
        self._selfplay, self._network = LocalSelfPlay(settings, net, threads, device), -1

    def play(self, order: PlayTask, tensors: Callable[[Any], Tensors], stop: Stop) -> TaskResult:
        """Play a task; `tensors` finds those that the order refers to."""
        began, key, local = time.monotonic(), order.task.key, self._selfplay
        if order.weights.number != self._network:
            local.take_weights(tensors(order.weights.reference))
            self._network = order.weights.number
        if complaint := local.load_pool(key, checkpoint.decompress(order.pool)):
            raise RuntimeError(complaint)
        local.tasks = [order.task]
        *records, end = local.take(stop)
        local.pools = {key: local.pools[key]}  # those of other slots would keep their trees
        assert isinstance(end, TaskEnd)
        games = [each for each in records if isinstance(each, Record)]
        return TaskResult(games, end, checkpoint.compress(local.pools[key].state_dict()), time.monotonic() - began)


class Workers(Protocol):
    """Processes that carry out orders: `processes.ProcessWorkers`, or a cluster's."""

    def put(self, net: nn.Module, version: int) -> NetworkVersion:
        """Make a network ready for the workers."""

    def submit(self, order: PlayTask) -> Future[Any]:
        """Send an order to a worker. The result may be a WorkerLostError."""

    def cut(self, jobs: Collection[Future[Any]]) -> None:
        """Let jobs end soon; any thread may call it."""

    def report(self) -> dict[str, float]:
        """Numbers about the workers since the last report."""

    def close(self) -> None:
        """End the workers."""


class RemoteSelfPlay(SelfPlay):
    """Plays tasks by sending orders to workers."""

    def __init__(
        self, settings: LoopSettings, net: nn.Module, threads: int, workers: Workers, streams: bool = False
    ) -> None:
        super().__init__(settings, net, threads, "cpu")
        self.playing.cpu()
        self.streams, self.workers = streams, workers
        self._pools: dict[Key, bytes] = {}  # as their last task left them
        self._jobs: dict[Future[Any], PlayTask] = {}
        self._weights = workers.put(self.playing, self._version)
        self._behind: list[int] = []  # versions, of each game since the last report

    def take_weights(self, state: Tensors) -> None:
        super().take_weights(state)
        with self._lock:
            self._weights = self.workers.put(self.playing, self._version)
            jobs = list(self._jobs)
        self.workers.cut(jobs)

    def submit(self, task: Task) -> None:
        if task.key not in self._pools:
            pool = self._here().open_pool(task.key, task.begun)
            self._pools[task.key] = checkpoint.compress(pool.state_dict())
        super().submit(task)
        with self._lock:
            order = PlayTask(task, self._pools[task.key], self._weights)
            self._jobs[self.workers.submit(order)] = order

    def take(self, stop: Stop) -> Generator[Found]:
        jobs = list(self._jobs)
        done = set[Future[Any]]()
        while not done:
            if stop():
                self.workers.cut(jobs)
            done = wait(jobs if self.streams else jobs[:1], POLL, FIRST_COMPLETED).done
        for job in done:
            try:
                played: TaskResult | None = job.result()
            except BrokenProcessPool:
                raise WorkerLostError(KILLED) from None
            with self._lock:
                order = self._jobs.pop(job)
            self.tasks.remove(order.task)
            if played is not None:
                self._pools[order.task.key] = played.pool
                self._behind += [self._weights.version - order.weights.version] * len(played.records)
                yield from played.records
            yield played.end if played else TaskEnd(0)

    def report(self) -> dict[str, float]:
        """The workers' report; with cluster/staleness: mean versions between the network that played a game and the
        newest.
        """
        behind, self._behind = self._behind, []
        found = self.workers.report()
        return found | {"cluster/staleness": float(np.mean(behind))} if found and behind else found

    def close(self) -> None:
        self.workers.close()

    def state_dict(self) -> dict[Key, Any]:
        return dict(self._pools)

    def load_state_dict(self, pools: dict[Key, dict[str, Any]], playing: Tensors | None) -> list[str]:
        here = self._here()
        complaints = here.load_state_dict(pools, playing)
        self._pools = {key: checkpoint.compress(pool) for key, pool in here.state_dict().items()}
        self.take_weights(here.playing.state_dict())
        return complaints

    def calibrations(self) -> list[Calibration]:
        states = (checkpoint.decompress(self._pools[key]) for key in sorted(self._pools))
        return [Calibration.of(self.settings.selfplay, state["resign"]) for state in states]

    def _here(self) -> LocalSelfPlay:
        """Makes pools, which workers play."""
        return LocalSelfPlay(self.settings, self.playing, self.threads, "cpu")
