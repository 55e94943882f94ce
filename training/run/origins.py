"""What a new run begins with: weights of another run (`--from`) and games already played (`--records`).

Vocabulary.
  origin  the two together. A run folder is made from it as if its first generations had been played elsewhere: their
          shards are in records/, and a checkpoint says that the learner owes the steps which the rows in the window pay
          for.

Weights of the same network load as they are; narrower or shallower ones are grown (`gozero.growth`). The optimiser
starts fresh. Nothing is trained here, and no run that has begun is changed.
"""

from __future__ import annotations

import shutil
from dataclasses import dataclass, replace
from pathlib import Path

from gozero import growth, weights
from gozero.growth import GrowthError
from gozero.options import SettingsError
from gozero.weights import Weights
from training.learner.learner import Learner, network_config
from training.records import records
from training.records.records import Record
from training.records.replay import window_rows
from training.settings.config import LoopSettings
from training.storage import checkpoint, storage
from training.storage.checkpoint import Progress, Snapshot


@dataclass(frozen=True)
class Origin:
    """The origin that the command line asks for; by default there is none."""

    weights: str | None = None  # file, as `weights.find` takes it
    records: tuple[str, ...] = ()  # run folders, folders of shards, or shards

    def __bool__(self) -> bool:
        return self.weights is not None or bool(self.records)


def learner(settings: LoopSettings, origin: Origin, device: str = "cpu") -> Learner:
    """A run's learner at its beginning on `device`, with the origin's weights if it has any.

    Raises:
        WeightsError: the file cannot be used.
        SettingsError: its network cannot become the run's; the line says what to do instead.
    """
    begun = Learner.of(settings, device)
    if origin.weights is None:
        return begun
    found: Weights = weights.load(weights.find(origin.weights), settings.game)
    try:
        tensors = growth.grow(found.state_dict, found.config, begun.config, settings.seed).state_dict()
    except GrowthError as error:
        raise SettingsError(f"--from {origin.weights}: {error} (--records FOLDER)") from None
    begun.net.load_state_dict(tensors)
    begun.ema.load_state_dict(tensors)
    return begun


def shards(settings: LoopSettings, origin: Origin) -> list[tuple[Path, records.Shard]]:
    """The origin's shards in the order of their names, folder after folder; of a network that is bound to one board,
    only their games on it.

    SettingsError unless they hold this run's game, and a game that the network can learn from.
    """
    paths: list[Path] = []
    for name in origin.records:
        path = weights.full(name)
        inside = sorted((path / "records").glob("*.gzr")) or sorted(path.glob("*.gzr")) if path.is_dir() else [path]
        if not inside or not inside[0].is_file():
            raise SettingsError(
                f"--records {path}: no shards of records (*.gzr) there; give a run folder, its records/ or one shard"
            )
        paths += inside
    found = [(path, records.read(path)) for path in paths]
    for path, shard in found:
        if not shard.settings and not shard.records:
            raise SettingsError(
                f"--records {path}: not a shard of records; give a run folder, its records/ or one shard (*.gzr)"
            )
        if shard.settings.get("game", settings.game) != settings.game:
            raise SettingsError(
                f"--records {path}: games of {shard.settings['game']}, but this run plays {settings.game}"
            )
    return _fitting(settings, found)


def _fitting(settings: LoopSettings, found: list[tuple[Path, records.Shard]]) -> list[tuple[Path, records.Shard]]:
    """The shards with the games that the run's network can see. SettingsError if there were games and none fits."""
    only = network_config(settings).size
    if only is None:
        return found
    fitting = [(path, _on(shard, only)) for path, shard in found]
    if any(shard.records for _, shard in found) and not any(shard.records for _, shard in fitting):
        sizes = weights.listed(sorted({record.size for _, shard in found for record in shard.records}))
        raise SettingsError(
            f"--records {found[0][0]}: games on size {sizes}, but network {settings.network} plays on {only} only; give "
            "other records, or another network"
        )
    return fitting


def _on(shard: records.Shard, size: int) -> records.Shard:
    """The shard with its games on boards of that size only."""
    kept = [record for record in shard.records if record.size == size]
    return replace(shard, records=kept, partial=len(kept) < len(shard.records))


def begin(settings: LoopSettings, folder: Path, origin: Origin) -> str:
    """Write the first checkpoint of a new run, and its records, into `folder`. Returns a line about it.

    Raises:
        WeightsError, SettingsError: as `learner` and `shards`; also for records of another game.
        StorageError: the folder cannot be written.
    """
    begun, played = learner(settings, origin), shards(settings, origin)
    progress = _import(settings, folder, played)
    if origin.weights is not None:
        progress.trained_sizes = list(weights.header(weights.find(origin.weights)).trained)
    with storage.writing(folder):
        written = storage.length(storage.shard(folder, progress.generation))
    state = {name: value for name, value in begun.state_dict().items() if name != "optimiser"}
    checkpoint.save(
        folder / "checkpoints", Snapshot(progress, state, shard_bytes=written), settings.to_dict(), settings.keep
    )
    how = f"with the weights of {origin.weights}" if origin.weights else "with fresh weights"
    return f"a new run, {how}, {progress.games:,} games and {progress.rows:,} rows played elsewhere"


def _import(settings: LoopSettings, folder: Path, played: list[tuple[Path, records.Shard]]) -> Progress:
    """Copy the shards as generations 1, 2, ...

    of the run. Returns its progress: about to learn from the last of them.
    """
    progress = Progress()
    for generation, (path, found) in enumerate(played, start=1):
        target = storage.shard(folder, generation)
        with storage.writing(target):
            target.parent.mkdir(parents=True, exist_ok=True)
            _put(path, found, target)
        progress.generation, progress.learning, progress.absorbed = generation, True, len(found.records)
        progress.games += len(found.records)
        progress.rows += sum(record.rows for record in found.records)
    progress.steps_owed = _owed(settings, progress, [found.records for _, found in played])
    return progress


def _put(path: Path, shard: records.Shard, target: Path) -> None:
    """Write the games of `shard`, all or some of those in the file `path`, into `target`."""
    if not shard.partial:
        shutil.copyfile(path, target)
        return
    target.unlink(missing_ok=True)  # of a start that came to nothing: a writer appends
    writer = records.Writer(target, shard.settings)
    for record in shard.records:
        writer.append(record)
    writer.close()


def _owed(settings: LoopSettings, progress: Progress, played: list[list[Record]]) -> float:
    """Steps that games from elsewhere pay for: each generation's, or the uses of the rows that the window holds."""
    learner, newest = settings.learner, settings.replay.window_games
    if learner.generation_steps:
        return learner.generation_steps * (
            progress.games / settings.generation_games
            if settings.generation_games
            else progress.rows / settings.generation_rows
        )
    held = window_rows(progress.rows, settings.replay)
    if newest:
        held = sum(record.rows for record in [record for games in played for record in games][-newest:])
    return held * (learner.epochs or learner.reuse) / learner.batch
