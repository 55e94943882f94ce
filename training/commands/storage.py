"""`gozero storage`: what a store holds of a run, and a copy of it by hand.

    gozero storage show s3://bucket/runs/go13
    gozero storage fetch s3://bucket/runs/go13 runs/go13

A fetched folder is a run folder; with `--only weights.pt` it is that file alone. Neither changes the store, and both
may be used while a run copies itself there. Exit code 2: the store or the folder cannot be used.
"""

from __future__ import annotations

import argparse
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from gozero.system.console import Parser, run_command
from gozero.system.options import SettingsError

if TYPE_CHECKING:
    from training.storage.store import Store


def main(arguments: Sequence[str] | None = None) -> int:
    """Run from the command line; the exit code is described above."""
    parser = Parser(prog="gozero storage", description="Look at a store of a run, or fetch it by hand.")
    commands = parser.add_subparsers(dest="command", required=True, metavar="show | fetch")
    shows = commands.add_parser("show", help="list what a store holds")
    fetches = commands.add_parser("fetch", help="copy a run from a store into a folder")
    for each in (shows, fetches):
        each.add_argument("url", metavar="URL", help="such as s3://bucket/run or file:///mnt/share/run")
    fetches.add_argument("folder", metavar="FOLDER", help="a folder that holds no run")
    fetches.add_argument(
        "--only", action="append", default=[], metavar="PATTERN", help="files to fetch, such as weights.pt; repeatable"
    )
    options = parser.parse_args(arguments)
    return run_command("gozero storage", lambda: _run(options), interrupted="give the same command again to go on")


def _run(options: argparse.Namespace) -> None:
    from training.storage import manifest
    from training.storage.store import Store

    store = Store(options.url)
    if options.command == "fetch":
        if not options.folder:  # which would be the working folder
            raise SettingsError("the name of the folder is empty; give a new folder")
        print(fetch(store, Path(options.folder), options.only))
        return
    found = manifest.read_run(store)
    for path, entry in found.files.items():
        print(f"{entry.length:>14,}  {path}")
    print(f"{found}\nwritten by {found.owner}")


def fetch(store: Store, folder: Path, only: Sequence[str] = ()) -> str:
    """Bring the store's run, or those of its files that match, into a folder that holds no run. Returns a line.

    Raises:
        StoreError: the store cannot be read or is damaged, or the folder lies in it.
        SettingsError: it holds no such file, or the folder holds a run, or other files of the same names.
        BusyError, FolderError, StorageError: the folder cannot be used.
    """
    from training.storage import manifest, storage

    if storage.holds_run(folder):
        raise SettingsError(f"{folder.absolute()} holds a run; give a new folder")
    store.refuse_within(folder)
    with storage.alone(folder):
        found = manifest.read_run(store).matching(only or ["*"])
        if not found.files:
            raise SettingsError(f"{store.shown} has no file {' or '.join(map(repr, only))}; `show` lists them")
        if others := found.in_the_way(folder):
            raise SettingsError(f"{folder.absolute()} has another {others[0]}, which stays; give a new folder")
        manifest.fetch(store, found, folder)
    return f"{found}, is in {folder.absolute()}"
