"""`gozero storage`: what a store holds of a run, and a copy of it by hand.

    gozero storage s3://bucket/runs/go13                        what is there
    gozero storage s3://bucket/runs/go13 --fetch runs/go13      copy it

A fetched folder is a run folder; with `--only weights.pt` it is that file alone. The store is not changed, and may be
used while a run copies itself there. Exit code 2: the store or the folder cannot be used.
"""

from __future__ import annotations

import argparse
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from gozero.system.console import Parser
from gozero.system.options import SettingsError

if TYPE_CHECKING:
    from training.storage.store import Store


def main(arguments: Sequence[str] | None = None) -> int:
    parser = Parser(prog="gozero storage", description=__doc__)
    add = parser.add_argument
    add("url", metavar="URL", help="such as s3://bucket/run or file:///mnt/share/run")
    add("--fetch", metavar="FOLDER", help="copy the run into this folder, which holds none")
    add("--only", action="append", default=[], metavar="PATTERN", help="files to fetch, such as weights.pt; repeatable")
    return parser.run(_run, arguments)


def _run(options: argparse.Namespace) -> None:
    from training.storage import manifest
    from training.storage.store import Store

    store = Store(options.url)
    if options.fetch is not None:
        if not options.fetch:  # which would be the working folder
            raise SettingsError("the name of the folder is empty; give a new folder")
        print(fetch(store, Path(options.fetch), options.only))
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
        UserError: the folder cannot be used.
    """
    from training.storage import manifest, storage

    if storage.holds_run(folder):
        raise SettingsError(f"{folder.absolute()} holds a run; give a new folder")
    store.refuse_within(folder)
    with storage.alone(folder):
        found = manifest.read_run(store).matching(only or ["*"])
        if not found.files:
            raise SettingsError(
                f"{store.shown} has no file {' or '.join(map(repr, only))}; without --fetch its files are listed"
            )
        if others := found.in_the_way(folder):
            raise SettingsError(f"{folder.absolute()} has another {others[0]}, which stays; give a new folder")
        manifest.fetch(store, found, folder)
    return f"{found}, is in {folder.absolute()}"
