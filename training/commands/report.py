"""The command `gozero report`: the page of a run, or one that compares several."""

from __future__ import annotations

import argparse
from collections.abc import Sequence
from pathlib import Path

from gozero.system.console import Parser
from training.doctor import report
from training.doctor.report import ACROSS, COMPARED, FILE, PICTURE, ReportError


def main(arguments: Sequence[str] | None = None) -> int:
    """Make the page of a run folder, or one of several; the exit code: 0, or 2 if that cannot be done."""
    return _parser().run(_print_page, arguments)


def _parser() -> Parser:
    about = "Make report.html of a run folder; or, of several, one page that compares them."
    parser = Parser(prog="gozero report", description=about)
    parser.add_argument("folders", type=Path, nargs="+", metavar="RUN", help="run folder; two or more are compared")
    parser.add_argument("--across", choices=ACROSS, help=f"what several runs are drawn over (default: {ACROSS[0]})")
    parser.add_argument(
        "--out",
        type=Path,
        metavar="FILE",
        help=f"where the comparison goes (default: {COMPARED}); a name in .png gets a picture of the losses alone",
    )
    return parser


def _print_page(options: argparse.Namespace) -> None:
    folders: list[Path] = options.folders
    out = options.out if options.out is not None else Path(COMPARED)
    if len(folders) > 1 and out.suffix.lower() not in (".html", PICTURE):
        raise ReportError(f"--out {out}: expected a name that ends with .html or {PICTURE}")
    for name in ("across", "out"):
        if len(folders) == 1 and getattr(options, name):
            raise ReportError(
                f"--{name} is for a comparison: name two runs or more (one run's page is RUN/report.html)"
            )

    if len(folders) > 1:
        report.compare(folders, out, options.across or ACROSS[0])
    else:
        report.write(folders[0])
        out = folders[0] / FILE
    print(out.absolute())
