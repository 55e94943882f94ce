"""The workers of a run on a cluster: started where there is room, given orders, replaced when they die.

Room for a worker is a unit of a resource that `gozero worker` offers on its machine, `gozero_worker` or, with a GPU,
`gozero_gpu_worker`. One thread starts the workers, gives each that is idle the next order and takes the answers. The
order of a worker that dies goes to another, before all that wait.
"""

from __future__ import annotations

import itertools
import threading
import time
from collections import Counter, deque
from collections.abc import Callable, Collection, Sequence
from concurrent.futures import Future, wait
from dataclasses import dataclass
from functools import partial
from typing import Any

import numpy as np
import ray
from ray.exceptions import ObjectLostError, OutOfMemoryError, RayActorError, RayTaskError
from torch import nn

from gozero import __version__
from gozero.system.console import say
from gozero.system.machine import available_threads
from training.cluster import GPU_WORKER, WORKER
from training.cluster.worker import Order, PlayMatch, Worker
from training.matches.match import MatchGame
from training.run.backend import LocalBackend
from training.run.gate import MatchPart
from training.selfplay.pool import Stop
from training.selfplay.remote import POLL, NetworkVersion, RemoteSelfPlay, TaskResult, WorkerLostError
from training.settings.config import LoopSettings

LOOK = 1.0  # seconds between two looks for new room
LATE = 10.0  # seconds without any worker after which this is said
TRIES = 20  # workers that may be lost with one order, before the order is taken for the cause
STARTS = 20  # workers in a row that may die as they start
LOST = (RayActorError, ObjectLostError, OutOfMemoryError)  # an actor is gone; the last: memory was full
GPU_SHARE = 0.5  # of a GPU that a worker with one takes
SHOWN = 64  # workers in the report, each by itself


class Job(Future[Any]):
    """An order for a worker. Its result is the worker's answer, None if it was cut before it began."""

    def __init__(self, number: int, order: Order) -> None:
        super().__init__()
        self.number, self.order = number, order
        self.tries, self.is_cut = 0, False


@dataclass(eq=False)
class PooledWorker:
    """A worker of the pool, and what it has done since the last report."""

    resource: str  # whose room it takes
    handle: Any  # of its actor
    end: Any  # reference to an answer that never comes: it fails when the worker is gone
    answer: Any  # reference to who it is and then to the answer to its order; None: it is idle, or cannot help
    name: str = ""  # once it has joined
    job: Job | None = None
    since: float = 0.0  # time.monotonic
    evaluations: int = 0
    busy: float = 0.0  # seconds


class ClusterPool:
    def __init__(self, settings: LoopSettings, start: Callable[[str], Any] | None = None) -> None:
        """`start` starts a worker in a room of a resource."""
        self._start = start or partial(start_worker, settings)
        self._numbers = itertools.count(1)
        self._lock = threading.Lock()  # of all that follows
        self._waiting: deque[Job] = deque()
        self._workers: list[PooledWorker] = []
        self._dead_starts = 0  # since the last one that came
        self._failure: Exception | None = None
        self._alone_since: float | None = time.monotonic()  # without any worker; None: that has been said
        self._closed = threading.Event()
        self._thread = threading.Thread(target=self._dispatch, name="worker pool", daemon=True)
        self._thread.start()

    def put(self, net: nn.Module, version: int) -> NetworkVersion:
        """Put a network's tensors into the object store, from where each machine fetches them once."""
        arrays = {name: tensor.cpu().numpy() for name, tensor in net.state_dict().items()}
        return NetworkVersion(next(self._numbers), version, ray.put(arrays))

    def submit(self, order: Order) -> Job:
        """Have an order carried out."""
        job = Job(next(self._numbers), order)
        with self._lock:
            if self._failure is None:
                self._waiting.append(job)
            else:
                job.set_exception(self._failure)
        return job

    def cut(self, jobs: Collection[Any]) -> None:
        """Let jobs end soon; those that wait are withdrawn."""
        with self._lock:
            fresh = {job for job in jobs if not job.is_cut}
            for job in fresh:
                job.is_cut = True
                if job in self._waiting:
                    self._waiting.remove(job)
                    job.set_result(None)
            for worker in self._workers:
                if worker.job is not None and worker.job in fresh:
                    worker.handle.cut.remote(worker.job.number)

    def report(self) -> dict[str, float]:
        """What the workers have done since the last report.

        Returns:
            cluster/workers: that there are.
            cluster/worker1, ...: evaluations/s of each of the first `SHOWN`, in the order in which they joined.
            cluster/evaluations: evaluations/s of a worker, mean.
            cluster/idle: share of their time in which they had no work, 0..1.
            cluster/waiting: tasks and parts of matches that wait for a worker now.
        """
        now, speeds, busy = time.monotonic(), list[float](), list[float]()
        with self._lock:
            for worker in filter(lambda worker: worker.name, self._workers):
                span = max(1e-9, now - worker.since)
                speeds.append(worker.evaluations / span)
                busy.append(min(1.0, worker.busy / span))
                worker.since, worker.evaluations, worker.busy = now, 0, 0.0
            found = {"cluster/workers": float(len(speeds)), "cluster/waiting": float(len(self._waiting))}
        found |= {f"cluster/worker{place}": speed for place, speed in enumerate(speeds[:SHOWN], start=1)}
        if speeds:
            found |= {"cluster/evaluations": float(np.mean(speeds)), "cluster/idle": 1.0 - float(np.mean(busy))}
        return found

    def close(self) -> None:
        """End all workers."""
        self._closed.set()
        self._thread.join()
        while self._workers:
            ray.kill(self._workers.pop().handle)

    def _dispatch(self) -> None:
        """The thread's work. Its own failures end all jobs: a bug, or the cluster is gone."""
        look = 0.0
        try:
            while not self._closed.is_set() and self._failure is None:
                if time.monotonic() >= look:
                    self._start_workers()
                    look = time.monotonic() + LOOK
                self._assign()
                asked = [each for worker in self._workers for each in (worker.end, worker.answer) if each is not None]
                ready = set(ray.wait(asked, num_returns=len(asked), timeout=POLL)[0]) if asked else set()
                if not asked:
                    self._closed.wait(POLL)
                for worker in list(self._workers):
                    if came := [each for each in (worker.end, worker.answer) if each in ready]:
                        self._receive(worker, came[0])
        except Exception as error:  # noqa: BLE001
            self._fail(error)

    def _start_workers(self) -> None:
        room = ray.cluster_resources()
        taken = Counter(worker.resource for worker in self._workers)
        for resource in (WORKER, GPU_WORKER):
            for _ in range(int(room.get(resource, 0)) - taken[resource]):
                handle = self._start(resource)
                worker = PooledWorker(resource, handle, handle.wait_for_end.remote(), handle.about.remote())
                with self._lock:
                    self._workers.append(worker)
        if any(worker.name for worker in self._workers):
            self._alone_since = time.monotonic()
        elif self._alone_since is not None and time.monotonic() > self._alone_since + LATE:
            self._alone_since = None
            say("waiting for workers: start gozero worker --address HOST:PORT")

    def _assign(self) -> None:
        """Give each worker that is idle the next order."""
        with self._lock:
            for worker in self._workers:
                if self._waiting and worker.name and worker.job is None:
                    worker.job = self._waiting.popleft()
                    worker.answer = worker.handle.work.remote(worker.job.number, worker.job.order)

    def _receive(self, worker: PooledWorker, came: Any) -> None:
        """Take what a worker has answered, or that it is gone."""
        try:
            answer = ray.get(came)
        except LOST as error:
            self._lose(worker, error)
            return
        except RayTaskError as error:
            answer = error.cause
        job, worker.answer = worker.job, None
        if job is None:
            self._welcome(worker, answer)
            return
        with self._lock:
            worker.job = None
            if isinstance(answer, TaskResult):
                worker.evaluations += answer.end.evaluations
                worker.busy += answer.seconds
        if isinstance(answer, Exception):
            job.set_exception(answer)
        else:
            job.set_result(answer)

    def _welcome(self, worker: PooledWorker, about: Any) -> None:
        """Let a worker that has started join. One of another version of gozero keeps its room until its end."""
        if isinstance(about, Exception):
            raise about
        host, process, version = about
        if version != __version__:
            say(f"the worker on {host} cannot help: it has gozero {version}, here {__version__}")
            return
        with self._lock:
            self._dead_starts = 0
            worker.name, worker.since = f"{host}:{process}", time.monotonic()

    def _lose(self, worker: PooledWorker, error: Exception) -> None:
        """A worker is gone: its job goes to another."""
        with self._lock:
            self._workers.remove(worker)
            job = worker.job
            if job is not None:
                self._retry(job)
        ray.kill(worker.handle)
        if worker.name:
            part = "part of a match" if job and isinstance(job.order, PlayMatch) else "task"
            say(f"{worker.name} is gone" + (f"; its {part} goes to another worker" if job else ""))
        elif worker.answer is not None:
            self._dead_starts += 1
            if self._dead_starts >= STARTS:
                why = str(error).strip().splitlines()[-1]
                self._fail(WorkerLostError(f"{STARTS} workers died as they started, the last one so: {why}"))

    def _retry(self, job: Job) -> None:
        """Let a job that was lost be done again, unless it has been cut or tried too often."""
        job.tries += 1
        if job.is_cut:
            job.set_result(None)
        elif job.tries < TRIES:
            self._waiting.appendleft(job)
        else:
            job.set_exception(WorkerLostError(f"{TRIES} workers were lost over the same work; see Ray's logs"))

    def _fail(self, error: Exception) -> None:
        """The cluster is gone, or no worker can start: all that wait get the error."""
        with self._lock:
            self._failure = error
            for job in (*self._waiting, *(worker.job for worker in self._workers if worker.job)):
                job.set_exception(error)
            self._waiting.clear()


def start_worker(settings: LoopSettings, resource: str) -> Any:
    """Start a worker in a room of that resource. Returns its handle."""
    gpus, actor = GPU_SHARE * (resource == GPU_WORKER), ray.remote(Worker)
    room = {"num_cpus": 0, "num_gpus": gpus, "resources": {resource: 1}}
    return actor.options(max_concurrency=3, **room).remote(settings)


class ClusterBackend(LocalBackend):
    """Self-play and the gate's matches on a cluster; the learner is in this process."""

    def __init__(self, workers: ClusterPool) -> None:
        self._workers = workers

    def selfplay(self, settings: LoopSettings, net: nn.Module) -> RemoteSelfPlay:
        streams = settings.mode == "asynchronous"
        return RemoteSelfPlay(settings, net, settings.threads or available_threads(), self._workers, streams)

    def play_match(
        self, parts: Sequence[MatchPart], candidate: nn.Module, best: nn.Module, stop: Stop
    ) -> list[MatchGame] | None:
        pair = self._workers.put(candidate, 0), self._workers.put(best, 0)
        jobs = [self._workers.submit(PlayMatch(part, *pair)) for part in parts]
        while wait(jobs, POLL).not_done:
            if stop():
                self._workers.cut(jobs)
        games = [job.result() for job in jobs]
        return None if None in games else [game for part in games for game in part]
