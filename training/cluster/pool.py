"""The pool of a run's workers on a cluster: started where there is room, given jobs, watched, replaced.

A slot is room for a worker: a unit of a resource that `gozero worker` offers on its machine, `gozero_worker` or, with
a GPU, `gozero_gpu_worker`. Each new slot gets a worker, whenever it turns up. The job of a worker that dies waits
again, before all others. One thread receives the answers of all workers.
"""

from __future__ import annotations

import itertools
import threading
import time
from collections import deque
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field, replace
from queue import SimpleQueue
from typing import Any

import ray
from ray.exceptions import RayTaskError

from gozero.system.console import say
from training.cluster import GPU_SLOT, SLOT
from training.cluster.messages import About, Answer, Counts, Evaluate, Games, Initialize, Order, SelfPlay, StretchEnd
from training.cluster.worker import GPU_SHARE, LOST, Worker, versions

LOOK = 1.0  # seconds between two looks for new slots
WAIT = 0.05  # seconds that the thread waits for a worker before it looks for new jobs
PATIENCE = 10.0  # seconds without any worker after which this is said
TRIES = 20  # workers that may be lost with one job, before the job is taken for the cause
STARTS = 20  # workers in a row that may die as they start
CPUS = ""  # stands for no slot: a worker is started on any CPU of the cluster


@dataclass(eq=False)
class Job:
    """An order and the way back: `inbox` gets (job, answer), or (job, exception), or (job, None) if it was withdrawn."""

    order: Order
    inbox: SimpleQueue[tuple[Job, Answer | BaseException | None]]
    tries: int = 0
    is_cut: bool = False
    received: set[int] = field(default_factory=set)  # numbers of the games handed in

    def again(self) -> Order:
        """The order for another worker: what has been handed in is not handed in twice."""
        if not isinstance(self.order, SelfPlay) or not self.received:
            return self.order
        return replace(self.order, pool=self.order.pool.beyond(self.received))


@dataclass(eq=False)
class PooledWorker:
    """A worker of the pool: its actor's handle, and its job."""

    handle: Any
    slot: str = SLOT  # the resource of its slot; "": it is on a CPU of the cluster
    about: About | None = None
    greeting: Any = None  # the reference of its `about`, until that has come
    refused: bool = False  # it cannot help, and keeps its slot for as long as it lives
    job: Job | None = None
    answers: Any = None  # the generator of the job's answers
    counts: Counts = field(default_factory=lambda: Counts("", since=time.monotonic()))

    @property
    def has_started(self) -> bool:
        """Whether it has said who it is."""
        return self.about is not None or self.refused

    @property
    def name(self) -> str:
        return f"{self.about.host}:{self.about.process}" if self.about else "a worker"


class WorkerPool:
    """The workers and their jobs. There are none before `open`."""

    def __init__(self, order: Initialize, workers: int, start: Callable[[Initialize, str], Any] | None = None) -> None:
        """`workers`: how many to start on the cluster's CPUs; 0: one for each slot. `start` starts one, given the
        resource of its slot ("": a CPU).
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

    def submit(self, order: Order, inbox: SimpleQueue[Any]) -> Job:
        """Submit an order; its answers go to the inbox."""
        job = Job(order, inbox)
        with self._lock:
            self._waiting.append(job)
            if self._failure is not None:
                inbox.put((job, self._failure))
        self._wake.set()
        return job

    def cut(self, jobs: Iterable[Job]) -> None:
        """Let jobs end soon; those that wait are withdrawn."""
        with self._lock:
            fresh = {job for job in jobs if not job.is_cut}
            for job in fresh:
                job.is_cut = True
                if job in self._waiting:
                    self._waiting.remove(job)
                    job.inbox.put((job, None))
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
                    job.inbox.put((job, error))
                return

    def _start_workers(self) -> None:
        """Start workers where there is room."""
        now = time.monotonic()
        if not self._opened.is_set() or now < self._looked + LOOK:
            return
        self._looked = now
        self._ask([worker for worker in self._workers if worker.refused])
        room = {CPUS: self._wanted} if self._wanted else ray.cluster_resources()
        for slot in (CPUS, SLOT, GPU_SLOT):
            for _ in range(int(room.get(slot, 0)) - sum(worker.slot == slot for worker in self._workers)):
                handle = self._start(self._order, slot)
                with self._lock:
                    self._workers.append(PooledWorker(handle, slot, greeting=handle.about.remote()))
        self._warn_if_alone(now)

    @staticmethod
    def _ask(workers: Iterable[PooledWorker]) -> None:
        """Ask workers without a job whether they are still there."""
        for worker in workers:
            if worker.greeting is None:
                worker.greeting = worker.handle.about.remote()

    def _warn_if_alone(self, now: float) -> None:
        """Say once that there has been no worker for a while."""
        if any(worker.about for worker in self._workers):
            self._alone_since, self._warned = now, False
        elif now > self._alone_since + PATIENCE and not self._warned:
            self._warned = True
            say("waiting for workers: start gozero worker --address HOST:PORT, or give --workers")

    def _assign(self) -> None:
        """Give waiting jobs to free workers."""
        with self._lock:
            free = [worker for worker in self._workers if worker.about and not (worker.job or worker.greeting)]
            for worker in free[: len(self._waiting)]:
                worker.job = job = self._waiting.popleft()
                answers = worker.handle.work.options(num_returns="streaming").remote(job.again())
                worker.answers = answers

    def _receive_ready(self) -> None:
        """Receive all answers that are ready; wait a moment if there are none."""
        expected = {
            (worker.answers or worker.greeting): worker for worker in self._workers if worker.answers or worker.greeting
        }
        if not expected:
            self._wake.wait(WAIT)
            self._wake.clear()
            return
        sources = list(expected)
        ready, _ = ray.wait(sources, num_returns=1, timeout=WAIT, fetch_local=False)
        if ready and len(sources) > 1:
            ready, _ = ray.wait(sources, num_returns=len(sources), timeout=0, fetch_local=False)
        for source in ready:
            self._handle(expected[source])

    def _handle(self, worker: PooledWorker) -> None:
        """Receive an answer of a worker."""
        try:
            if worker.greeting is not None:
                self._admit(worker, ray.get(worker.greeting))
                return
            self._receive(worker, ray.get(next(worker.answers)))
        except LOST as error:
            self._count_dead_start(worker, error)
            self._lose(worker)
        except RayTaskError as error:
            job = self._free(worker)
            job.inbox.put((job, error.cause))
        except StopIteration:
            self._lose(worker)

    def _count_dead_start(self, worker: PooledWorker, error: Exception) -> None:
        """Workers that die as they start, one after the other, will never come."""
        self._dead_starts += worker.greeting is not None and not worker.has_started
        if self._dead_starts >= STARTS:
            why = str(error).strip().splitlines()[-1]
            raise WorkersLostError(f"{STARTS} workers died as they started, the last one so: {why}")

    def _admit(self, worker: PooledWorker, about: About) -> None:
        """Add a worker to the pool unless its versions differ; or note that it is still there."""
        if worker.has_started:
            worker.greeting = None
            return
        mine = dict(versions())
        differs = [f"{name} {found}, here {mine[name]}" for name, found in about.versions if mine[name] != found]
        worker.greeting = None
        if differs:
            say(f"the worker on {about.host} cannot help: it has {', '.join(differs)}; install the same versions")
            worker.refused = True
            return
        worker.about, self._dead_starts = about, 0
        worker.counts = Counts(worker.name, since=time.monotonic())

    def _receive(self, worker: PooledWorker, answer: Answer) -> None:
        job = worker.job
        assert job is not None
        if isinstance(answer, Games):
            job.received.update(record.number for record in answer.records)
            job.inbox.put((job, answer))
            return
        if isinstance(answer, StretchEnd):
            worker.counts.evaluations += answer.evaluations
            worker.counts.busy += answer.seconds
        self._free(worker)
        job.inbox.put((job, answer))

    def _free(self, worker: PooledWorker) -> Job:
        with self._lock:
            job, worker.job, worker.answers = worker.job, None, None
        assert job is not None
        return job

    def _lose(self, worker: PooledWorker) -> None:
        """A worker is gone: its job goes to another."""
        with self._lock:
            self._workers.remove(worker)
            job = worker.job
            if job is not None:
                self._wait_again(job)
        ray.kill(worker.handle)
        # perhaps its machine is gone, and others with it: the job must not pass through all of them
        self._ask([each for each in self._workers if each.about and each.job is None])
        self._looked = 0.0
        what = "part of a match" if job and isinstance(job.order, Evaluate) else "stretch"
        say(f"{worker.name} is gone" + (f"; its {what} goes to another worker" if job else ""))

    def _wait_again(self, job: Job) -> None:
        """A job whose worker is gone waits again."""
        job.tries += 1
        if job.is_cut:
            job.inbox.put((job, None))
        elif job.tries >= TRIES:
            job.inbox.put((job, WorkersLostError(f"{TRIES} workers were lost over the same work; see Ray's logs")))
        else:
            self._waiting.appendleft(job)


def start_worker(order: Initialize, slot: str) -> Any:
    """Start a worker in a slot of that resource, or on the cluster's CPUs. Returns its handle."""
    room: dict[str, Any] = {"num_cpus": 0, "num_gpus": GPU_SHARE * (slot == GPU_SLOT), "resources": {slot: 1}}
    if slot == CPUS:
        room = {"num_cpus": max(1, order.threads), "scheduling_strategy": "SPREAD"}
    actor: Any = ray.remote(Worker)
    return actor.options(max_concurrency=2, **room).remote(order)


class WorkersLostError(Exception):
    """Work that kills every worker that does it; one line."""
