"""The workers of a run: found, given orders, watched, replaced.

Vocabulary.
  slot    room for a worker: a unit of a resource that `gozero worker` offers on its machine, `gozero_worker` or, with
          a GPU, `gozero_gpu_worker`.
  member  a worker that this coordinator has started. It holds its slot until it dies or the sitting ends.
  job     an order on its way: waiting, or with a member. When its member dies it waits again, before all others.

One thread speaks to all members: it waits for whoever has something to say. Members are elastic: each new slot gets one,
whenever it turns up.
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
WAIT = 0.05  # seconds that the thread waits for a member before it looks for new jobs
PATIENCE = 10.0  # seconds without any member after which this is said
TRIES = 20  # members that may be lost with one job, before the job is taken for the cause
STARTS = 20  # members in a row that may die as they start
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
        """The order for another member: what has been handed in is not handed in twice."""
        if not isinstance(self.order, SelfPlay) or not self.received:
            return self.order
        return replace(self.order, pool=self.order.pool.beyond(self.received))


@dataclass(eq=False)
class Member:
    """A worker: its actor's handle, and the job that it has."""

    handle: Any
    slot: str = SLOT  # the resource of its slot; "": it is on a CPU of the cluster
    about: About | None = None
    hello: Any = None  # the reference of its `about`, until it has come
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


class Squad:
    """The members and their jobs. There are none before `open`."""

    def __init__(self, order: Initialize, workers: int, hire: Callable[[Initialize, str], Any] | None = None) -> None:
        """`workers`: members to be started on the cluster's CPUs; 0: one for each slot. `hire` starts one, given the
        resource of its slot ("": a CPU).
        """
        self._order, self._workers, self._hire = order, workers, hire or hire_worker
        self._lock = threading.Lock()
        self._numbers = itertools.count(1)
        self._waiting: deque[Job] = deque()
        self._members: list[Member] = []
        self._wake, self._opened, self._closed = threading.Event(), threading.Event(), threading.Event()
        self._looked, self._alone_since, self._said_alone = 0.0, time.monotonic(), False
        self._dead_starts = 0  # since the last one that came
        self._failure: Exception | None = None  # of the thread
        self._thread = threading.Thread(target=self._serve, name="squad", daemon=True)
        self._thread.start()

    def open(self) -> None:
        """Begin to start members."""
        self._opened.set()

    def number(self) -> int:
        """The number of the next order."""
        with self._lock:
            return next(self._numbers)

    def submit(self, order: Order, inbox: SimpleQueue[Any]) -> Job:
        """Have an order carried out; its answers go to the inbox."""
        job = Job(order, inbox)
        with self._lock:
            self._waiting.append(job)
            if self._failure is not None:
                inbox.put((job, self._failure))
        self._wake.set()
        return job

    def cut(self, jobs: Iterable[Job]) -> None:
        """Have jobs end soon; those that wait are withdrawn."""
        with self._lock:
            fresh = {job for job in jobs if not job.is_cut}
            for job in fresh:
                job.is_cut = True
                if job in self._waiting:
                    self._waiting.remove(job)
                    job.inbox.put((job, None))
            for member in self._members:
                if member.job in fresh:
                    member.handle.cut.remote(member.job.order.number)

    def cut_all(self) -> None:
        """Have all jobs end soon."""
        with self._lock:
            jobs = self._jobs()
        self.cut(jobs)

    def _jobs(self) -> list[Job]:
        """All jobs that wait or are with a member; the lock is held."""
        return [*self._waiting, *(member.job for member in self._members if member.job)]

    def counts(self) -> tuple[list[Counts], int]:
        """(what each member has done since the last call, jobs that wait now)."""
        with self._lock:
            now, found = time.monotonic(), []
            for member in (each for each in self._members if each.about):
                found.append(member.counts)
                member.counts = Counts(member.name, since=now)
            return found, len(self._waiting)

    def close(self) -> None:
        """Let all members go."""
        self._closed.set()
        self._wake.set()
        self._thread.join()
        for member in self._members:
            ray.kill(member.handle)

    def _serve(self) -> None:
        """The thread."""
        while not self._closed.is_set():
            try:
                self._recruit()
                self._assign()
                self._listen()
            except Exception as error:  # noqa: BLE001 - a bug, or the cluster is gone: whoever waits must hear of it
                with self._lock:
                    self._failure = error
                    jobs = self._jobs()
                for job in jobs:
                    job.inbox.put((job, error))
                return

    def _recruit(self) -> None:
        """Start members where there is room."""
        now = time.monotonic()
        if not self._opened.is_set() or now < self._looked + LOOK:
            return
        self._looked = now
        self._ask([member for member in self._members if member.refused])
        room = {CPUS: self._workers} if self._workers else ray.cluster_resources()
        for slot in (CPUS, SLOT, GPU_SLOT):
            for _ in range(int(room.get(slot, 0)) - sum(member.slot == slot for member in self._members)):
                handle = self._hire(self._order, slot)
                with self._lock:
                    self._members.append(Member(handle, slot, hello=handle.about.remote()))
        self._tell_alone(now)

    @staticmethod
    def _ask(members: Iterable[Member]) -> None:
        """Have members that have nothing to do tell that they are still there."""
        for member in members:
            if member.hello is None:
                member.hello = member.handle.about.remote()

    def _tell_alone(self, now: float) -> None:
        """Say once that there is no worker, if that has been so for a while."""
        if any(member.about for member in self._members):
            self._alone_since, self._said_alone = now, False
        elif now > self._alone_since + PATIENCE and not self._said_alone:
            self._said_alone = True
            say("waiting for workers: start gozero worker --address HOST:PORT, or give --workers")

    def _assign(self) -> None:
        """Give waiting jobs to free members."""
        with self._lock:
            free = [member for member in self._members if member.about and not (member.job or member.hello)]
            for member in free[: len(self._waiting)]:
                member.job = job = self._waiting.popleft()
                answers = member.handle.work.options(num_returns="streaming").remote(job.again())
                member.answers = answers

    def _listen(self) -> None:
        """Hear whoever has something to say, all of them at once; wait a moment if nobody has."""
        speaking = {
            (member.answers or member.hello): member for member in self._members if member.answers or member.hello
        }
        if not speaking:
            self._wake.wait(WAIT)
            self._wake.clear()
            return
        sources = list(speaking)
        ready, _ = ray.wait(sources, num_returns=1, timeout=WAIT, fetch_local=False)
        if ready and len(sources) > 1:
            ready, _ = ray.wait(sources, num_returns=len(sources), timeout=0, fetch_local=False)
        for source in ready:
            self._hear(speaking[source])

    def _hear(self, member: Member) -> None:
        """Take what a member says."""
        try:
            if member.hello is not None:
                self._welcome(member, ray.get(member.hello))
                return
            self._receive(member, ray.get(next(member.answers)))
        except LOST as error:
            self._note_start(member, error)
            self._lose(member)
        except RayTaskError as error:
            job = self._free(member)
            job.inbox.put((job, error.cause))
        except StopIteration:
            self._lose(member)

    def _note_start(self, member: Member, error: Exception) -> None:
        """Workers that die as they start, one after the other, will never come."""
        self._dead_starts += member.hello is not None and not member.has_started
        if self._dead_starts >= STARTS:
            why = str(error).strip().splitlines()[-1]
            raise WorkersLostError(f"{STARTS} workers died as they started, the last one so: {why}")

    def _welcome(self, member: Member, about: About) -> None:
        """Let a worker join, unless its versions differ; or hear that it is still there."""
        if member.has_started:
            member.hello = None
            return
        mine = dict(versions())
        differs = [f"{name} {found}, here {mine[name]}" for name, found in about.versions if mine[name] != found]
        member.hello = None
        if differs:
            say(f"the worker on {about.host} cannot help: it has {', '.join(differs)}; install the same versions")
            member.refused = True
            return
        member.about, self._dead_starts = about, 0
        member.counts = Counts(member.name, since=time.monotonic())

    def _receive(self, member: Member, answer: Answer) -> None:
        job = member.job
        assert job is not None
        if isinstance(answer, Games):
            job.received.update(record.number for record in answer.records)
            job.inbox.put((job, answer))
            return
        if isinstance(answer, StretchEnd):
            member.counts.evaluations += answer.evaluations
            member.counts.busy += answer.seconds
        self._free(member)
        job.inbox.put((job, answer))

    def _free(self, member: Member) -> Job:
        with self._lock:
            job, member.job, member.answers = member.job, None, None
        assert job is not None
        return job

    def _lose(self, member: Member) -> None:
        """A member is gone: its job goes to another."""
        with self._lock:
            self._members.remove(member)
            job = member.job
            if job is not None:
                self._hand_back(job)
        ray.kill(member.handle)
        # perhaps its machine is gone, and others with it: the job must not pass through all of them
        self._ask([each for each in self._members if each.about and each.job is None])
        self._looked = 0.0
        what = "part of a match" if job and isinstance(job.order, Evaluate) else "stretch"
        say(f"{member.name} is gone" + (f"; its {what} goes to another worker" if job else ""))

    def _hand_back(self, job: Job) -> None:
        """A job whose member is gone waits again."""
        job.tries += 1
        if job.is_cut:
            job.inbox.put((job, None))
        elif job.tries >= TRIES:
            job.inbox.put((job, WorkersLostError(f"{TRIES} workers were lost over the same work; see Ray's logs")))
        else:
            self._waiting.appendleft(job)


def hire_worker(order: Initialize, slot: str) -> Any:
    """Start a worker in a slot of that resource, or on the cluster's CPUs. Returns its handle."""
    room: dict[str, Any] = {"num_cpus": 0, "num_gpus": GPU_SHARE * (slot == GPU_SLOT), "resources": {slot: 1}}
    if slot == CPUS:
        room = {"num_cpus": max(1, order.threads), "scheduling_strategy": "SPREAD"}
    actor: Any = ray.remote(Worker)
    return actor.options(max_concurrency=2, **room).remote(order)


class WorkersLostError(Exception):
    """Work that kills whoever does it; one line."""
