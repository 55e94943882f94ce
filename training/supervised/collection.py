"""The rows of a folder of SGF files in memory, for supervised learning.

Files are read in an order that the seed draws, until the rows reach a limit: a row takes about 1.2 KB of memory at
13x13, 2.4 KB at 19x19, and up to a third more while files are read. A bad file is named and skipped; a copy of a game
that is already there is skipped and counted. Games are held out by a hash of their moves, so that all copies of a game
are on the same side.
"""

from __future__ import annotations

import os
from collections import Counter
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from gozero.games.game import Game
from gozero.games.go import go
from gozero.games.symmetry import SYMMETRIES
from gozero.records import sgf
from gozero.system.errors import UserError
from training.records.rows import ROW_FIELDS, Batch, Rows, transformed, unpack
from training.supervised.sgf_rows import LabelledGame, labelled

LARGEST_FILE = 20_000_000  # bytes; a longer file does not fit in memory as a tree


@dataclass(frozen=True)
class Wanted:
    """Which games and positions are learned from."""

    size: int = 19  # of the board, in points a side
    held_out: float = 0.05  # share of games
    most: int = 1_000_000  # rows
    seed: int = 1
    features: int = 1  # version of the input features


@dataclass
class Collection:
    """The n rows of a folder on one board; `known` bool [n, 3] as in `Batch`, `held` bool [n]: of games that are held out.

    Counts: files, games, copies of games, games cut, files and games skipped.
    """

    game: Game
    rows: Rows
    known: np.ndarray
    held: np.ndarray
    counts: Counter[str]

    def batch(self, chosen: np.ndarray, symmetries: np.ndarray | None = None) -> Batch:
        """The rows with these indices int [n], each under its symmetry int [n] if those are given."""
        found = unpack(self.rows, chosen, self.game)._replace(known=self.known[chosen])
        return found if symmetries is None else transformed(found, symmetries)

    def batches(self, most: int, generator: np.random.Generator) -> Iterator[Batch]:
        """One pass over the training rows in batches of `most`, in random order and under random symmetries.

        What does not fill a batch waits for the next pass, where others are left over; fewer rows than that are one.
        """
        order = generator.permutation(np.flatnonzero(~self.held))
        for part in np.array_split(order[: self.steps(most) * most], self.steps(most)):
            yield self.batch(part, generator.integers(SYMMETRIES, size=len(part)))

    def steps(self, most: int) -> int:
        """Batches of a pass."""
        return max(1, int((~self.held).sum()) // most)

    def __str__(self) -> str:
        counted = ", ".join(f"{count} {what}" for what, count in self.counts.items())
        held = int(self.held.sum())
        return f"{counted}; {len(self.held) - held:,} positions to train on, {held:,} held out"


def read(folder: Path, wanted: Wanted, say: Callable[[str], None]) -> Collection:
    """Read every *.sgf below a folder. `say` is given a line for each file or game that is skipped or cut. UserError if
    there is no such folder, no SGF file in it, or no row to train on.
    """
    if not folder.is_dir():
        what = "it is a file: give the folder that it is in" if folder.exists() else "no such folder"
        raise UserError(f"{folder.absolute()}: {what}")
    walk = os.walk(folder, onerror=lambda error: say(f"skipped {error.filename}: {error.strerror}"))
    named = (Path(place, name) for place, _, names in walk for name in names)
    files = sorted(path for path in named if path.suffix.lower() == ".sgf" and path.is_file())
    if not files:
        raise UserError(f"{folder.absolute()}: no *.sgf files in it or below it")
    reader = _Reader(wanted, say)
    order = np.random.default_rng(wanted.seed).permutation(len(files))
    for read_so_far, index in enumerate(order):
        if reader.total >= wanted.most:
            say(f"{reader.total:,} positions are read, as many as wanted: after {read_so_far} of {len(files)} files")
            break
        reader.take(files[index])
    found = reader.collection() if reader.total else None
    if found is None or found.held.all():
        counted = ", ".join(f"{count} {what}" for what, count in reader.counts.items())
        raise UserError(f"{folder.absolute()}: nothing on {wanted.size}x{wanted.size} (--size) to train on: {counted}")
    return found


class _Reader:
    def __init__(self, wanted: Wanted, say: Callable[[str], None]) -> None:
        self._wanted, self._say = wanted, say
        self._columns: list[list[np.ndarray]] = [[] for _ in (*ROW_FIELDS, "known", "held")]
        self._seen: set[int] = set()  # identities of games
        self.counts: Counter[str] = Counter()
        self.total = 0  # rows

    def take(self, path: Path) -> None:
        """Add a file's games, or say why not."""
        self.counts["files"] += 1
        try:
            if path.stat().st_size > LARGEST_FILE:
                raise ValueError(f"{path.stat().st_size:,} bytes are too many for a game record")
            games = sgf.games(path.read_bytes())
        except (OSError, ValueError) as error:
            self._skip("bad files", str(path), error)
            return
        for number, game in enumerate(games, 1):
            name = f"{path}, game {number}" if len(games) > 1 else str(path)
            try:
                self._add(name, labelled(game, self._wanted.features))
            except ValueError as error:
                self._skip("bad games" if len(games) > 1 else "bad files", name, error)
            for remark in game.remarks:
                self.counts["remarks"] += 1
                self._say(f"{name}: {remark}")

    def _skip(self, what: str, name: str, error: Exception) -> None:
        self.counts[what] += 1
        reason = (isinstance(error, OSError) and error.strerror) or str(error)
        self._say(f"skipped {name}: {reason}")

    def _add(self, name: str, game: LabelledGame) -> None:
        if game.identity in self._seen:
            self.counts["copies"] += 1
            return
        if game.size != self._wanted.size:
            self.counts[f"on {game.size}x{game.size}"] += 1
            return
        self._seen.add(game.identity)
        self.counts["games"] += 1
        if game.cut:
            self.counts["cut games"] += 1
            self._say(f"cut {name} before {game.cut}")
        held, count = game.identity < self._wanted.held_out * 2**32, len(game.rows)
        fields = [getattr(game.rows, name) for name in ROW_FIELDS]
        parts = [*fields, np.tile(np.array(game.known, bool), (count, 1)), np.full(count, held)]
        for column, part in zip(self._columns, parts, strict=True):
            column.append(part)
        self.total += count

    def collection(self) -> Collection:
        """All of it; one row at least."""
        found = []
        while self._columns:  # one after the other: all at once would take their memory twice
            found.append(np.concatenate(self._columns.pop(0)))
        *fields, known, held = found
        return Collection(go.make(self._wanted.size), Rows(*fields), known, held, self.counts)
