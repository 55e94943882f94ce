"""Files between a run folder and a store: which are to be copied, and which are fetched and checked.

A checkpoint is taken before the files that it needs. Those only grow until it is the oldest, so the files taken are a
state from which the run can continue. They are copied to a folder first, while training goes on. Not copied:
the lock, TensorBoard's files (log.jsonl and report.html have the numbers) and records that were cut.
"""

from __future__ import annotations

import contextlib
import shutil
import tempfile
from collections.abc import Iterator
from pathlib import Path

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
STAGING, INCOMING = "outgoing-", "incoming"


class Copies:
    """Takes the state of a run folder again and again, and reads only what has changed."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        # path -> (size, time and number of the file, its entry)
        self._known: dict[str, tuple[tuple[int, ...], FileEntry]] = {}
        for left in folder.glob(f"{STAGING}*"):  # of a killed process
            shutil.rmtree(left)

    @contextlib.contextmanager
    def state(self, there: set[str]) -> Iterator[dict[str, tuple[FileEntry, Path]]]:
        """The folder's files by their paths: what they are and, of those that are not `there` in the store, where they
        can be read until the end of the block.
        """
        paths = numbered(self.folder / "checkpoints", ".pt")
        for pattern in COPIED:
            paths += sorted(path for path in self.folder.glob(pattern) if path.is_file())
        with tempfile.TemporaryDirectory(prefix=STAGING, dir=self.folder) as staging:
            before, self._known, found = self._known, {}, {}
            for number, path in enumerate(paths):
                name, file = path.relative_to(self.folder).as_posix(), Path(staging, str(number))
                with contextlib.suppress(FileNotFoundError):  # what goes away meanwhile is not needed any more
                    now = path.stat()
                    times = (now.st_size, now.st_mtime_ns, now.st_ino)
                    known, entry = before.get(name, ((), None))
                    if entry is None or known != times:
                        entry = entry_of(path)
                    if object_name(name, entry) not in there:
                        shutil.copyfile(path, file)
                        entry = entry_of(file)  # it may have grown
                    self._known[name], found[name] = (times, entry), (entry, file)
            yield found


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


def forget(folder: Path) -> None:
    """Remove what an interrupted fetch has left."""
    shutil.rmtree(folder / INCOMING, ignore_errors=True)


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
