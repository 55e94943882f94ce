"""The pool of a run's workers on a cluster: started where there is room, given jobs, watched, replaced.

Room for a worker is a unit of a resource that `gozero worker` offers on its machine, `gozero_worker` or, with a GPU,
`gozero_gpu_worker`. A worker is started for each that turns up. The job of a worker that dies waits again, before all
others. One thread receives the answers of all workers.
"""

from __future__ import annotations

import itertools
import threading
import time
from collections import deque
from collections.abc import Callable, Collection, Iterable
from concurrent.futures import FIRST_COMPLETED, Future, wait
from dataclasses import dataclass, field
from typing import Any

import ray
from ray.exceptions import RayTaskError

from gozero import __version__
from gozero.system.console import say
from training.cluster import GPU_WORKER, WORKER
from training.cluster.messages import About, Counts, Initialize, Order, PlayMatch, TaskResult
from training.cluster.worker import GPU_SHARE, LOST, Worker

LOOK = 1.0  # seconds between two looks for new room
POLL = 0.05  # seconds that the thread waits for a worker before it looks for new jobs
LATE = 10.0  # seconds without any worker after which this is said
TRIES = 20  # workers that may be lost with one job, before the job is taken for the cause
STARTS = 20  # workers in a row that may die as they start
CPUS = ""  # stands for no resource: a worker is started on any CPU of the cluster


class WorkersLostError(Exception):
    """Work that kills every worker that does it; one line."""


class Job(Future[Any]):
    """An order on its way to a worker. Its result is the worker's answer, None if it was withdrawn."""

    def __init__(self, order: Order) -> None:
        super().__init__()
        self.order = order
        self.tries, self.is_cut = 0, False


@dataclass(eq=False)
class PooledWorker:
    """A worker of the pool: its actor's handle, and its job."""

    handle: Any
    resource: str = WORKER  # that it takes; "": it is on a CPU of the cluster
    about: About | None = None
    refused: bool = False  # it cannot help, and has its room for as long as it lives
    job: Job | None = None
    answer: Any = None  # the reference of the answer that is awaited, to its job or to `about`
    counts: Counts = field(default_factory=lambda: Counts("", since=time.monotonic()))

    @property
    def name(self) -> str:
        return f"{self.about.host}:{self.about.process}" if self.about else "a worker"

    def greet(self) -> None:
        """Ask it who it is, or whether it is still there."""
        if self.answer is None:
            self.answer = self.handle.about.remote()


class ClusterPool:
    """The workers and their jobs. There are none before `open`."""

    def __init__(self, order: Initialize, workers: int, start: Callable[[Initialize, str], Any] | None = None) -> None:
        """`workers`: how many to start on the cluster's CPUs; 0: one for each room offered. `start` starts one, given the
        resource that it takes ("": a CPU).
        """
        self._order, self._wanted, self._start = order, workers, start or start_worker
        self._lock = threading.Lock()
        self._numbers = itertools.count(1)
        self._waiting: deque[Job] = deque()
        self._workers: list[PooledWorker] = []
        self._wake, self._opened, self._closed = threading.Event(), threading.Event(), threading.Event()
        self._looked, self._alone_since, self._warned = 0.0, time.monotonic(), False
        self._dead_starts = 0  # since the last one that came
        self._failure: Exception | None = None  # of the thread
        self._thread = threading.Thread(target=self._serve, name="worker pool", daemon=True)
        self._thread.start()

    def open(self) -> None:
        """Begin to start workers."""
        self._opened.set()

    def number(self) -> int:
        """The number of the next order."""
        with self._lock:
            return next(self._numbers)

    def submit(self, order: Order) -> Job:
        """Have an order carried out."""
        job = Job(order)
        with self._lock:
            if self._failure is None:
                self._waiting.append(job)
            else:
                job.set_exception(self._failure)
        self._wake.set()
        return job

    def first_done(self, jobs: Collection[Job], stop: Callable[[], bool]) -> set[Job]:
        """Those of some jobs that have ended, once there is one. When `stop()` is true all of them are cut."""
        while True:
            if stop():
                self.cut(jobs)
            wait(jobs, POLL, FIRST_COMPLETED)
            if done := {job for job in jobs if job.done()}:
                return done

    def cut(self, jobs: Iterable[Job]) -> None:
        """Let jobs end soon; those that wait are withdrawn."""
        with self._lock:
            fresh = {job for job in jobs if not job.is_cut}
            for job in fresh:
                job.is_cut = True
                if job in self._waiting:
                    self._waiting.remove(job)
                    job.set_result(None)
            for worker in self._workers:
                if worker.job in fresh:
                    worker.handle.cut.remote(worker.job.order.number)

    def cut_all(self) -> None:
        """Let all jobs end soon."""
        with self._lock:
            jobs = self._jobs()
        self.cut(jobs)

    def _jobs(self) -> list[Job]:
        """All jobs that wait or are with a worker; the caller has the lock."""
        return [*self._waiting, *(worker.job for worker in self._workers if worker.job)]

    def counts(self) -> tuple[list[Counts], int]:
        """(what each worker has done since the last call, jobs that wait now)."""
        with self._lock:
            now, found = time.monotonic(), []
            for worker in (each for each in self._workers if each.about):
                found.append(worker.counts)
                worker.counts = Counts(worker.name, since=now)
            return found, len(self._waiting)

    def close(self) -> None:
        """End all workers."""
        self._closed.set()
        self._wake.set()
        self._thread.join()
        for worker in self._workers:
            ray.kill(worker.handle)

    def _serve(self) -> None:
        """The thread."""
        while not self._closed.is_set():
            try:
                self._start_workers()
                self._assign()
                self._receive_ready()
            except Exception as error:  # noqa: BLE001 - a bug, or the cluster is gone: all that wait must get it
                with self._lock:
                    self._failure = error
                    jobs = self._jobs()
                for job in jobs:
                    job.set_exception(error)
                return

    def _start_workers(self) -> None:
        """Start workers where there is room."""
        now = time.monotonic()
        if not self._opened.is_set() or now < self._looked + LOOK:
            return
        self._looked = now
        for worker in self._workers:
            if worker.refused:
                worker.greet()
        room = {CPUS: self._wanted} if self._wanted else ray.cluster_resources()
        for resource in (CPUS, WORKER, GPU_WORKER):
            taken = sum(worker.resource == resource for worker in self._workers)
            for _ in range(int(room.get(resource, 0)) - taken):
                worker = PooledWorker(self._start(self._order, resource), resource)
                worker.greet()
                with self._lock:
                    self._workers.append(worker)
        if any(worker.about for worker in self._workers):
            self._alone_since, self._warned = now, False
        elif now > self._alone_since + LATE and not self._warned:
            self._warned = True
            say("waiting for workers: start gozero worker --address HOST:PORT, or give --workers")

    def _assign(self) -> None:
        """Give waiting jobs to free workers."""
        with self._lock:
            free = [worker for worker in self._workers if worker.about and worker.answer is None]
            for worker in free[: len(self._waiting)]:
                worker.job = self._waiting.popleft()
                worker.answer = worker.handle.work.remote(worker.job.order)

    def _receive_ready(self) -> None:
        """Receive all answers that are ready; wait a moment if there are none."""
        expected = {worker.answer: worker for worker in self._workers if worker.answer is not None}
        if not expected:
            self._wake.wait(POLL)
            self._wake.clear()
            return
        ready, _ = ray.wait(list(expected), num_returns=1, timeout=POLL, fetch_local=False)
        if ready and len(expected) > 1:
            ready, _ = ray.wait(list(expected), num_returns=len(expected), timeout=0, fetch_local=False)
        for reference in ready:
            self._receive(expected[reference])

    def _receive(self, worker: PooledWorker) -> None:
        """Receive the answer of a worker."""
        try:
            answer = ray.get(worker.answer)
        except LOST as error:
            self._lose(worker, error)
            return
        except RayTaskError as error:
            if worker.job is None:
                raise
            self._free(worker).set_exception(error.cause)
            return
        if worker.job is None:
            worker.answer = None
            self._admit(worker, answer)
            return
        if isinstance(answer, TaskResult):
            worker.counts.evaluations += answer.end.evaluations
            worker.counts.busy += answer.seconds
        self._free(worker).set_result(answer)

    def _admit(self, worker: PooledWorker, about: About) -> None:
        """Add a worker to the pool unless it has another version of gozero."""
        if worker.about or worker.refused:  # it was asked whether it is still there
            return
        if about.version != __version__:
            say(f"the worker on {about.host} cannot help: it has gozero {about.version}, here {__version__}")
            worker.refused = True
            return
        worker.about, self._dead_starts = about, 0
        worker.counts = Counts(worker.name, since=time.monotonic())

    def _free(self, worker: PooledWorker) -> Job:
        with self._lock:
            job, worker.job, worker.answer = worker.job, None, None
        assert job is not None
        return job

    def _lose(self, worker: PooledWorker, error: Exception) -> None:
        """A worker is gone: its job goes to another."""
        self._dead_starts += not (worker.about or worker.refused)
        if self._dead_starts >= STARTS:
            why = str(error).strip().splitlines()[-1]
            raise WorkersLostError(f"{STARTS} workers died as they started, the last one so: {why}")
        with self._lock:
            self._workers.remove(worker)
            job = worker.job
            if job is not None:
                self._wait_again(job)
        ray.kill(worker.handle)
        for each in self._workers:  # perhaps its machine is gone with others: the job must not pass through all of them
            if each.about:
                each.greet()
        self._looked = 0.0
        what = "part of a match" if job and isinstance(job.order, PlayMatch) else "task"
        say(f"{worker.name} is gone" + (f"; its {what} goes to another worker" if job else ""))

    def _wait_again(self, job: Job) -> None:
        """A job whose worker is gone waits again."""
        job.tries += 1
        if job.is_cut:
            job.set_result(None)
        elif job.tries >= TRIES:
            job.set_exception(WorkersLostError(f"{TRIES} workers were lost over the same work; see Ray's logs"))
        else:
            self._waiting.appendleft(job)


def start_worker(order: Initialize, resource: str) -> Any:
    """Start a worker in a room of that resource, or on the cluster's CPUs. Returns its handle."""
    room: dict[str, Any] = {"num_cpus": 0, "num_gpus": GPU_SHARE * (resource == GPU_WORKER), "resources": {resource: 1}}
    if resource == CPUS:
        room = {"num_cpus": max(1, order.threads), "scheduling_strategy": "SPREAD"}
    actor: Any = ray.remote(Worker)
    return actor.options(max_concurrency=2, **room).remote(order)
