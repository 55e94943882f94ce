"""Self-play and the gate's matches of a run on a cluster.

In the sequential and the semi-asynchronous mode the tasks of a round are played at once. In the asynchronous mode each
slot goes on by itself, and a checkpoint holds for each pool the state that its task began from.
"""

from __future__ import annotations

import time
from collections.abc import Collection, Sequence
from typing import Any

import numpy as np
from torch import nn

from training.cluster.pool import ClusterPool, Counts, Job
from training.cluster.worker import PlayMatch, put
from training.matches.match import MatchGame
from training.run.gate import MatchPart
from training.selfplay.pool import Stop
from training.selfplay.remote import NetworkVersion, PlayTask, RemoteSelfPlay, TaskResult
from training.settings.config import LoopSettings

SHOWN = 64  # workers in the report, each by itself


class ClusterSelfPlay(RemoteSelfPlay):
    """Plays tasks on the workers of a cluster."""

    def __init__(self, settings: LoopSettings, net: nn.Module, threads: int, workers: ClusterPool) -> None:
        """`threads`: CPU threads of an evaluator in this process."""
        self._workers = workers
        super().__init__(settings, net, threads, "cpu")
        self.streams = settings.mode == "asynchronous"
        self._behind: list[int] = []  # versions, of each game since the last report

    def _sent(self) -> NetworkVersion:
        return put(self._number(), self._version, self.playing)

    def _number(self) -> int:
        return self._workers.number()

    def _send(self, order: PlayTask) -> Job:
        return self._workers.submit(order)

    def _first_done(self, jobs: Collection[Any], stop: Stop) -> Collection[Job]:
        return self._workers.first_done(jobs, stop)

    def _cut(self, jobs: Collection[Any]) -> None:
        self._workers.cut(jobs)

    def _note(self, order: PlayTask, played: TaskResult) -> None:
        self._behind += [self._weights.version - order.weights.version] * len(played.records)

    def report(self) -> dict[str, float]:
        counts, waiting = self._workers.counts()
        behind, self._behind = self._behind, []
        return summary(counts, waiting, behind)


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
