"""The command `gozero report`: the page of a run."""

from __future__ import annotations

import argparse
from collections.abc import Sequence
from pathlib import Path

from gozero.system.console import Parser
from training.doctor import report


def main(arguments: Sequence[str] | None = None) -> int:
    """Make the page of a run folder; the exit code: 0, or 2 if that cannot be done."""
    about = "Make report.html of a run folder. To compare runs: tensorboard --logdir FOLDER_OF_RUNS"
    parser = Parser(prog="gozero report", description=about)
    parser.add_argument("folder", type=Path, metavar="RUN", help="run folder")
    return parser.run(_print_page, arguments)


def _print_page(options: argparse.Namespace) -> None:
    report.write(options.folder)
    print((options.folder / report.FILE).absolute())
