"""The workers of a run on a cluster: started where there is room, given jobs, replaced when they die.

Room for a worker is a unit of a resource that `gozero worker` offers on its machine, `gozero_worker` or, with a GPU,
`gozero_gpu_worker`. Each worker has a thread here, which gives it a job and waits for the answer. The job of a worker
that dies goes to another, before all that wait.
"""

from __future__ import annotations

import itertools
import threading
import time
from collections import deque
from collections.abc import Callable, Collection, Iterable
from concurrent.futures import FIRST_COMPLETED, Future, wait
from dataclasses import dataclass
from functools import partial
from typing import Any

import ray
from ray.exceptions import RayTaskError

from gozero import __version__
from gozero.system.console import say
from training.cluster import GPU_WORKER, WORKER
from training.cluster.worker import GPU_SHARE, LOST, Order, PlayMatch, Worker
from training.selfplay.processes import WorkerLostError
from training.selfplay.remote import TaskResult
from training.settings.config import LoopSettings

LOOK = 1.0  # seconds between two looks for new room
POLL = 0.05  # seconds between two looks at whether to stop
LATE = 10.0  # seconds without any worker after which this is said
TRIES = 20  # workers that may be lost with one job, before the job is taken for the cause
STARTS = 20  # workers in a row that may die as they start
CPUS = ""  # stands for no resource: a worker is started on any CPU of the cluster


class Job(Future[Any]):
    """An order for a worker. Its result is the worker's answer, None if it was cut before it began."""

    def __init__(self, order: Order) -> None:
        super().__init__()
        self.order = order
        self.tries, self.is_cut = 0, False


@dataclass
class Counts:
    """What a worker has done since the last report."""

    name: str
    since: float  # time.monotonic
    evaluations: int = 0
    busy: float = 0.0  # seconds


@dataclass(eq=False)
class PooledWorker:
    """A worker of the pool: its actor's handle, its counts once it has joined, and its job."""

    handle: Any
    counts: Counts | None = None
    job: Job | None = None


class ClusterPool:
    """The workers and their jobs. There are none before `open`."""

    def __init__(
        self, settings: LoopSettings, threads: int, workers: int, start: Callable[[str], Any] | None = None
    ) -> None:
        """`threads`: CPU threads of a worker, 0 for what its machine offers; `workers`: how many to start on the
        cluster's CPUs, 0 for one in each room offered. `start` starts one, given its resource ("": a CPU).
        """
        self._wanted, self._start = workers, start or partial(start_worker, settings, threads)
        self._numbers = itertools.count(1)
        self._changed = threading.Condition()  # locks all that follows
        self._waiting: deque[Job] = deque()
        self._workers: list[PooledWorker] = []
        self._dead_starts = 0  # since the last one that came
        self._failure: Exception | None = None
        self._opened, self._closed = threading.Event(), threading.Event()
        self._threads = [threading.Thread(target=self._start_workers, name="worker pool", daemon=True)]

    def open(self) -> None:
        """Begin to start workers."""
        if not self._opened.is_set():
            self._opened.set()
            self._threads[0].start()

    def number(self) -> int:
        """The number of the next order."""
        return next(self._numbers)

    def submit(self, order: Order) -> Job:
        """Have an order carried out."""
        job = Job(order)
        with self._changed:
            if self._failure is None:
                self._waiting.append(job)
                self._changed.notify()
            else:
                job.set_exception(self._failure)
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
        with self._changed:
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
        with self._changed:
            jobs = self._jobs()
        self.cut(jobs)

    def counts(self) -> tuple[list[Counts], int]:
        """(what each worker has done since the last call, jobs that wait now)."""
        with self._changed:
            found = []
            for worker in self._workers:
                if worker.counts is not None:
                    found.append(worker.counts)
                    worker.counts = Counts(worker.counts.name, time.monotonic())
            return found, len(self._waiting)

    def close(self) -> None:
        """End all workers."""
        with self._changed:
            self._closed.set()
            self._changed.notify_all()
        if self._opened.is_set():
            self._threads[0].join()
            for worker in list(self._workers):
                ray.kill(worker.handle)
            for thread in self._threads[1:]:
                thread.join()

    def _jobs(self) -> list[Job]:
        """All jobs that wait or are with a worker; the caller has the lock."""
        return [*self._waiting, *(worker.job for worker in self._workers if worker.job)]

    def _fail(self, error: Exception) -> None:
        """The cluster is gone, or no worker can start: all that wait get the error."""
        with self._changed:
            self._failure = self._failure or error
            for job in self._jobs():
                if not job.done():
                    job.set_exception(error)
            self._waiting.clear()

    def _start_workers(self) -> None:
        """The first thread: start workers where there is room."""
        taken: dict[str, list[threading.Thread]] = {CPUS: [], WORKER: [], GPU_WORKER: []}
        alone_since, warned = time.monotonic(), False
        try:
            while not self._closed.wait(LOOK if any(taken.values()) else POLL) and self._failure is None:
                room = {CPUS: self._wanted} if self._wanted else ray.cluster_resources()
                for resource, threads in taken.items():
                    threads[:] = [thread for thread in threads if thread.is_alive()]
                    for _ in range(int(room.get(resource, 0)) - len(threads)):
                        threads.append(threading.Thread(target=self._employ, args=(resource,), daemon=True))
                        threads[-1].start()
                self._threads[1:] = [thread for threads in taken.values() for thread in threads]
                if any(worker.counts for worker in self._workers):
                    alone_since, warned = time.monotonic(), False
                elif not warned and time.monotonic() > alone_since + LATE:
                    warned = True
                    say("waiting for workers: start gozero worker --address HOST:PORT, or give --workers")
        except Exception as error:  # noqa: BLE001 - a bug, or the cluster is gone
            self._fail(error)

    def _employ(self, resource: str) -> None:
        """A thread of one worker, from its start to its end."""
        try:
            worker = PooledWorker(self._start(resource))
            with self._changed:
                self._workers.append(worker)
            try:
                if self._joins(worker):
                    while (job := self._next_job(worker)) is not None:
                        self._carry_out(worker, job)
            except LOST as error:
                self._lost(worker, error)
            finally:
                with self._changed:
                    self._workers.remove(worker)
                ray.kill(worker.handle)
        except Exception as error:  # noqa: BLE001 - likewise
            self._fail(error)

    def _joins(self, worker: PooledWorker) -> bool:
        """Whether a worker that was started can help. If it has another version of gozero, wait for its end."""
        about = ray.get(worker.handle.about.remote())
        if about.version != __version__:
            say(f"the worker on {about.host} cannot help: it has gozero {about.version}, here {__version__}")
            while not self._closed.wait(LOOK):
                ray.get(worker.handle.about.remote())
            return False
        with self._changed:
            self._dead_starts, worker.counts = 0, Counts(f"{about.host}:{about.process}", time.monotonic())
        return True

    def _next_job(self, worker: PooledWorker) -> Job | None:
        """Wait for a job and give it to the worker; None at the end."""
        with self._changed:
            self._changed.wait_for(lambda: self._waiting or self._closed.is_set())
            worker.job = None if self._closed.is_set() else self._waiting.popleft()
            return worker.job

    def _carry_out(self, worker: PooledWorker, job: Job) -> None:
        """Have a job done. Errors of `LOST` if the worker dies."""
        ray.get(worker.handle.about.remote())  # else all workers of a machine that is gone would count as tries
        job.tries += 1
        try:
            answer = ray.get(worker.handle.work.remote(job.order))
        except RayTaskError as error:
            answer = error.cause
        with self._changed:
            worker.job = None
            if isinstance(answer, TaskResult) and worker.counts is not None:
                worker.counts.evaluations += answer.end.evaluations
                worker.counts.busy += answer.seconds
        if isinstance(answer, Exception):
            job.set_exception(answer)
        else:
            job.set_result(answer)

    def _lost(self, worker: PooledWorker, error: Exception) -> None:
        """A worker is gone: its job goes to another."""
        if self._closed.is_set():
            return
        if worker.counts is None:
            self._dead_starts += 1
            if self._dead_starts >= STARTS:
                why = str(error).strip().splitlines()[-1]
                self._fail(WorkerLostError(f"{STARTS} workers died as they started, the last one so: {why}"))
            return
        job, what = worker.job, ""
        if job is not None:
            part = "part of a match" if isinstance(job.order, PlayMatch) else "task"
            what = f"; its {part} goes to another worker"
            with self._changed:
                if job.is_cut:
                    job.set_result(None)
                elif job.tries >= TRIES:
                    job.set_exception(WorkerLostError(f"{TRIES} workers were lost over the same work; see Ray's logs"))
                else:
                    self._waiting.appendleft(job)
                    self._changed.notify()
        say(f"{worker.counts.name} is gone{what}")


def start_worker(settings: LoopSettings, threads: int, resource: str) -> Any:
    """Start a worker in a room of that resource, or on the cluster's CPUs. Returns its handle."""
    room: dict[str, Any] = {"num_cpus": 0, "num_gpus": GPU_SHARE * (resource == GPU_WORKER), "resources": {resource: 1}}
    if resource == CPUS:
        room = {"num_cpus": max(1, threads), "scheduling_strategy": "SPREAD"}
    actor: Any = ray.remote(Worker)
    return actor.options(max_concurrency=2, **room).remote(settings, threads)
