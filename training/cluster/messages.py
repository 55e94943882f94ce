"""The messages between the parts of a run on a cluster.

An order of the coordinator to a worker or to the learner says all that is needed: workers have nothing that would be
lost with them. Games come back while a stretch goes on, its end comes last. A network's tensors are put into Ray's
object store once a version, and each machine fetches them once.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from training.matches.match import MatchGame
from training.records.records import Record
from training.run.gate import MatchPart
from training.run.new_run import StartingPoint
from training.selfplay.crew import Stretch
from training.selfplay.pool import HANDED
from training.settings.config import LoopSettings
from training.storage import checkpoint
from training.storage.checkpoint import PACKED


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
    seen: int  # lines so far: the number to ask with next time
    code: int | None  # the exit code once the session has ended


@dataclass(frozen=True)
class About:
    """Who a worker is."""

    host: str
    process: int
    versions: tuple[tuple[str, str], ...]  # of gozero, python and ray


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
    handed: frozenset[int] = frozenset()  # numbers of its games that were handed in, see `training.selfplay.pool`

    @staticmethod
    def of(state: Mapping[str, Any]) -> PackedPool:
        """Pack `Pool.state_dict`."""
        others = {name: value for name, value in state.items() if name != HANDED}
        resign = tuple((float(first), float(second)) for first, second in state["resign"])
        return PackedPool(checkpoint.compress(others), resign, frozenset(state.get(HANDED, ())))

    def beyond(self, handed: Iterable[int]) -> PackedPool:
        """The same after these games were handed in too."""
        return replace(self, handed=self.handed.union(handed))

    def saved(self) -> dict[str, Any]:
        """The state as checkpoints take it, still packed."""
        return {PACKED: self.content} | ({HANDED: sorted(self.handed)} if self.handed else {})

    def state(self) -> dict[str, Any]:
        """The inverse of `of`."""
        return checkpoint.unpacked(self.saved())


@dataclass(frozen=True)
class SelfPlay:
    """To a worker: play a stretch. Answers: any number of `Games`, then a `StretchEnd`."""

    number: int  # of the order
    stretch: Stretch
    pool: PackedPool  # the state that it goes on from
    weights: NetworkVersion


@dataclass(frozen=True)
class Evaluate:
    """To a worker: play a part of a match. Answer: a `MatchEnd`."""

    number: int  # of the order
    part: MatchPart
    candidate: NetworkVersion
    best: NetworkVersion


@dataclass(frozen=True)
class Games:
    """Games of a stretch that have ended."""

    records: tuple[Record, ...]


@dataclass(frozen=True)
class StretchEnd:
    """A stretch has ended."""

    pool: PackedPool
    evaluations: int
    seconds: float  # of work


@dataclass(frozen=True)
class MatchEnd:
    """A part of a match has ended."""

    games: tuple[MatchGame, ...] | None  # None: it was cut


Order = SelfPlay | Evaluate
Answer = Games | StretchEnd | MatchEnd


@dataclass
class Counts:
    """What a worker has done since the last report."""

    name: str
    evaluations: int = 0
    busy: float = 0.0  # seconds
    since: float = 0.0  # time.monotonic
