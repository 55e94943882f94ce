"""`--dry-run`: tries everything that a run needs once, in memory or a temporary folder; nothing is left behind.

Each check prints a line; the first that fails ends the dry run with its reason. `training.run.estimate` measures speed.
"""

from __future__ import annotations

import shutil
import tempfile
from collections.abc import Callable
from contextlib import closing
from pathlib import Path

import numpy as np

from gozero.nets import model
from gozero.system.options import SettingsError
from gozero.system.words import counted
from training.learner.learner import Learner
from training.records import scoring
from training.run import estimate, new_run
from training.run.backend import LOCAL, device_of
from training.run.new_run import StartingPoint
from training.selfplay import simulators
from training.settings.config import LoopSettings
from training.storage import checkpoint, storage
from training.storage.checkpoint import Progress, Snapshot

RESERVE_BYTES = 200_000_000  # beyond the checkpoints: records, logs and reports of the first hours


def check_all(settings: LoopSettings, folder: Path, start: StartingPoint, say: Callable[[str], None]) -> None:
    """Check everything and `say` each result in a line. Raises the first problem that would stop a run, a UserError."""
    rules = f" by {settings.rules} rules" if settings.rules else ""
    say(f"settings   {settings.game}{rules}, network {settings.network}, stages {len(settings.stage)}: ok")
    say(f"simulator  {simulators.DESCRIPTIONS[settings.simulator]}: ok")
    continued = _continued(folder, say)
    if continued and start:
        say("origin     this run has already begun: --from and --records are for a new run, and are not looked at")
        start = StartingPoint()
    learner, _ = new_run.learner(settings, start, device_of(settings.device))
    origin = "of the run" if continued else start.weights or "fresh weights"
    say(f"network    {origin}, {model.parameter_count(learner.net):,} parameters: ok")
    if shards := [shard for _, shard in new_run.shards(settings, start)]:
        games = sum(len(shard.records) for shard in shards)
        say(f"records    {counted(games, 'game', ',')}{new_run.left_out(shards)}: ok")
    say(f"folder     {_room(settings, folder, learner)}: ok")
    _play(settings, learner, say)
    _learn(settings, learner, say)
    say("nothing was left behind; give the same command without --dry-run to start")


def _continued(folder: Path, say: Callable[[str], None]) -> bool:
    """Check that no other process works in the folder and, if it holds a run, that a checkpoint can be read. Returns
    whether it holds one.
    """
    storage.refuse_url(folder)
    if (folder / storage.LOCK).exists():
        with storage.alone(folder):
            pass
    found = checkpoint.latest(folder / "checkpoints")
    if found is not None:
        snapshot, complaints = found
        for complaint in complaints:
            say(f"checkpoint {complaint}")
        rows = counted(snapshot.progress.rows, "row", ",")
        say(f"checkpoint of generation {snapshot.progress.generation}, {rows}: ok")
    return found is not None


def _room(settings: LoopSettings, folder: Path, learner: Learner) -> str:
    """Check that there is room for the first checkpoints where the folder is or will be, and one can be written."""
    place = storage.nearest(folder)
    if not place.is_dir():
        raise SettingsError(f"{place} is no folder; give another --run")
    # weights, average, the optimiser's two moments and the network that plays, in float32
    a_checkpoint = 5 * 4 * model.parameter_count(learner.net)
    free, needed = shutil.disk_usage(place).free, (settings.keep + 2) * a_checkpoint + RESERVE_BYTES
    if free < needed:
        raise SettingsError(
            f"{place} has {free / 1e6:,.0f} MB free, and a run needs {needed / 1e6:,.0f} MB to begin: make room, give "
            "another --run, or lower keep"
        )
    try:
        with tempfile.TemporaryDirectory(dir=place) as made:
            checkpoint.save(Path(made), Snapshot(Progress(), learner.state_dict()), settings.to_dict(), settings.keep)
            checkpoint.latest(Path(made))
    except OSError as error:
        raise SettingsError(f"cannot write in {place}: {error.strerror}; give another --run") from None
    new = "" if folder.exists() else " (new)"
    return f"{folder.absolute()}{new}, {free / 1e9:,.1f} GB free, {needed / 1e9:,.2f} GB needed to begin"


def _play(settings: LoopSettings, learner: Learner, say: Callable[[str], None]) -> None:
    """A few moves of self-play with each evaluator of the stages, on its largest board."""
    with closing(LOCAL.selfplay(settings, learner.ema)) as selfplay:
        for kind in sorted({stage.evaluator for stage in settings.stage}):
            size, stage = max(
                ((size, stage) for stage in settings.stage if stage.evaluator == kind for size in stage.sizes),
                key=lambda pair: pair[0],
            )
            estimate.play_until(selfplay, stage, size, estimate.BEGINNING, settings.selfplay.processes)
            by = "playouts" if kind == "rollouts" else "the network"
            games = counted(settings.selfplay.on(size).games, "game")
            say(f"self-play  a move of {games} at {scoring.game_of(settings, size).dimensions} with {by}: ok")


def _learn(settings: LoopSettings, learner: Learner, say: Callable[[str], None]) -> None:
    """One step of the learner on the largest board, with a full batch."""
    size = max(size for stage in settings.stage for size in stage.sizes)
    batch = estimate.window(settings, size).sample(settings.learner.batch, np.random.default_rng(settings.seed))
    loss, rows = float(learner.train(batch)["total"]), counted(settings.learner.batch, "row")
    if not np.isfinite(loss):
        raise SettingsError(
            f"the loss of a first step is {loss}: lower learner.learning_rate, or set learner.precision to f32"
        )
    say(f"learning   a step of {rows} at {scoring.game_of(settings, size).dimensions}, loss {loss:.2f}: ok")
