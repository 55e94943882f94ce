"""Measures how strong the network is by now: a few paired games now and then against opponents that do not change,
`uct` (rollout PUCT, whose rollouts are doubled once it is beaten) and `frozen` (the network's own weights of some
measurements ago, from frozen/GENERATION.pt of the run folder). Nothing is trained on these. The time spent stays under
`monitor.strength_share` of the run's.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from pathlib import Path

from torch import nn

from gozero.nets import weights
from gozero.nets.weights import WeightsError
from training.doctor.checkup import MeasuredRun as Run
from training.doctor.history import Report, last
from training.matches import match, players
from training.matches.interface import Conditions, MatchPlayer, Stopped
from training.matches.players import SearchPlayer
from training.records import scoring
from training.settings.config import LoopSettings
from training.storage import storage

ROUND = 8  # games at once: half as many openings, each with both colours; it counts whole or not at all
FIRST_ROLLOUTS, MOST_ROLLOUTS = 64, 4096
BEATEN = 0.75  # score at which the rollouts are doubled
FROZEN = 4  # weights; the oldest is the opponent
RANDOM_PLIES = 4  # random plies, so that deterministic players do not repeat one game


class Strength:
    """Measures a run's EMA network, and keeps its weights to be measured against."""

    def __init__(self, folder: Path, settings: LoopSettings) -> None:
        self._folder, self._settings = folder / "frozen", settings

    def measure(self, run: Run, generation: int, history: list[Report], stop: Callable[[], bool]) -> Report:
        """The report of one measurement after a generation; empty when none is due.

        Returns:
            strength/uct_*, strength/frozen_*: games, score (0 ... 1), low and high end of its 95 % interval;
                strength/uct_rollouts;
            strength/frozen_generation, strength/size, strength/seconds;
            strength/uct_up: 1 if the rollouts will be doubled.
        """
        every, seconds = self._settings.monitor.strength_every, self._allowance(run, history)
        if not every or generation % every or seconds <= 0:
            return {}
        began = time.monotonic()

        def over() -> bool:
            return stop() or time.monotonic() - began > seconds

        size = self._settings.stage_at(run.progress.rows).main_size
        numbers: Report = {"strength/size": float(size)}
        try:
            game, komi = scoring.match_game(self._settings, size)  # with other openings at each measurement:
            conditions = Conditions(game, komi, generation, ROUND, threads=run.selfplay.threads)
            numbers |= self._uct(run, conditions, history, over)
            numbers |= self._frozen(run, generation, conditions, over)
        except Stopped:
            pass
        if not stop():
            self._freeze(run, generation)
        return numbers | {"strength/seconds": time.monotonic() - began}

    def _allowance(self, run: Run, history: list[Report]) -> float:
        """Seconds that may be spent now: 0 until twice the time of the last measurement is saved up."""
        spent = [report["strength/seconds"] for report in history if "strength/seconds" in report]
        allowed = self._settings.monitor.strength_share * 3600 * run.progress.hours - sum(spent)
        return allowed if not spent or allowed >= 2 * spent[-1] else 0.0

    def _uct(self, run: Run, conditions: Conditions, history: list[Report], stop: Callable[[], bool]) -> Report:
        """Games against rollout PUCT; its numbers are called uct, as in the logs of all runs."""
        rollouts = int(last(history, "strength/uct_rollouts") or FIRST_ROLLOUTS)
        if last(history, "strength/uct_up"):
            rollouts = min(MOST_ROLLOUTS, 2 * rollouts)
        opponent = players.open_player(f"puct-rollout:{rollouts}", conditions)
        numbers = self._match("uct", run, opponent, conditions, stop)
        if numbers:
            numbers |= {
                "strength/uct_rollouts": float(rollouts),
                "strength/uct_up": float(numbers["strength/uct_score"] >= BEATEN),
            }
        return numbers

    def _frozen(self, run: Run, generation: int, conditions: Conditions, stop: Callable[[], bool]) -> Report:
        """Games against the oldest of the frozen weights; nothing before there are any."""
        earlier = [path for path in storage.numbered(self._folder, ".pt") if int(path.stem) < generation]
        for path in earlier:  # a killed session may have frozen what is measured now
            try:
                net = weights.load(path, game=self._settings.game).network()
            except (WeightsError, MemoryError):  # `_freeze` removes it in its turn
                continue
            numbers = self._match("frozen", run, self._player(net, run.device, conditions, stop), conditions, stop)
            return numbers | ({"strength/frozen_generation": float(path.stem)} if numbers else {})
        return {}

    def _match(
        self, name: str, run: Run, opponent: MatchPlayer, conditions: Conditions, stop: Callable[[], bool]
    ) -> Report:
        """Play rounds until the games are played or the time is up; empty if none was finished."""
        pair = (self._player(run.trainer.learner.ema, run.device, conditions, stop), opponent)
        found: list[match.MatchGame] = []
        points = conditions.game.points
        most_moves = scoring.longest(self._settings, conditions.game)
        opening = min(RANDOM_PLIES, points // 2, most_moves - 1)  # four plies may end a game on four points
        try:
            while (played := len(found)) < self._settings.monitor.strength_games:
                size = min(ROUND, self._settings.monitor.strength_games - played)
                size, seed = size + size % 2, conditions.seed + played
                games = match.play_match(pair, conditions.game, size, seed, opening, most_moves, ROUND)
                found += list(games)  # a round that is cut is dropped
        except Stopped:
            if not found:
                raise
        report = match.total_of(found, found[0].pair[0]).report()
        return {f"strength/{name}_{key}": value for key, value in report.items()}

    def _player(self, net: nn.Module, device: str, conditions: Conditions, stop: Callable[[], bool]) -> SearchPlayer:
        """A network in the engine's search, without randomness."""
        visits = self._settings.monitor.strength_visits
        return players.network_player("network", net, visits, conditions, stop, device)

    def _freeze(self, run: Run, generation: int) -> None:
        """Save the present weights and remove all but the newest few of the older ones."""
        path, config = self._folder / f"{generation:06d}.pt", run.trainer.learner.config
        provenance = {"run": run.folder.name, "generation": generation, "evaluations": run.progress.evaluations}
        weights.save(
            path,
            run.trainer.learner.ema,
            config,
            game=self._settings.game,
            size=config.size,
            trained_sizes=run.progress.trained_sizes,
            provenance=provenance,
        )
        for old in storage.numbered(self._folder, ".pt")[:-FROZEN]:
            old.unlink()
