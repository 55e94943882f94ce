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

from gozero.system.console import Parser, run_command


def _folder(text: str) -> Path:
    if not text:  # which would be the working folder
        raise ValueError(text)
    return Path(text)


_folder.__name__ = "folder"  # argparse names the type in its message


def main(arguments: Sequence[str] | None = None) -> int:
    """Run from the command line; the exit code is described above."""
    parser = Parser(prog="gozero storage", description="Look at a store of a run, or fetch it by hand.")
    commands = parser.add_subparsers(dest="command", required=True, metavar="show | fetch")
    shows = commands.add_parser("show", help="list what a store holds")
    fetches = commands.add_parser("fetch", help="copy a run from a store into a folder")
    for each in (shows, fetches):
        each.add_argument("url", metavar="URL", help="such as s3://bucket/run or file:///mnt/share/run")
    fetches.add_argument("folder", type=_folder, metavar="FOLDER", help="a folder that holds no run")
    fetches.add_argument(
        "--only", action="append", default=[], metavar="PATTERN", help="files to fetch, such as weights.pt; repeatable"
    )
    options = parser.parse_args(arguments)
    return run_command("gozero storage", lambda: _run(options), interrupted="give the same command again to go on")


def _run(options: argparse.Namespace) -> None:
    from training.storage.command import fetch, show
    from training.storage.store import Store

    store = Store(options.url)
    print(show(store) if options.command == "show" else fetch(store, options.folder, options.only))
