"""Write a weights file with its tensors in half precision: half the size, for networks that are large.

    python -m tools.halve_weights runs/agz13/weights.pt weights/large/agz13.pt

Filters, matrices and biases become float16, which keeps eleven binary digits; the running statistics of norms stay as
they are, since a variance may be beyond float16. Whoever loads the file computes in float32, or what else is asked for,
as before. The inference graph does not come along: `gozero graph FILE` attaches it again, in its own size.

Exit code 0: written. 2: not written, and one line on stderr says why.
"""

from __future__ import annotations

import argparse
from collections.abc import Sequence
from pathlib import Path

from gozero.nets import locations, weights
from gozero.nets.weights import WeightsError
from gozero.system.console import Parser, run_command

LARGEST = 65_504.0  # that float16 can hold


def halve(source: Path, target: Path) -> str:
    """Write the file. Returns a line about both.

    Raises:
        WeightsError: `source` cannot be used, or holds a number that float16 cannot. OSError: `target` cannot be written.
    """
    loaded, before = weights.load(source, game=None), source.stat().st_size  # the target may be the source
    learned = {name: tensor for name, tensor in loaded.state_dict.items() if not weights.is_statistic(name)}
    for name, tensor in learned.items():
        if not bool((tensor.abs() <= LARGEST).all()):
            raise WeightsError(source, f"tensor {name!r} has a number that half precision cannot hold")
    weights.save(
        target,
        loaded.state_dict | {name: tensor.half() for name, tensor in learned.items()},
        loaded.config,
        game=loaded.game,
        size=loaded.size,
        trained_sizes=loaded.trained_sizes,
        provenance=loaded.provenance,
    )
    return f"{target.absolute()}: {target.stat().st_size:,} bytes, {before:,} before"


def main(arguments: Sequence[str] | None = None) -> int:
    """Run from the command line; the exit code is described above."""
    parser = Parser(prog="python -m tools.halve_weights", description=__doc__.split("\n\n")[0])
    parser.add_argument("source", type=Path, metavar="FILE", help="weights file")
    parser.add_argument("target", type=Path, metavar="NEW", help="the file to write; what is there is replaced")
    options = parser.parse_args(arguments)
    return run_command("tools.halve_weights", lambda: _run(options))


def _run(options: argparse.Namespace) -> int:
    print(halve(locations.find(options.source), options.target))
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
