"""`--estimate`: what a run will take on this computer, from a minute's measurement of self-play and learning with its
own settings, in memory. Networks are untrained: they cost the same as trained ones.

It counts each stage to its end, whatever the limits of the run, and assumes games of as many moves as the board has
points, and a computer as busy as during the measurement. Matches of the gate are not in it.
"""

from __future__ import annotations

import math
import time
from contextlib import closing
from dataclasses import dataclass, replace

import numpy as np
import torch

from gozero.system.words import counted
from training.learner.learner import Learner
from training.records import scoring
from training.records.replay import Replay
from training.run.backend import LOCAL, device_of, pace_of
from training.selfplay.leaves import Resources, leaf_evaluator
from training.selfplay.local import SelfPlay, Task, TaskEnd
from training.selfplay.pool import Pool
from training.settings.config import LoopSettings, Stage

SECONDS = 30.0  # for all measurements; first starts and one step of a large network add to it
BEGINNING = 0.5  # seconds
WARM_UP = 0.25  # of the seconds of a measurement
SHORT_FULL, SHORT_CHEAP = 16, 8  # simulations of a short search
HEAD = f"{'stage':<7}{'sizes':<16}{'evaluations/s':>14}{'games/h':>10}{'rows/h':>11}{'rows':>13}{'hours':>9}"


@dataclass(frozen=True)
class Cost:
    speeds: dict[tuple[str, int], float]  # evaluations a second by (evaluator, size)
    step: dict[int, float]  # seconds of a learner's step by size
    threads: int = 1  # of the learner


def report(settings: LoopSettings, seconds: float = SECONDS) -> str:
    """The estimate as text."""
    cost = measure(settings, seconds)
    lines = [f"network {settings.network} on {device_of(settings.device)}, measured here just now"]
    for (kind, size), speed in cost.speeds.items():
        by = "the network" if kind == "network" else "playouts"
        games = counted(settings.selfplay.on(size).games * settings.selfplay.processes, "game")
        board = scoring.game_of(settings, size).dimensions
        lines.append(f"  {speed:,.0f} evaluations a second by {by} at {board}, {games} at once")
    largest = scoring.game_of(settings, max(cost.step)).dimensions
    rows, threads = counted(settings.learner.batch, "row"), counted(cost.threads, "thread")
    lines += [f"  a learner's step of {rows}: {max(cost.step.values()):.2f} s at {largest} with {threads}", "", HEAD]
    for number, stage in enumerate(settings.stage, start=1):
        speed, games_an_hour, rows_an_hour = forecast(settings, stage, cost)
        sizes = " ".join(map(str, sorted(stage.sizes)))
        pace = f"{speed:>14,.0f}{games_an_hour:>10,.0f}{rows_an_hour:>11,.0f}"
        length = f"{stage.rows:>13,}{stage.rows / rows_an_hour:>9,.2f}"
        lines.append(f"{number:<7}{sizes:<16}{pace}{length if number < len(settings.stage) else '   to the end'}")
    return "\n".join(lines)


def measure(settings: LoopSettings, seconds: float) -> Cost:
    """Measure every evaluator and size of the stages, each for its part of the time."""
    wanted = {(stage.evaluator, size): stage for stage in settings.stage for size in stage.sizes}
    part, learner = seconds / (len(wanted) + 1), Learner.of(settings, device_of(settings.device))
    searching = replace(settings, selfplay=replace(settings.selfplay, opening_share=0.0))
    with closing(LOCAL.selfplay(searching, learner.ema)) as selfplay:
        speeds = {key: evaluations_a_second(selfplay, wanted[key], key[1], part) for key in sorted(wanted)}
    largest = max(size for _, size in wanted)
    step, threads = step_seconds(settings, learner, largest, part)
    return Cost(speeds, {size: step * (size / largest) ** 2 for _, size in wanted}, threads)


def evaluations_a_second(selfplay: SelfPlay, stage: Stage, size: int, seconds: float) -> float:
    """The speed of self-play in a stage on one board size, measured for about N seconds."""
    play_until(selfplay, stage, size, BEGINNING, selfplay.settings.selfplay.processes)
    play_for(selfplay, stage, size, seconds * WARM_UP)
    return play_until(selfplay, stage, size, seconds, 1)


def play_until(selfplay: SelfPlay, stage: Stage, size: int, seconds: float, slots: int) -> float:
    """Play ever longer until so many slots had an answer. Returns the evaluations a second."""
    while True:
        began = time.monotonic()
        found = play_for(selfplay, stage, size, seconds)
        if sum(count > 0 for count in found) >= slots:
            return sum(found) / (time.monotonic() - began)
        seconds *= 2


def play_for(selfplay: SelfPlay, stage: Stage, size: int, seconds: float) -> list[int]:
    """Play short searches for some seconds. Returns the visits of each slot."""
    full, cheap = min(stage.full_visits, SHORT_FULL), min(stage.cheap_visits, SHORT_CHEAP)
    short, play = replace(stage, full_visits=full, cheap_visits=cheap), selfplay.settings.selfplay
    for slot in range(play.slots):
        selfplay.submit(Task(size, slot, short, play.no_pass_generations + 1, math.inf, "rows"))
    end, ends = time.monotonic() + seconds, list[TaskEnd]()
    while selfplay.tasks:
        ends += [each for each in selfplay.take(lambda: time.monotonic() > end) if isinstance(each, TaskEnd)]
    return [each.evaluations + each.cut for each in ends]


def step_seconds(settings: LoopSettings, learner: Learner, size: int, seconds: float) -> tuple[float, int]:
    """(time of one step of the learner with a full batch of one size, the CPU threads that were fastest).

    The time is the mean of the steps that fit, without the first and those that tried other numbers of threads where
    there are more.
    """
    pace = pace_of(settings, device_of(settings.device))
    replay, generator = window(settings, size), np.random.default_rng(settings.seed)
    tried: list[float] = []
    times: list[float] = []
    while sum(tried) + sum(times) < seconds or not times:
        settled, began = pace.is_settled, time.monotonic()
        with pace.piece(size) as threads:
            torch.set_num_threads(threads)
            losses = learner.train(replay.sample(settings.learner.batch, generator))
            float(losses["total"])  # waits for the device
        (times if settled else tried).append(time.monotonic() - began)
    return float(np.mean(times[1:] or times)), pace.threads


def window(settings: LoopSettings, size: int) -> Replay:
    """A window that holds one game of a size, by two playouts a move."""
    game = scoring.game_of(settings, size)
    pool = Pool(game, replace(settings.selfplay, games=1, size_games={}, full_share=1.0, full_until={}), (0,))
    stage = Stage(rows=1, sizes={size: 1.0}, evaluator="rollouts", full_visits=2, cheap_visits=2)
    pool.use(leaf_evaluator("rollouts", game, None, settings.seed, Resources()), stage, 1)
    replay = Replay(replace(settings.replay, held_out=0.0), lambda _: game, settings.features)
    replay.add(pool.play(1, unit="games"))
    return replay


def forecast(settings: LoopSettings, stage: Stage, cost: Cost) -> tuple[float, float, float]:
    """A stage's pace, by what was measured: evaluations a second, mean over the rows; games and rows an hour."""
    visits = play = learn = games = 0.0  # of a row
    for size, part in stage.sizes.items():  # a row takes a full search, and the cheap ones until the next
        share = settings.selfplay.full_share * min(settings.selfplay.full_until.get(size, 1.0), 1.0)
        row_visits = stage.full_visits + stage.cheap_visits * (1 / share - 1)
        visits += part * row_visits
        play += part * row_visits / cost.speeds[stage.evaluator, size]
        learn += part * cost.step[size] / settings.learner.batch
        games += part / (share * scoring.game_of(settings, size).points)
    window = settings.replay.window_games / games if settings.replay.window_games else settings.replay.window
    learn *= settings.paid_by(1.0, games, window) * settings.learner.batch  # the row's uses, once the window is full
    row = play + learn if settings.mode == "sequential" else max(play, learn)
    return visits / play, 3600 * games / row, 3600 / row
