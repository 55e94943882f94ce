"""The copy of a run folder in a store: which of the two is ahead, who may write there, and copying in the background.

If one of the two has no run, the other's counts, unless it would replace files that do not come from it. If both have
one, the folder's counts if the store's state came from it, and the store's if the folder has not changed since they
agreed. If each has something that the other lacks nothing is copied, and the user decides. A manifest is written only
on top of the state that the folder agrees with: a process that finds another's has lost the store.

A store that is slow or broken neither delays nor ends a run: each failed copy is one line, and the next checkpoint
tries again. Copies do not queue, and only the last one, at the end of the run, is waited for.
"""

from __future__ import annotations

import contextlib
import json
import os
import platform
import re
import secrets
import threading
import time
from collections.abc import Callable
from dataclasses import asdict, dataclass, replace
from pathlib import Path

from gozero.system import files
from gozero.system.console import say
from training.storage import copies
from training.storage import manifest as manifests
from training.storage.copies import Copies
from training.storage.manifest import FileEntry, StoreManifest, entry_of, object_name
from training.storage.storage import StorageError, holds_run, numbered, writing
from training.storage.store import Store, StoreError

AGREEMENTS = "storage.json"
# what a push may remove: a store may lie beside files of the user's
OURS = re.compile(r"(?:(?:checkpoints|records|frozen)/\w+|settings|weights|log|report)-[0-9a-f]{16}\.\w+")


class LostError(StoreError):
    """The store belongs to another process by now; one line."""


@dataclass(frozen=True)
class StoreAgreement:
    """What a run folder knows of a store: the state that both had last. storage.json has one for each store."""

    run: str = ""
    number: int = 0  # of the state that both agree with
    agreed: str = ""  # its manifest
    pending: str = ""  # a manifest that was about to be written when this was
    newest: str = ""  # checksum of the newest checkpoint of the state agreed with
    fetching: bool = False  # the folder is to get that state and may not have it yet


class Mirror:
    """A run folder with a copy in a store. The folder must be this process's alone (`storage.alone`)."""

    def __init__(self, store: Store, folder: Path, accept: Callable[[bytes], None] = lambda _: None) -> None:
        """Decide which of the two is ahead; nothing is written yet, `claim` comes next.

        `accept` is given the settings.json of a run that is to be fetched, and may raise an error of its own.

        Raises:
            StoreError: the store cannot be read, is damaged, or differs from the folder.
        """
        self.store, self.folder = store, folder.absolute()
        self._coming = ""  # what `fetch` says of the store's run
        store.refuse_within(self.folder)
        self._agreement = _agreements(self.folder).get(store.place, StoreAgreement())
        stored = manifests.newest(store)
        if stored is None or not stored.checkpoints:
            number, known = (stored.number, stored.id) if stored else (0, "")
            stored = StoreManifest(secrets.token_hex(8), number, known, self._owner(), {})
            self._agreement = StoreAgreement()
        else:
            self._agreement = replace(self._agreement, fetching=self._is_behind(stored, accept))
        self.state = stored  # the store's newest, as far as is known
        self._uploaded: set[str] = set()  # objects that are there for certain

    def claim(self) -> None:
        """Make the store this folder's; another process that had it has lost it. `fetch` comes next if `behind`.

        Raises:
            StoreError: the store cannot be written, or was claimed by another process meanwhile.
            StorageError: the folder cannot be written.
        """
        first = not (self.folder / AGREEMENTS).exists()
        self._copies = Copies(self.folder)
        if not self.behind:
            copies.forget(self.folder)
        try:
            self._write(self.state.files, seen=[])
        except StoreError:
            if first:  # a store that could not be used leaves nothing here
                (self.folder / AGREEMENTS).unlink(missing_ok=True)
            raise

    @property
    def behind(self) -> bool:
        """Whether the folder has to be filled from the store first."""
        return self._agreement.fetching

    def fetch(self) -> None:
        """Bring the store's state into the folder.

        Raises:
            StoreError: the store is damaged or cannot be read. Call again, or `push` to give the store free.
            StorageError: the folder cannot be written.
        """
        say(self._coming)
        copies.fetch(self.store, self.state, self.folder)
        with writing(self.folder):
            for path in numbered(self.folder / "checkpoints", ".pt"):
                if f"checkpoints/{path.name}" not in self.state.files:  # an older one of the same run
                    path.unlink()
        self._save(replace(self._agreement, fetching=False))

    def push(self) -> bool:
        """Bring the store to the folder's state. False: it was there already.

        Raises:
            LostError: another process has the store by now.
            StoreError: it cannot be done now; the store's state before is whole.
        """
        seen = self.store.names()
        self._check_newest(seen)
        try:
            files = self.state.files if self.behind else self._upload()
            if files == self.state.files:
                self._sweep(seen)  # what a push before could not
                return False
            self._write(files, seen)
        except OSError as error:
            raise StoreError(f"cannot copy {self.folder}: {error.strerror or error}") from None
        return True

    def _is_behind(self, stored: StoreManifest, accept: Callable[[bytes], None]) -> bool:
        """Whether the store's run replaces what is in the folder. StoreError if each has what the other lacks."""
        if self.behind or not holds_run(self.folder):
            if not self.behind and stored.run != self._agreement.run:
                self._refuse_to_replace(stored)
            if (settings := stored.files.get("settings.json")) is not None:
                accept(self.store.read(object_name("settings.json", settings)))
            self._coming = f"{self.store.shown} holds a run ({stored}): it is fetched and continues in {self.folder}"
            return True
        if stored.id in (self._agreement.agreed, self._agreement.pending):
            return False
        if stored.run == self._agreement.run and stored.number > self._agreement.number and self._is_unchanged():
            self._coming = f"{self.store.shown} is ahead of {self.folder} ({stored}): it is fetched and continues here"
            return True
        raise StoreError(
            f"{self.store.shown} holds a run ({stored}) that does not come from {self.folder}, or has gone on without "
            "it: give another --run to continue the store's, or another --storage to keep this folder's"
        )

    def _refuse_to_replace(self, stored: StoreManifest) -> None:
        """StoreError if the store's run would take the place of files of another origin."""
        # settings.json may be of a start that failed
        others = [path for path in copies.in_the_way(stored, self.folder) if path != "settings.json"]
        if others:
            raise StoreError(
                f"{self.store.shown} holds a run ({stored}), but {self.folder} has another {others[0]}, which it would "
                "replace: give another --run, or another --storage"
            )

    def _is_unchanged(self) -> bool:
        """Whether the folder's newest checkpoint is that of the state agreed with."""
        newest = numbered(self.folder / "checkpoints", ".pt")[-1]
        return self._agreement.newest == entry_of(newest).sha256

    def _owner(self) -> str:
        now = time.strftime("%Y-%m-%d %H:%M:%S")
        return f"{platform.node()} (process {os.getpid()}, folder {self.folder}) at {now}"

    def _upload(self) -> dict[str, FileEntry]:
        """Copy what the store lacks of the folder. Returns the folder's state."""
        there = self.state.objects | self._uploaded
        with self._copies.state(there) as outgoing:
            files = {path: entry for path, (entry, _) in outgoing.items()}
            if self.state.checkpoints and not any(path.startswith("checkpoints/") for path in files):
                raise StoreError(f"{self.folder} has no checkpoint any more; {self.store.shown} keeps the state before")
            for path, (entry, file) in outgoing.items():
                name = object_name(path, entry)
                if name not in there:
                    self.store.upload(file, name)
                    self._uploaded.add(name)
        return files

    def _check_newest(self, names: list[str]) -> None:
        """LostError unless the newest of these manifests is ours, be it one whose writing seemed to have failed.

        StoreError where there is none at all: a store that is away for a while, such as a share that is not mounted,
        looks like this too.
        """
        if max(filter(manifests.NAME.fullmatch, names), default="") == self.state.name:
            return
        stored = manifests.newest(self.store, names)
        if stored is not None and stored.id == self._agreement.pending:
            self._agree(stored)
        if stored is None and self.state.id:
            empty = f"{self.store.shown} is empty or cannot be reached (is it mounted?)"
            raise StoreError(f"{empty}; {self.folder} has the run")
        if stored is not None and stored.id != self.state.id:
            raise LostError(
                f"{self.store.shown} has been taken over by {stored.owner}; this run is no longer copied there, and is "
                f"whole in {self.folder}"
            )

    def _write(self, files: dict[str, FileEntry], seen: list[str]) -> None:
        """Write the next manifest and remove what it does not need of `seen`, names that were there before.

        They were listed before the owner was checked, so files of a process that takes over now are not among them.
        """
        fresh = StoreManifest(self.state.run, self.state.number + 1, secrets.token_hex(8), self._owner(), files)
        self._save(replace(self._agreement, pending=fresh.id))
        self._check_newest(self.store.names(manifests.FOLDER))
        self.store.write(fresh.name, fresh.encode())
        self._check_newest(self.store.names(manifests.FOLDER))  # agrees to the fresh one
        self._sweep(seen)

    def _sweep(self, seen: list[str]) -> None:
        """Remove what the state does not need; what cannot be removed now is left to a later push."""
        needed = {self.state.name} | self.state.objects
        with contextlib.suppress(StoreError):
            self.store.remove(sorted(name for name in {*seen, *self._uploaded} - needed if _is_ours(name)))
        self._uploaded &= needed

    def _agree(self, state: StoreManifest) -> None:
        """The store holds this state, and the folder comes from it or will get it."""
        self.state = state
        newest = state.files.get(state.newest_checkpoint)
        sha256 = newest.sha256 if newest else ""
        self._save(StoreAgreement(state.run, state.number, state.id, "", sha256, self.behind))

    def _save(self, agreement: StoreAgreement) -> None:
        """Save it in the folder, beside those of other stores. Raises StorageError."""
        self._agreement, path = agreement, self.folder / AGREEMENTS
        agreements = _agreements(self.folder) | {self.store.place: agreement}
        with writing(path), files.replacing(path) as file:
            file.write(json.dumps({url: asdict(each) for url, each in agreements.items()}, indent=1).encode())


class Uploader:
    """Copies a run folder to its store in a thread of its own, until `close`."""

    def __init__(self, mirror: Mirror) -> None:
        self._mirror = mirror
        self.lost = False  # whether another process has taken the store over
        self._wanted, self._closing = threading.Event(), False
        self._complete = False  # the last push succeeded
        self._thread = threading.Thread(target=self._work, name="storage", daemon=True)
        self._thread.start()

    def wake(self) -> None:
        """A checkpoint has been written. Returns at once; any thread may call it."""
        self._wanted.set()

    def close(self) -> bool:
        """Push for the last time and wait for it. Returns whether the store has it all, again if called again."""
        if not self._closing:
            self._closing = True
            self._wanted.set()
            self._thread.join()
            if self._complete:
                say(f"{self._mirror.store.shown} holds the run: {self._mirror.state}")
        return self._complete

    def _work(self) -> None:
        closing = False
        while not closing and not self.lost:
            self._wanted.wait()
            self._wanted.clear()
            closing = self._closing
            self._push("the same command" if closing else "training goes on, and the next checkpoint")

    def _push(self, again: str) -> None:
        """Push once; a failure is one line, which says what tries again."""
        self._complete = False
        try:
            self._mirror.push()
            self._complete = True
        except LostError as error:
            self.lost = True
            say(str(error))
        except (StoreError, StorageError) as error:
            say(f"{error}; {again} tries again")


def open_remote(url: str, folder: Path, accept: Callable[[bytes], None] = lambda _: None) -> Uploader:
    """Open the store of a run folder; the folder then has the store's run, if it had none or an older state of it.

    `accept` is given the settings.json of a run before anything of it is fetched, and may raise an error of its own.

    Raises:
        StoreError: the store cannot be used, is damaged, or holds something else than the folder.
        StorageError: the folder cannot be written.
    """
    mirror = Mirror(Store(url), folder, accept)
    mirror.claim()
    if mirror.behind:
        mirror.fetch()
    return Uploader(mirror)


def _agreements(folder: Path) -> dict[str, StoreAgreement]:
    """The folder's agreements by the stores' URLs. StoreError for a damaged file."""
    path = folder / AGREEMENTS
    try:
        saved = json.loads(path.read_text(encoding="utf-8")) if path.exists() else {}
        return {url: StoreAgreement(**values) for url, values in saved.items()}
    except (ValueError, TypeError, AttributeError):
        raise StoreError(f"{path} is damaged; give another --run to continue from the store") from None


def _is_ours(name: str) -> bool:
    return bool(OURS.fullmatch(name) or manifests.NAME.fullmatch(name))
