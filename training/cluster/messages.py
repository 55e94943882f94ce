"""What the parts of a run on a cluster say to each other.

Vocabulary.
  order    a message of the coordinator to a worker or to the learner: initialize, self-play, evaluate, load records,
           optimize. It says all that is needed: workers keep nothing that would be lost with them.
  answer   what comes back. Games are handed in while a stretch goes on, its end comes last.
  weights  a network's tensors in Ray's object store, put there once a version: each machine fetches them once.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from training.matches.match import MatchGame
from training.records.records import Record
from training.run.gate import MatchPart
from training.run.origins import Origin
from training.run.trainer import Holding
from training.selfplay.crew import Stretch
from training.selfplay.pool import HANDED
from training.settings.config import LoopSettings
from training.storage import checkpoint, plain
from training.storage.checkpoint import PACKED


@dataclass(frozen=True)
class Assignment:
    """What the driver asks the coordinator for: a sitting of the run in a folder."""

    settings: LoopSettings
    chosen: frozenset[str] | None  # of the settings, see `training.cycle.sitting.as_begun`
    folder: Path  # absolute, on the coordinator's machine
    origin: Origin
    storage: str | None  # URL of the folder's second home
    take_over: bool  # the storage, from a process that has not given it free
    program: str  # the command's name, in messages
    workers: int  # to be started on the cluster's CPUs; 0: as many as `gozero worker` offers
    threads: int  # CPU threads of a worker; 0: as many as its machine offers for each


@dataclass(frozen=True)
class Told:
    """What the coordinator tells its driver."""

    lines: tuple[str, ...]
    seen: int  # lines so far: the number to ask with next time
    code: int | None  # the exit code once the sitting has ended


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

    content: bytes  # see `training.storage.plain`
    resign: tuple[tuple[float, float], ...]  # what its threshold follows from, see `training.selfplay.resign`
    handed: frozenset[int] = frozenset()  # numbers of its games that were handed in, see `training.selfplay.pool`

    @staticmethod
    def of(state: Mapping[str, Any]) -> PackedPool:
        """Pack `Pool.state_dict`."""
        rest = {name: value for name, value in state.items() if name != HANDED}
        resign = tuple((float(first), float(second)) for first, second in state["resign"])
        return PackedPool(plain.pack(rest), resign, frozenset(state.get(HANDED, ())))

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


@dataclass(frozen=True)
class LoadRecords:
    """To the learner: take games into the window. Answer: a `Loaded`."""

    shards: Sequence[Sequence[Record]]  # oldest first
    span: tuple[int, int] | None = None  # rows recorded before these games and after them; None: they are new


@dataclass(frozen=True)
class Loaded:
    """The window after a change."""

    rows: int  # added
    holding: Holding


@dataclass(frozen=True)
class Optimize:
    """To the learner: take so many steps at `rate` times the learning rate. Answer: an `Optimized`."""

    count: int
    rate: float


@dataclass(frozen=True)
class Optimized:
    """Steps that were taken."""

    losses: tuple[dict[str, float], ...]  # of each
    widths: frozenset[int]  # of the boards
    steps: int  # of the learner so far
    threads: int


Order = SelfPlay | Evaluate
Answer = Games | StretchEnd | MatchEnd


@dataclass
class Counts:
    """What a worker has done since the last report."""

    name: str
    evaluations: int = 0
    busy: float = 0.0  # seconds
    since: float = 0.0  # time.monotonic
