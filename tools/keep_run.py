"""Copy a run of self-play, small enough to travel with its weights:

    python -m tools.keep_run runs/go13 weights/resume

The copy has the average of the learner's network, from which it goes on, the network that won the gate if there is one,
the counters and settings, the games in flight, and the newest game records up to `--megabytes`; not the optimiser,
which starts fresh. Settings of the machine rather than the run are set back to their defaults. A copy of the folder is
a run folder: `gozero train --run COPY` continues it.

Exit code 0: copied. 2: not copied, and one line on stderr says why.
"""

from __future__ import annotations

import argparse
import json
import shutil
from collections.abc import Sequence
from pathlib import Path

from gozero.system.console import Parser
from gozero.system.options import SettingsError, number_of
from training.settings import config
from training.storage import checkpoint, storage
from training.storage.checkpoint import Snapshot


def keep(run: Path, target: Path, megabytes: float) -> str:
    """Make `target` a small copy of a run folder that is not in use. Returns a line about what it holds.

    Raises:
        SettingsError: `run` is no run folder with a checkpoint, `target` exists, or `megabytes` is not enough for the
            network and a shard of records.
        UserError, OSError: it cannot be read, is in use, or the copy cannot be written.
    """
    settings = config.saved(run / "settings.json").portable()
    if target.exists():
        raise SettingsError(f"{target} exists; remove it first, or give a new folder")
    with storage.alone(run):
        found = checkpoint.latest(run / "checkpoints")
        if found is None:
            raise SettingsError(f"{run} holds no checkpoint yet; let the run finish a generation first")
        shards = _newest(run, megabytes * storage.MEGABYTE)
        if not shards:
            raise SettingsError(f"{megabytes:g} MB are too few for a shard of records; give more with --megabytes")
        snapshot, _ = found
        learner = {name: value for name, value in snapshot.learner.items() if name != "optimiser"}
        learner["net"] = learner["ema"]
        won = snapshot.playing if settings["gate"]["games"] else None  # without a gate the average plays
        kept = Snapshot(snapshot.progress, learner, won, snapshot.pools, snapshot.shard_bytes, snapshot.metadata)
        checkpoint.save(target / "checkpoints", kept, settings, keep=0)
        (target / "settings.json").write_text(json.dumps(settings, indent=1), encoding="utf-8")
        (target / "records").mkdir()
        for shard in shards:
            shutil.copy(shard, target / "records")
    records = f"the records {shards[-1].stem} to {shards[0].stem}"
    return f"generation {snapshot.progress.generation} and {records} are kept in {target}"


def _newest(run: Path, most: float) -> list[Path]:
    """The newest shards that take at most so many bytes together, newest first."""
    chosen: list[Path] = []
    for shard in reversed(storage.numbered(run / "records", ".gzr")):
        most -= shard.stat().st_size
        if most < 0:
            break
        chosen.append(shard)
    return chosen


def main(arguments: Sequence[str] | None = None) -> int:
    about = "Copy a run of self-play, small enough to travel with its weights."
    parser = Parser(prog="python -m tools.keep_run", description=about)
    parser.add_argument("run", type=Path, metavar="RUN", help="run folder")
    parser.add_argument("target", type=Path, metavar="TARGET", help="folder of the copy, which must not exist")
    most = "most that the game records take (default 10)"
    parser.add_argument("--megabytes", type=number_of, default=10.0, metavar="MB", help=most)
    return parser.run(_run, arguments)


def _run(options: argparse.Namespace) -> None:
    print(keep(options.run, options.target.absolute(), options.megabytes))


if __name__ == "__main__":
    raise SystemExit(main())
