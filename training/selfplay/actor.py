"""The self-play side of a run: which stretches are due, and the shard that is being written.

Vocabulary.
  actor  has the games of a run played by a crew (`training.selfplay.crew`), one generation after the other. It does not
         know the learner.
  rest   a moment at which no pool is under way, so that the games can be saved. After each rest searches start again
         from their roots, whether or not the run was stopped there: so a resumed run is the same as one that was never
         stopped. A crew that streams does not stop for it.
  round  a stretch of each seat on one board size. Their games enter the shard seat by seat, so that the shard does not
         depend on how many seats are played at once.

Pools are made when a board size is first needed and keep their games in flight from generation to generation.
"""

from __future__ import annotations

from collections.abc import Callable, Generator, Iterator
from contextlib import closing
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import torch
from torch import nn

from gozero.games.game import Game
from gozero.system.console import progress_bar
from training.records import records, scoring
from training.records.records import Record
from training.selfplay.crew import Key, SelfPlayCrew, Stretch, StretchOver
from training.selfplay.simulators import PachiReferee, referee
from training.settings.config import LoopSettings, Stage
from training.storage import storage
from training.storage.checkpoint import Progress

# of a stretch that streams, for each game in flight: at its end every search starts again, half of one lost in the mean
STRETCH_ROWS = 4


@dataclass
class Debt:
    """What is still to be played; what comes next follows from it alone, however often a run is stopped meanwhile."""

    owed: dict[int, float]  # rows or games by board size; negative: too many
    of_games: bool = False  # that the generation is counted in, instead of rows
    done: int = 0  # rows since the last rest

    def of(self, size: int) -> int:
        """How much to play on boards of the size that is `next`."""
        return max(1, round(self.owed[size]))

    def next(self) -> int | None:
        """The smallest board that owes a whole one or, where none does but all together do, the one that owes most; None
        at the end. A generation of games ends when all sizes together owe none.
        """
        due = [size for size in sorted(self.owed) if round(self.owed[size]) > 0]
        together = round(sum(self.owed.values())) > 0
        if due and (together or not self.of_games):
            return due[0]
        return max(self.owed, key=lambda size: (self.owed[size], size)) if together else None


class Actor:
    """Has the games of the run in `folder` played and appends them to its shards; counts evaluations in `progress`."""

    def __init__(self, settings: LoopSettings, folder: Path, crew: SelfPlayCrew) -> None:
        self.settings, self.folder, self.crew = settings, folder, crew
        self.games: list[Record] = []  # of the generation under way
        self._referees: dict[int, PachiReferee | None] = {}  # by size

    @property
    def threads(self) -> int:
        """CPU threads of an evaluator."""
        return self.crew.threads

    @property
    def playing(self) -> nn.Module:
        """The network that plays: a copy of the learner's average, taken when it was handed over."""
        return self.crew.playing

    def hand_over(self, net: nn.Module) -> None:
        """Play with the present weights of `net` from the next wave on; may be called from another thread."""
        self.crew.hand_over(net)

    def open(self, generation: int) -> None:
        """Begin a generation, or continue one whose shard already holds games."""
        path = storage.shard(self.folder, generation)
        self.games = records.read(path).records if path.exists() else []

    @property
    def unit(self) -> str:
        """What a generation is counted in: rows or games."""
        return "games" if self.settings.generation_games else "rows"

    def owed(self, stage: Stage, progress: Progress) -> dict[int, float]:
        """Rows, or games where these make a generation, that each board size still owes to it; negative: too many."""
        whole = self.settings.generation_games or self.settings.generation_rows
        before = progress.games_owed if self.unit == "games" else progress.rows_owed
        owed = {size: before.get(size, 0.0) + share * whole for size, share in stage.sizes.items()}
        for record in self.games:
            owed[record.size] = owed.get(record.size, before.get(record.size, 0.0)) - self._units(record)
        return owed

    def _wanted(self, owed: float, rows: float) -> float:
        """How much to play until the next rest: what is owed, or about so many rows by the generation's games so far."""
        if self.unit == "rows":
            return min(owed, rows)
        a_game = sum(record.rows for record in self.games) / len(self.games) if self.games else rows
        return min(owed, max(1.0, rows / max(1.0, a_game)))

    def _units(self, record: Record) -> int:
        return 1 if self.unit == "games" else record.rows

    def play(self, stage: Stage, progress: Progress, rest: Callable[[], None], stop: Callable[[], bool]) -> None:
        """Play until no size owes anything or `stop()` is true, with a `rest()` every `checkpoint_rows` rows.

        Each game is written to disk as it ends.
        """
        debt = Debt(self.owed(stage, progress), self.unit == "games")
        path = storage.shard(self.folder, progress.generation)
        with storage.writing(path):
            writer = records.Writer(path, self.settings.portable())
        with (
            closing(writer),
            progress_bar(round(sum(debt.owed.values())), f"self-play {progress.generation}", f" {self.unit}") as bar,
            # whatever fails here, no game goes on
            closing((self._streams if self.crew.streams else self._rounds)(debt, stage, progress, stop)) as found,
        ):
            for record in found:
                if record is not None:
                    self._keep(record, writer, path)
                    # a crew that streams also ends games of sizes that an earlier stage had
                    debt.owed[record.size] = debt.owed.get(record.size, 0.0) - self._units(record)
                    debt.done += record.rows
                    bar.update(self._units(record))
                elif debt.done >= self._every and not stop():
                    debt.done = 0
                    rest()

    @property
    def _every(self) -> float:
        """Rows between two rests."""
        return self.settings.checkpoint_rows or float("inf")

    def _rounds(
        self, debt: Debt, stage: Stage, progress: Progress, stop: Callable[[], bool]
    ) -> Generator[Record | None]:
        """Yield games until no size owes anything or `stop()` is true; None when all pools are at rest."""
        seats = self.settings.selfplay.seats
        while (size := debt.next()) is not None and not stop():
            wanted = self._wanted(debt.of(size), self._every - debt.done) / seats
            due = [self._stretch(size, seat, stage, progress, wanted) for seat in range(seats)]
            yield from self._games(self.crew.play(due, stop), progress)
            yield None

    def _streams(
        self, debt: Debt, stage: Stage, progress: Progress, stop: Callable[[], bool]
    ) -> Generator[Record | None]:
        """The same where each seat goes on by itself, also while others rest and into the next generation."""
        while debt.next() is not None and not stop():
            self._keep_busy(debt, stage, progress)
            yield from self._games(self.crew.take(stop), progress)
            yield None
        if stop():
            while self.crew.under_way():
                yield from self._games(self.crew.take(stop), progress)

    def _stretch(self, size: int, seat: int, stage: Stage, progress: Progress, wanted: float) -> Stretch:
        return Stretch(size, seat, stage, progress.generation, wanted, self.unit, progress.evaluations)

    def _keep_busy(self, debt: Debt, stage: Stage, progress: Progress) -> None:
        """Give each seat that has none a stretch, on the board size that lacks most."""
        under_way = self.crew.under_way()
        lacking = {size: debt.owed.get(size, 0.0) for size in stage.sizes}
        for stretch in under_way:
            lacking[stretch.size] = lacking.get(stretch.size, 0.0) - stretch.wanted
        whole = self.settings.generation_games or self.settings.generation_rows
        share = self._wanted(whole, self._every) / self.settings.selfplay.seats
        for seat in set(range(self.settings.selfplay.seats)) - {stretch.seat for stretch in under_way}:
            size = max(stage.sizes, key=lambda size: (lacking[size], size))
            games = self.settings.selfplay.on(size).games
            wanted = max(share, 1.0 if self.unit == "games" else STRETCH_ROWS * games)
            lacking[size] -= wanted
            self.crew.submit(self._stretch(size, seat, stage, progress, wanted))

    @staticmethod
    def _games(found: Iterator[Record | StretchOver], progress: Progress) -> Iterator[Record]:
        """The games of what a crew tells; evaluations are counted."""
        for each in found:
            if isinstance(each, StretchOver):
                progress.evaluations += each.evaluations
            else:
                yield each

    def state_dict(self) -> dict[Key, dict[str, Any]]:
        """The pools' states by key; to be taken at rest."""
        return self.crew.state_dict()

    def load_state_dict(self, pools: dict[Key, dict[str, Any]], playing: dict[str, torch.Tensor] | None) -> list[str]:
        """The inverse of `state_dict`. Returns a line for each pool whose games cannot be continued."""
        return self.crew.load_state_dict(pools, playing)

    def game(self, size: int) -> Game:
        """The run's game at a board size, as self-play plays it."""
        return scoring.game_of(self.settings, size)

    def _keep(self, record: Record, writer: records.Writer, path: Path) -> None:
        """Have a finished game refereed and write it to disk, before anything else happens."""
        if record.size not in self._referees:
            self._referees[record.size] = referee(self.settings.simulator, self.game(record.size))
        judge = self._referees[record.size]
        if judge is not None:
            judge.check(record)
        with storage.writing(path):
            writer.append(record)
        self.games.append(record)
