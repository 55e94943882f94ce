"""The rows of a folder of SGF files in memory, for supervised learning.

Vocabulary.
  shelf      the rows of one board size, with what is known of their targets and the game that each belongs to.
  held out   games never trained on, by a hash of their moves: copies and variations of a game are on the same side.

Files are read in an order that the seed draws, until the rows reach a limit: a row takes about 1.2 KB of memory at
13x13, 2.4 KB at 19x19, and up to an eighth more while files are read. A bad file is named and skipped; a copy of a game
that is already there is skipped and counted.
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
from training.records.replay import ROW_FIELDS, Batch, Rows, transformed, unpack
from training.supervised.sgf_rows import LabelledLine, labelled_lines
from training.supervised.wanted import Wanted

LARGEST_FILE = 20_000_000  # bytes; a longer file does not fit in memory as a tree


class CollectionError(UserError):
    """A folder from which nothing can be learned; one line for the user."""


@dataclass
class Shelf:
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

    train: dict[int, Shelf] = field(default_factory=dict)
    held: dict[int, Shelf] = field(default_factory=dict)
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
        plan: list[tuple[Shelf, np.ndarray]] = []
        for _, shelf in sorted(self.train.items()):
            order, whole = generator.permutation(len(shelf)), len(shelf) // most * most
            plan += [(shelf, part) for part in (np.split(order[:whole], whole // most) if whole else [order])]
        for index in generator.permutation(len(plan)):
            shelf, chosen = plan[index]
            yield shelf.batch(chosen, generator.integers(SYMMETRIES, size=len(chosen)))

    def steps(self, most: int) -> int:
        """Batches of a pass."""
        return sum(max(1, len(shelf) // most) for shelf in self.train.values())


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
            say(
                f"{reader.total:,} positions are read, as many as wanted: {len(files) - read_so_far} of {len(files)} "
                "files are left unread"
            )
            break
        reader.take(files[index])
    return reader.collection(folder)


class _Reader:
    """Reads files and collects their rows."""

    def __init__(self, wanted: Wanted, say: Callable[[str], None], only_size: int | None) -> None:
        self._wanted, self._say, self._only_size = wanted, say, only_size
        self._found: dict[tuple[bool, int], _GrowingShelf] = {}  # by whether it is held out, and size
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
                left = len(games) - number + 1
                self._say(
                    f"{self.total:,} positions are read, as many as wanted: the last {left} games of {path} are left unread"
                )
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
        unwanted = self._unwanted(found[0])
        if unwanted:
            self.counts[unwanted] += 1
            return
        self._seen[identity] = game = len(self._seen)
        self.counts["games"] += 1
        for line in found:
            if line.cut:
                self.counts["cut lines"] += 1
                self._say(f"cut {name} before {line.cut}")
            held = identity < self._wanted.held_out * 2**32
            self._found.setdefault((held, size), _GrowingShelf(size)).add(line, game)
            self.total += len(line.rows)

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
        shelves = {key: growing.shelf() for key, growing in self._found.items()}
        result = Collection(
            {size: shelf for (held, size), shelf in shelves.items() if not held},
            {size: shelf for (held, size), shelf in shelves.items() if held},
            self.counts,
        )
        if not result.train:
            raise CollectionError(
                f"{folder.absolute()}: no game of its {self.counts['files']} files can be trained on: {summary(result)}"
            )
        return result


class _GrowingShelf:
    """A shelf that labelled lines are added to.

    Its arrays grow in place, because joining parts at the end would take their memory twice.
    """

    def __init__(self, size: int) -> None:
        self._size = size
        # the fields of `Rows`, known, game: of one length, of which `_used` rows are filled
        self._columns: list[np.ndarray] = []
        self._used = 0

    def add(self, line: LabelledLine, game: int) -> None:
        """Append the line's rows."""
        count = len(line.rows)
        fields = [getattr(line.rows, name) for name in ROW_FIELDS]
        parts = [*fields, np.tile(np.array(line.known, bool), (count, 1)), np.full(count, game, np.int64)]
        if not self._columns:
            self._columns = [np.empty_like(part) for part in parts]
        first, self._used = self._used, self._used + count
        if self._used > len(self._columns[0]):
            self._resize(self._used + self._used // 8)
        for column, part in zip(self._columns, parts, strict=True):
            column[first : self._used] = part

    def shelf(self) -> Shelf:
        """The shelf of the rows added. Nothing may be added afterwards."""
        self._resize(self._used)
        *fields, known, game = self._columns
        return Shelf(go.make(self._size), Rows(*fields), known, game)

    def _resize(self, length: int) -> None:
        for column in self._columns:
            column.resize((length, *column.shape[1:]), refcheck=False)  # there is no other reference to them


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
