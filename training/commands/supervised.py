"""`gozero supervised FOLDER --out weights.pt`: train a network on game records in SGF instead of self-play.

    gozero supervised ~/games --network b6c64 --epochs 4 --out weights.pt

The networks, the losses and the learner are those of self-play; only where the rows come from differs.
After each pass over the positions (*epoch*) the averaged network is measured on
games that it never saw, beside a guess that does not look at the board. OUT plays at any moment (`gozero-gtp --weights
OUT`); beside it OUT.state holds what `--resume` needs. Ctrl-C saves both.

The weights that ship with gozero never come from this: they learned from self-play alone.
"""

from __future__ import annotations

import argparse
from collections.abc import Sequence
from pathlib import Path

from gozero.system.console import MOST_SEED, Parser
from gozero.system.machine import MOST_THREADS
from gozero.system.options import SettingsError
from training.settings.config import LearnerSettings

RANGES = (
    ("epochs", 1, 10**6), ("most", 1, 10**9), ("threads", 0, MOST_THREADS), ("seed", 0, MOST_SEED), ("held_out", 0, 0.9),
)  # fmt: skip


def main(arguments: Sequence[str] | None = None) -> int:
    """Train from the command line.

    Returns the exit code: 0; 1 if the disk failed or the losses diverged under way; 2 for a request or a folder that
    cannot be used.
    """
    options = Parser(prog="gozero supervised", description=__doc__)
    add = options.add_argument
    add("folder", type=Path, metavar="FOLDER", help="SGF files, there and in the folders below")
    add("--out", type=Path, required=True, metavar="FILE", help="weights file to write")
    add("--network", default="b6c64", help="b6c64, b10c64 ..., or agz13, agz9c32 (default %(default)s)")
    features = "version of the input features (default: 3, ladders and pass-alive points too; agz13: 1)"
    add("--features", type=int, choices=(1, 2, 3), help=features)
    add("--epochs", type=int, default=5, help="passes over the positions (default %(default)s)")
    add("--batch", type=int, default=LearnerSettings().batch, help="positions of a step (default %(default)s)")
    add("--learning-rate", type=float, default=1e-3, help="step size (default %(default)s)")
    add("--size", type=int, metavar="N", help="of the boards to learn from (default: the network's only one, or 19)")
    held = "share of games kept for measuring (default %(default)s)"
    add("--held-out", type=float, default=0.05, metavar="SHARE", help=held)
    most = "most positions in memory, 1.2 KB each at 13x13 (default %(default)s)"
    add("--most", type=int, default=1_000_000, metavar="N", help=most)
    add("--threads", type=int, default=0, help="CPU threads (default: what the process may use)")
    start = "fixes the network's start, the held-out games and all order (default %(default)s)"
    add("--seed", type=int, default=1, help=start)
    add("--resume", action="store_true", help="continue from FILE.state")
    return options.run(_run, arguments)


def _run(options: argparse.Namespace) -> int:
    for name, low, high in RANGES:
        if not low <= getattr(options, name) <= high:
            raise SettingsError(f"--{name.replace('_', '-')} {getattr(options, name)} is out of range: {low} to {high}")
    from training.supervised import trainer

    return trainer.learn(options)
