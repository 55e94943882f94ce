"""`--estimate`: what a run will take on this computer, from a minute's measurement of its own parts.

It counts each stage to its end, whatever the limits of the run. It assumes games of as many moves as the board has
points, and a computer as busy as during the measurement.
"""

from __future__ import annotations

import math
from contextlib import closing
from dataclasses import dataclass, replace

from gozero.nets import model
from gozero.system.words import counted
from training.records import scoring
from training.run import trial
from training.run.backend import device_of
from training.selfplay.pool import pool_bytes
from training.settings.config import LoopSettings, Stage

SECONDS = 30.0  # for all measurements; first starts and one step of a large network add to it
PROGRAM_BYTES = 0.7e9  # PyTorch, the evaluator's engine and compiled kernels, measured on Linux
GB, MB = 1e9, 1e6


@dataclass(frozen=True)
class Cost:
    """What was measured."""

    speeds: dict[tuple[str, int], float]  # evaluations a second by (evaluator, size)
    step: dict[int, float]  # seconds of a learner's step by size
    threads: int = 1  # of the learner


@dataclass(frozen=True)
class Forecast:
    """A stage's pace."""

    stage: Stage
    speed: float  # evaluations a second, mean over the rows
    rows_an_hour: float
    games_an_hour: float


def report(settings: LoopSettings, seconds: float = SECONDS) -> str:
    """The estimate as text."""
    cost = measure(settings, seconds)
    stages = [forecast(settings, stage, cost) for stage in settings.stage]
    needs = [_memory(settings), _disk(settings, stages[-1])]
    return "\n".join([*_head(settings, cost), "", *_table(stages), "", *needs])


def generation_hours(settings: LoopSettings, seconds: float) -> float:
    """Hours of the first generation of a new run on this machine, measured for about N seconds."""
    stage = settings.stage[0]
    found = forecast(settings, stage, measure(replace(settings, stage=(stage,)), seconds))
    return _generation_rows(settings, stage) / found.rows_an_hour


def _generation_rows(settings: LoopSettings, stage: Stage) -> float:
    """Rows of a generation of the stage."""
    return settings.generation_games * _game_rows(settings, stage) or settings.generation_rows


def _game_rows(settings: LoopSettings, stage: Stage) -> float:
    """Rows of a game, mean over the stage's rows: as many full searches as games of its boards' points have."""
    return 1 / sum(
        part / (_full_share(settings, size) * scoring.game_of(settings, size).points)
        for size, part in stage.sizes.items()
    )


def _full_share(settings: LoopSettings, size: int) -> float:
    """The share of a game's moves that are searched fully on boards of this size."""
    return settings.selfplay.full_share * min(settings.selfplay.full_until.get(size, 1.0), 1.0)


def measure(settings: LoopSettings, seconds: float) -> Cost:
    """Measure every evaluator and size of the stages, each for its part of the time."""
    wanted = {(stage.evaluator, size): stage for stage in settings.stage for size in stage.sizes}
    part = seconds / (len(wanted) + 1)
    with closing(trial.SelfPlayTrial(settings, trial.network(settings))) as play:
        speeds = {key: play.evaluations_a_second(wanted[key], key[1], part) for key in sorted(wanted)}
    largest = max(size for _, size in wanted)
    step, threads = trial.step_seconds(settings, largest, part)
    return Cost(speeds, {size: step * (size / largest) ** 2 for _, size in wanted}, threads)


def forecast(settings: LoopSettings, stage: Stage, cost: Cost) -> Forecast:
    """A stage's pace, by what was measured."""
    visits = play = learn = 0.0
    for size, part in stage.sizes.items():  # a row takes a full search, and the cheap ones until the next
        row_visits = stage.full_visits + stage.cheap_visits * (1 / _full_share(settings, size) - 1)
        visits += part * row_visits
        play += part * row_visits / cost.speeds[stage.evaluator, size]
        learn += part * cost.step[size] * _row_uses(settings, stage) / settings.learner.batch
    gate = _gate(settings, stage, cost)
    row = {
        "sequential": play + learn + gate,
        "semi-asynchronous": max(play, learn) + gate,
        "asynchronous": max(play, learn + gate),
    }[settings.mode]
    return Forecast(stage, visits / play, 3600 / row, 3600 / (row * _game_rows(settings, stage)))


def _row_uses(settings: LoopSettings, stage: Stage) -> float:
    """How often the learner draws a row in all, once the window is full."""
    learner, whole = settings.learner, _generation_rows(settings, stage)
    if learner.generation_steps:
        return learner.generation_steps * learner.batch / whole
    return learner.epochs * _full_window(settings, stage) / whole if learner.epochs else learner.reuse


def _full_window(settings: LoopSettings, stage: Stage) -> float:
    """Rows of the full window, before it grows."""
    return settings.replay.window_games * _game_rows(settings, stage) or settings.replay.window


def _gate(settings: LoopSettings, stage: Stage, cost: Cost) -> float:
    """Seconds of the gate for one row; none in a stage of playouts on a board that no network of the run plays on."""
    size, gate = stage.main_size, settings.gate
    speed = cost.speeds.get(("network", size), math.inf)
    return gate.games * scoring.game_of(settings, size).points * gate.visits / speed / _generation_rows(settings, stage)


def checkpoint_bytes(settings: LoopSettings) -> int:
    """A checkpoint, and the network in memory: weights, average, the optimiser's two moments and the network that
    plays, in float32.
    """
    return 5 * 4 * model.parameter_count(trial.network(settings))


def _head(settings: LoopSettings, cost: Cost) -> list[str]:
    boards = {size: scoring.game_of(settings, size).dimensions for _, size in cost.speeds}
    processes = settings.selfplay.processes  # the slots of one take turns
    counts = ", ".join(f"{board} {settings.selfplay.on(size).games * processes:,}" for size, board in boards.items())
    lines = [
        f"network {settings.network} on {device_of(settings.device)}, measured here just now; games at once: {counts}"
        + (f" in {processes} processes" if processes > 1 else "")
    ]
    for kind, name in (("network", "the network"), ("rollouts", "playouts")):
        speeds = [f"{boards[size]} {speed:,.0f}" for (each, size), speed in cost.speeds.items() if each == kind]
        if speeds:
            lines.append(f"  evaluations a second by {name}: {', '.join(speeds)}")
    largest = max(cost.step)
    rows, threads = counted(settings.learner.batch, "row"), counted(cost.threads, "thread")
    return [*lines, f"  a learner's step of {rows}: {cost.step[largest]:.2f} s at {boards[largest]} with {threads}"]


def _table(stages: list[Forecast]) -> list[str]:
    lines = [f"{'stage':<7}{'sizes':<16}{'evaluations/s':>14}{'games/h':>10}{'rows/h':>11}{'rows':>13}{'hours':>9}"]
    for number, found in enumerate(stages, start=1):
        sizes, rows = " ".join(map(str, sorted(found.stage.sizes))), found.stage.rows
        length = (
            f"{rows:>13,}{rows / found.rows_an_hour:>9,.2f}" if number < len(stages) else f"{'to the end':>13}{'-':>9}"
        )
        pace = f"{found.speed:>14,.0f}{found.games_an_hour:>10,.0f}{found.rows_an_hour:>11,.0f}"
        lines.append(f"{number:<7}{sizes:<16}{pace}{length}")
    return lines


def _memory(settings: LoopSettings) -> str:
    last, processes = settings.stage[-1], settings.selfplay.processes
    rows = _full_window(settings, last)
    pools = ((stage, scoring.game_of(settings, size)) for stage in settings.stage for size in stage.sizes)
    trees = {game.size: pool_bytes(game, settings.selfplay, stage) for stage, game in pools}
    sizes = {
        "window": rows * sum(part * trial.row_bytes(settings, size) for size, part in last.sizes.items()),
        "search trees": sum(trees.values()) * settings.selfplay.slots,
        "network": checkpoint_bytes(settings),
        "programs": PROGRAM_BYTES * (1 if processes == 1 else 1 + processes),
    }
    parts = ", ".join(f"{name} {size / GB:.2f}" for name, size in sizes.items())
    return f"memory  about {sum(sizes.values()) / GB:.1f} GB with {rows:,.0f} rows in the window: {parts}"


def _disk(settings: LoopSettings, last: Forecast) -> str:
    a_row = sum(part * trial.record_bytes(settings, size) for size, part in last.stage.sizes.items())
    checkpoints = (settings.keep + 1) * checkpoint_bytes(settings)
    limit = f", at most {settings.records_mb:,} MB" if settings.records_mb else ""
    return (
        f"disk    about {a_row * last.rows_an_hour / MB:.1f} MB of records an hour{limit}; {checkpoints / MB:,.0f} MB of "
        "checkpoints and weights in all"
    )
