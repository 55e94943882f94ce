"""A short piece of self-play or learning with a run's own settings, in memory: what the estimate measures and the dry
run tries. Networks are untrained: they cost the same as trained ones.
"""

from __future__ import annotations

import math
import time
from dataclasses import replace

import numpy as np
import torch
from torch import nn

from gozero.games.game import Game
from gozero.nets import model
from training.learner.learner import Learner, network_config
from training.records import scoring
from training.records.records import Record, Target, encode, sparse_target
from training.records.replay import Replay
from training.run.backend import LOCAL, device_of, pace_of
from training.selfplay.local import Task, TaskEnd
from training.settings.config import LoopSettings, Stage

SHORT_FULL, SHORT_CHEAP = 16, 8  # simulations of a short search
BEGINNING = 0.5  # seconds
WARM_UP = 0.25  # of the seconds of a measurement


def network(settings: LoopSettings) -> nn.Module:
    """The run's network, untrained, ready to play."""
    return model.build(network_config(settings), settings.seed).eval()


def random_record(game: Game, seed: int) -> Record:
    """A game of random moves to its end, each ply with a target as broad as a search's."""
    generator = np.random.default_rng(seed)
    komi = scoring.draw_komi(game.name, game.size, generator)
    state, history = scoring.begin(game, komi, game.max_plies)
    words, legal, ending = generator.integers(2**63, size=1).astype(np.uint64), np.zeros(game.actions, np.uint8), None
    moves: list[int] = []
    targets: list[Target] = []
    while ending is None:
        game.legal(state, history, legal)
        shares = np.zeros(game.actions)
        shares[legal > 0] = generator.dirichlet(np.full(int(legal.sum()), 0.05))
        targets.append(sparse_target(len(moves), shares, 0.0))
        action = int(game.sample(state, history, words))
        game.step(state, history, action)
        moves.append(action)
        ending = scoring.ending(game, state)
    return Record(
        game.size, komi, 1, np.array(moves, np.int32), tuple(targets), scoring.final_score(game, state), ending
    )


def window(settings: LoopSettings, size: int) -> Replay:
    """A window that holds one random game of a size."""
    replay = Replay(
        replace(settings.replay, held_out=0.0), lambda points: scoring.game_of(settings, points), settings.features
    )
    replay.add([random_record(scoring.game_of(settings, size), settings.seed)])
    return replay


def row_bytes(settings: LoopSettings, size: int) -> float:
    """Memory of one row of a size in the window, in bytes."""
    replay = window(settings, size)
    (rows,) = replay.rows.values()
    return sum(array.nbytes for array in vars(rows).values()) / len(rows)


def record_bytes(settings: LoopSettings, size: int) -> float:
    """Disk for one row of a size and its share of the game's moves, in bytes."""
    record = random_record(scoring.game_of(settings, size), settings.seed)
    record = replace(record, targets=record.targets[:: max(1, round(1 / full_share(settings, size)))])
    return len(encode(record)) / len(record.targets)


def full_share(settings: LoopSettings, size: int) -> float:
    """The share of a game's moves that are searched fully on boards of this size."""
    return settings.selfplay.full_share * min(settings.selfplay.full_until.get(size, 1.0), 1.0)


class SelfPlayTrial:
    """Self-play as such a run has it on this machine, but that no game begins with an opening; to be closed."""

    def __init__(self, settings: LoopSettings, net: nn.Module) -> None:
        self.settings = replace(settings, selfplay=replace(settings.selfplay, opening_share=0.0))
        self._selfplay = LOCAL.selfplay(self.settings, net)

    def begin(self, stage: Stage, size: int) -> None:
        """Play until the network, or the playouts, have answered once in each process."""
        self._until(stage, size, BEGINNING, self.settings.selfplay.processes)

    def evaluations_a_second(self, stage: Stage, size: int, seconds: float) -> float:
        """Its speed in a stage on one board size, measured for about N seconds."""
        self.begin(stage, size)
        self._play(stage, size, seconds * WARM_UP)
        return self._until(stage, size, seconds, 1)

    def close(self) -> None:
        """End what it has started."""
        self._selfplay.close()

    def _until(self, stage: Stage, size: int, seconds: float, slots: int) -> float:
        """Play ever longer until so many slots had an answer. Returns the evaluations a second."""
        while True:
            began = time.monotonic()
            found = self._play(stage, size, seconds)
            if sum(count > 0 for count in found) >= slots:
                return sum(found) / (time.monotonic() - began)
            seconds *= 2

    def _play(self, stage: Stage, size: int, seconds: float) -> list[int]:
        """Play short searches for some seconds. Returns the visits of each slot."""
        short = replace(
            stage, full_visits=min(stage.full_visits, SHORT_FULL), cheap_visits=min(stage.cheap_visits, SHORT_CHEAP)
        )
        generation = self.settings.selfplay.no_pass_generations + 1
        for slot in range(self.settings.selfplay.slots):
            self._selfplay.submit(Task(size, slot, short, generation, math.inf, "rows"))
        end, ends = time.monotonic() + seconds, list[TaskEnd]()
        while self._selfplay.tasks:
            found = self._selfplay.take(lambda: time.monotonic() > end)
            ends += [each for _, each in found if isinstance(each, TaskEnd)]
        return [each.evaluations + each.cut for each in ends]


def step_seconds(settings: LoopSettings, size: int, seconds: float) -> tuple[float, int]:
    """(time of one step of the learner with a full batch of one size, the CPU threads that were fastest).

    The time is the mean of the steps that fit, without the first and those that tried other numbers of threads where
    there are more.
    """
    device = device_of(settings.device)
    learner, pace = Learner.of(settings, device), pace_of(settings, device)
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
