"""The self-play side of a run: which tasks are due, and the shard that is being written.

The actor has the games of a run played, one generation after the other; it does not know the learner. Games of a round
enter the shard slot by slot, so that the shard does not depend on how many slots are played at once. Between rounds no
pool plays, so the games can be saved; searches start again from their roots after each, whether or not the run was
stopped there, so a resumed run is the same as one that was never stopped.
"""

from __future__ import annotations

from collections.abc import Callable
from contextlib import closing
from dataclasses import dataclass
from pathlib import Path

from gozero.system.console import progress_bar
from training.records import library, records
from training.records.records import Record
from training.selfplay.local import SelfPlay, Task, TaskEnd
from training.selfplay.pool import Stop
from training.settings.config import LoopSettings, Stage
from training.storage import storage
from training.storage.checkpoint import Progress

# of a task that streams, for each game in flight: at its end every search starts again, half of one lost in the mean
TASK_ROWS = 4


@dataclass
class Backlog:
    """What is still to be played; what comes next follows from it alone, however often a run is stopped meanwhile."""

    missing: dict[int, float]  # rows or games by board size; negative: too many
    of_games: bool = False  # that the generation is counted in, instead of rows
    done: int = 0  # rows since the last pause

    @property
    def whole(self) -> int:
        """What all sizes lack together."""
        return round(sum(self.missing.values()))

    def next(self) -> int | None:
        """The smallest board that lacks a whole one or, if none does but all together do, the one that lacks most; None
        at the end. A generation of games ends when all sizes together lack none.
        """
        lacking = [size for size in sorted(self.missing) if round(self.missing[size]) > 0]
        together = self.whole > 0
        if lacking and (together or not self.of_games):
            return lacking[0]
        return max(self.missing, key=lambda size: (self.missing[size], size)) if together else None


class Actor:
    """Has the games of the run in `folder` played and appends them to its shards; counts evaluations in `progress`."""

    def __init__(self, settings: LoopSettings, folder: Path, selfplay: SelfPlay) -> None:
        self.settings, self.folder, self.selfplay = settings, folder, selfplay
        self.games: list[Record] = []  # of the generation under way
        self.unit = "games" if settings.generation_games else "rows"  # what a generation is counted in
        self._every = settings.checkpoint_rows or float("inf")  # rows between two pauses

    def open(self, generation: int) -> None:
        """Begin a generation, or continue one whose shard already holds games."""
        path = storage.shard(self.folder, generation)
        self.games = library.read(path).records if path.exists() else []

    def backlog(self, stage: Stage, progress: Progress) -> dict[int, float]:
        """Rows, or games if these make a generation, that each board size still lacks in it; negative: too many."""
        whole = self.settings.generation_games or self.settings.generation_rows
        before = progress.games_backlog if self.unit == "games" else progress.rows_backlog
        missing = {size: before.get(size, 0.0) + share * whole for size, share in stage.sizes.items()}
        for record in self.games:
            missing[record.size] = missing.get(record.size, before.get(record.size, 0.0)) - self._units(record)
        return missing

    def _wanted(self, missing: float, rows: float) -> float:
        """How much to play until the next pause: what is missing, or about N rows by the generation's games so far."""
        if self.unit == "rows":
            return min(missing, rows)
        a_game = sum(record.rows for record in self.games) / len(self.games) if self.games else rows
        return min(missing, max(1.0, rows / max(1.0, a_game)))

    def _units(self, record: Record) -> int:
        return 1 if self.unit == "games" else record.rows

    def play(self, stage: Stage, progress: Progress, pause: Callable[[], None], stop: Stop) -> None:
        """Play until no size lacks anything or `stop()` is true, with a `pause()` every `checkpoint_rows` rows.

        Each game is written to disk as soon as it comes.
        """
        backlog = Backlog(self.backlog(stage, progress), self.unit == "games")
        path = storage.shard(self.folder, progress.generation)
        with storage.writing(path):
            writer = records.Writer(path, self.settings.portable())
        bar = progress_bar(backlog.whole, f"self-play {progress.generation}", f" {self.unit}")

        def take() -> None:
            with closing(self.selfplay.take(stop)) as found:  # if writing fails no game goes on
                for each in found:
                    if isinstance(each, TaskEnd):
                        progress.evaluations += each.evaluations
                        continue
                    with storage.writing(path):
                        writer.append(each)
                    self.games.append(each)
                    # slots that stream also end games of sizes that an earlier stage had
                    backlog.missing[each.size] = backlog.missing.get(each.size, 0.0) - self._units(each)
                    backlog.done += each.rows
                    bar.update(self._units(each))

        with closing(writer), bar:
            while (size := backlog.next()) is not None and not stop():
                if self.selfplay.streams:
                    self._keep_busy(backlog, stage, progress)
                    take()
                else:
                    self._begin_round(size, backlog, stage, progress)
                    while self.selfplay.tasks:
                        take()
                if backlog.done >= self._every and not stop():
                    backlog.done = 0
                    pause()
            while stop() and self.selfplay.tasks:
                take()

    def _begin_round(self, size: int, backlog: Backlog, stage: Stage, progress: Progress) -> None:
        """Give each slot a task, on one board size."""
        slots = self.settings.selfplay.slots
        wanted = self._wanted(max(1, round(backlog.missing[size])), self._every - backlog.done) / slots
        for slot in range(slots):
            self.selfplay.submit(self._task(size, slot, stage, progress, wanted))

    def _task(self, size: int, slot: int, stage: Stage, progress: Progress, wanted: float) -> Task:
        return Task(size, slot, stage, progress.generation, wanted, self.unit, progress.evaluations)

    def _keep_busy(self, backlog: Backlog, stage: Stage, progress: Progress) -> None:
        """Give each slot that has none a task, on the board size that lacks most."""
        tasks = self.selfplay.tasks
        lacking = {size: backlog.missing.get(size, 0.0) for size in stage.sizes}
        for task in tasks:
            lacking[task.size] = lacking.get(task.size, 0.0) - task.wanted
        whole = self.settings.generation_games or self.settings.generation_rows
        share = self._wanted(whole, self._every) / self.settings.selfplay.slots
        for slot in set(range(self.settings.selfplay.slots)) - {task.slot for task in tasks}:
            size = max(stage.sizes, key=lambda size: (lacking[size], size))
            games = self.settings.selfplay.on(size).games
            wanted = max(share, 1.0 if self.unit == "games" else TASK_ROWS * games)
            lacking[size] -= wanted
            self.selfplay.submit(self._task(size, slot, stage, progress, wanted))
