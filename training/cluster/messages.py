"""The messages between the parts of a run on a cluster.

An order of the coordinator to a worker or to the learner says all that is needed: workers have nothing that would be
lost with them. A network's tensors are put into Ray's object store once a version, and each machine fetches them once.
"""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Any

from training.records.records import Record
from training.run.gate import MatchPart
from training.run.new_run import StartingPoint
from training.selfplay.local import Task, TaskEnd
from training.settings.config import LoopSettings


@dataclass(frozen=True)
class Assignment:
    """What the driver asks the coordinator for: a session of the run in a folder."""

    settings: LoopSettings
    chosen: frozenset[str] | None  # of the settings, see `training.run.session.as_begun`
    folder: Path  # absolute, on the coordinator's machine
    start: StartingPoint
    storage: str | None  # URL to which the folder is copied
    take_over: bool  # the storage, from a process that has not given it free
    program: str  # the command's name, in messages
    workers: int  # to be started on the cluster's CPUs; 0: as many as `gozero worker` offers
    threads: int  # CPU threads of a worker; 0: as many as its machine offers for each


@dataclass(frozen=True)
class Output:
    """What the coordinator has printed since."""

    lines: tuple[str, ...]
    seen: int  # characters so far: the number to ask with next time
    code: int | None  # the exit code once the session has ended


@dataclass(frozen=True)
class About:
    """Who a worker is."""

    host: str
    process: int
    version: str  # of gozero; Ray compares its own and Python's when a machine joins


@dataclass(frozen=True)
class NetworkVersion:
    """A network's tensors; `reference` is a ray.ObjectRef of its state_dict with numpy arrays."""

    number: int  # of no other network that the same workers may have
    version: int  # how often a network was handed over before
    reference: Any


@dataclass(frozen=True)
class Initialize:
    """To a worker or the learner, once: the run that it works for."""

    settings: LoopSettings
    threads: int  # CPU threads of a worker; 0: as many as its machine offers for each


@dataclass(frozen=True)
class PackedPool:
    """A pool's state on its way and in the coordinator, which does not look into it."""

    content: bytes  # see `training.storage.checkpoint.compress`
    resign: tuple[tuple[float, float], ...]  # what its threshold follows from, see `training.selfplay.resign`


@dataclass(frozen=True)
class PlayTask:
    """To a worker: play a task of self-play. Answer: `TaskResult`."""

    number: int  # of the order
    task: Task
    pool: PackedPool  # the state that it goes on from
    weights: NetworkVersion


@dataclass(frozen=True)
class TaskResult:
    """A task has ended, or was cut: its games, and the pool then."""

    records: list[Record]
    end: TaskEnd
    pool: PackedPool
    seconds: float  # of work


@dataclass(frozen=True)
class PlayMatch:
    """To a worker: play a part of a match. Answer: its games, None if it was cut."""

    number: int  # of the order
    part: MatchPart
    candidate: NetworkVersion
    best: NetworkVersion


Order = PlayTask | PlayMatch


@dataclass
class Counts:
    """What a worker has done since the last report."""

    name: str
    evaluations: int = 0
    busy: float = 0.0  # seconds
    since: float = 0.0  # time.monotonic
