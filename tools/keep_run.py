"""Copy a run of self-play, small enough to travel with its weights:

    python -m tools.keep_run runs/go13 weights/resume

The copy has the average of the learner's network, from which it goes on, the network that won the gate if there is one,
the counters and settings, the games in flight, and the newest game records that fit into `--megabytes`; not the
optimiser, which starts fresh. Settings of the machine rather than the run are set back to their defaults. A copy of the
folder is a run folder: `gozero train --run COPY` continues it.

Exit code 0: copied. 2: not copied, and one line on stderr says why.
"""

from __future__ import annotations

import argparse
import json
import shutil
import tempfile
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from gozero import games
from gozero.system.console import Parser, run_command
from gozero.system.options import SettingsError, number_of
from training.settings import config
from training.storage import checkpoint, storage
from training.storage.checkpoint import Snapshot


def keep(run: Path, target: Path, megabytes: float) -> str:
    """Make `target` a small copy of a run folder that is not in use. Returns lines about what it holds.

    Raises:
        SettingsError: `run` is no run folder with a checkpoint, `target` exists, or `megabytes` is not enough for the
            network and a shard of records.
        CheckpointError, BusyError, FolderError, StorageError, OSError: it cannot be read, is in use, or the copy cannot
        be written.
    """
    target = target.absolute()
    if target.exists():
        raise SettingsError(f"{target} exists; remove it first, or give a new folder")
    if not (run / "settings.json").is_file():
        raise SettingsError(f"{run.absolute()} is no run folder of gozero train; give one")
    with storage.alone(run), tempfile.TemporaryDirectory(prefix="keep-", dir=storage.nearest(target.parent)) as beside:
        lines, kept = _copy(run, Path(beside) / "fresh", megabytes)
        target.parent.mkdir(parents=True, exist_ok=True)
        (Path(beside) / "fresh").rename(target)
    return "\n".join([*lines, f"{kept} are kept in {target}"])


def _copy(run: Path, fresh: Path, megabytes: float) -> tuple[list[str], str]:
    """Write the small copy. Returns (a line for each checkpoint that cannot be read, what is in the copy)."""
    found = checkpoint.latest(run / "checkpoints")
    if found is None:
        raise SettingsError(f"{run.absolute()} holds no checkpoint yet; let the run finish a generation first")
    snapshot, complaints = found
    progress, settings = snapshot.progress, _settings(run / "settings.json")
    learner = {name: value for name, value in snapshot.learner.items() if name != "optimiser"}
    learner["net"] = learner["ema"]
    won = snapshot.playing if settings["gate"]["games"] else None  # without a gate the average plays
    kept = Snapshot(progress, learner, won, snapshot.pools, snapshot.shard_bytes, snapshot.metadata)
    checkpoint.save(fresh / "checkpoints", kept, settings, keep=0)
    (fresh / "settings.json").write_text(json.dumps(settings, indent=1), encoding="utf-8")
    taken = sum(path.stat().st_size for path in fresh.rglob("*") if path.is_file())
    shards = _newest(run, megabytes * storage.MEGABYTE - taken)
    if not shards:
        raise SettingsError(
            f"{megabytes:g} MB are too few for the network and a shard of records; give more with --megabytes"
        )
    (fresh / "records").mkdir()
    for shard in shards:
        shutil.copy(shard, fresh / "records")
    return complaints, f"generation {progress.generation} and the records {shards[-1].stem} to {shards[0].stem}"


def _settings(path: Path) -> dict[str, Any]:
    """The settings of a run folder without those of its machine. SettingsError if the file is damaged."""
    settings = config.saved(path)
    if settings.game not in games.GAMES:
        raise SettingsError(f"cannot use {path.absolute()}: there is no game {settings.game}")
    return settings.portable()


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
    """Run from the command line; the exit code is described above."""
    about = "Copy a run of self-play, small enough to travel with its weights."
    parser = Parser(prog="python -m tools.keep_run", description=about)
    parser.add_argument("run", type=Path, metavar="RUN", help="run folder")
    parser.add_argument("target", type=Path, metavar="TARGET", help="folder of the copy, which must not exist")
    parser.add_argument(
        "--megabytes", type=number_of, default=10.0, metavar="MB", help="most that the copy takes (default 10)"
    )
    options = parser.parse_args(arguments)
    return run_command("tools.keep_run", lambda: _run(options))


def _run(options: argparse.Namespace) -> int:
    print(keep(options.run, options.target, options.megabytes))
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
