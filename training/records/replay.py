"""The window of rows from which the learner draws its batches.

It is in memory; records on disk are its only copy. Whether a game is held out depends on its moves alone.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Iterable, Sequence
from concurrent.futures import ProcessPoolExecutor
from dataclasses import dataclass, field
from functools import partial
from typing import NamedTuple

import numpy as np

from gozero.games.game import Game
from gozero.system.workers import IGNORED, SPAWN, settle_in
from training.records.records import Record
from training.records.rows import (
    ROW_FIELDS,
    Batch,
    ReadGames,
    Rows,
    join,
    rarity,
    read_games,
    transformed,
    unpack,
)  # fmt: skip
from training.settings.config import ReplaySettings

MANY_ROWS = 50_000  # reading as many takes some seconds on an idle core
PARTS = 4  # for each process that reads


def window_rows(total: int, settings: ReplaySettings) -> int:
    """How many of `total` rows the window holds: all of the first c, then c(1 + 0.4((N/c)^0.75 - 1)/0.75) (Wu 2019,
    appendix C), or c.
    """
    c = settings.window
    if total <= c or not settings.growing:
        return min(total, c)
    return int(c * (1 + 0.4 * ((total / c) ** 0.75 - 1) / 0.75))


class Drawn(NamedTuple):
    """n rows of one size that were drawn for a batch."""

    size: int
    rows: Rows  # among which they are
    chosen: np.ndarray  # int64 [n]: their indices
    symmetries: np.ndarray  # int64 [n], of the game's


@dataclass
class Replay:
    """The window.

    `game_of(size)` gives the game that a record of that size was played under; `version` is that of the input features.
    """

    settings: ReplaySettings
    game_of: Callable[[int], Game]
    version: int = 1
    total: int = 0  # rows recorded by the run so far, held-out ones included
    corrupt: int = 0  # records refused
    rows: dict[tuple[bool, int], Rows] = field(default_factory=dict)  # (held out, size) -> rows
    starts: deque[int] = field(init=False)  # `total` before each game of the window, oldest first

    def __post_init__(self) -> None:
        self.starts = deque(maxlen=self.settings.window_games or None)

    def add(self, records: Iterable[Record]) -> int:
        """Append the rows of new games and remove rows that have left the window. Returns the rows added."""
        before = self.total
        self._append([read_games(records, self.total, self.game_of, self.settings, self.version)])
        return self.total - before

    def fill(self, records: Sequence[Record], processes: int) -> None:
        """Append the rows of games, oldest first, whose rows were counted in `total` when they were played; if they are
        many, in several processes.
        """
        read = partial(read_games, game_of=self.game_of, settings=self.settings, version=self.version)
        ends = np.cumsum([record.rows for record in records])
        if processes == 1 or not len(ends) or ends[-1] < MANY_ROWS:
            self._append([read(records, self.total)])
            return
        cuts = np.searchsorted(ends, np.linspace(0, ends[-1], processes * PARTS + 1)[1:-1]).tolist()
        firsts, lasts = [0, *cuts], [*cuts, len(records)]
        totals = [self.total + (int(ends[first - 1]) if first else 0) for first in firsts]
        parts = [records[first:last] for first, last in zip(firsts, lasts, strict=True)]
        with ProcessPoolExecutor(processes, SPAWN, settle_in, (IGNORED,)) as pool:
            self._append(list(pool.map(read, parts, totals)))

    def _append(self, parts: Sequence[ReadGames]) -> None:
        """Append games, and remove rows that have left the window."""
        for part in parts:
            self.starts += part.starts
            self.corrupt += part.corrupt
        self.total = parts[-1].total
        for key in {key: None for part in parts for key in part.rows}:
            added = [part.rows[key] for part in parts if key in part.rows]
            self.rows[key] = join([self.rows[key], *added] if key in self.rows else added)
        self._trim()

    def _trim(self) -> None:
        in_games = self.settings.window_games and self.starts
        oldest = self.starts[0] if in_games else self.total - window_rows(self.total, self.settings)
        while self.starts and self.starts[0] < oldest:
            self.starts.popleft()
        for key, rows in list(self.rows.items()):
            first = int(np.searchsorted(rows.serial, oldest))
            if first == len(rows):
                del self.rows[key]
            elif first > 0:
                self.rows[key] = Rows(*(getattr(rows, name)[first:].copy() for name in ROW_FIELDS))

    def sizes(self, held_out: bool = False) -> dict[int, int]:
        """{board size: rows in the window}."""
        return {size: len(rows) for (held, size), rows in sorted(self.rows.items()) if held == held_out}

    @property
    def drawable(self) -> int:
        """Rows that may be drawn."""
        return sum(self.sizes().values())

    def sample(self, batch: int, generator: np.random.Generator) -> Batch:
        """Draw a training batch: rows of one size, each under a random symmetry."""
        drawn = self.draw(batch, generator)
        game = self.game_of(drawn.size)
        found = unpack(drawn.rows, drawn.chosen, game)._replace(rarity=rarity(drawn.rows.weight[drawn.chosen]))
        return transformed(found, drawn.symmetries, game.directions)

    def draw(self, batch: int, generator: np.random.Generator) -> Drawn:
        """Draw a size, then rows, by their weights, and a symmetry for each.

        If the settings draw none of the sizes that there are, the weights of sizes are left out of it.
        """
        by_size = {size: rows for (held, size), rows in sorted(self.rows.items()) if not held}
        if not by_size:
            raise ValueError("the window holds no rows to train on")
        weights = np.array([rows.reach[-1] for rows in by_size.values()])
        often = np.array([self.settings.size_weights.get(size, 1.0) for size in by_size])
        weights = weights * often if often.any() else weights
        size = int(generator.choice(list(by_size), p=weights / weights.sum()))
        rows, symmetries = by_size[size], self.game_of(size).symmetries
        return Drawn(size, rows, rows.draw(batch, generator), generator.choice(symmetries, size=batch))

    def games(self, held_out: bool = False) -> np.ndarray:
        """int64 [n]: the rows in the window of each game that is held out, or of each that is not."""
        counts = [np.zeros(0, np.int64)]
        for (held, _), rows in self.rows.items():
            if held == held_out:
                numbers = np.searchsorted(np.array(self.starts, np.int64), rows.serial, side="right")
                counts.append(np.unique(numbers, return_counts=True)[1])
        return np.concatenate(counts)

    def spread(self, size: int, most: int, held_out: bool) -> Batch:
        """At most `most` rows of a size, evenly spread over the games that are held out, or over the others."""
        rows = self.rows[held_out, size]
        chosen = np.linspace(0, len(rows) - 1, min(most, len(rows))).round().astype(np.int64)
        return unpack(rows, chosen, self.game_of(size))
