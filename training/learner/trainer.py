"""The learner of a run together with what it learns from: the window of rows and the backlog of steps.

A trainer changes no file and no counter of the run: `training.run.run` does.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import torch

from gozero.system.console import say
from gozero.system.machine import available_threads
from training.learner.device_replay import DeviceReplay
from training.learner.learner import Learner
from training.learner.pace import Pace
from training.records import library, records, scoring
from training.records.records import Record
from training.records.replay import MANY_ROWS, Replay, window_rows
from training.settings.config import LoopSettings
from training.storage import storage
from training.storage.checkpoint import Progress

Losses = Mapping[str, torch.Tensor]  # of a step: scalars by name
HELD_OUT_ROWS = 512  # most rows of each size in the measurement after a generation


class Trainer:
    """Owns the window of a run, its learner and the backlog of steps."""

    def __init__(self, settings: LoopSettings, device: str, pace: Pace) -> None:
        """`device`: cpu or cuda; `pace`: of the learner's CPU threads."""
        self.settings, self.pace, self.learner = settings, pace, Learner.of(settings, device)
        self.replay = Replay(settings.replay, partial(scoring.game_of, settings), settings.features)
        self._batches = self.replay if device == "cpu" else DeviceReplay(self.replay, torch.device(device))
        self.steps_backlog = 0.0  # that rows have paid for and that are still to be taken
        self.watch: Callable[[int, Losses], None] | None = None  # called with each step's number and losses
        self.unreadable = 0  # frames of the shards
        # rows and games of each shard that the window may need, by generation
        self.shard_rows: dict[int, int] = {}
        self.shard_games: dict[int, int] = {}
        self._losses: list[Losses] = []  # since the last report

    def held_out(self, locked: Callable[[], Any], stop: Callable[[], bool]) -> dict[str, float]:
        """Losses and measures on held-out rows of each size, and their mean weighted by the rows that there are;
        nothing if stopped. `locked()` is a lock for taking the rows.
        """
        with locked():
            counts = self.replay.sizes(held_out=True)
            batches = {size: self.replay.spread(size, HELD_OUT_ROWS, held_out=True) for size in counts}
        found: dict[int, dict[str, float]] = {}
        for size, batch in batches.items():
            if stop():
                return {}
            found[size] = self.learner.evaluate(batch)
        report = {f"held{size}/{name}": value for size, values in found.items() for name, value in values.items()}
        report |= {f"held{size}/rows": float(len(batch.value)) for size, batch in batches.items()}
        return report | {f"held/{name}": value for name, value in weighted_mean(found, counts).items()}

    def load_window(self, folder: Path, progress: Progress) -> None:
        """Read the window as it was at the checkpoint of `progress`, from the newest shards that it needs."""
        (wanted, sizes), shards = self._extent(progress.rows), []
        for generation in range(progress.generation, progress.window_start - 1, -1):
            games = self._games_at(folder, generation, progress)
            self.note_shard(generation, games)
            wanted -= sizes[generation]
            shards.append(games)
            if wanted <= 0:
                break
        rows = sum(self.shard_rows.values())
        self._report_missing(rows, folder, progress)
        if rows >= MANY_ROWS:
            say(f"reading the window again, {rows:,} rows: a minute at most, several beside busy programs")
        self.replay.total = progress.rows - rows
        self.replay.fill([game for games in shards[::-1] for game in games], available_threads())
        self.replay.total, self.steps_backlog = progress.rows, progress.steps_backlog

    def add_games(self, games: Sequence[Record]) -> None:
        """Add new games to the window; their rows pay for steps."""
        self.steps_backlog += self.paid_by(self.replay.add(games), len(games))

    def note_shard(self, generation: int, games: Sequence[Record]) -> None:
        self.shard_rows[generation] = sum(record.rows for record in games)
        self.shard_games[generation] = len(games)

    def needed_from(self, generation: int) -> int:
        """The oldest generation whose shard the window needs, also at the oldest checkpoint on disk."""
        wanted, shards = self._extent(self.replay.total)
        while wanted > 0 and generation in shards:
            wanted -= shards[generation]
            generation -= 1
        return generation - self.settings.keep

    def paid_by(self, rows: float, games: float = 0) -> float:
        """Steps that new rows (of `games` games) pay for; see `LoopSettings.paid_by`."""
        return self.settings.paid_by(rows, games, self.replay.drawable)

    def steps_ready(self) -> int:
        """The number of whole steps that can be taken now: none while the window has fewer rows than it must."""
        enough = self.replay.drawable >= max(1, self.settings.replay.least_rows)
        return int(self.steps_backlog) if enough else 0

    def step(self, rate: float) -> int:
        """Take a step of the backlog at `rate` times the learning rate. Returns the width of its boards."""
        # its rows depend on the seed and its number only, however often the run was stopped
        generator = np.random.default_rng([self.settings.seed, self.learner.steps])
        batch = self._batches.sample(self.settings.learner.batch, generator)
        with self.pace.piece(batch.planes.shape) as threads:
            torch.set_num_threads(threads)
            losses = self.learner.train(batch, rate)
        self._losses.append(losses)
        self.steps_backlog -= 1
        if self.watch:
            self.watch(self.learner.steps, losses)
        return int(batch.planes.shape[-1])

    def report(self) -> dict[str, float]:
        """The mean losses of the steps since the last report."""
        losses, self._losses = self._losses, []
        names = losses[0] if losses else ()
        return {f"train/{name}": float(np.mean([float(step[name]) for step in losses])) for name in names}

    def _extent(self, rows: int) -> tuple[int, dict[int, int]]:
        """(rows or games that the window has of a run with so many rows, how many of them each shard has)."""
        if self.settings.replay.window_games:
            return self.settings.replay.window_games, self.shard_games
        return window_rows(rows, self.settings.replay), self.shard_rows

    def _report_missing(self, rows: int, folder: Path, progress: Progress) -> None:
        """Report missing shards if the window came up short. Not if it was emptied or counts games: how many rows it
        had is not known then.
        """
        had = min(progress.rows, window_rows(progress.rows, self.settings.replay))
        emptied = progress.window_start > 1 or progress.window_skip > 0
        if rows < had and not emptied and not self.settings.replay.window_games:
            say(
                f"{had - rows:,} of the window's {had:,} rows are not in {(folder / 'records').absolute()} any more: "
                "the learner draws those that are left more often"
            )

    def _games_at(self, folder: Path, generation: int, progress: Progress) -> list[Record]:
        """The games of a shard that were in the window at the checkpoint."""
        path = storage.shard(folder, generation)
        found = library.read(path) if path.exists() else records.Shard()
        self.unreadable += found.corrupt
        games = found.records
        if generation == progress.generation:
            games = games[: progress.absorbed]
        return games[progress.window_skip :] if generation == progress.window_start else games


def weighted_mean(found: Mapping[int, Mapping[str, float]], counts: Mapping[int, int]) -> dict[str, float]:
    """The means over board sizes of what was found on each, weighted by `counts`."""
    weights = [counts[size] for size in found]
    names = next(iter(found.values()), {})
    return {name: float(np.average([values[name] for values in found.values()], weights=weights)) for name in names}
