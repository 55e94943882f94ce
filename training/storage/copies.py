"""Files between a run folder and a store: which are to be copied, and which are fetched and checked.

A checkpoint is taken before the files that it needs. Those only grow until it is the oldest, so the files taken are a
state from which the run can continue. They are linked or copied to a folder first, while training goes on. Not copied:
the lock, TensorBoard's files (log.jsonl and report.html have the numbers) and records that were cut.
"""

from __future__ import annotations

import contextlib
import os
import shutil
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

from training.storage.manifest import FileEntry, StoreManifest, entry_of, object_name
from training.storage.storage import numbered, writing
from training.storage.store import Store, StoreError

COPIED = (  # after the checkpoints, see above
    "settings.json",
    "records/*.gzr",
    "records/removed.txt",
    "log.jsonl",
    "weights.pt",
    "frozen/*.pt",
    "report.html",
)
GROWING = (".jsonl", ".txt")  # written in place; of the shards it is the last
STAGING, INCOMING = "outgoing-", "incoming"
SETTLED = 2.0  # seconds after which a file with the same times has the same content


class Outgoing(NamedTuple):
    """A file to be copied: its content, and where it can be read."""

    entry: FileEntry
    file: Path


class Copies:
    """Takes the state of a run folder again and again, and reads only what has changed."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self._known: dict[str, tuple[tuple[int, ...], FileEntry]] = {}  # path -> (length, time and number, its content)
        for left in folder.glob(f"{STAGING}*"):  # of a killed process
            shutil.rmtree(left)

    @contextlib.contextmanager
    def state(self) -> Iterator[dict[str, Outgoing]]:
        """The folder's files by their paths, readable until the end of the block."""
        with tempfile.TemporaryDirectory(prefix=STAGING, dir=self.folder) as staging:
            taken = self._taken(Path(staging))
            found = {path: Outgoing(self._entry(path, file), file) for path, file in taken.items()}
            self._known = {path: known for path, known in self._known.items() if path in found}
            yield found

    def _taken(self, staging: Path) -> dict[str, Path]:
        """A place from which each file can be read as it is now. Files that go away meanwhile are not needed any more."""
        taken: dict[str, Path] = {}
        for number, path in enumerate(copied := list(_copied(self.folder))):
            name, follower = path.relative_to(self.folder).as_posix(), copied[number + 1 : number + 2]
            last = path.suffix == ".gzr" and not (follower and follower[0].suffix == ".gzr")
            with contextlib.suppress(FileNotFoundError):
                if self._is_known(name, path):
                    taken[name] = path
                else:
                    taken[name] = staging / f"{number}{path.suffix}"
                    (_copy if last or path.suffix in GROWING else _link)(path, taken[name])
        return {name: file for name, file in taken.items() if file.exists()}

    def _is_known(self, name: str, path: Path) -> bool:
        return name in self._known and self._known[name][0] == _times(path)

    def _entry(self, name: str, file: Path) -> FileEntry:
        """The file's content; remembered if its times show a later change."""
        if name in self._known and file == self.folder / name:
            return self._known[name][1]
        found, times = entry_of(file), _times(self.folder / name)
        settled = times is not None and time.time() - times[1] / 1e9 > SETTLED
        if settled and times is not None and times == _times(file):
            self._known[name] = (times, found)
        return found


def _times(path: Path) -> tuple[int, ...] | None:
    """(length, time of the last change in ns, number in the file system); None for a file that is gone."""
    try:
        found = path.stat()
    except FileNotFoundError:
        return None
    return found.st_size, found.st_mtime_ns, found.st_ino


def _copied(folder: Path) -> Iterator[Path]:
    """The files of a run folder that are copied, checkpoints first."""
    yield from numbered(folder / "checkpoints", ".pt")
    for each in COPIED:
        yield from sorted(path for path in folder.glob(each) if path.is_file())


def _copy(path: Path, target: Path) -> None:
    shutil.copyfile(path, target)


def _link(path: Path, target: Path) -> None:
    """A second name for a file that is replaced, never changed; a copy where there are no second names."""
    try:
        os.link(path, target)
    except FileNotFoundError:
        raise
    except OSError:
        _copy(path, target)


def fetch(store: Store, state: StoreManifest, folder: Path) -> None:
    """Bring a state into a folder, checked file by file; the folder changes only when all have come.

    Raises:
        StoreError: a file is missing or damaged, or the store cannot be read.
        StorageError: the folder cannot be written.
    """
    coming = folder / INCOMING
    for path, entry in state.files.items():
        target = coming / path
        if not (_holds(folder / path, entry) or _holds(target, entry)):
            with writing(target):
                target.parent.mkdir(parents=True, exist_ok=True)
            _download(store, path, entry, target)
    with writing(folder):
        for path in sorted(state.files, key=_place):
            if (coming / path).exists():
                (folder / path).parent.mkdir(parents=True, exist_ok=True)
                (coming / path).replace(folder / path)
        forget(folder)


def in_the_way(state: StoreManifest, folder: Path) -> list[str]:
    """The paths of a state that a folder has with another content: `fetch` would replace them. OSError if one cannot be
    read.
    """
    return [
        path for path, entry in state.files.items() if (folder / path).exists() and not _holds(folder / path, entry)
    ]


def _holds(place: Path, entry: FileEntry) -> bool:
    """Whether a place is a file of this content."""
    return place.is_file() and entry_of(place) == entry


def _place(path: str) -> tuple[bool, int]:
    """Where a file stands in the order of putting in place: checkpoints last, the newest of them first."""
    is_checkpoint = path.startswith("checkpoints/")
    return is_checkpoint, -int(Path(path).stem) if is_checkpoint else 0


def _download(store: Store, path: str, entry: FileEntry, target: Path) -> None:
    name = object_name(path, entry)
    store.download(name, target)
    got = entry_of(target)
    if got != entry:
        target.unlink()
        what = f"{got.length:,} bytes, not {entry.length:,}" if got.length != entry.length else "another checksum"
        raise StoreError(f"{store.shown} is damaged: its file {name} has {what}")


def forget(folder: Path) -> None:
    """Remove what an interrupted fetch has left."""
    if (folder / INCOMING).exists():
        shutil.rmtree(folder / INCOMING)
