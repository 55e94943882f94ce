"""Measures how strong the network is by now: a few paired games now and then against opponents that do not change,
`uct` (rollout PUCT, whose rollouts are doubled once it is beaten) and `frozen` (the network's own weights of some
measurements ago, from frozen/GENERATION.pt of the run folder); and where they are given or known, positions that a
strong engine labelled (`gozero yardstick`) and positions of a solved game (`gozero truth`). Nothing is trained on
these. The time spent stays under `monitor.strength_share` of the run's.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

from gozero.games import GO_FAMILY
from gozero.games.game import Game
from gozero.nets import weights
from gozero.nets.weights import WeightsError
from gozero.system.console import say
from gozero.system.options import SettingsError
from training.doctor.history import Report, last
from training.learner.learner import network_config
from training.matches import match, perfect, players, truth, yardstick
from training.matches.interface import Conditions, MatchPlayer, StoppableEvaluator, Stopped
from training.matches.players import SearchPlayer
from training.matches.truth import Judged
from training.matches.yardstick import Labelled, YardstickError
from training.records import scoring
from training.selfplay.leaves import Resources, network_evaluator
from training.settings.config import LoopSettings
from training.storage import storage

if TYPE_CHECKING:
    from torch import nn

    from training.doctor.checkup import MeasuredRun as Run

ROUND = 8  # games at once: half as many openings, each with both colours; it counts whole or not at all
FIRST_ROLLOUTS, MOST_ROLLOUTS = 64, 4096
BEATEN = 0.75  # score at which the rollouts are doubled
FROZEN = 4  # weights; the oldest is the opponent
RANDOM_PLIES = 4  # random plies, so that deterministic players do not repeat one game
JUDGED, JUDGED_SEED = 100, 1  # positions from random games


class Strength:
    """Measures a run's EMA network, and keeps its weights to be measured against."""

    def __init__(self, folder: Path, settings: LoopSettings) -> None:
        """Raises SettingsError if the settings name a yardstick that cannot be used (`_yardstick`)."""
        self._folder, self._settings = folder / "frozen", settings
        self._judged_at: dict[int, list[Judged]] = {}  # by board size
        self._labelled = _yardstick(settings) if settings.monitor.yardstick else None

    def measure(self, run: Run, generation: int, history: list[Report], stop: Callable[[], bool]) -> Report:
        """The report of one measurement after a generation; empty when none is due.

        Returns:
            strength/uct_*, strength/frozen_*: games, score (0 ... 1), low and high end of its 95 % interval;
                strength/uct_rollouts;
            strength/frozen_generation, strength/size, strength/seconds, yardstick/*;
            strength/uct_up: 1 if the rollouts will be doubled;
            perfect/policy_*, perfect/search_*: share of the judged positions in which the value is preserved, low and
                high end of its interval.
        """
        every, seconds = self._settings.monitor.strength_every, self._allowance(run, history)
        if not every or generation % every or seconds <= 0:
            return {}
        began = time.monotonic()

        def over() -> bool:
            return stop() or time.monotonic() - began > seconds

        numbers: Report = {"strength/size": float(self._settings.stage_at(run.progress.rows).main_size)}
        try:
            numbers |= self._agreement(run, over)
            conditions = self._conditions(run, generation)
            numbers |= self._truth(run, conditions, over)
            numbers |= self._uct(run, conditions, history, over)
            numbers |= self._frozen(run, conditions, over)
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

    def _frozen(self, run: Run, conditions: Conditions, stop: Callable[[], bool]) -> Report:
        """Games against the oldest of the frozen weights; nothing before there are any."""
        for path in storage.numbered(self._folder, ".pt")[:1]:
            try:
                net = weights.load(path, game=self._settings.game).network()
            except WeightsError:  # torn by a crash; the next measurement writes others
                path.unlink(missing_ok=True)
                return {}
            numbers = self._match("frozen", run, self._player(net, run.device, conditions, stop), conditions, stop)
            return numbers | ({"strength/frozen_generation": float(path.stem)} if numbers else {})
        return {}

    def _agreement(self, run: Run, stop: Callable[[], bool]) -> Report:
        """The raw network's agreement with the yardstick."""
        labelled = self._labelled
        if labelled is None:
            return {}
        evaluator = network_evaluator(run.trainer.average(), labelled.game, Resources(run.selfplay.threads, run.device))
        outputs = yardstick.evaluate(labelled, StoppableEvaluator(evaluator, stop))
        return {f"yardstick/{name}": value for name, value in yardstick.agreement(labelled, outputs).items()}

    def _truth(self, run: Run, conditions: Conditions, stop: Callable[[], bool]) -> Report:
        """How often the raw policy and the search keep the value of judged positions; empty for a game that is not
        solved.
        """
        judged = self._judged(conditions.game)
        if not judged:
            return {}
        conditions = replace(conditions, parallel=truth.PARALLEL)
        numbers: Report = {}
        for name, visits in (("policy", 1), ("search", self._settings.monitor.strength_visits)):
            player = players.network_player(name, run.trainer.average(), visits, conditions, stop, run.device)
            kept = truth.kept_values(judged, truth.player_choices(player, judged))
            (low, high), prefix = kept.interval, f"perfect/{name}"
            numbers |= {f"{prefix}_share": kept.score, f"{prefix}_low": low, f"{prefix}_high": high}
        return numbers

    def _judged(self, game: Game) -> list[Judged]:
        """The judged positions of a board; none where there is no solver."""
        if game.size not in self._judged_at:
            self._judged_at[game.size] = []
            try:
                self._judged_at[game.size] = truth.positions(game, perfect.solver(game), JUDGED, JUDGED_SEED)
            except perfect.SolverMissingError as error:
                say(f"the distance to perfect play is not measured: {error}")
            except perfect.UnsolvedError:  # most games are not solved
                pass
        return self._judged_at[game.size]

    def _match(
        self, name: str, run: Run, opponent: MatchPlayer, conditions: Conditions, stop: Callable[[], bool]
    ) -> Report:
        """Play rounds until the games are played or the time is up; empty if none was finished."""
        pair = (self._player(run.trainer.average(), run.device, conditions, stop), opponent)
        found: list[match.MatchGame] = []
        points = conditions.game.points
        most_moves = scoring.longest(self._settings, conditions.game)
        opening = min(RANDOM_PLIES, points // 2, most_moves - 1)  # four plies may end a game on four points
        try:
            while (played := len(found)) < self._settings.monitor.strength_games:
                size = min(ROUND, self._settings.monitor.strength_games - played)
                size, seed = size + size % 2, conditions.seed + played
                games = match.play_match(pair, conditions.game, size, seed, opening, most_moves, ROUND, stop)
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

    def _conditions(self, run: Run, generation: int) -> Conditions:
        """The usual komi on the stage's main board, with another seed, so other openings, at each measurement."""
        size = self._settings.stage_at(run.progress.rows).main_size
        game, komi = scoring.match_game(self._settings, size)
        return Conditions(game, komi, seed=generation, parallel=ROUND, threads=run.selfplay.threads)

    def _freeze(self, run: Run, generation: int) -> None:
        """Save the present weights and remove all but the newest few of the older ones."""
        path, config = self._folder / f"{generation:06d}.pt", run.trainer.config
        provenance = {"run": run.folder.name, "generation": generation, "evaluations": run.progress.evaluations}
        weights.save(
            path,
            run.trainer.average(),
            config,
            game=self._settings.game,
            size=config.size,
            trained_sizes=run.progress.trained_sizes,
            provenance=provenance,
        )
        for old in storage.numbered(self._folder, ".pt")[:-FROZEN]:
            old.unlink()


def _yardstick(settings: LoopSettings) -> Labelled:
    """The yardstick that the settings name. SettingsError if it cannot be read, or has no positions for the run's
    network.
    """
    path = Path(settings.monitor.yardstick)
    if settings.game not in GO_FAMILY:
        raise SettingsError(
            f"monitor.yardstick: {path} is for runs of Go, and this one plays {settings.game}; leave it out"
        )
    try:
        labelled = yardstick.read(path)
    except YardstickError as error:
        raise SettingsError(f"monitor.yardstick: {error}") from None
    size, only = labelled.game.size, network_config(settings).size
    if only not in (None, size):
        raise SettingsError(
            f"monitor.yardstick: the positions of {path} are on {size}x{size}, and network {settings.network} plays on "
            f"{only}x{only} only; give others, or leave it out"
        )
    return labelled
