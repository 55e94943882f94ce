"""What a new run begins with: weights of another run (`--from`) and games already played (`--records`).

The run folder is made as if its first generations had been played elsewhere: their shards are in records/, and a
checkpoint has the backlog of steps that the rows in the window pay for. Narrower or shallower weights are
grown (`gozero.nets.growth`), the optimiser starts fresh, and no run that has begun is changed.
"""

from __future__ import annotations

import os
import shutil
from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from gozero import games
from gozero.nets import growth, locations, weights
from gozero.nets.weights import Weights
from gozero.system import files
from gozero.system.errors import ChoiceError
from gozero.system.options import SettingsError
from gozero.system.words import counted
from training.learner.learner import Learner, network_config
from training.records import library, records, scoring
from training.records.records import Record
from training.records.replay import window_rows
from training.records.rows import CorruptRecordError, check
from training.settings.config import LoopSettings
from training.storage import checkpoint, storage
from training.storage.checkpoint import Progress, Snapshot

IMPORT = "import.tmp"  # file in a run folder from before the games given are copied until its `Run` is opened


@dataclass(frozen=True)
class StartingPoint:
    """What the command line asks for; by default nothing."""

    weights: str | None = None  # file, as `locations.find` takes it
    records: tuple[str, ...] = ()  # run folders, folders of shards, or shards

    def __bool__(self) -> bool:
        return self.weights is not None or bool(self.records)


def learner(settings: LoopSettings, start: StartingPoint, device: str = "cpu") -> tuple[Learner, Weights | None]:
    """(a run's learner at its beginning on `device`, the given weights, which it then has, if any). WeightsError if
    their file cannot be used, SettingsError if their network cannot become the run's.
    """
    begun = Learner.of(settings, device)
    if start.weights is None:
        return begun, None
    source = weights.load(locations.find(start.weights), settings.game)
    try:
        tensors = growth.grow(source.state_dict, source.config, begun.config, settings.seed).state_dict()
    except ChoiceError as error:
        raise SettingsError(f"--from {start.weights}: {error} (--records FOLDER)") from None
    begun.net.load_state_dict(tensors)
    begun.ema.load_state_dict(tensors)
    return begun, source


def shards(settings: LoopSettings, start: StartingPoint) -> list[tuple[Path, records.Shard]]:
    """The given shards in the order of their names, folder after folder, with the games that the run can learn from:
    its network can see their board, and their moves lead to their result by its rules.

    UserError unless they can be read, hold this run's game under its rules, and a game that it can
    learn from.
    """
    found = [path for name in start.records for path, _ in library.shards_of(str(files.full(name)))]
    paths = {os.path.realpath(path): path for path in found}  # each counts once
    given = [(path, library.read(path)) for path in paths.values()]
    read = [(path, shard) for path, shard in given if shard.settings or shard.records]  # a crash may leave files of zeros
    damaged = [path for path, shard in given if shard.corrupt]
    if damaged and not read:
        what = "not a shard of records; give a run folder, its records/ or one shard"
        raise SettingsError(f"--records {damaged[0]}: {what}")
    for path, shard in read:
        _check_terms(settings, path, shard)
    only = network_config(settings).size
    sizes = sorted({record.size for _, shard in read for record in shard.records})
    fitting = []
    for path, shard in read:
        games = [each for each in shard.records if only in (None, each.size) and _plays_out(settings, each)]
        fitting.append((path, replace(shard, records=games, left_out=len(shard.records) - len(games))))
    if start.records and not any(shard.records for _, shard in fitting):
        what = "no games"
        if sizes and only not in (None, *sizes):
            what = f"games on size {weights.listed(sizes)}, but network {settings.network} plays on {only} only"
        elif sizes:
            what = f"by the rules of this run no game on size {weights.listed(sizes)} leads to its result"
        raise SettingsError(f"--records {start.records[0]}: {what}; give other records")
    library.complain(sum(shard.corrupt for _, shard in given), damaged)
    return fitting


def _check_terms(settings: LoopSettings, path: Path, shard: records.Shard) -> None:
    """SettingsError unless it is a shard of this run's game under its rules."""
    game = shard.settings.get("game") or settings.game
    if game != settings.game:
        raise SettingsError(f"--records {path}: games of {game}, but this run plays {settings.game}")
    usual = games.usual(settings.game, "rules") or ""
    rules, own = shard.settings.get("rules") or usual, settings.rules or usual
    if rules != own:
        raise SettingsError(
            f"--records {path}: games under the rules {rules!r}, but this run's are {own!r}; give --set rules={rules}, "
            "or other records"
        )


def _plays_out(settings: LoopSettings, record: Record) -> bool:
    """Whether the run's rules lead to the record's result, on a board that its game has."""
    try:
        check(record, scoring.game_of(settings, record.size))
    except (CorruptRecordError, ValueError):  # ValueError: a board that the game does not have
        return False
    return True


def begin(settings: LoopSettings, folder: Path, start: StartingPoint) -> str:
    """Write the records and the first checkpoint of a new run into `folder`. Returns a line about it. Raises as
    `learner` and `shards`, and StorageError.
    """
    (begun, given), played = learner(settings, start), shards(settings, start)
    try:
        progress = _import(settings, folder, played)
        if given is not None:
            progress.trained_sizes = list(given.trained_sizes)
        with storage.writing(folder):
            written = storage.length(storage.shard(folder, progress.generation))
        state = {name: value for name, value in begun.state_dict().items() if name != "optimiser"}
        size, sizes = settings.stage[-1].main_size, progress.trained_sizes
        about = weights.metadata_of(begun.config, game=settings.game, size=size, trained_sizes=sizes)
        snapshot = Snapshot(progress, state, shard_bytes=written, metadata=about)
        checkpoint.save(folder / "checkpoints", snapshot, settings.to_dict(), settings.keep)
    except BaseException:
        clean(folder)
        raise
    how = f"with the weights of {start.weights}" if start.weights else "with fresh weights"
    games = f"{counted(progress.games, 'game', ',')} and {counted(progress.rows, 'row', ',')} played elsewhere"
    unfit = left_out([shard for _, shard in played])
    remark = _remark(settings, progress) if start.weights else ""
    return f"a new run, {how}, {games}{unfit}{remark}"


def is_cut(folder: Path) -> bool:
    """Whether a start ended within `begin`: without a checkpoint, records/ has nothing but the games given to it."""
    return (folder / IMPORT).exists() and not storage.holds_run(folder)


def clean(folder: Path) -> None:
    """Remove the games of a start that was cut, and nothing else that is there."""
    if is_cut(folder):
        for path in storage.numbered(folder / "records", ".gzr"):
            path.unlink()
        (folder / IMPORT).unlink()


def _remark(settings: LoopSettings, progress: Progress) -> str:
    """What is not as one who gives weights may expect."""
    stage = settings.stage_at(progress.rows)
    if stage.evaluator != "rollouts":
        return ""
    number = settings.stage.index(stage) + 1
    return (
        f"; its first games are played by random playouts, not by these weights, as stage {number} has it; "
        f"--set stage.{number}.evaluator=network changes that"
    )


def left_out(shards_read: Sequence[records.Shard]) -> str:
    """What is to be said of the games of these shards that a run does not take; nothing if it takes all."""
    count = sum(shard.left_out for shard in shards_read)
    why = "on boards that the run cannot learn from, or with another result by its rules"
    return f" ({counted(count, 'game', ',')} left out: {why})" if count else ""


def _import(settings: LoopSettings, folder: Path, played: list[tuple[Path, records.Shard]]) -> Progress:
    """Copy the shards into the run folder as generations 1, 2, ... Returns its progress: about to learn from the last
    of them.
    """
    progress = Progress(imported=len(played), full_share=settings.selfplay.full_share)
    with storage.writing(folder):
        folder.mkdir(parents=True, exist_ok=True)
        (folder / IMPORT).touch()
        for generation, (path, shard) in enumerate(played, start=1):
            target = storage.shard(folder, generation)
            target.parent.mkdir(parents=True, exist_ok=True)
            _put(path, shard, target)
            progress.generation, progress.learning, progress.absorbed = generation, True, len(shard.records)
            progress.games += len(shard.records)
            progress.rows += sum(record.rows for record in shard.records)
    progress.steps_backlog = _steps_backlog(settings, progress, [each for _, shard in played for each in shard.records])
    return progress


def _put(path: Path, shard: records.Shard, target: Path) -> None:
    """Write the games of `shard`, all or some of those in the file `path`, into `target`."""
    if not shard.left_out:
        shutil.copyfile(path, target)
        return
    writer = records.Writer(target, shard.settings)
    for record in shard.records:
        writer.append(record)
    writer.close()


def _steps_backlog(settings: LoopSettings, progress: Progress, played: list[Record]) -> float:
    """Steps that games from elsewhere pay for: each generation's, or the uses of the rows that the window holds."""
    learner = settings.learner
    if learner.generation_steps:
        return settings.paid_by(progress.rows, progress.games, progress.rows)
    rows = window_rows(progress.rows, settings.replay)
    if newest := settings.replay.window_games:
        rows = sum(record.rows for record in played[-newest:])
    return rows * (learner.epochs or learner.reuse) / learner.batch
