"""The window of a run and the shards on disk that it comes from.

Vocabulary.
  window  the newest rows, which the learner draws from (`training.records.replay`); the trainer has them, and
          checkpoints do not hold them.
  shard   the games of one generation in records/: the only copy of the window, read again when the run is opened.
"""

from __future__ import annotations

from pathlib import Path

from gozero.system.console import say
from training.records import records
from training.records.records import Record
from training.records.replay import window_rows
from training.run.trainer import RunTrainer
from training.settings.config import LoopSettings
from training.storage import storage
from training.storage.checkpoint import Progress

MANY_ROWS = 50_000  # to read as many takes long enough to say so: some ten seconds on an idle core


class Window:
    """The rows of a run's games, and which shards they need; `progress` says which games belong to it."""

    def __init__(self, settings: LoopSettings, folder: Path, progress: Progress, trainer: RunTrainer) -> None:
        """Load the window as it was at the checkpoint that `progress` is of, from the newest shards that it needs."""
        self.settings, self.folder, self.progress, self.trainer = settings, folder, progress, trainer
        self.corrupt = 0  # frames of the shards that could not be read
        self.shard_rows: dict[int, int] = {}  # generation -> rows of its shard, for those that the window may need
        self.shard_games: dict[int, int] = {}  # and its games
        self._load()

    def add(self, games: list[Record]) -> int:
        """Take in new games. Returns the rows added."""
        added = self.trainer.add(games)
        self.progress.rows = self.trainer.holding.total
        return added

    def close_shard(self, rows: int, games: int) -> None:
        """The generation's shard is complete with so many rows; shards that no checkpoint needs any more may go."""
        self.shard_rows[self.progress.generation], self.shard_games[self.progress.generation] = rows, games
        with storage.writing(self.folder / "records"):
            for line in storage.retire(self.folder, self.needed_from(), self.settings.records_mb):
                say(line)

    def drop(self) -> None:
        """Forget all rows: only games from here on count. Steps that are still owed are taken on their rows."""
        progress = self.progress
        self.trainer.drop()
        start = (progress.generation + 1, 0) if progress.learning else (progress.generation, progress.absorbed)
        progress.window_start, progress.window_skip = start

    def needed_from(self) -> int:
        """The oldest generation whose shard the window needs, also at the oldest checkpoint kept."""
        (wanted, shards), generation = self._extent(), self.progress.generation
        while wanted > 0 and generation in shards:
            wanted -= shards[generation]
            generation -= 1
        return generation - self.settings.keep

    def _extent(self) -> tuple[int, dict[int, int]]:
        """(rows or games that the window holds, how many of them each shard has)."""
        if self.settings.replay.window_games:
            return self.settings.replay.window_games, self.shard_games
        return window_rows(self.progress.rows, self.settings.replay), self.shard_rows

    def _load(self) -> None:
        progress = self.progress
        (wanted, sizes), shards = self._extent(), []
        for generation in range(progress.generation, progress.window_start - 1, -1):
            games = self._games(generation)
            self.shard_rows[generation] = sum(record.rows for record in games)
            self.shard_games[generation] = len(games)
            wanted -= sizes[generation]
            shards.append(games)
            if wanted <= 0:
                break
        rows = sum(self.shard_rows.values())
        self._tell_missing(rows)
        if rows >= MANY_ROWS:
            say(f"reading the window again, {rows:,} rows: a minute or two, several beside busy programs")
        self.trainer.fill(shards[::-1], progress.rows - rows, progress.rows)

    def _tell_missing(self, rows: int) -> None:
        """Say which shards are gone where fewer rows than the window had could be read; not of a window that was emptied,
        or counts games: how many rows these had is not known.
        """
        progress = self.progress
        had = min(progress.rows, window_rows(progress.rows, self.settings.replay))
        emptied = progress.window_start > 1 or progress.window_skip > 0
        if rows >= had or emptied or self.settings.replay.window_games:
            return
        gone = [each for each in sorted(self.shard_rows) if not storage.shard(self.folder, each).exists()]
        which = f", of generations {gone[0]} to {gone[-1]}" if gone else ""
        say(
            f"{had - rows:,} of the window's {had:,} rows are not in {(self.folder / 'records').absolute()} any more"
            f"{which}: the learner draws those that are left more often"
        )

    def _games(self, generation: int) -> list[Record]:
        """The games of a shard that were in the window at the checkpoint."""
        progress, path = self.progress, storage.shard(self.folder, generation)
        found = records.read(path) if path.exists() else records.Shard()
        self.corrupt += found.corrupt
        games = found.records
        if generation == progress.generation and not (progress.learning and progress.absorbed == 0):
            games = games[: progress.absorbed]
        return games[progress.window_skip :] if generation == progress.window_start else games
