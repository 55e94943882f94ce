"""The window of rows that the learner draws from, rebuilt by playing the recorded moves again.

Vocabulary.
  shelf   the rows of one board size (`training.records.rows`), oldest first; games held out have shelves of their own.
  window  how many of all rows so far may still be drawn: it grows more slowly than the run (Wu 2019, appendix C), or
          always holds as many of the newest rows or games.

A game is held out, or not, by a hash of its moves: the same games stay held out after a restart. A record that is
damaged is skipped and counted. The window lives in memory; records on disk are its only copy.
"""

from __future__ import annotations

import zlib
from collections import deque
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field

import numpy as np

from gozero.games.game import Game
from training.records.records import Record
from training.records.rows import (
    ROW_FIELDS,
    Batch,
    CorruptRecordError,
    Rows,
    join,
    rarity,
    rows_of,
    transformed,
    unpack,
)
from training.settings.config import ReplaySettings

WHOLE = slice(None)


def window_rows(total: int, settings: ReplaySettings) -> int:
    """How many of `total` rows the window holds: all of the first c, then c(1 + 0.4((N/c)^0.75 - 1)/0.75) (Wu 2019,
    appendix C), or c.
    """
    c = settings.window
    if total <= c or not settings.growing:
        return min(total, c)
    return int(c * (1 + 0.4 * ((total / c) ** 0.75 - 1) / 0.75))


def is_held_out(record: Record, share: float) -> bool:
    """Whether a game is held out; depends on its moves alone."""
    return zlib.crc32(record.moves.astype("<i4").tobytes()) < share * 2**32


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
    shelves: dict[tuple[bool, int], Rows] = field(default_factory=dict)  # (held out, size) -> rows
    starts: deque[int] = field(init=False)  # `total` before each game of the window, oldest first

    def __post_init__(self) -> None:
        self.starts = deque(maxlen=self.settings.window_games or None)

    def add(self, records: Iterable[Record], counted: bool = False) -> int:
        """Append the rows of these games, oldest first, and drop rows that have left the window.

        Args:
            records: the games.
            counted: whether the rows of refused records have been counted in `total` when they were played.

        Returns the number added to `total`.
        """
        before = self.total
        fresh: dict[tuple[bool, int], list[Rows]] = {}
        for record in records:
            try:
                rows = (
                    rows_of(record, self.game_of(record.size), self.total, self.settings, self.version)
                    if record.rows
                    else None
                )
            except CorruptRecordError:
                self.corrupt += 1
                self.total += record.rows if counted else 0
                continue
            self.starts.append(self.total)
            if rows is not None:
                fresh.setdefault((is_held_out(record, self.settings.held_out), record.size), []).append(rows)
                self.total += len(rows)
        for key, added in fresh.items():
            self.shelves[key] = join([self.shelves[key], *added] if key in self.shelves else added)
        self._trim()
        return self.total - before

    def _trim(self) -> None:
        in_games = self.settings.window_games and self.starts
        oldest = self.starts[0] if in_games else self.total - window_rows(self.total, self.settings)
        while self.starts and self.starts[0] < oldest:
            self.starts.popleft()
        for key, rows in list(self.shelves.items()):
            first = int(np.searchsorted(rows.serial, oldest))
            if first == len(rows):
                del self.shelves[key]
            elif first > 0:
                self.shelves[key] = Rows(*(getattr(rows, name)[first:].copy() for name in ROW_FIELDS))

    def sizes(self, held_out: bool = False) -> dict[int, int]:
        """{board size: rows in the window}."""
        return {size: len(rows) for (held, size), rows in sorted(self.shelves.items()) if held == held_out}

    def sample(self, batch: int, generator: np.random.Generator, part: slice = WHOLE) -> Batch:
        """Draw a training batch: a size, then rows, by their weights; each row under a random symmetry.

        Of the rows drawn only a `part` is unpacked. Where the settings draw none of the sizes that there are, the
        weights of sizes are left out of it.
        """
        shelves = {size: rows for (held, size), rows in sorted(self.shelves.items()) if not held}
        if not shelves:
            raise ValueError("the window holds no rows to train on")
        weights = np.array([rows.reach[-1] for rows in shelves.values()])
        often = np.array([self.settings.size_weights.get(size, 1.0) for size in shelves])
        weights = weights * often if often.any() else weights
        size = int(generator.choice(list(shelves), p=weights / weights.sum()))
        chosen = shelves[size].draw(batch, generator)
        symmetries = generator.choice(self.game_of(size).symmetries, size=batch)
        rows = unpack(shelves[size], chosen[part], self.game_of(size))
        return transformed(rows._replace(rarity=rarity(shelves[size].weight[chosen[part]])), symmetries[part])

    def games(self, held_out: bool = False) -> np.ndarray:
        """int64 [n]: the rows in the window of each game that is held out, or of each that is not."""
        counts = [np.zeros(0, np.int64)]
        for (held, _), rows in self.shelves.items():
            if held == held_out:
                numbers = np.searchsorted(np.array(self.starts, np.int64), rows.serial, side="right")
                counts.append(np.unique(numbers, return_counts=True)[1])
        return np.concatenate(counts)

    def spread(self, size: int, most: int, held_out: bool) -> Batch:
        """At most `most` rows of a size, at even distances over the games that are held out, or over the others;
        untransformed.
        """
        rows = self.shelves[held_out, size]
        chosen = np.linspace(0, len(rows) - 1, min(most, len(rows))).round().astype(np.int64)
        return unpack(rows, chosen, self.game_of(size))
