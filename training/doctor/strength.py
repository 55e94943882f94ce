"""Measures how strong the network is by now: a few paired games now and then against opponents that do not change,
`uct` (rollout PUCT, whose rollouts are doubled once it is beaten) and `frozen` (the network's own weights of some
measurements ago, from frozen/GENERATION.pt of the run folder). Nothing is trained on these. The time spent stays under
`monitor.strength_share` of the run's.
"""

from __future__ import annotations

import time
from collections.abc import Callable

from torch import nn

from gozero.nets import weights
from gozero.nets.weights import WeightsError
from training.doctor.checkup import MeasuredRun as Run
from training.doctor.history import Report, last
from training.matches import match, players
from training.matches.interface import Conditions, MatchPlayer, Stopped
from training.matches.players import SearchPlayer
from training.records import scoring
from training.storage import storage

ROUND = 8  # games at once: half as many openings, each with both colours; it counts whole or not at all
FIRST_ROLLOUTS, MOST_ROLLOUTS = 64, 4096
BEATEN = 0.75  # score at which the rollouts are doubled
FOLDER, FROZEN = "frozen", 4  # where weights are kept, and how many; the oldest is the opponent
RANDOM_PLIES = 4  # random plies, so that deterministic players do not repeat one game


def measure(run: Run, generation: int, history: list[Report], stop: Callable[[], bool]) -> Report:
    """The report of one measurement of a run's EMA network after a generation; empty when none is due. Its weights are
    kept, to be measured against.

    Returns:
        strength/uct_*, strength/frozen_*: games, score (0 ... 1), low and high end of its 95 % interval;
            strength/uct_rollouts;
        strength/frozen_generation, strength/size, strength/seconds;
        strength/uct_up: 1 if the rollouts will be doubled.
    """
    every, seconds = run.settings.monitor.strength_every, _allowance(run, history)
    if not every or generation % every or seconds <= 0:
        return {}
    began = time.monotonic()

    def over() -> bool:
        return stop() or time.monotonic() - began > seconds

    size = run.settings.stage_at(run.progress.rows).main_size
    numbers: Report = {"strength/size": float(size)}
    try:
        game, komi = scoring.match_game(run.settings, size)
        # the generation is the seed: each measurement has other openings
        conditions = Conditions(game, komi, generation, ROUND, threads=run.selfplay.threads)
        numbers |= _uct(run, conditions, history, over)
        numbers |= _frozen(run, generation, conditions, over)
    except Stopped:
        pass
    if not stop():
        freeze(run, generation)
    return numbers | {"strength/seconds": time.monotonic() - began}


def _allowance(run: Run, history: list[Report]) -> float:
    """Seconds that may be spent now: 0 until twice the time of the last measurement is saved up."""
    spent = [report["strength/seconds"] for report in history if "strength/seconds" in report]
    allowed = run.settings.monitor.strength_share * 3600 * run.progress.hours - sum(spent)
    return allowed if not spent or allowed >= 2 * spent[-1] else 0.0


def _uct(run: Run, conditions: Conditions, history: list[Report], stop: Callable[[], bool]) -> Report:
    """Games against rollout PUCT; its numbers are called uct, as in the logs of all runs."""
    rollouts = int(last(history, "strength/uct_rollouts") or FIRST_ROLLOUTS)
    if last(history, "strength/uct_up"):
        rollouts = min(MOST_ROLLOUTS, 2 * rollouts)
    opponent = players.open_player(f"puct-rollout:{rollouts}", conditions)
    numbers = _match("uct", run, opponent, conditions, stop)
    is_beaten = numbers["strength/uct_score"] >= BEATEN
    return numbers | {"strength/uct_rollouts": float(rollouts), "strength/uct_up": float(is_beaten)}


def _frozen(run: Run, generation: int, conditions: Conditions, stop: Callable[[], bool]) -> Report:
    """Games against the oldest of the frozen weights; nothing before there are any."""
    for path in storage.numbered(run.folder / FOLDER, ".pt"):
        if int(path.stem) >= generation:  # a killed session may have frozen what is measured now
            break
        try:
            net = weights.load(path, game=run.settings.game).network()
        except (WeightsError, MemoryError):  # `freeze` removes it in its turn
            continue
        numbers = _match("frozen", run, _player(net, run, conditions, stop), conditions, stop)
        return numbers | {"strength/frozen_generation": float(path.stem)}
    return {}


def _match(name: str, run: Run, opponent: MatchPlayer, conditions: Conditions, stop: Callable[[], bool]) -> Report:
    """Play rounds until the games are played or the time is up; Stopped if none was finished."""
    pair = (_player(run.trainer.learner.ema, run, conditions, stop), opponent)
    found: list[match.MatchGame] = []
    points, most_games = conditions.game.points, run.settings.monitor.strength_games
    most_moves = scoring.longest(run.settings, conditions.game)
    opening = min(RANDOM_PLIES, points // 2, most_moves - 1)  # four plies may end a game on four points
    try:
        while (played := len(found)) < most_games:
            size = min(ROUND, most_games - played)
            size, seed = size + size % 2, conditions.seed + played
            games = match.play_match(pair, conditions.game, size, seed, opening, most_moves, ROUND)
            found += list(games)  # a round that is cut is dropped
    except Stopped:
        if not found:
            raise
    report = match.total_of(found, found[0].pair[0]).report()
    return {f"strength/{name}_{key}": value for key, value in report.items()}


def _player(net: nn.Module, run: Run, conditions: Conditions, stop: Callable[[], bool]) -> SearchPlayer:
    """A network in the engine's search, without randomness."""
    visits = run.settings.monitor.strength_visits
    return players.network_player("network", net, visits, conditions, stop, run.device)


def freeze(run: Run, generation: int) -> None:
    """Save the present weights and remove all but the newest few of the older ones."""
    folder, config = run.folder / FOLDER, run.trainer.learner.config
    provenance = {"run": run.folder.name, "generation": generation, "evaluations": run.progress.evaluations}
    weights.save(
        folder / f"{generation:06d}.pt",
        run.trainer.learner.ema,
        config,
        game=run.settings.game,
        size=config.size,
        trained_sizes=run.progress.trained_sizes,
        provenance=provenance,
    )
    for old in storage.numbered(folder, ".pt")[:-FROZEN]:
        old.unlink()
