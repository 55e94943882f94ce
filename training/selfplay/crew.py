"""Stretches of self-play: what is asked for, who plays it, and how it is played in this process.

Vocabulary.
  seat     one of the places at which a run's games are played, `selfplay.seats` in number. Each has a pool of its own
           for every board size, with generators of its own, so what a seat plays does not depend on the others.
  stretch  what one pool plays with one network, until it has finished so many rows or games. From the pool's state, the
           network and the stretch follow its games: who plays it, and where, does not matter.
  crew     plays stretches: in this process (`LocalCrew`), or on other machines (`training.cluster`).

The actor decides which stretches are due and keeps the games; a crew keeps the pools' states between them.
"""

from __future__ import annotations

import copy
import threading
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple, Protocol

import torch
from torch import nn

from gozero.evaluators.base import Evaluator
from gozero.evaluators.row import RowEvaluator
from training.records import scoring
from training.records.records import Record
from training.selfplay.leaves import Resources, leaf_evaluator
from training.selfplay.pool import Pool
from training.selfplay.resign import Calibration
from training.settings.config import LoopSettings, Stage

Key = int | tuple[int, int]  # of a pool: its board size or, beyond the first seat, (size, seat)
Stop = Callable[[], bool]


def place(key: Key) -> tuple[int, int]:
    """The size and the seat of the pool that has this key."""
    return key if isinstance(key, tuple) else (key, 0)


@dataclass(frozen=True)
class Stretch:
    """A stretch: `wanted` rows or games (`unit`) on a board of `size` by one seat's pool."""

    size: int
    seat: int  # from 0
    stage: Stage
    generation: int
    wanted: float
    unit: str  # rows or games
    evaluations: int = 0  # of the run before it was ordered

    @property
    def key(self) -> Key:
        """The key of its pool; that of the first seat is the size, as in runs that have one seat."""
        return (self.size, self.seat) if self.seat else self.size

    @property
    def begun(self) -> tuple[int, int]:
        """The part of a new pool's seed that no other pool of that key has had in this run."""
        return self.generation, self.evaluations


class StretchOver(NamedTuple):
    """The end of a stretch."""

    evaluations: int  # visits of its searches that ended
    cut: int = 0  # of those that had not, and will begin again


class SelfPlayCrew(Protocol):
    """Plays the stretches of a run.

    Attributes:
        playing: the network that plays, on the CPU or the crew's device.
        threads: CPU threads that one of its evaluators may use.
        streams: whether stretches go on while the actor rests, each seat by itself; `submit` and `take` are then there.
    """

    playing: nn.Module
    threads: int
    streams: bool

    def hand_over(self, net: nn.Module) -> None:
        """Play with the present weights of `net` from the next wave on; may be called from another thread."""

    def play(self, stretches: Sequence[Stretch], stop: Stop) -> Iterator[Record | StretchOver]:
        """Play stretches of different pools and yield the games of each as they finish, then its end, in their order.

        Fewer games than wanted where `stop()` is true or another network was handed over.
        """

    def submit(self, stretch: Stretch) -> None:
        """Have a stretch played beside the others; its pool must have none under way."""

    def under_way(self) -> list[Stretch]:
        """The stretches submitted that have not ended."""

    def take(self, stop: Stop) -> Iterator[Record | StretchOver]:
        """Wait for what the stretches submitted have to tell, and yield it; once `stop()` is true, until all ended."""

    def state_dict(self) -> dict[Key, dict[str, Any]]:
        """The pools' states (`Pool.state_dict`) by key; to be taken at rest."""

    def load_state_dict(self, pools: dict[Key, dict[str, Any]], playing: dict[str, torch.Tensor] | None) -> list[str]:
        """The inverse of `state_dict`. Returns a line for each pool whose games cannot be continued."""

    def calibrations(self) -> list[Calibration]:
        """The thresholds of resignation of each pool."""

    def report(self) -> dict[str, float]:
        """Numbers about the crew since the last report."""

    def close(self) -> None:
        """End what the crew has started; nothing is played after that."""


class RoundsAlone:
    """What a crew has that does not stream: its stretches are played by `play`, and none goes on beyond it."""

    streams = False

    def submit(self, stretch: Stretch) -> None:
        raise NotImplementedError("this crew does not stream: call play")

    def under_way(self) -> list[Stretch]:
        return []

    def take(self, stop: Stop) -> Iterator[Record | StretchOver]:
        raise NotImplementedError("this crew does not stream: call play")

    def report(self) -> dict[str, float]:
        return {}


class LocalCrew(RoundsAlone):
    """Plays stretches in this process, one after the other."""

    def __init__(self, settings: LoopSettings, net: nn.Module, threads: int, device: str) -> None:
        """`net` is copied; `threads`: CPU threads of the evaluator; `device`: cpu or cuda."""
        self.settings, self.threads, self.device = settings, threads, device
        self.playing = copy.deepcopy(net).eval().requires_grad_(False)
        self.pools: dict[Key, Pool] = {}
        self._handed = threading.Lock()  # a network is taken whole, never half
        self._version = 0  # of `playing`
        # by size: the version of `playing` that it evaluates with, and the evaluator
        self._evaluators: dict[int, tuple[int, Evaluator | RowEvaluator]] = {}

    def hand_over(self, net: nn.Module) -> None:
        self.take_over(net.state_dict())

    def take_over(self, state: dict[str, torch.Tensor]) -> None:
        """Play with these weights from the next wave on."""
        with self._handed:
            self.playing.load_state_dict(state)
            self._version += 1

    def play(self, stretches: Sequence[Stretch], stop: Stop) -> Iterator[Record | StretchOver]:
        for stretch in stretches:
            if stop():
                break
            pool = self.open_pool(stretch.key, stretch.begun)
            version = self._use(pool, stretch.stage, stretch.generation)
            before = pool.evaluations
            yield from pool.play(stretch.wanted, lambda: stop() or self._version != version, stretch.unit)  # noqa: B023
            yield StretchOver(pool.evaluations - before, pool.under_way)

    def state_dict(self) -> dict[Key, dict[str, Any]]:
        return {key: pool.state_dict() for key, pool in self.pools.items()}

    def load_state_dict(self, pools: dict[Key, dict[str, Any]], playing: dict[str, torch.Tensor] | None) -> list[str]:
        if playing is not None:
            self.playing.load_state_dict(playing)
        return [line for key, state in pools.items() if (line := self.load_pool(key, state))]

    def load_pool(self, key: Key, state: dict[str, Any]) -> str:
        """Continue a pool from its state. Returns a line if its games cannot be continued, else nothing."""
        size, seat = place(key)
        try:
            if seat >= self.settings.selfplay.seats:
                raise ValueError(f"they are of seat {seat + 1}, the settings ask for {self.settings.selfplay.seats}")
            self.open_pool(key).load_state_dict(state)
        except (ValueError, KeyError) as error:
            self.pools.pop(key, None)
            return f"the games in flight on {size}x{size} are given up and new ones begin: {error}"
        return ""

    def calibrations(self) -> list[Calibration]:
        return [pool.resign for pool in self.pools.values()]

    def close(self) -> None:
        """Nothing has to be ended."""

    def open_pool(self, key: Key, begun: tuple[int, int] = (1, 0)) -> Pool:
        """The pool of that key, made if there is none yet; see `Stretch.begun`."""
        if key not in self.pools:
            size, *seat = key if isinstance(key, tuple) else (key,)
            game, seed = scoring.game_of(self.settings, size), (self.settings.seed, *begun, *seat)
            self.pools[key] = Pool(game, self.settings.selfplay, seed)
        return self.pools[key]

    def _use(self, pool: Pool, stage: Stage, generation: int) -> int:
        """Give the pool the network that is to play now. Returns the version of that network."""
        size = pool.game.size
        with self._handed:
            version = self._version if stage.evaluator == "network" else -1
            known, previous = self._evaluators.get(size, (None, None))
            if known != version:
                precision, seed = self.settings.selfplay.precision, self.settings.seed + generation
                resources = Resources(self.threads, self.device, precision, len(pool.groups))
                made = leaf_evaluator(stage.evaluator, pool.game, self.playing, seed, resources, previous)
                self._evaluators[size] = version, made
            pool.use(self._evaluators[size][1], stage, generation)
            return self._version
