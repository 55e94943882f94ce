"""What learns in a run: the learner and the window that it draws from.

Vocabulary.
  trainer  the two together. A run speaks to its trainer in a few coarse messages, so that it may be on another machine
           (`training.cluster`); `LocalTrainer` is in this process.

The trainer knows no files: which games belong to the window, and what is saved of the learner, is the run's affair.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import partial
from typing import Any, NamedTuple, Protocol, TypeVar

import numpy as np
import torch
from torch import nn

from gozero.nets.model import NetConfig
from training.learner.learner import Learner
from training.learner.pace import Pace
from training.learner.peers import ALONE, Peers
from training.records import scoring
from training.records.records import Record
from training.records.replay import Replay
from training.records.rows import Batch
from training.settings.config import LoopSettings

Found = TypeVar("Found")
Losses = Mapping[str, torch.Tensor]  # of a step: scalars by name
HELD_OUT_ROWS = 512  # most rows of each size in the measurement after a generation


class Holding(NamedTuple):
    """What the window holds."""

    rows: dict[int, int]  # that may be drawn, by board size
    total: int  # rows recorded by the run so far
    corrupt: int  # records refused

    @property
    def drawable(self) -> int:
        """Rows that may be drawn."""
        return sum(self.rows.values())


class RunTrainer(Protocol):
    """The learner and its window.

    Attributes:
        config: of the network.
        steps: that the learner has taken.
        holding: of the window.
        threads: CPU threads of the learner just now.
        chunk: steps that `train` had best be asked for at once.
    """

    config: NetConfig
    chunk: int

    @property
    def steps(self) -> int: ...

    @property
    def holding(self) -> Holding: ...

    @property
    def threads(self) -> int: ...

    def fill(self, shards: Iterable[Sequence[Record]], before: int, after: int) -> None:
        """Take in the games of the window, oldest first, of a run that has recorded `after` rows, `before` of them
        before these games.
        """

    def add(self, games: Sequence[Record]) -> int:
        """Take in new games. Returns the rows added."""

    def drop(self) -> None:
        """Forget all rows."""

    def train(self, count: int, rate: float) -> tuple[list[Losses], set[int]]:
        """Take so many steps at `rate` times the learning rate. Returns (the losses of each, the boards' widths)."""

    def average(self) -> nn.Module:
        """The learner's average (EMA), for reading."""

    def state_dict(self) -> dict[str, Any]:
        """The learner's part of a checkpoint."""

    def load_state_dict(self, state: dict[str, Any]) -> None:
        """The inverse of `state_dict`."""

    def held_out(self, turn: Callable[[], Any], stop: Callable[[], bool]) -> dict[str, float]:
        """Losses and measures on held-out rows (`held_out` of this module); `turn()` is held while rows are taken."""

    def examine(self, function: Callable[..., Found], *arguments: Any) -> Found:
        """function(learner, replay, *arguments), which changes neither; a function of a module, for it may travel."""


class LocalTrainer:
    """A trainer in this process."""

    chunk = 1  # so that others have their turn between two steps

    def __init__(self, settings: LoopSettings, device: str, pace: Pace, peers: Peers = ALONE) -> None:
        """`device`: cpu or cuda; `pace`: of the learner's CPU threads; `peers`: see `Learner`."""
        self.settings, self.pace = settings, pace
        self.learner = Learner.of(settings, device, peers)
        self.config = self.learner.config
        self.replay = Replay(settings.replay, partial(scoring.game_of, settings), settings.features)

    @property
    def steps(self) -> int:
        return self.learner.steps

    @property
    def holding(self) -> Holding:
        return Holding(self.replay.sizes(), self.replay.total, self.replay.corrupt)

    @property
    def threads(self) -> int:
        return self.pace.threads

    def fill(self, shards: Iterable[Sequence[Record]], before: int, after: int) -> None:
        self.replay.total = before
        for games in shards:
            self.replay.add(games, counted=True)
        self.replay.total = after

    def add(self, games: Sequence[Record]) -> int:
        return self.replay.add(games)

    def drop(self) -> None:
        self.replay.shelves.clear()

    def train(self, count: int, rate: float) -> tuple[list[Losses], set[int]]:
        losses: list[Losses] = []
        widths = set()
        for _ in range(count):
            # the rows of a step depend on the seed and its number only, however often the run was stopped
            generator = np.random.default_rng([self.settings.seed, self.learner.steps])
            batch = self.replay.sample(self.settings.learner.batch, generator, self.learner.peers.part)
            with self.pace.piece(batch.planes.shape) as threads:
                torch.set_num_threads(threads)
                losses.append(self.learner.train(batch, rate))
            widths.add(batch.planes.shape[-1])
        return losses, widths

    def average(self) -> nn.Module:
        return self.learner.ema

    def state_dict(self) -> dict[str, Any]:
        return self.learner.state_dict()

    def load_state_dict(self, state: dict[str, Any]) -> None:
        self.learner.load_state_dict(state)

    def held_out(self, turn: Callable[[], Any], stop: Callable[[], bool]) -> dict[str, float]:
        with turn():
            counts = self.replay.sizes(held_out=True)
            batches = {size: self.replay.spread(size, HELD_OUT_ROWS, held_out=True) for size in counts}
        return held_out(self.learner, batches, counts, stop)

    def examine(self, function: Callable[..., Found], *arguments: Any) -> Found:
        return function(self.learner, self.replay, *arguments)


def held_out(
    learner: Learner, batches: dict[int, Batch], counts: dict[int, int], stop: Callable[[], bool]
) -> dict[str, float]:
    """Losses and measures on held-out rows of each size, and their mean weighted by `counts`; nothing if stopped."""
    found: dict[int, dict[str, float]] = {}
    for size, batch in batches.items():
        if stop():
            return {}
        found[size] = learner.evaluate(batch)
    report = {f"held{size}/{name}": value for size, values in found.items() for name, value in values.items()}
    report |= {f"held{size}/rows": float(len(batch.value)) for size, batch in batches.items()}
    return report | {f"held/{name}": value for name, value in weighted_mean(found, counts).items()}


def weighted_mean(found: Mapping[int, Mapping[str, float]], counts: Mapping[int, int]) -> dict[str, float]:
    """The means over board sizes of what was found on each, weighted by `counts`."""
    weights = [counts[size] for size in found]
    names = next(iter(found.values()), {})
    return {name: float(np.average([values[name] for values in found.values()], weights=weights)) for name in names}
