"""What a store holds of a run, and a copy of it by hand; the command line is `training.commands.storage`."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from fnmatch import fnmatch
from pathlib import Path

from gozero.system.options import SettingsError
from gozero.system.words import counted
from training.storage import copies, storage
from training.storage import manifest as manifests
from training.storage.manifest import StoreManifest
from training.storage.mirror import check_places
from training.storage.store import Store, StoreError


def show(store: Store) -> str:
    """What the store holds, a line a file. StoreError if it holds no run."""
    found = _newest(store)
    lines = [f"{entry.length:>14,}  {path}" for path, entry in found.files.items()]
    return "\n".join([*lines, str(found), f"written by {found.owner}"])


def fetch(store: Store, folder: Path, only: Sequence[str] = ()) -> str:
    """Bring the store's run, or those of its files that match, into a folder that holds no run.

    Raises:
        StoreError: the store cannot be read, is damaged or holds no such file, or the folder lies in it.
        SettingsError: the folder holds a run, or other files of the same names.
        BusyError, FolderError, StorageError: the folder cannot be used.
    """
    if storage.holds_run(folder):
        raise SettingsError(f"{folder.absolute()} holds a run; give a new folder")
    check_places(store, folder)
    with storage.alone(folder):
        while True:
            found = _chosen(_newest(store), only, store)
            if held := copies.in_the_way(found, folder):
                raise SettingsError(f"{folder.absolute()} has another {held[0]}, which stays; give a new folder")
            try:
                copies.fetch(store, found, folder)
                return f"{counted(len(found.files), 'file', ',')}, {found.length / 1e6:,.1f} MB, are in {folder.absolute()}"
            except StoreError:
                if _newest(store).id == found.id:  # otherwise a run has replaced it meanwhile
                    raise


def _newest(store: Store) -> StoreManifest:
    found = manifests.newest(store)
    if found is None or not found.checkpoints:
        raise StoreError(f"{store.shown} holds no run" + ("" if store.folder else ", or cannot be reached"))
    return found


def _chosen(found: StoreManifest, only: Sequence[str], store: Store) -> StoreManifest:
    """The state with the files that match one of the patterns; with no patterns, all."""
    files = {path: entry for path, entry in found.files.items() if any(fnmatch(path, each) for each in only or ["*"])}
    if not files:
        raise StoreError(f"{store.shown} has no file {' or '.join(map(repr, only))}; `show` lists them")
    return replace(found, files=files)
