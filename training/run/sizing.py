"""`--sizing`: what a run on a cluster of so many workers would take, from measurements of its parts on this computer.

Vocabulary.
  worker   self-play of the run's settings on as many threads as were measured here, with a pool of each board size
           (`selfplay.seats` = workers).
  load     of the learner: the steps that the workers' rows pay for, over those that it takes here in the same time.
           Above 1 it does not keep up, and self-play waits. All else is computed as if it kept up, to show what a
           faster one would meet.
  machine  `MACHINE` workers; a version of the network is sent to each machine once.
  state    the games of a pool in flight as they travel: to the worker with a stretch of play, and back at its end.

Speeds are those of `training.run.estimate`, in the run's mode. Bytes are counted on real objects: a network, a network's
file, games of random moves, and a pool whose games are half over. What is computed holds for the run's last stage.
"""

from __future__ import annotations

import pickle
import tempfile
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from gozero.nets import model
from training.learner.learner import network_config
from training.records import scoring
from training.records.replay import window_rows
from training.run import estimate, files, trial
from training.run.estimate import GB, MB, Cost
from training.run.resources import device_of
from training.selfplay.actor import STRETCH_ROWS
from training.selfplay.pool import Pool
from training.settings.config import LoopSettings, Stage
from training.storage import plain
from training.storage.checkpoint import Progress

MACHINE = 16


@dataclass(frozen=True)
class Bytes:
    """Bytes of what travels and what is kept, means over the stage's rows where they differ by board size."""

    network: int  # a version as it is sent
    file: int  # weights.pt
    checkpoint: int  # without games in flight
    game_row: float  # of a game as it is handed in, for each of its rows
    record_row: float  # of a shard, for each row
    window_row: float  # of the window in memory, for each row
    states: dict[int, int]  # of a pool, compressed, by board size


@dataclass(frozen=True)
class Load:
    """A cluster of so many workers; all that is not a share is an hour's, and bytes are the coordinator's."""

    workers: int
    evaluations: float
    rows: float
    games: float
    steps: float  # of the learner
    load: float  # of the learner measured here
    rows_here: float  # with the learner measured here
    versions: float
    stretches: float
    weights_out: float  # bytes
    games_in: float  # bytes
    states: float  # bytes, out and in together
    checkpoint: float  # bytes of one, with the games in flight
    records_day: float  # bytes of records in a day
    copied_day: float  # bytes that a second home gets in a day, if it gets every checkpoint
    held_day: float  # bytes that it holds after a day
    window_day: float  # bytes of memory of the window after a day

    @property
    def traffic(self) -> float:
        """Mbit a second between coordinator and workers, both ways together."""
        return (self.weights_out + self.games_in + self.states) * 8 / 3600 / 1e6


def report(settings: LoopSettings, workers: Sequence[int], seconds: float = estimate.SECONDS) -> str:
    """The table as text."""
    stage = settings.stage[-1]
    settings = replace(settings, stage=(stage,))
    cost = estimate.measure(settings, seconds)
    counted = count(settings, stage)
    loads = [load(settings, stage, cost, counted, each) for each in workers]
    return "\n".join([*_head(settings, stage, cost, counted), "", *_table(loads), "", *_notes(loads)])


def count(settings: LoopSettings, stage: Stage) -> Bytes:
    """Count the bytes of the objects."""
    net = trial.network(settings)
    arrays = {name: tensor.numpy() for name, tensor in net.state_dict().items()}
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "weights.pt"
        files.save_weights(path, net, network_config(settings), settings, Progress())
        file = path.stat().st_size

    def mean(bytes_of: Callable[[LoopSettings, int], float]) -> float:
        return _mean(stage, {size: bytes_of(settings, size) for size in stage.sizes})

    return Bytes(
        network=len(pickle.dumps(arrays, protocol=5)),
        file=file,
        checkpoint=estimate.checkpoint_bytes(settings),
        game_row=mean(game_bytes),
        record_row=mean(trial.record_bytes),
        window_row=mean(trial.row_bytes),
        states={size: len(plain.pack(half_played(settings, size))) for size in stage.sizes},
    )


def game_bytes(settings: LoopSettings, size: int) -> float:
    """A game of random moves as it is handed in, in bytes for each of its rows."""
    record = trial.kept_record(settings, size)
    return len(pickle.dumps(record, protocol=5)) / len(record.targets)


def half_played(settings: LoopSettings, size: int) -> dict[str, Any]:
    """A pool's state when all of its games have half as many moves as the board has points."""
    game = scoring.game_of(settings, size)
    pool, half = Pool(game, settings.selfplay, (settings.seed,)), game.points // 2
    for number, episode in enumerate(pool.games):
        record = trial.kept_record(settings, size, number)
        episode.moves = record.moves[:half].tolist()
        episode.targets = [target for target in record.targets if target.ply < half]
        episode.values = [0.0] * len(episode.moves)
    return pool.state_dict()


def load(settings: LoopSettings, stage: Stage, cost: Cost, counted: Bytes, workers: int) -> Load:
    """What so many workers do in the run's mode, and what it costs."""
    many = replace(cost, speeds={key: speed * workers for key, speed in cost.speeds.items()})
    found = estimate.forecast(settings, stage, replace(many, step=dict.fromkeys(cost.step, 0.0)))
    rows, generation = found.rows_an_hour, estimate.generation_rows(settings, stage)
    steps = rows * estimate.row_uses(settings, stage) / settings.learner.batch
    versions = steps / settings.swap_steps if settings.mode == "asynchronous" else rows / generation
    stretches = _stretches(settings, stage, workers, rows, versions)
    checkpoint = counted.checkpoint + workers * sum(counted.states.values())
    rests = generation // settings.checkpoint_rows if settings.checkpoint_rows else 0
    saved = rows / generation * (2 + 2 * rests) * (checkpoint + generation * counted.record_row / 2)
    records = 24 * rows * counted.record_row
    kept = min(records, settings.records_mb * MB) if settings.records_mb else records
    return Load(
        workers=workers,
        evaluations=rows * found.visits,
        rows=rows,
        games=found.games_an_hour,
        steps=steps,
        load=steps / 3600 * _mean(stage, cost.step),
        rows_here=estimate.forecast(settings, stage, many).rows_an_hour,
        versions=versions,
        stretches=stretches,
        weights_out=versions * counted.network * -(-workers // MACHINE),
        games_in=rows * counted.game_row,
        states=2 * stretches * _mean(stage, counted.states),
        checkpoint=checkpoint,
        records_day=records,
        copied_day=24 * (saved + versions * counted.file),
        held_day=kept + (settings.keep + 1) * checkpoint + counted.file,
        window_day=_held(settings, stage, 24 * rows) * counted.window_row,
    )


def _mean(stage: Stage, by_size: Mapping[int, float]) -> float:
    """The mean over the stage's rows."""
    return sum(share * by_size[size] for size, share in stage.sizes.items())


def _stretches(settings: LoopSettings, stage: Stage, workers: int, rows: float, versions: float) -> float:
    """Stretches of play an hour: of each worker on each board size a rest; where play never rests, as long as a
    worker's part of the rows between two checkpoints, or some rows of each game, and cut by each new version.
    """
    generation = estimate.generation_rows(settings, stage)
    between = min(generation, settings.checkpoint_rows or generation)
    if settings.mode == "asynchronous":
        return rows / max(between / workers, STRETCH_ROWS * settings.selfplay.games) + workers * versions
    return rows / between * workers * len(stage.sizes)


def _held(settings: LoopSettings, stage: Stage, rows: float) -> float:
    """Rows in the window after so many in all."""
    if settings.replay.window_games:
        return min(rows, estimate.full_window(settings, stage))
    return window_rows(round(rows), settings.replay)


def _head(settings: LoopSettings, stage: Stage, cost: Cost, counted: Bytes) -> list[str]:
    boards = {size: scoring.game_of(settings, size).dimensions for size in stage.sizes}
    speeds = ", ".join(f"{boards[size]} {cost.speeds[stage.evaluator, size]:,.0f}" for size in sorted(stage.sizes))
    pools = ", ".join(f"{boards[size]} {counted.states[size] / 1e3:,.0f}" for size in sorted(stage.sizes))
    parameters = model.parameter_count(trial.network(settings))
    return [
        f"network {settings.network} ({parameters:,} parameters) on {device_of(settings.device)}, mode {settings.mode}, "
        "the last stage; measured here just now:",
        f"  a worker's evaluations a second: {speeds}",
        f"  a learner's step of {settings.learner.batch} rows: {cost.step[max(stage.sizes)]:.2f} s",
        f"  a version of the network {counted.network / MB:.2f} MB, weights.pt {counted.file / MB:.2f} MB, a row "
        f"{counted.game_row:,.0f} bytes on its way, {counted.record_row:,.0f} on disk, {counted.window_row:,.0f} in memory",
        f"  {settings.selfplay.games} games in flight, half over, in kB: {pools}",
    ]


def _table(loads: Sequence[Load]) -> list[str]:
    """A line for each quantity, a column for each number of workers."""
    lines: list[tuple[str, Callable[[Load], str]]] = [
        ("workers", lambda each: f"{each.workers:,}"),
        ("evaluations an hour, million", lambda each: f"{each.evaluations / 1e6:,.2f}"),
        ("rows an hour", lambda each: f"{each.rows:,.0f}"),
        ("games an hour", lambda each: f"{each.games:,.0f}"),
        ("the learner's steps an hour", lambda each: f"{each.steps:,.0f}"),
        ("load of the learner measured here", lambda each: f"{each.load:,.0%}"),
        ("rows an hour with this learner", lambda each: f"{each.rows_here:,.0f}"),
        ("versions an hour", lambda each: f"{each.versions:,.1f}"),
        ("weights out, MB an hour", lambda each: f"{each.weights_out / MB:,.1f}"),
        ("games in, MB an hour", lambda each: f"{each.games_in / MB:,.1f}"),
        ("games in flight, out and in, MB an hour", lambda each: f"{each.states / MB:,.1f}"),
        ("in all, Mbit/s", lambda each: f"{each.traffic:,.2f}"),
        ("a checkpoint, MB", lambda each: f"{each.checkpoint / MB:,.1f}"),
        ("records a day, GB", lambda each: f"{each.records_day / GB:,.3f}"),
        ("copied to a store a day, at most, GB", lambda each: f"{each.copied_day / GB:,.2f}"),
        ("held there after a day, GB", lambda each: f"{each.held_day / GB:,.2f}"),
        ("window after a day, GB of memory", lambda each: f"{each.window_day / GB:,.2f}"),
    ]
    return [f"{name:<42}" + "".join(f" {shown(each):>12}" for each in loads) for name, shown in lines]


def _notes(loads: Sequence[Load]) -> list[str]:
    behind = min((each.workers for each in loads if each.load > 1), default=0)
    late = (
        f"from {behind:,} {'worker' if behind == 1 else 'workers'} on the learner measured here does not keep up, and "
        "self-play waits: it needs a faster one (a GPU) or a lower learner.reuse"
    )
    return [
        *([late] if behind else []),
        f"assumed: a learner that keeps up, {MACHINE} workers on a machine, selfplay.seats = workers, games of as many "
        "moves as",
        "the board has points, every checkpoint copied to the store, and computers as busy as this one was just now",
    ]
