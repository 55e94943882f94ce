"""The rows of a folder of SGF files in memory, for supervised learning.

Files are read in an order that the seed draws, until the rows reach a limit: a row takes about 1.2 KB of memory at
13x13, 2.4 KB at 19x19, and up to a third more while files are read. A bad file is named and skipped; a copy of a game
that is already there is skipped and counted. Games are held out by a hash of their moves, so that copies and variations
of a game are on the same side.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from pathlib import Path

import numpy as np

from gozero.games.game import Game
from gozero.games.go import go
from gozero.games.symmetry import SYMMETRIES
from gozero.records import sgf
from gozero.system.errors import UserError
from training.records.rows import ROW_FIELDS, Batch, Rows, transformed, unpack
from training.supervised.sgf_rows import LabelledLine, labelled_lines

LARGEST_FILE = 20_000_000  # bytes; a longer file does not fit in memory as a tree


class CollectionError(UserError):
    """A folder from which nothing can be learned; one line for the user."""


@dataclass(frozen=True)
class Wanted:
    """Which games and positions are learned from."""

    sizes: tuple[int, ...] = ()  # board sizes; empty: all
    variations: bool = False  # all lines, not only the main one
    require_result: bool = False  # only games whose result can be learned
    held_out: float = 0.05  # share of games
    most: int = 1_000_000  # rows
    seed: int = 1
    features: int = 1  # version of the input features


@dataclass
class SizedRows:
    """n rows of Go on one board, `board`; `known` bool [n, 3] as in `Batch`, `game` int64 [n] numbers the games."""

    board: Game
    rows: Rows
    known: np.ndarray
    game: np.ndarray

    def __len__(self) -> int:
        return len(self.game)

    def batch(self, chosen: np.ndarray, symmetries: np.ndarray | None = None) -> Batch:
        """The rows with these indices int [n], each under its symmetry int [n] if those are given."""
        found = unpack(self.rows, chosen, self.board)._replace(known=self.known[chosen])
        return found if symmetries is None else transformed(found, symmetries)


@dataclass
class Collection:
    """The rows of a folder: `train` and `held` by board size.

    Counts: files, games, copies of games, games cut, files and games skipped.
    """

    train: dict[int, SizedRows] = field(default_factory=dict)
    held: dict[int, SizedRows] = field(default_factory=dict)
    counts: Counter[str] = field(default_factory=Counter)

    def rows(self) -> int:
        """Positions to train on."""
        return sum(map(len, self.train.values()))

    def batches(self, most: int, generator: np.random.Generator) -> Iterator[Batch]:
        """One pass over the training rows in batches of `most`, each of one size, in random order and under random
        symmetries.

        What does not fill a batch waits for the next pass, where others are left over; a size that never fills one is
        one batch.
        """
        plan: list[tuple[SizedRows, np.ndarray]] = []
        for _, rows in sorted(self.train.items()):
            order, whole = generator.permutation(len(rows)), len(rows) // most * most
            plan += [(rows, part) for part in (np.split(order[:whole], whole // most) if whole else [order])]
        for index in generator.permutation(len(plan)):
            rows, chosen = plan[index]
            yield rows.batch(chosen, generator.integers(SYMMETRIES, size=len(chosen)))

    def steps(self, most: int) -> int:
        """Batches of a pass."""
        return sum(max(1, len(rows) // most) for rows in self.train.values())


def read(folder: Path, wanted: Wanted, say: Callable[[str], None], only_size: int | None = None) -> Collection:
    """Read every *.sgf below a folder. `say` is given a line for each file or game that is skipped or cut.

    Raises:
        CollectionError: no such folder, no SGF file in it, or no row to train on.
    """
    files = sorted(path for path in folder.rglob("*") if path.suffix.lower() == ".sgf" and path.is_file())
    if not files:
        what = "it is a file: give the folder that it is in" if folder.exists() else "no such folder"
        raise CollectionError(f"{folder.absolute()}: {'no *.sgf files in it or below it' if folder.is_dir() else what}")
    reader = _Reader(wanted, say, only_size)
    order = np.random.default_rng(wanted.seed).permutation(len(files))
    for read_so_far, index in enumerate(order):
        if reader.total >= wanted.most:
            say(f"{reader.total:,} positions are read, as many as wanted: after {read_so_far} of {len(files)} files")
            break
        reader.take(files[index])
    return reader.collection(folder)


class _Reader:
    """Reads files and collects their rows."""

    def __init__(self, wanted: Wanted, say: Callable[[str], None], only_size: int | None) -> None:
        self._wanted, self._say, self._only_size = wanted, say, only_size
        self._found: dict[tuple[bool, int], list[list[np.ndarray]]] = {}  # columns by whether it is held out, and size
        self._seen: dict[int, int] = {}  # identity of a game -> its number
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
            if self.total >= self._wanted.most:
                self._say(f"the last {len(games) - number + 1} games of {path} are left unread: enough positions")
                return
            try:
                self._add(name, list(labelled_lines(game, self._wanted.variations, self._wanted.features)))
            except ValueError as error:
                self._skip("bad games" if len(games) > 1 else "bad files", name, error)
            for remark in game.remarks:
                self.counts["remarks"] += 1
                self._say(f"{name}: {remark}")

    def _skip(self, what: str, name: str, error: Exception) -> None:
        self.counts[what] += 1
        reason = (isinstance(error, OSError) and error.strerror) or str(error)
        self._say(f"skipped {name}: {reason}")

    def _add(self, name: str, found: list[LabelledLine]) -> None:
        if not found:
            raise ValueError("it holds no move to learn from")
        size, identity = found[0].size, found[0].identity
        if unwanted := self._unwanted(found[0]):
            self.counts[unwanted] += 1
            return
        self._seen[identity] = game = len(self._seen)
        self.counts["games"] += 1
        for line in found:
            if line.cut:
                self.counts["cut lines"] += 1
                self._say(f"cut {name} before {line.cut}")
            held, count = identity < self._wanted.held_out * 2**32, len(line.rows)
            columns = self._found.setdefault((held, size), [[] for _ in (*ROW_FIELDS, "known", "game")])
            fields = [getattr(line.rows, name) for name in ROW_FIELDS]
            parts = [*fields, np.tile(np.array(line.known, bool), (count, 1)), np.full(count, game, np.int64)]
            for column, part in zip(columns, parts, strict=True):
                column.append(part)
            self.total += count

    def _unwanted(self, line: LabelledLine) -> str:
        """The count under which a sound but unwanted game goes; empty for a wanted one."""
        if line.identity in self._seen:
            return "copies"
        if (
            line.size < go.MIN_SIZE
            or self._only_size not in (None, line.size)
            or (self._wanted.sizes and line.size not in self._wanted.sizes)
        ):
            return "other sizes"
        return "without result" if self._wanted.require_result and not line.known[0] else ""

    def collection(self, folder: Path) -> Collection:
        """All of it. CollectionError where nothing is left to train on."""
        result = Collection(counts=self.counts)
        for (held, size), columns in self._found.items():
            found = []
            while columns:  # one after the other: all at once would take their memory twice
                found.append(np.concatenate(columns.pop(0)))
            *fields, known, game = found
            (result.held if held else result.train)[size] = SizedRows(go.make(size), Rows(*fields), known, game)
        if not result.train:
            raise CollectionError(
                f"{folder.absolute()}: no game of its {self.counts['files']} files can be trained on: {summary(result)}"
            )
        return result


def summary(collection: Collection) -> str:
    """The contents in one line."""
    held = sum(map(len, collection.held.values()))
    sizes = sorted({*collection.train, *collection.held})
    rows = ", ".join(
        f"{size}x{size} {sum(len(group[size]) for group in (collection.train, collection.held) if size in group):,}"
        for size in sizes
    )
    counted = ", ".join(f"{count} {what}" for what, count in collection.counts.items())
    return f"{counted}; {collection.rows():,} positions to train on, {held:,} held out" + (f" ({rows})" if rows else "")
