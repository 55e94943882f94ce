"""The manifest of a store: what it holds of a run, file by file, so that a reader sees one whole state of it.

manifest.json has each file's length and SHA-256 and the process that copied it. It is written after all its files. A
file's name in the store has a part of its checksum, so that a new content never replaces an old one.
"""

from __future__ import annotations

import hashlib
import json
import re
import shutil
from collections.abc import Sequence
from dataclasses import asdict, dataclass, replace
from fnmatch import fnmatch
from pathlib import Path, PurePosixPath
from typing import Any

from gozero.system.files import from_json
from gozero.system.words import counted
from training.storage.storage import writing
from training.storage.store import MissingError, Store, StoreError

NAME, INCOMING = "manifest.json", "incoming"
# the files of a run that a store has: not the lock, TensorBoard's files (log.jsonl and report.html have the numbers)
# nor records that were cut
PATH = re.compile(
    r"(checkpoints/\d+|frozen/\w+|weights)\.pt|records/\w+\.gzr|settings\.json|log\.jsonl|report\.html", re.ASCII
)


@dataclass(frozen=True)
class FileEntry:
    length: int  # bytes
    sha256: str  # hexadecimal

    @classmethod
    def of(cls, content: bytes) -> FileEntry:
        return cls(len(content), hashlib.sha256(content).hexdigest())


@dataclass(frozen=True)
class StoreManifest:
    """A state of a run."""

    run: str  # the same for all states of a run in one store
    id: str
    owner: str  # who wrote it: host, process, folder and time
    files: dict[str, FileEntry]  # by their path in the run folder, with / between its parts

    @property
    def objects(self) -> set[str]:
        """The names of its files in the store."""
        return {object_name(path, entry) for path, entry in self.files.items()}

    @property
    def generation(self) -> int:
        """The number of its newest checkpoint; 0 without one: there is no run yet."""
        checkpoints = (PurePosixPath(path) for path in self.files if path.startswith("checkpoints/"))
        return max((int(path.stem) for path in checkpoints), default=0)

    def matching(self, patterns: Sequence[str]) -> StoreManifest:
        """The state with the files that match one of the patterns."""
        files = {path: entry for path, entry in self.files.items() if any(fnmatch(path, each) for each in patterns)}
        return replace(self, files=files)

    def in_the_way(self, folder: Path) -> list[str]:
        """Its paths that a folder has with another content: `fetch` would replace them."""
        return [
            path for path, entry in self.files.items() if (folder / path).exists() and not _holds(folder / path, entry)
        ]

    def encode(self) -> bytes:
        return json.dumps(asdict(self), indent=0).encode()

    def __str__(self) -> str:
        length = sum(entry.length for entry in self.files.values()) / 1e6
        done = f"{counted(self.generation - 1, 'generation', ',')}, " if self.generation else ""  # it plays the next
        return f"{done}{counted(len(self.files), 'file', ',')}, {length:,.1f} MB"


def object_name(path: str, entry: FileEntry) -> str:
    """Where a file's content is in the store: checkpoints/000012-3f0c9a1b5d7e2a44.pt."""
    whole = PurePosixPath(path)
    return str(whole.with_name(f"{whole.stem}-{entry.sha256[:16]}{whole.suffix}"))


def is_object(name: str) -> bool:
    """Whether a name in a store is one of `object_name`: a store may lie beside files of the user's."""
    name = name.removesuffix(".tmp")  # of a process that was killed while it wrote
    plain = re.sub(r"-[0-9a-f]{16}(?=\.\w+$)", "", name)
    return plain != name and PATH.fullmatch(plain) is not None


def read(store: Store) -> StoreManifest | None:
    """What a store holds; None if it has no manifest. StoreError if it cannot be read, or is no run's."""
    try:
        saved: dict[str, Any] = from_json(store.read(NAME))
        files = {path: FileEntry(**entry) for path, entry in saved.pop("files").items()}
        found = StoreManifest(files=files, **saved)
    except MissingError:
        if any(name.startswith("manifests/") for name in store.names()):  # else the run's files would be removed
            raise StoreError(
                f"{store.shown} holds a run copied by an earlier version of gozero, which alone can fetch it; give "
                "another --storage"
            ) from None
        return None
    except (ValueError, KeyError, TypeError, AttributeError):
        raise StoreError(
            f"{store.shown} has a {NAME} that is damaged, or of another version of gozero; give another --storage"
        ) from None
    if wrong := [path for path in files if not PATH.fullmatch(path)]:
        raise StoreError(f"{store.shown} has a {NAME} with the file {wrong[0]!r}, which cannot be in a run folder")
    return found


def read_run(store: Store) -> StoreManifest:
    """What a store holds. StoreError also if that is no run."""
    found = read(store)
    if found is None or not found.generation:
        raise StoreError(f"{store.shown} holds no run, or cannot be reached")
    return found


def fetch(store: Store, state: StoreManifest, folder: Path) -> None:
    """Bring a state into a folder, checked file by file; the folder changes only when all have come. StoreError if a
    file is missing or damaged, StorageError if the folder cannot be written.
    """
    coming = folder / INCOMING
    for path, entry in state.files.items():
        if not (_holds(folder / path, entry) or _holds(coming / path, entry)):
            name = object_name(path, entry)
            content = store.read(name)
            if FileEntry.of(content) != entry:
                sizes = f"{len(content):,} bytes, not {entry.length:,}"
                what = sizes if len(content) != entry.length else "another checksum"
                raise StoreError(f"{store.shown} is damaged: its file {name} has {what}")
            with writing(coming / path):
                (coming / path).parent.mkdir(parents=True, exist_ok=True)
                (coming / path).write_bytes(content)
    with writing(folder):
        # checkpoints last, the newest of them first: with it the folder holds the run
        for path in sorted(state.files, reverse=True):
            if (coming / path).exists():
                (folder / path).parent.mkdir(parents=True, exist_ok=True)
                (coming / path).replace(folder / path)
        shutil.rmtree(coming, ignore_errors=True)


def _holds(place: Path, entry: FileEntry) -> bool:
    """Whether a place is a file of this content."""
    return place.is_file() and FileEntry.of(place.read_bytes()) == entry
