"""`--estimate`: what a run will take on this computer, from a minute's measurement of its own parts.

It counts each stage to its end, whatever the limits of the run, and assumes games of as many moves as the board has
points, and a computer as busy as during the measurement. Matches of the gate are not in it.
"""

from __future__ import annotations

from contextlib import closing
from dataclasses import dataclass

from gozero.nets import model
from gozero.system.words import counted
from training.records import scoring
from training.run import trial
from training.run.backend import device_of
from training.settings.config import LoopSettings, Stage

SECONDS = 30.0  # for all measurements; first starts and one step of a large network add to it
HEAD = f"{'stage':<7}{'sizes':<16}{'evaluations/s':>14}{'games/h':>10}{'rows/h':>11}{'rows':>13}{'hours':>9}"


@dataclass(frozen=True)
class Cost:
    """What was measured."""

    speeds: dict[tuple[str, int], float]  # evaluations a second by (evaluator, size)
    step: dict[int, float]  # seconds of a learner's step by size
    threads: int = 1  # of the learner


@dataclass(frozen=True)
class Forecast:
    """A stage's pace."""

    speed: float  # evaluations a second, mean over the rows
    rows_an_hour: float
    games_an_hour: float


def report(settings: LoopSettings, seconds: float = SECONDS) -> str:
    """The estimate as text."""
    cost = measure(settings, seconds)
    device, processes = device_of(settings.device), settings.selfplay.processes
    lines = [f"network {settings.network} on {device}, measured here just now"]
    for (kind, size), speed in cost.speeds.items():
        by = "the network" if kind == "network" else "playouts"
        games = counted(settings.selfplay.on(size).games * processes, "game")
        board = scoring.game_of(settings, size).dimensions
        lines.append(f"  {speed:,.0f} evaluations a second by {by} at {board}, {games} at once")
    largest = scoring.game_of(settings, max(cost.step)).dimensions
    rows, threads = counted(settings.learner.batch, "row"), counted(cost.threads, "thread")
    lines += [f"  a learner's step of {rows}: {max(cost.step.values()):.2f} s at {largest} with {threads}", "", HEAD]
    for number, stage in enumerate(settings.stage, start=1):
        found, sizes = forecast(settings, stage, cost), " ".join(map(str, sorted(stage.sizes)))
        pace = f"{found.speed:>14,.0f}{found.games_an_hour:>10,.0f}{found.rows_an_hour:>11,.0f}"
        length = f"{stage.rows:>13,}{stage.rows / found.rows_an_hour:>9,.2f}"
        lines.append(f"{number:<7}{sizes:<16}{pace}{length if number < len(settings.stage) else '   to the end'}")
    return "\n".join([*lines, "", _room(settings, settings.stage[-1], found.rows_an_hour)])


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
    visits = play = learn = games = 0.0  # of a row
    for size, part in stage.sizes.items():  # a row takes a full search, and the cheap ones until the next
        share = trial.full_share(settings, size)
        row_visits = stage.full_visits + stage.cheap_visits * (1 / share - 1)
        visits += part * row_visits
        play += part * row_visits / cost.speeds[stage.evaluator, size]
        learn += part * cost.step[size] / settings.learner.batch
        games += part / (share * scoring.game_of(settings, size).points)
    learn *= _row_uses(settings, games)
    row = play + learn if settings.mode == "sequential" else max(play, learn)
    return Forecast(visits / play, 3600 / row, 3600 * games / row)


def _row_uses(settings: LoopSettings, games: float) -> float:
    """How often the learner draws a row in all, once the window is full. `games`: of a row."""
    learner = settings.learner
    generation = settings.generation_games / games if settings.generation_games else settings.generation_rows
    if learner.generation_steps:
        return learner.generation_steps * learner.batch / generation
    window = settings.replay.window_games / games if settings.replay.window_games else settings.replay.window
    return learner.epochs * window / generation if learner.epochs else learner.reuse


def checkpoint_bytes(settings: LoopSettings) -> int:
    """A checkpoint: weights, average, the optimiser's two moments and the network that plays, in float32."""
    return 5 * 4 * model.parameter_count(trial.network(settings))


def _room(settings: LoopSettings, last: Stage, rows_an_hour: float) -> str:
    """Memory and disk."""
    window, disk = (
        sum(part * of_a_row(settings, size) for size, part in last.sizes.items())
        for of_a_row in (trial.row_bytes, trial.record_bytes)
    )
    limit = f", at most {settings.records_mb:,} MB" if settings.records_mb else ""
    return (
        f"memory  {1e5 * window / 1e9:.2f} GB for each 100,000 rows in the window, beside about 1 GB for each process\n"
        f"disk    about {disk * rows_an_hour / 1e6:.1f} MB of records an hour{limit}; "
        f"{(settings.keep + 1) * checkpoint_bytes(settings) / 1e6:,.0f} MB of checkpoints"
    )
