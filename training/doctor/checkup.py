"""Measures after each generation whether the run is sound; the doctor judges the numbers.

A probe evaluates positions that differ in one known way (komi, colour, a turn of the board), so the outputs must
differ, or agree, in a known way too. Everything is measured on a copy: neither the network nor a random generator of
the run is changed, so measuring does not change the weights that a run ends with. Nothing is judged here.
"""

from __future__ import annotations

import copy
from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from contextlib import AbstractContextManager
from functools import partial
from pathlib import Path
from typing import Protocol

import numpy as np
import torch
from torch import Tensor, nn
from torch.nn import functional as F

from gozero.games import GO_FAMILY
from gozero.games.game import Game
from gozero.nets import features
from gozero.nets.model import NetOutput
from training.learner.learner import Learner
from training.learner.trainer import HELD_OUT_ROWS, Trainer, weighted_mean
from training.records import library, scoring
from training.records.records import Record
from training.records.replay import Replay
from training.records.rows import TO_PLAY_PLANE, Batch
from training.selfplay.actor import Actor
from training.selfplay.local import SelfPlay
from training.settings.config import LoopSettings
from training.storage.checkpoint import Progress

PROBED = 24  # positions that the network is asked about, six times each
FITTED = 256  # most training rows of each size whose losses are measured, to compare with held-out games
# fewer are soon the same in sound runs too: most learn one first move; on 5x5 and in Connect-4 one first four
OPENING_MOVES = 8
FIRST_LINE = "probe/first_line"  # with the board's points a side behind it
OPEN_SIZE = 9  # on smaller boards of Go a first move near the edge is no fault
KOMI_STEP = 6.0  # points more, and less, for the side to move
ONE_KOMI = 0.75  # share of the rows; where komi varies from game to game, a third have the usual one


class MeasuredRun(Protocol):
    """A run whose generation is done; `device` is where its network is measured, `turn` the lock of what it reads."""

    settings: LoopSettings
    folder: Path
    device: str
    progress: Progress
    trainer: Trainer
    actor: Actor
    selfplay: SelfPlay

    def locked(self) -> AbstractContextManager[None]: ...


class Checkup:
    """Measures a run after each generation; it remembers the weights of the generation before."""

    def __init__(self) -> None:
        self._before: dict[str, Tensor] = {}

    def measure(self, run: MeasuredRun, generation: int) -> dict[str, float]:
        """Measure a run whose generation is done.

        Returns:
            probe/*, fit/* (losses), moved/*, window/*, held/constant_*; games*/commonest, unless the next
            generation has replaced its games, as in the asynchronous mode, or they were played elsewhere.
        """
        learner, replay, settings = run.trainer.learner, run.trainer.replay, run.settings
        with run.locked():
            own = generation > run.progress.imported
            games = [record for record in run.actor.games if own and record.generation == generation]
            net, ema = (copy.deepcopy(part).float().cpu() for part in (learner.net, learner.ema))
            measures = window(replay) | _guesses(learner, replay, settings) | _fit(learner, replay)
            draws = np.random.default_rng([settings.seed, generation])
            batch = replay.sample(PROBED, draws) if replay.sizes() else None
        parts = {"net": net, "ema": ema}
        now = {name: torch.cat([p.detach().flatten() for p in part.parameters()]) for name, part in parts.items()}
        for name, old in self._before.items():  # nothing the first time
            measures[f"moved/{name}"] = float((now[name] - old).norm() / old.norm().clamp(min=1e-12))
        self._before = now
        measures |= openings(games, partial(scoring.game_of, settings))
        if batch is None:
            return measures
        game = scoring.game_of(settings, batch.planes.shape[-1])
        measures |= probes(ema.eval(), batch, game)
        if game.name == scoring.GO:
            sizes = settings.stage_at(run.progress.rows).sizes
            boards = [scoring.game_of(settings, size) for size in sizes if size >= OPEN_SIZE]
            measures |= first_line(ema, boards, settings.features)
        return measures | {"probe/norm_gap": norm_gap(net, batch)}


def window(replay: Replay) -> dict[str, float]:
    """window/held_games and window/fit_games: how many games their mean rests on, those that are held out and the
    others: games of one length, of which as many would vary as much.
    """
    found = {}
    for name, held in (("held", True), ("fit", False)):
        rows = replay.games(held)
        found[f"window/{name}_games"] = float(rows.sum() ** 2 / max(1, (rows**2).sum()))
    return found


def openings(records: Sequence[Record], game_of: Callable[[int], Game]) -> dict[str, float]:
    """games*/commonest: for each size, the share of the games with the commonest opening, 0 if none repeats.

    Openings that a symmetry of the board turns into each other are one.
    """
    found = {}
    for size in sorted({record.size for record in records}):
        counts = Counter(
            library.opening(record, game_of(size), OPENING_MOVES) for record in records if record.size == size
        )
        most = max(counts.values())
        found[f"games{size}/commonest"] = most / counts.total() if most > 1 else 0.0
    return found


def _guesses(learner: Learner, replay: Replay, settings: LoopSettings) -> dict[str, float]:
    """constant_policy and constant_value of held/* or, if no game is held out, of fit/*: `constants` of those rows."""
    held = settings.replay.held_out > 0
    counts, most = replay.sizes(held_out=held), HELD_OUT_ROWS if held else FITTED
    squared = learner.config.has_scalar_value
    found = {
        size: constants(replay.spread(size, most, held_out=held), scoring.game_of(settings, size), squared)
        for size in counts
    }
    return {f"{'held' if held else 'fit'}/{name}": value for name, value in weighted_mean(found, counts).items()}


def _fit(learner: Learner, replay: Replay) -> dict[str, float]:
    """fit/*: losses and measures on rows that were learned from, the sizes weighted as those of the held-out rows."""
    drawn = replay.sizes()
    counts = replay.sizes(held_out=True) or drawn
    found = {size: learner.evaluate(replay.spread(size, FITTED, held_out=False)) for size in counts if size in drawn}
    return {f"fit/{name}": value for name, value in weighted_mean(found, counts).items()}


def stones_of(batch: Batch, game: Game) -> np.ndarray:
    """float [n, P]: +1 the side to move's stones, -1 the other side's, 0 empty points."""
    shown = features.layout(game.name)
    return (batch.planes[:, shown.own] - batch.planes[:, shown.other]).reshape(len(batch.planes), -1)


def constants(batch: Batch, game: Game, squared: bool = False) -> dict[str, float]:
    """The losses of a constant predictor on a batch.

    Returns:
        constant_policy: nats; uniform over the legal moves, in Go over the empty points and the pass (few of them are
            illegal), of pieces that move over all directions of those that can.
        constant_value: the entropy of wins, draws and losses in the batch, nats; their variance if the value's loss is
            `squared`.
    """
    if game.name in GO_FAMILY:
        legal = 1 + (stones_of(batch, game) == 0).sum(1)
    else:
        # 1 at a forced pass; the planes do not say in which of its directions a piece may move: half are its side's
        legal = max(1, len(game.directions) // 2) * np.maximum(batch.planes[:, features.OWN_MOVES].sum((1, 2)), 1)
    counts = np.array([(np.sign(batch.value) == result).sum() for result in (1, 0, -1)])
    shares = counts[counts > 0] / counts.sum()
    value = float(np.var(batch.value)) if squared else float(-(shares * np.log(shares)).sum())
    return {"constant_policy": float(np.log(legal).mean()), "constant_value": value}


@torch.inference_mode()
def probes(net: nn.Module, batch: Batch, game: Game) -> dict[str, float]:
    """Compare the network's outputs for positions and for changed copies; `net` in evaluation mode, float32, on the
    CPU.

    Returns:
        probe/komi_value, probe/komi_score: mean rise of value (-1 ... 1) and score (points) for each point of komi that
            the side to move gains. Only in Go, and where komi varies: elsewhere no target depends on it. A network
            without a score head has no second.
        probe/view: cosine of the ownership (or else of the value) with what it is when only the colour to move is
            swapped: 1 where the network sees own and other stones, -1 where it sees Black and White.
        probe/early_pass: mean probability of a pass in positions with fewer than an eighth of the points taken; in Go,
            if there are such positions.
    """
    plain = _ask(net, batch)
    swapped = batch.planes.copy()
    swapped[:, TO_PLAY_PLANE] = 1 - swapped[:, TO_PLAY_PLANE]
    other = _ask(net, batch._replace(planes=swapped))
    one, two = (out.value if out.owners is None else out.owners for out in (plain, other))
    found = {"probe/view": float(F.cosine_similarity(one.flatten(), two.flatten(), dim=0))}
    if game.name in GO_FAMILY:
        _, alike = np.unique(np.abs(batch.globals[:, 0]), return_counts=True)  # the side to move's, so of either sign
        found |= _komi(net, batch) if alike.max() <= ONE_KOMI * len(batch.globals) else {}
        early = torch.from_numpy(np.abs(stones_of(batch, game)).sum(1) < game.points / 8)
        if early.any():
            found["probe/early_pass"] = float(plain.policy.softmax(1)[early, game.pass_action].mean())
    return found


@torch.inference_mode()
def first_line(net: nn.Module, boards: Iterable[Game], version: int) -> dict[str, float]:
    """probe/first_lineN for each board of N points a side: how much of the policy on the empty board is on its first
    line or a pass. `net` as in `probes`; `version` is that of its input features.
    """
    found = {}
    for game in boards:
        start = scoring.begin(game, scoring.usual_komi(game.name, game.size), 0)[0]
        policy = net(*map(torch.from_numpy, features.encode(game, start[None], version))).policy[0].softmax(0)
        inner = policy[: game.pass_action].reshape(-1, *game.shape)[:, 1:-1, 1:-1]
        found[f"{FIRST_LINE}{game.size}"] = 1 - float(inner.sum())
    return found


def _komi(net: nn.Module, batch: Batch) -> dict[str, float]:
    """Slopes of value and score in the komi of the side to move."""
    more, less = batch.globals.copy(), batch.globals.copy()
    more[:, 0] += KOMI_STEP / features.KOMI_SCALE
    less[:, 0] -= KOMI_STEP / features.KOMI_SCALE
    high, low = (_ask(net, batch._replace(globals=numbers)) for numbers in (more, less))
    found = {"probe/komi_value": float((high.value - low.value).mean()) / (2 * KOMI_STEP)}
    if high.score is not None and low.score is not None:
        found["probe/komi_score"] = float((high.score - low.score).mean()) / (2 * KOMI_STEP)
    return found


@torch.inference_mode()
def norm_gap(net: nn.Module, batch: Batch) -> float:
    """Policy loss in evaluation mode minus that in training mode, in nats: the cost of the batch norms' running
    statistics.

    `net` is changed: the pass in training mode updates its statistics.
    """
    target = torch.from_numpy(batch.policy)
    evaluated, trained = (F.cross_entropy(_ask(net.train(mode), batch).policy, target) for mode in (False, True))
    return float(evaluated - trained)


def _ask(net: nn.Module, batch: Batch) -> NetOutput:
    return net(*map(torch.from_numpy, batch.inputs))
