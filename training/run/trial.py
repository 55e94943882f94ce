"""A short stretch of each part of a run, in memory: what the estimate measures and the dry run tries.

Vocabulary.
  trial  self-play or learning with a run's own settings, cut short; it writes nothing and its games are thrown away.
  short search  the stage's search with few simulations, so that a trial sees whole moves: evaluations a second hardly
                depend on it.

Networks here are untrained: they cost the same as trained ones.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import replace

import numpy as np
import torch
from torch import nn

from gozero import nets
from gozero.games.game import Game
from training.actor.leaves import Resources, leaf_evaluator
from training.actor.pool import Pool
from training.learner.learner import Learner, network_config
from training.records import scoring
from training.records.records import Record, Target, encode, sparse_target
from training.records.replay import Replay
from training.run.resources import device_of, pace_of, threads_of
from training.settings.config import LoopSettings, Stage

SHORT_FULL, SHORT_CHEAP = 16, 8  # simulations of a short search


def network(settings: LoopSettings) -> nn.Module:
    """The run's network, untrained, ready to play."""
    return nets.build(network_config(settings), settings.seed).eval()


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
    (rows,) = replay.shelves.values()
    return sum(array.nbytes for array in vars(rows).values()) / len(rows)


def record_bytes(settings: LoopSettings, size: int) -> float:
    """Disk for one row of a size and its share of the game's moves, in bytes."""
    record = kept_record(settings, size)
    return len(encode(record)) / len(record.targets)


def kept_record(settings: LoopSettings, size: int, number: int = 0) -> Record:
    """A random game of a size with as many targets as a run keeps; each number has its own."""
    game, share = scoring.game_of(settings, size), settings.selfplay.full_share
    record, until = random_record(game, settings.seed + number), settings.selfplay.full_until.get(size)
    searched = [each for each in record.targets if until is None or each.ply < until * game.points]
    return replace(record, targets=tuple(searched[:: max(1, round(1 / share))]) or record.targets[:1])


def evaluations_a_second(
    settings: LoopSettings, stage: Stage, size: int, net: nn.Module, seconds: float, stop: Callable[[], bool]
) -> float:
    """Speed of self-play in a stage on one board size, with the threads that it has in the run's mode, for about so
    many seconds.
    """
    short = replace(
        stage, full_visits=min(stage.full_visits, SHORT_FULL), cheap_visits=min(stage.cheap_visits, SHORT_CHEAP)
    )
    pool = Pool(scoring.game_of(settings, size), replace(settings.selfplay, opening_share=0.0), (settings.seed,))
    device = device_of(settings.device)
    resources = Resources(threads_of(settings, device), device, settings.selfplay.precision, len(pool.groups))
    evaluator = leaf_evaluator(stage.evaluator, pool.game, net, settings.seed, resources)
    pool.use(evaluator, short, generation=settings.selfplay.no_pass_generations + 1)
    _play(pool, seconds / 4, stop)
    before, began = pool.evaluations, time.monotonic()
    _play(pool, seconds, stop)
    return (pool.evaluations - before) / (time.monotonic() - began)


def _play(pool: Pool, seconds: float, stop: Callable[[], bool]) -> None:
    """Play until the time is over and at least one search has ended since."""
    before, end = pool.evaluations, time.monotonic() + seconds
    for _ in pool.play(float("inf"), lambda: stop() or (time.monotonic() > end and pool.evaluations > before)):
        pass


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
