"""Self-play and the gate's matches of a run on a cluster.

In the sequential and the semi-asynchronous mode the stretches of a round are played at once and reported in the order
of the seats. In the asynchronous mode (`streams`) each seat goes on by itself. A checkpoint holds for each pool the
state that its stretch began from and the games that are in the shard since, so that these are not recorded twice.
"""

from __future__ import annotations

import copy
import threading
import time
from collections.abc import Callable, Iterator, Sequence
from queue import Empty, SimpleQueue
from typing import Any

import numpy as np
import torch
from ray.util.metrics import Gauge
from torch import nn

from training.cluster.messages import Counts, Evaluate, Games, MatchEnd, PackedPool, SelfPlay, StretchEnd
from training.cluster.pool import Job, WorkerPool
from training.cluster.worker import put
from training.matches.match import MatchGame
from training.records.records import Record
from training.run.gate import MatchPart
from training.selfplay.crew import Key, LocalCrew, Stop, Stretch, StretchOver
from training.selfplay.resign import Calibration
from training.settings.config import LoopSettings

POLL = 0.1  # seconds between two looks at whether to stop
SHOWN = 64  # workers in the report, each by itself


class ClusterSelfPlay:
    """Plays stretches on the workers of a cluster; see `training.selfplay.crew.SelfPlayCrew`."""

    def __init__(self, settings: LoopSettings, net: nn.Module, threads: int, workers: WorkerPool) -> None:
        """`net` is copied; `threads`: CPU threads of an evaluator in this process."""
        self.settings, self.threads, self._workers = settings, threads, workers
        self.streams = settings.mode == "asynchronous"
        self.playing = copy.deepcopy(net).cpu().eval().requires_grad_(False)
        self._pools: dict[Key, PackedPool] = {}  # as their last stretch left them
        self._recorded: dict[Key, set[int]] = {}
        self._inbox: SimpleQueue[Any] = SimpleQueue()  # of the stretches that were submitted
        self._jobs: dict[Key, Job] = {}  # those under way
        self._lock = threading.Lock()
        self._weights = put(workers.number(), 0, self.playing)
        self._behind: list[int] = []  # versions, of each game since the last report
        self._gauges: dict[str, Gauge] = {}  # the report in Ray's metrics

    def hand_over(self, net: nn.Module) -> None:
        with self._lock:
            self.playing.load_state_dict(net.state_dict())
            self._weights = put(self._workers.number(), self._weights.version + 1, self.playing)
            under_way = list(self._jobs.values()) if self.streams else []
        self._workers.cut(under_way)

    def play(self, stretches: Sequence[Stretch], stop: Stop) -> Iterator[Record | StretchOver]:
        inboxes: list[SimpleQueue[Any]] = [SimpleQueue() for _ in stretches]
        for stretch, inbox in zip(stretches, inboxes, strict=True):
            self._begin(stretch, inbox)
        try:
            for stretch, inbox in zip(stretches, inboxes, strict=True):
                while stretch.key in self._jobs:
                    yield from self._tell(*self._next(inbox, stop))
        finally:  # the caller went away, or something failed
            self._workers.cut([self._jobs.pop(stretch.key) for stretch in stretches if stretch.key in self._jobs])

    def submit(self, stretch: Stretch) -> None:
        self._begin(stretch, self._inbox)

    def under_way(self) -> list[Stretch]:
        """The stretches that were submitted and have not ended."""
        return [job.order.stretch for job in self._jobs.values() if isinstance(job.order, SelfPlay)]

    def take(self, stop: Stop) -> Iterator[Record | StretchOver]:
        yield from self._tell(*self._next(self._inbox, stop))
        while self._jobs and (stop() or not self._inbox.empty()):
            yield from self._tell(*self._next(self._inbox, stop))

    def state_dict(self) -> dict[Key, dict[str, Any]]:
        return {key: self._pool(key).saved() for key in self._pools}

    def load_state_dict(self, pools: dict[Key, dict[str, Any]], playing: dict[str, torch.Tensor] | None) -> list[str]:
        here = LocalCrew(self.settings, self.playing, self.threads, "cpu")
        complaints = here.load_state_dict(pools, playing)
        self._pools = {key: PackedPool.of(state) for key, state in here.state_dict().items()}
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

    def close(self) -> None:
        """Nothing has to be ended: the workers are the coordinator's."""

    def _begin(self, stretch: Stretch, inbox: SimpleQueue[Any]) -> None:
        """Order a stretch from the state of its pool."""
        if stretch.key not in self._pools:
            self._pools[stretch.key] = self._new_pool(stretch)
        with self._lock:
            order = SelfPlay(self._workers.number(), stretch, self._pool(stretch.key), self._weights)
            self._jobs[stretch.key] = self._workers.submit(order, inbox)

    def _pool(self, key: Key) -> PackedPool:
        """A pool, with the games recorded since."""
        return self._pools[key].beyond(self._recorded.get(key, ()))

    def _new_pool(self, stretch: Stretch) -> PackedPool:
        here = LocalCrew(self.settings, self.playing, self.threads, "cpu")
        return PackedPool.of(here.open_pool(stretch.key, stretch.begun).state_dict())

    def _next(self, inbox: SimpleQueue[Any], stop: Stop) -> tuple[Job, Any]:
        """`next_answer` of what is under way."""
        return next_answer(self._workers, list(self._jobs.values()), inbox, stop)

    def _tell(self, job: Job, answer: Games | StretchEnd | None) -> Iterator[Record | StretchOver]:
        """What an answer means for the actor; None: the job was withdrawn before it began."""
        assert isinstance(job.order, SelfPlay)
        key = job.order.stretch.key
        if isinstance(answer, Games):
            for record in answer.records:
                self._recorded.setdefault(key, set()).add(record.number)
                self._behind.append(self._weights.version - job.order.weights.version)
                yield record
            return
        del self._jobs[key]
        if answer is not None:
            self._pools[key] = answer.pool
            self._recorded.pop(key, None)
            yield StretchOver(answer.evaluations)


def summary(counts: Sequence[Counts], waiting: int, behind: Sequence[int]) -> dict[str, float]:
    """The report of the workers.

    Returns:
        cluster/workers: that there are.
        cluster/worker1, ...: evaluations/s of each of the first `SHOWN`, in the order in which they joined.
        cluster/evaluations: evaluations/s of a worker, mean.
        cluster/idle: share of their time in which they had no work, 0..1.
        cluster/waiting: stretches and parts of matches that wait for a worker now.
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

    def __init__(self, workers: WorkerPool) -> None:
        self._workers = workers

    def __call__(
        self,
        parts: Sequence[MatchPart],
        candidate: nn.Module,
        best: nn.Module,
        threads: int,
        stop: Callable[[], bool],
        device: str,
    ) -> list[MatchGame] | None:
        inbox: SimpleQueue[Any] = SimpleQueue()
        pair = put(self._workers.number(), 0, candidate), put(self._workers.number(), 0, best)
        jobs = [self._workers.submit(Evaluate(self._workers.number(), part, *pair), inbox) for part in parts]
        found: dict[int, tuple[MatchGame, ...] | None] = {}  # by the order's number; None: cut
        while len(found) < len(jobs):
            job, answer = next_answer(self._workers, jobs, inbox, stop)
            found[job.order.number] = answer.games if isinstance(answer, MatchEnd) else None
        if any(job.is_cut for job in jobs):
            return None
        games = [found[job.order.number] for job in jobs]
        return None if None in games else [game for part in games for game in part or ()]


def next_answer(workers: WorkerPool, jobs: Sequence[Job], inbox: SimpleQueue[Any], stop: Stop) -> tuple[Job, Any]:
    """The next that comes from one of these jobs; where `stop()` is true all of them are cut. Raises what it is,
    if it is an exception.
    """
    while True:
        if stop():
            workers.cut(jobs)
        try:
            job, answer = inbox.get(timeout=POLL)
        except Empty:
            continue
        if isinstance(answer, BaseException):
            raise answer
        return job, answer
