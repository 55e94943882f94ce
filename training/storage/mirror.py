"""The copy of a run folder in a store: which of the two is ahead, who may write there, and copying in the background.

A folder without a run gets the store's, unless that would replace other files. A folder with a run goes on if the
store's newest state was copied from it; otherwise nothing is copied, and the user decides. A manifest is written only
over a state of this folder's: a process that finds another's has lost the store.

A store that is slow or broken neither delays nor ends a run: each failed copy is one line, and the next checkpoint
tries again. Copies do not queue, and only the last one, at the end of the run, is waited for.
"""

from __future__ import annotations

import contextlib
import json
import os
import platform
import secrets
import threading
import time
from dataclasses import replace
from pathlib import Path

from gozero.system import files
from gozero.system.console import say
from training.storage import manifest as manifests
from training.storage.manifest import FileEntry, StoreManifest, object_name
from training.storage.storage import StorageError, holds_run, writing
from training.storage.store import Store, StoreError

OWN_STATES = "storage.json"  # in the run folder: {run: ids of the newest states that were copied from it}


class LostError(StoreError):
    """The store belongs to another process by now; one line."""


class Mirror:
    """A run folder with a copy in a store. The folder must be this process's alone (`storage.alone`)."""

    def __init__(self, store: Store, folder: Path) -> None:
        """Decide which of the two is ahead; nothing is written yet, `claim` comes next. StoreError if the store cannot
        be read, is damaged, or has another state than the folder's.
        """
        self.store, self.folder = store, folder.absolute()
        store.refuse_within(self.folder)
        stored = manifests.read(store) or StoreManifest(secrets.token_hex(8), "", self._owner(), {})
        self.state = stored  # the store's newest, as far as is known
        self.behind = stored.generation > 0 and not holds_run(self.folder)  # the folder is to be filled first
        self._own = _own_states(self.folder)
        self._uploaded: set[str] = set()  # objects that are there for certain
        # of the folder's files as they were read: what changes when a file does, and its entry
        self._known: dict[str, tuple[tuple[int, ...], FileEntry]] = {}
        if self.behind:
            # settings.json may be of a start that failed
            if others := [path for path in stored.in_the_way(self.folder) if path != "settings.json"]:
                raise StoreError(
                    f"{store.shown} holds a run ({stored}), but {self.folder} has another {others[0]}, which it would "
                    "replace: give another --run, or another --storage"
                )
        elif stored.generation and not self._is_own(stored):
            raise StoreError(
                f"{store.shown} holds a run ({stored}) that does not come from {self.folder}, or has gone on without "
                "it: give another --run to continue the store's, or another --storage to keep this folder's"
            )

    def settings(self) -> bytes | None:
        """The settings.json that `claim` would fetch, if any."""
        entry = self.state.files.get("settings.json") if self.behind else None
        return self.store.read(object_name("settings.json", entry)) if entry else None

    def claim(self) -> None:
        """Make the store this folder's; another process that had it has lost it. Then fill the folder if it is behind.
        StoreError, StorageError if the store or the folder cannot be used.
        """
        first = not (self.folder / OWN_STATES).exists()
        try:
            self._write(self.state.files)
        except StoreError:
            if first:  # a store that could not be used leaves nothing here
                (self.folder / OWN_STATES).unlink(missing_ok=True)
            raise
        if self.behind:
            say(f"{self.store.shown} holds a run ({self.state}): it is fetched and continues in {self.folder}")
            manifests.fetch(self.store, self.state, self.folder)

    def push(self) -> bool:
        """Bring the store to the folder's state. False: it was there already. LostError if another process has the
        store by now, StoreError if it cannot be done now: the store's state before is whole.
        """
        seen = self.store.names()
        self._check_owner()
        try:
            found = self._upload()
            changed = found != self.state.files
            if changed:
                self._write(found)
        except OSError as error:
            raise StoreError(f"cannot copy {self.folder}: {error.strerror or error}") from None
        self._sweep(seen)
        return changed

    def _is_own(self, state: StoreManifest) -> bool:
        return state.id in self._own.get(state.run, [])

    def _owner(self) -> str:
        now = time.strftime("%Y-%m-%d %H:%M:%S")
        return f"{platform.node()} (process {os.getpid()}, folder {self.folder}) at {now}"

    def _upload(self) -> dict[str, FileEntry]:
        """Copy what the store lacks of the folder. Returns the folder's state.

        Checkpoints come before the files that they need, which only grow, so a run can continue from what was copied.
        """
        there, found = self.state.objects | self._uploaded, dict[str, FileEntry]()
        for pattern in ("checkpoints/*", "records/*", "frozen/*", "*"):
            for path in sorted(self.folder.glob(pattern)):
                name = path.relative_to(self.folder).as_posix()
                with contextlib.suppress(FileNotFoundError):  # what goes away meanwhile is not needed any more
                    if manifests.PATH.fullmatch(name):
                        found[name] = self._upload_file(name, path, there)
        if self.state.generation and not any(name.startswith("checkpoints/") for name in found):
            raise StoreError(f"{self.folder} has no checkpoint any more; {self.store.shown} keeps the state before")
        return found

    def _upload_file(self, name: str, path: Path, there: set[str]) -> FileEntry:
        """Copy a file unless it is `there`; one that has not changed is not read again. OSError if it has gone."""
        status = path.stat()
        now = status.st_size, status.st_mtime_ns, status.st_ino
        before, entry = self._known.get(name, ((), None))
        if entry is None or before != now:
            content = path.read_bytes()
            entry = FileEntry.of(content)
            if (target := object_name(name, entry)) not in there:
                self.store.write(target, content)
                self._uploaded.add(target)
            self._known[name] = now, entry
        return entry

    def _check_owner(self) -> None:
        """LostError unless the store's state is of this folder, be it one whose writing seemed to have failed, or the
        one that it claims the store from.

        StoreError if there is none at all: a store that is away for a while, such as a share that is not mounted, looks
        like this too.
        """
        stored = manifests.read(self.store)
        if stored is None:
            if self.state.id:
                empty = f"{self.store.shown} is empty or cannot be reached (is it mounted?)"
                raise StoreError(f"{empty}; {self.folder} has the run")
        elif stored.id == self.state.id or self._is_own(stored):
            self.state = stored
        else:
            raise LostError(
                f"{self.store.shown} has been taken over by {stored.owner}; this run is no longer copied there, and is "
                f"whole in {self.folder}"
            )

    def _write(self, found: dict[str, FileEntry]) -> None:
        """Write the manifest. That it is of this folder is noted before, in case the process is killed."""
        fresh = replace(self.state, id=secrets.token_hex(8), owner=self._owner(), files=found)
        self._own[fresh.run] = [self.state.id, fresh.id]
        path = self.folder / OWN_STATES
        with writing(path), files.replacing(path) as file:
            file.write(json.dumps(self._own, indent=1).encode())
        self._check_owner()
        self.store.write(manifests.NAME, fresh.encode())
        self.state = fresh

    def _sweep(self, seen: list[str]) -> None:
        """Remove what the state does not need of `seen`, names that were there before the owner was checked: files of a
        process that takes over now are not among them. What cannot be removed now is left to a later push.
        """
        needed = self.state.objects
        with contextlib.suppress(StoreError):
            self.store.remove(sorted(name for name in {*seen, *self._uploaded} - needed if manifests.is_object(name)))
        self._uploaded &= needed


class Uploader:
    """Copies a run folder to its store in a thread of its own, until `close`."""

    def __init__(self, mirror: Mirror) -> None:
        self._mirror = mirror
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
        while not closing:
            self._wanted.wait()
            self._wanted.clear()
            closing, self._complete = self._closing, False
            try:
                self._mirror.push()
                self._complete = True
            except LostError as error:  # another process has taken the store over
                say(str(error))
                return
            except (StoreError, StorageError) as error:
                again = "the same command" if closing else "training goes on, and the next checkpoint"
                say(f"{error}; {again} tries again")


def _own_states(folder: Path) -> dict[str, list[str]]:
    """The ids of the newest states that were copied from a folder, by run. StoreError for a damaged file."""
    path = folder / OWN_STATES
    try:
        saved = files.from_json(path.read_text(encoding="utf-8")) if path.exists() else {}
        return {run: list(ids) for run, ids in saved.items()}
    except (ValueError, TypeError, AttributeError):
        raise StoreError(f"{path} is damaged; give another --run to continue from the store") from None
