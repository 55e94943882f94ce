"""Tasks of self-play, what plays them, and how they are played in this process.

A run has `selfplay.slots` places at which games are played. Each has a pool of its own for every board size, with
generators of its own. From the pool's state, the network and the task follow its games: who plays it, and where, does
not matter. The actor decides which tasks are due and writes the games; a `SelfPlay` keeps the pools between them.
"""

from __future__ import annotations

import copy
import threading
from abc import ABC, abstractmethod
from collections.abc import Generator
from dataclasses import dataclass
from typing import Any, NamedTuple

import torch
from torch import nn

from gozero.evaluators.base import Evaluator
from gozero.evaluators.rollout import RowEvaluator
from training.records import scoring
from training.records.records import Record
from training.selfplay.leaves import Resources, leaf_evaluator
from training.selfplay.pool import Pool, Stop
from training.selfplay.resign import Calibration
from training.settings.config import LoopSettings, Stage

Key = tuple[int, int]  # of a pool: its board size and its slot


@dataclass(frozen=True)
class Task:
    """What one pool plays with one network: `wanted` rows or games (`unit`) on a board of `size` in a slot."""

    size: int
    slot: int  # from 0
    stage: Stage
    generation: int
    wanted: float
    unit: str  # rows or games
    evaluations: int = 0  # of the run before it was ordered

    @property
    def key(self) -> Key:
        return self.size, self.slot

    @property
    def begun(self) -> tuple[int, int]:
        """The part of a new pool's seed that no other pool of that key has had in this run."""
        return self.generation, self.evaluations


class TaskEnd(NamedTuple):
    evaluations: int  # visits of its searches that ended
    cut: int = 0  # of those that had not, and will begin again


Found = Record | TaskEnd


class SelfPlay(ABC):
    """Plays the tasks of a run with the present network."""

    streams = False  # whether a slot may get a new task while others still play; else they play in rounds

    def __init__(self, settings: LoopSettings, net: nn.Module, threads: int, device: str) -> None:
        """`net` is copied; `threads`: CPU threads for all of self-play; `device`: cpu or cuda."""
        self.settings, self.threads, self.device = settings, threads, device
        self.playing = copy.deepcopy(net).eval().requires_grad_(False)
        self.tasks: list[Task] = []  # submitted and not ended, oldest first
        self._lock = threading.Lock()  # a network is taken whole, never half
        self._version = 0  # of `playing`

    def take_weights(self, state: dict[str, torch.Tensor]) -> None:
        """Play with these weights from the next wave on; may be called from another thread."""
        with self._lock:
            self.playing.load_state_dict(state)
            self._version += 1

    def submit(self, task: Task) -> None:
        """Have a task played; its slot must have none."""
        self.tasks.append(task)

    @abstractmethod
    def take(self, stop: Stop) -> Generator[Found]:
        """Wait for the oldest task or, if it streams, for any, and yield its games and then its end.

        A task ends early when `stop()` is true or there are other weights.
        """

    @abstractmethod
    def state_dict(self) -> dict[Key, dict[str, Any]]:
        """The pools' states (`Pool.state_dict`); if it does not stream, to be called when no task is left."""

    @abstractmethod
    def load_state_dict(self, pools: dict[Key, dict[str, Any]], playing: dict[str, torch.Tensor] | None) -> list[str]:
        """The inverse of `state_dict`. Returns a line for each pool whose games cannot be continued."""

    @abstractmethod
    def calibrations(self) -> list[Calibration]:
        """The thresholds of resignation of each pool."""

    def report(self) -> dict[str, float]:
        """Numbers about self-play since the last report."""
        return {}

    def close(self) -> None:  # noqa: B027 - there may be nothing to end
        """End what has been started; nothing is played after that."""


class LocalSelfPlay(SelfPlay):
    """Plays tasks in this process, one after the other."""

    def __init__(self, settings: LoopSettings, net: nn.Module, threads: int, device: str) -> None:
        super().__init__(settings, net, threads, device)
        self.pools: dict[Key, Pool] = {}
        # by size: the version of `playing` that it evaluates with, and the evaluator
        self._evaluators: dict[int, tuple[int, Evaluator | RowEvaluator]] = {}

    def take(self, stop: Stop) -> Generator[Found]:
        task = self.tasks[0]
        if stop():
            yield TaskEnd(0)
        else:
            pool = self.open_pool(task.key, task.begun)
            version = self._use(pool, task.stage, task.generation)
            before = pool.evaluations
            yield from pool.play(task.wanted, lambda: stop() or self._version != version, task.unit)
            yield TaskEnd(pool.evaluations - before, pool.under_way)
        self.tasks.remove(task)

    def state_dict(self) -> dict[Key, dict[str, Any]]:
        return {key: pool.state_dict() for key, pool in self.pools.items()}

    def load_state_dict(self, pools: dict[Key, dict[str, Any]], playing: dict[str, torch.Tensor] | None) -> list[str]:
        if playing is not None:
            self.take_weights(playing)
        return [line for key, state in pools.items() if (line := self.load_pool(key, state))]

    def load_pool(self, key: Key, state: dict[str, Any]) -> str:
        """Continue a pool from its state. Returns a line if its games cannot be continued, else nothing."""
        size, slot = key
        try:
            if slot >= self.settings.selfplay.slots:
                raise ValueError(f"selfplay.slots is {self.settings.selfplay.slots}, and they are of slot {slot + 1}")
            self.open_pool(key).load_state_dict(state)
        except (ValueError, KeyError) as error:
            self.pools.pop(key, None)
            return f"the games in flight on {size}x{size} are dropped and new ones begin: {error}"
        return ""

    def calibrations(self) -> list[Calibration]:
        return [pool.resign for pool in self.pools.values()]

    def open_pool(self, key: Key, begun: tuple[int, int] = (1, 0)) -> Pool:
        """The pool of that key, made if there is none yet; see `Task.begun`."""
        if key not in self.pools:
            size, slot = key
            seed = (self.settings.seed, *begun, *([slot] if slot else []))
            game, simulator = scoring.game_of(self.settings, size), self.settings.simulator
            self.pools[key] = Pool(game, self.settings.selfplay, seed, simulator)
        return self.pools[key]

    def _use(self, pool: Pool, stage: Stage, generation: int) -> int:
        """Give the pool the network that is to play now. Returns the version of that network."""
        size = pool.game.size
        with self._lock:
            version = self._version if stage.evaluator == "network" else -1
            known, previous = self._evaluators.get(size, (None, None))
            if known != version:
                precision, seed = self.settings.selfplay.precision, self.settings.seed + generation
                resources = Resources(self.threads, self.device, precision, len(pool.groups))
                made = leaf_evaluator(stage.evaluator, pool.game, self.playing, seed, resources, previous)
                self._evaluators[size] = version, made
            pool.use(self._evaluators[size][1], stage, generation)
            return self._version
