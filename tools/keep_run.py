"""Keep a run of self-play small enough to travel with its weights: `python -m tools.keep_run runs/go13 weights/resume`.

Kept are the learner's network, its average, the network that won the gate where there is one, the counters and
settings, the games in flight, and the newest game records that fit into `--megabytes`; not the optimiser, which starts
fresh. Settings of the machine rather than the run are set back to their defaults. What was kept there before is
replaced; a folder that holds anything else is left alone. A copy of the folder is a run folder: `gozero
train --run COPY` continues it.

Exit code 0: kept. 2: not kept, what was there is as it was, and one line on stderr says why.
"""

from __future__ import annotations

import argparse
import contextlib
import json
import shutil
import tempfile
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from gozero import games
from gozero.system.console import Parser, finite, run_command
from gozero.system.options import SettingsError
from training.settings import config
from training.storage import checkpoint, storage
from training.storage.checkpoint import Snapshot

NEEDED = {"settings.json", "checkpoints"}  # what every kept run has,
KEPT = NEEDED | {"records", storage.LOCK}  # and what it may have: anything else is somebody's, or a run's that goes on


def keep(run: Path, target: Path, megabytes: float) -> str:
    """Make `target` a small copy of a run folder that is not in use. Returns lines about what it holds.

    Raises:
        SettingsError: `run` is no run folder with a checkpoint, `target` holds something else than a run, or `megabytes`
            is not enough for the network and a shard of records.
        CheckpointError, BusyError, FolderError, StorageError, OSError: it cannot be read, is in use, or the copy cannot
        be written.
    """
    target = target.resolve()
    if not (run / "settings.json").is_file():
        raise SettingsError(f"{run.absolute()} is no run folder of gozero train; give one")
    _check(target, run)
    with (
        storage.alone(run),
        tempfile.TemporaryDirectory(prefix="keep-", dir=storage.nearest(target.parent)) as beside,
    ):
        fresh = Path(beside) / "fresh"
        lines, kept = _copy(run, fresh, megabytes)
        target.parent.mkdir(parents=True, exist_ok=True)
        with storage.alone(target) if target.exists() else contextlib.nullcontext():
            _check(target, run)  # again: a training may have begun there
            _exchange(target, fresh, Path(beside) / "before")
    return "\n".join([*lines, f"{kept} are kept in {target}"])


def _exchange(target: Path, fresh: Path, before: Path) -> None:
    """Put `fresh` in the place of `target`, and what was there to `before`. Where that fails, nothing has changed."""
    try:
        if target.exists():
            target.rename(before)  # a mount point cannot be moved, and must not be emptied
        fresh.rename(target)
    except BaseException:  # Ctrl-C may come when a folder has just been moved
        if before.exists() and not target.exists():
            before.rename(target)
        raise


def _copy(run: Path, fresh: Path, megabytes: float) -> tuple[list[str], str]:
    """Write the small copy. Returns (a line for each checkpoint that cannot be read, what is in the copy)."""
    found = checkpoint.latest(run / "checkpoints")
    if found is None:
        raise SettingsError(f"{run.absolute()} holds no checkpoint yet; let the run finish a generation first")
    snapshot, complaints = found
    progress, settings = snapshot.progress, _settings(run / "settings.json")
    learner = {name: value for name, value in snapshot.learner.items() if name != "optimiser"}
    won = snapshot.playing if settings["gate"]["games"] else None  # without a gate the average plays
    kept = Snapshot(progress, learner, won, snapshot.pools, snapshot.shard_bytes)
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


def _check(target: Path, run: Path) -> None:
    """SettingsError if something would be lost with what is in `target`."""
    if target.exists() and not _replaceable(target, run):
        raise SettingsError(
            f"{target} exists and is no kept run: it would be lost; give a new folder, or one that holds a copy"
        )


def _replaceable(target: Path, run: Path) -> bool:
    """Whether nothing is lost with what is in `target`: a kept run but not the run itself, or nothing."""
    if not target.is_dir() or run.resolve().is_relative_to(target):
        return False
    held = {entry.name for entry in target.iterdir()}
    return not held or NEEDED <= held <= KEPT


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
    parser = Parser(prog="python -m tools.keep_run", description=__doc__.split("\n\n")[0])
    parser.add_argument("run", type=Path, metavar="RUN", help="run folder")
    parser.add_argument("target", type=Path, metavar="TARGET", help="folder of the copy; what is there is replaced")
    parser.add_argument(
        "--megabytes", type=finite, default=10.0, metavar="MB", help="most that the copy takes (default 10)"
    )
    options = parser.parse_args(arguments)
    return run_command("tools.keep_run", lambda: _run(options))


def _run(options: argparse.Namespace) -> int:
    print(keep(options.run, options.target, options.megabytes))
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
