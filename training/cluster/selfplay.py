"""Self-play and the gate's matches of a run on a cluster.

In the sequential and the semi-asynchronous mode the tasks of a round are played at once. In the asynchronous mode each
slot goes on by itself, and a checkpoint holds for each pool the state that its task began from.
"""

from __future__ import annotations

import time
from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np
import torch
from ray.util.metrics import Gauge
from torch import nn

from training.cluster.messages import Counts, PackedPool, PlayMatch, PlayTask, TaskResult
from training.cluster.pool import ClusterPool, Job
from training.cluster.worker import packed, put
from training.matches.match import MatchGame
from training.run.gate import MatchPart
from training.selfplay.local import Found, Key, LocalSelfPlay, SelfPlay, Task, TaskEnd
from training.selfplay.pool import Stop
from training.selfplay.resign import Calibration
from training.settings.config import LoopSettings

SHOWN = 64  # workers in the report, each by itself


class ClusterSelfPlay(SelfPlay):
    """Plays tasks on the workers of a cluster."""

    def __init__(self, settings: LoopSettings, net: nn.Module, threads: int, workers: ClusterPool) -> None:
        """`threads`: CPU threads of an evaluator in this process."""
        super().__init__(settings, net, threads, "cpu")
        self.playing.cpu()
        self.streams, self._workers = settings.mode == "asynchronous", workers
        self._pools: dict[Key, PackedPool] = {}  # as their last task left them
        self._jobs: dict[Job, Task] = {}
        self._weights = put(workers.number(), 0, self.playing)
        self._behind: list[int] = []  # versions, of each game since the last report
        self._gauges: dict[str, Gauge] = {}  # the report in Ray's metrics

    def take_weights(self, state: dict[str, torch.Tensor]) -> None:
        super().take_weights(state)
        with self._lock:
            self._weights = put(self._workers.number(), self._version, self.playing)
            jobs = list(self._jobs)
        self._workers.cut(jobs)

    def submit(self, task: Task) -> None:
        if task.key not in self._pools:
            self._pools[task.key] = packed(self._here().open_pool(task.key, task.begun))
        super().submit(task)
        with self._lock:
            order = PlayTask(self._workers.number(), task, self._pools[task.key], self._weights)
            self._jobs[self._workers.submit(order)] = task

    def take(self, stop: Stop) -> Iterator[Found]:
        for job in self._workers.first_done(list(self._jobs), stop):
            played: TaskResult | None = job.result()
            with self._lock:
                task = self._jobs.pop(job)
            self.tasks.remove(task)
            if played is None:  # it was cut before it began
                yield task, TaskEnd(0)
                continue
            assert isinstance(job.order, PlayTask)
            self._pools[task.key] = played.pool
            self._behind += [self._weights.version - job.order.weights.version] * len(played.records)
            yield from ((task, record) for record in played.records)
            yield task, played.end

    def state_dict(self) -> dict[Key, Any]:
        return {key: pool.content for key, pool in self._pools.items()}

    def load_state_dict(self, pools: dict[Key, dict[str, Any]], playing: dict[str, torch.Tensor] | None) -> list[str]:
        here = self._here()
        complaints = here.load_state_dict(pools, playing)
        self._pools = {key: packed(pool) for key, pool in here.pools.items()}
        self.hand_over(here.playing)
        return complaints

    def calibrations(self) -> list[Calibration]:
        return [Calibration.of(self.settings.selfplay, pool.resign) for pool in self._pools.values()]

    def report(self) -> dict[str, float]:
        counts, waiting = self._workers.counts()
        behind, self._behind = self._behind, []
        found = summary(counts, waiting, behind)
        for name, value in found.items():
            if name not in self._gauges:
                self._gauges[name] = Gauge(f"gozero_{name.replace('/', '_')}", "see gozero's docs/cluster.md")
            self._gauges[name].set(value)
        return found

    def _here(self) -> LocalSelfPlay:
        """Makes pools, which workers play."""
        return LocalSelfPlay(self.settings, self.playing, self.threads, "cpu")


def summary(counts: Sequence[Counts], waiting: int, behind: Sequence[int]) -> dict[str, float]:
    """The report of the workers.

    Returns:
        cluster/workers: that there are.
        cluster/worker1, ...: evaluations/s of each of the first `SHOWN`, in the order in which they joined.
        cluster/evaluations: evaluations/s of a worker, mean.
        cluster/idle: share of their time in which they had no work, 0..1.
        cluster/waiting: tasks and parts of matches that wait for a worker now.
        cluster/staleness: mean versions between the network that played a game and the newest.
    """
    now = time.monotonic()
    spans = [max(1e-9, now - each.since) for each in counts]
    speeds = [each.evaluations / span for each, span in zip(counts, spans, strict=True)]
    found = {f"cluster/worker{place}": speed for place, speed in enumerate(speeds[:SHOWN], start=1)}
    found |= {"cluster/workers": float(len(counts)), "cluster/waiting": float(waiting)}
    if counts:
        busy = [min(1.0, each.busy / span) for each, span in zip(counts, spans, strict=True)]
        found |= {"cluster/evaluations": float(np.mean(speeds)), "cluster/idle": 1.0 - float(np.mean(busy))}
    if behind:
        found["cluster/staleness"] = float(np.mean(behind))
    return found


class ClusterMatches:
    """Plays the parts of a match on the workers of a cluster; see `training.run.gate.PlayParts`."""

    def __init__(self, workers: ClusterPool) -> None:
        self._workers = workers

    def __call__(
        self, parts: Sequence[MatchPart], candidate: nn.Module, best: nn.Module, threads: int, stop: Stop, device: str
    ) -> list[MatchGame] | None:
        workers = self._workers
        pair = put(workers.number(), 0, candidate), put(workers.number(), 0, best)
        jobs = [workers.submit(PlayMatch(workers.number(), part, *pair)) for part in parts]
        left = set(jobs)
        while left:
            left -= workers.first_done(left, stop)
        games = [job.result() for job in jobs]
        return None if None in games else [game for part in games for game in part]
