"""Manifests: what a store holds of a run, file by file, so that a reader sees one whole state of it.

manifests/NUMBER-ID.json has each file's length and SHA-256 and the process that copied it. It is written after all its
files, under a new name; the newest that is whole is what the store holds. A file's name in the
store has a part of its checksum, so that a new content never replaces an old one.
"""

from __future__ import annotations

import hashlib
import json
import re
from collections.abc import Sequence
from dataclasses import asdict, dataclass, replace
from fnmatch import fnmatch
from pathlib import Path, PurePosixPath
from typing import Any

from gozero.system.words import counted
from training.storage.store import MissingError, Store, StoreError

FOLDER = "manifests"
NAME = re.compile(rf"{FOLDER}/\d{{8}}-[0-9a-f]{{16}}\.json")
CHECKPOINT = re.compile(r"checkpoints/[0-9]+\.pt")


@dataclass(frozen=True)
class FileEntry:
    """A file of a state."""

    length: int  # bytes
    sha256: str  # hexadecimal


@dataclass(frozen=True)
class StoreManifest:
    """A state of a run, the `number`-th that was written."""

    run: str  # the same for all states of a run in one store
    number: int
    id: str
    owner: str  # who wrote it: host, process, folder and time
    files: dict[str, FileEntry]  # by their path in the run folder, with / between its parts

    @property
    def name(self) -> str:
        """Its name in the store."""
        return f"{FOLDER}/{self.number:08d}-{self.id}.json"

    @property
    def objects(self) -> set[str]:
        """The names of its files in the store."""
        return {object_name(path, entry) for path, entry in self.files.items()}

    @property
    def checkpoints(self) -> dict[str, FileEntry]:
        """The checkpoints among its files. Without one there is no run yet."""
        return {path: entry for path, entry in self.files.items() if path.startswith("checkpoints/")}

    @property
    def newest_checkpoint(self) -> str:
        """The path of the newest of them; empty without one."""
        return max(self.checkpoints, key=lambda path: int(PurePosixPath(path).stem), default="")

    def matching(self, patterns: Sequence[str], store: Store) -> StoreManifest:
        """The state with the files that match one of the patterns; with no patterns, all. StoreError if none does."""
        files = {
            path: entry for path, entry in self.files.items() if any(fnmatch(path, each) for each in patterns or ["*"])
        }
        if not files:
            raise StoreError(f"{store.shown} has no file {' or '.join(map(repr, patterns))}; `show` lists them")
        return replace(self, files=files)

    def encode(self) -> bytes:
        """As JSON; a part of it is none."""
        return json.dumps(asdict(self), indent=0).encode()

    def __str__(self) -> str:
        generation = int(PurePosixPath(self.newest_checkpoint or "0").stem)
        length = sum(entry.length for entry in self.files.values()) / 1e6
        return f"generation {generation}, {counted(len(self.files), 'file', ',')}, {length:,.1f} MB"


def object_name(path: str, entry: FileEntry) -> str:
    """Where a file's content is in the store: checkpoints/000012-3f0c9a1b5d7e2a44.pt."""
    whole = PurePosixPath(path)
    return str(whole.with_name(f"{whole.stem}-{entry.sha256[:16]}{whole.suffix}"))


def entry_of(path: Path) -> FileEntry:
    """Length and checksum of a file, of the bytes that are read now."""
    with path.open("rb") as file:
        digest = hashlib.file_digest(file, "sha256")
        return FileEntry(file.tell(), digest.hexdigest())


def decode(content: bytes) -> StoreManifest | None:
    """The inverse of `StoreManifest.encode`; None for a manifest that is not whole.

    Raises:
        ValueError: it is whole, but not one of a run; the message says it of the store.
    """
    try:
        saved: dict[str, Any] = json.loads(content)
    except ValueError:
        return None
    try:
        owner = saved.pop("owner")
        owner = owner if isinstance(owner, str) else str(owner["host"])  # of manifests before December 2026
        files = {path: FileEntry(**entry) for path, entry in saved.pop("files").items()}
        found = StoreManifest(owner=owner, files=files, **saved)
    except (KeyError, TypeError, AttributeError):
        raise ValueError("has a manifest of another version of gozero; use the version that wrote it") from None
    for path in files:
        if PurePosixPath(path).is_absolute() or ".." in PurePosixPath(path).parts or "\\" in path:
            raise ValueError(f"has a manifest with the file {path!r}, which cannot be in a run folder")
    for path in found.checkpoints:
        if not CHECKPOINT.fullmatch(path):
            raise ValueError(f"has a manifest with the file {path!r}, which is no checkpoint of a run")
    return found


def newest(store: Store, names: list[str] | None = None) -> StoreManifest | None:
    """The newest whole manifest; None in a store without any. `names` are the store's, if they are known.

    Raises:
        StoreError: the store cannot be read, or has manifests but none that is whole.
    """
    while True:
        found = sorted((name for name in (names or store.names(FOLDER)) if NAME.fullmatch(name)), reverse=True)
        names = None
        try:
            whole = next(filter(None, (decode(store.read(name)) for name in found)), None)
        except MissingError:  # removed since: a newer one has come
            continue
        except ValueError as error:
            raise StoreError(f"{store.shown} {error}") from None
        if found and whole is None:
            raise StoreError(
                f"{store.shown} is damaged: none of its {len(found)} manifests is whole; give another --storage"
            )
        return whole


def newest_run(store: Store) -> StoreManifest:
    """The newest whole manifest. StoreError also if the store holds no run."""
    found = newest(store)
    if found is None or not found.checkpoints:
        raise StoreError(f"{store.shown} holds no run" + ("" if store.folder else ", or cannot be reached"))
    return found
