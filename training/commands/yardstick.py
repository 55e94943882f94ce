"""`gozero yardstick --weights FILE --yardstick FILE.jsonl.gz`: agreement with positions that a strong engine labelled.

What the columns are: `training.matches.yardstick`.
"""

from __future__ import annotations

import argparse
from collections.abc import Sequence
from pathlib import Path

from gozero.nets import locations
from gozero.system.console import Parser
from gozero.system.options import number_of


def main(arguments: Sequence[str] | None = None) -> int:
    """Print the agreement of a weights file beside the constant guess's; exit code 2 if a file cannot be used."""
    parser = Parser(prog="gozero yardstick", description=__doc__)
    add = parser.add_argument
    add("--weights", required=True, metavar="FILE")
    add("--yardstick", required=True, type=Path, metavar="FILE", help="labelled positions, .jsonl or .jsonl.gz")
    add("--komi", type=number_of, default=7.5, help="komi of the labelled games (default 7.5)")
    return parser.run(_run, arguments)


def _run(options: argparse.Namespace) -> int:
    options.yardstick.open("rb").close()  # OSError if it cannot be read
    locations.find(options.weights)
    from training.matches import yardstick

    return yardstick.measure(options)
