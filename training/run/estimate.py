"""`--estimate`: what a run will take on this computer, from a minute's measurement of its own parts.

It assumes games of as many moves as the board has points, and a computer as busy as during the measurement. It measures
with untrained networks (`training.run.trial`) and leaves nothing behind.
"""

from __future__ import annotations

import math
from contextlib import closing
from dataclasses import dataclass, replace

from gozero.nets import model
from gozero.system.words import counted
from training.records import scoring
from training.records.replay import window_rows
from training.run import trial
from training.run.backend import device_of
from training.selfplay.pool import pool_bytes
from training.settings.config import LoopSettings, Stage

SECONDS = 30.0  # for all measurements; first starts and one step of a large network add to it
PROGRAM_BYTES = 0.7e9  # PyTorch, the evaluator's engine and compiled kernels, measured on Linux
GB, MB = 1e9, 1e6


@dataclass(frozen=True)
class Cost:
    """The measurements: evaluations a second by (evaluator, size), seconds a learner's step by size, and its CPU
    threads.
    """

    speeds: dict[tuple[str, int], float]
    step: dict[int, float]
    threads: int = 1


@dataclass(frozen=True)
class Forecast:
    """A stage of the course: its pace, the rows it is given (inf: to the end of the run) and its hours."""

    stage: Stage
    visits: float  # evaluations for one row
    speed: float  # evaluations a second, mean over the rows
    rows_an_hour: float
    games_an_hour: float
    rows: float
    hours: float


def report(settings: LoopSettings, seconds: float = SECONDS) -> str:
    """The estimate as text."""
    cost = measure(settings, seconds)
    stages = course(settings, cost)
    needs = [*_memory(settings, stages), *_disk(settings, stages), *_time(stages)]
    return "\n".join([*_head(settings, cost), "", *_table(stages), "", *needs])


def generation_hours(settings: LoopSettings, seconds: float) -> float:
    """Hours of the first generation of a new run on this machine, measured for about so many seconds."""
    stage = settings.stage[0]
    found = forecast(settings, stage, measure(replace(settings, stage=(stage,)), seconds))
    return generation_rows(settings, stage) / found.rows_an_hour


def generation_rows(settings: LoopSettings, stage: Stage) -> float:
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


def _row_visits(settings: LoopSettings, stage: Stage, size: int) -> float:
    """Evaluations for one row on boards of this size: a full search, and the cheap ones until the next."""
    return stage.full_visits + stage.cheap_visits * (1 / _full_share(settings, size) - 1)


def measure(settings: LoopSettings, seconds: float) -> Cost:
    """Measure every evaluator and size of the stages, each for its part of the time."""
    wanted = {(stage.evaluator, size): stage for stage in settings.stage for size in stage.sizes}
    sizes = sorted({size for _, size in wanted})
    part = seconds / (len(wanted) + 1)
    with closing(trial.SelfPlayTrial(settings, trial.network(settings))) as play:
        speeds = {key: play.evaluations_a_second(wanted[key], key[1], part) for key in sorted(wanted)}
    largest = max(sizes)
    step, threads = trial.step_seconds(settings, largest, part)
    return Cost(speeds, {size: step * (size / largest) ** 2 for size in sizes}, threads)


def course(settings: LoopSettings, cost: Cost) -> list[Forecast]:
    """The stages that the run comes to, as far as its limits let it."""
    stages: list[Forecast] = []
    hours, evaluations = settings.hours or math.inf, settings.evaluations or math.inf
    games, generations = settings.games or math.inf, settings.generations or math.inf
    for index, stage in enumerate(settings.stage):
        found = forecast(settings, stage, cost)
        a_game, a_generation = _game_rows(settings, stage), generation_rows(settings, stage)
        limit = min(games * a_game, generations * a_generation, evaluations / found.visits)
        rows = limit if limit == math.inf else a_generation * math.ceil(limit / a_generation - 1e-6)  # it is played out
        most = min(rows, math.inf if index == len(settings.stage) - 1 else stage.rows)
        taken = min(hours, most / found.rows_an_hour)
        given = taken * found.rows_an_hour if taken < math.inf else math.inf
        stages.append(replace(found, rows=given, hours=taken))
        hours, evaluations = hours - taken, evaluations - given * found.visits
        games, generations = games - given / a_game, generations - given / a_generation
        if hours <= 0 or rows - given < 1 or evaluations < found.visits:
            break
    return stages


def forecast(settings: LoopSettings, stage: Stage, cost: Cost) -> Forecast:
    """A stage's speed, its length left open."""
    uses = row_uses(settings, stage)
    visits = {size: part * _row_visits(settings, stage, size) for size, part in stage.sizes.items()}
    play = sum(count / cost.speeds[stage.evaluator, size] for size, count in visits.items())
    learn = sum(part * cost.step[size] for size, part in stage.sizes.items()) * uses / settings.learner.batch
    gate = _gate(settings, stage, cost)
    row = {
        "sequential": play + learn + gate,
        "semi-asynchronous": max(play, learn) + gate,
        "asynchronous": max(play, learn + gate),
    }[settings.mode]
    games_an_hour = 3600 / (row * _game_rows(settings, stage))
    a_row = sum(visits.values())
    return Forecast(stage, a_row, a_row / play, 3600 / row, games_an_hour, math.inf, math.inf)


def row_uses(settings: LoopSettings, stage: Stage) -> float:
    """How often the learner draws a row in all, once the window is full."""
    learner, whole = settings.learner, generation_rows(settings, stage)
    if learner.generation_steps:
        return learner.generation_steps * learner.batch / whole
    return learner.epochs * full_window(settings, stage) / whole if learner.epochs else learner.reuse


def full_window(settings: LoopSettings, stage: Stage) -> float:
    """Rows of the full window, before it grows."""
    return settings.replay.window_games * _game_rows(settings, stage) or settings.replay.window


def _gate(settings: LoopSettings, stage: Stage, cost: Cost) -> float:
    """Seconds of the gate for one row; none in a stage of playouts on a board that no network of the run plays on."""
    size, gate = stage.main_size, settings.gate
    speed = cost.speeds.get(("network", size), math.inf)
    return gate.games * scoring.game_of(settings, size).points * gate.visits / speed / generation_rows(settings, stage)


def checkpoint_bytes(settings: LoopSettings) -> int:
    """A checkpoint, and the network in memory: weights, average, the optimiser's two moments and the network that
    plays, in float32.
    """
    return 5 * 4 * model.parameter_count(trial.network(settings))


def _head(settings: LoopSettings, cost: Cost) -> list[str]:
    boards = {size: scoring.game_of(settings, size).dimensions for _, size in cost.speeds}
    speeds = ", ".join(
        f"{boards[size]} {speed:,.0f}" for (kind, size), speed in cost.speeds.items() if kind == "network"
    )
    playouts = ", ".join(
        f"{boards[size]} {speed:,.0f}" for (kind, size), speed in cost.speeds.items() if kind == "rollouts"
    )
    largest = max(cost.step)
    threads = counted(cost.threads, "thread")
    processes = settings.selfplay.processes  # the slots of one take turns
    counts = {size: settings.selfplay.on(size).games * processes for size in boards}
    listed = ", ".join(f"{boards[size]} {count:,}" for size, count in counts.items())
    games = (
        f"{counted(counts[largest], 'game', ',')} at once"
        if len(set(counts.values())) == 1
        else f"games at once: {listed}"
    )
    at_once = games + (f" in {processes} processes" if processes > 1 else "")
    return [
        f"network {settings.network} on {device_of(settings.device)}, {at_once}, measured here just now:",
        *([f"  evaluations a second by the network: {speeds}"] if speeds else []),
        *([f"  evaluations a second by playouts: {playouts}"] if playouts else []),
        f"  a learner's step of {counted(settings.learner.batch, 'row')}: {cost.step[largest]:.2f} s at {boards[largest]} with "
        f"{threads}",
    ]


def _table(stages: list[Forecast]) -> list[str]:
    lines = [f"{'stage':<7}{'sizes':<16}{'evaluations/s':>14}{'games/h':>10}{'rows/h':>11}{'rows':>13}{'hours':>9}"]
    for number, found in enumerate(stages, start=1):
        sizes = " ".join(map(str, sorted(found.stage.sizes)))
        rows, hours = ("to the end", "-") if math.isinf(found.rows) else (f"{found.rows:,.0f}", f"{found.hours:,.2f}")
        pace = f"{found.speed:>14,.0f}{found.games_an_hour:>10,.0f}{found.rows_an_hour:>11,.0f}"
        lines.append(f"{number:<7}{sizes:<16}{pace}{rows:>13}{hours:>9}")
    return lines


def _memory(settings: LoopSettings, stages: list[Forecast]) -> list[str]:
    last = stages[-1]
    rows = sum(found.rows for found in stages if not math.isinf(found.rows))
    full = full_window(settings, last.stage)
    rows = max(rows, full) if math.isinf(last.rows) else rows
    a_row = sum(part * trial.row_bytes(settings, size) for size, part in last.stage.sizes.items())
    most = min(rows, full) if settings.replay.window_games else window_rows(round(rows), settings.replay)
    window = most * a_row
    pools = ((found.stage, scoring.game_of(settings, size)) for found in stages for size in found.stage.sizes)
    # of every size so far
    trees = sum({game.size: pool_bytes(game, settings.selfplay, stage) for stage, game in pools}.values())
    trees *= settings.selfplay.slots
    network = checkpoint_bytes(settings)
    programs = PROGRAM_BYTES * (1 if settings.selfplay.processes == 1 else 1 + settings.selfplay.processes)
    total = window + trees + network + programs
    sizes = {"window": window, "search trees": trees, "network": network}
    parts = ", ".join(f"{name} {size / GB:.2f}" for name, size in sizes.items())
    parts += f", programs {programs / GB:.1f}"
    growing = settings.replay.growing and not settings.replay.window_games
    grows = "; the window grows slowly after that" if math.isinf(last.rows) and growing else ""
    return [f"memory  about {total / GB:.1f} GB when {rows:,.0f} rows are recorded: {parts}{grows}"]


def _disk(settings: LoopSettings, stages: list[Forecast]) -> list[str]:
    last = stages[-1]
    a_row = sum(part * trial.record_bytes(settings, size) for size, part in last.stage.sizes.items())
    checkpoints = (settings.keep + 1) * checkpoint_bytes(settings)
    limit = f", at most {settings.records_mb:,} MB" if settings.records_mb else ""
    hourly = a_row * last.rows_an_hour / MB
    return [
        f"disk    about {hourly:.1f} MB of records an hour{limit}; {checkpoints / MB:,.0f} MB of checkpoints and "
        "weights in all"
    ]


def _time(stages: list[Forecast]) -> list[str]:
    timed = [found.hours for found in stages if not math.isinf(found.hours)]
    end = f"time    {sum(timed):,.2f} hours"
    if math.isinf(stages[-1].hours):
        before = f"{end} for the stages before the last, which" if timed else "time    it"
        end = f"{before} continues until you stop it (--hours sets a limit)"
    return [end, "assumed: games of as many moves as the board has points, and a computer as busy as it was just now"]
