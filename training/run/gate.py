"""The gate: a new network plays self-play's games only if it wins a match against the one that plays them now.

Vocabulary.
  candidate  the learner's average. It is judged by its share of the points, a draw counting one half, in pairs of games
             with the same random opening and colours swapped.
  best       the network that plays; it stays if the candidate's share is below the setting.

A short match is decided by chance as much as by strength, so the verdict gives its interval. The gate is off by
default, because a refused network costs its whole generation (AlphaZero and KataGo have no gate; AlphaGo Zero has one
at 55 %).
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace

from torch import nn

from training.actor.leaves import leaf_evaluator
from training.matches.elo import Tally
from training.matches.match import MatchSettings, play_match, tally
from training.matches.players import Conditions, SearchPlayer, match_search
from training.matches.stopping import StoppableEvaluator, Stopped
from training.records import scoring
from training.settings.config import LoopSettings

PARALLEL = 32  # games at once, to fill batches


@dataclass(frozen=True)
class GateResult:
    """A finished match from the candidate's side."""

    tally: Tally
    share: float  # that was asked for

    @property
    def passed(self) -> bool:
        return self.tally.score >= self.share

    def __str__(self) -> str:
        verb = "plays from now on" if self.passed else "is refused, and the one before it stays"
        return f"gate: the new network scored {self.tally}; asked for {self.share:.0%}: it {verb}"

    def report(self) -> dict[str, float]:
        """The same as numbers for log and TensorBoard."""
        values = self.tally.report() | {"passed": float(self.passed)}
        return {f"gate/{name}": value for name, value in values.items()}


def match(
    candidate: nn.Module,
    best: nn.Module,
    size: int,
    settings: LoopSettings,
    seed: int,
    threads: int,
    stop: Callable[[], bool],
    device: str = "cpu",
) -> GateResult | None:
    """Play the gate's match on a board of `size`; None if stopped before its end.

    The same seed gives the same games.
    """
    game, komi = scoring.match_game(settings, size)
    conditions = Conditions(game, komi, seed, min(PARALLEL, settings.gate.games), threads=threads)
    rules = MatchSettings(
        games=settings.gate.games + settings.gate.games % 2,
        seed=seed,
        opening_moves=min(settings.gate.opening_moves, game.points // 4),
        max_moves=int(settings.selfplay.max_length * game.points),
        parallel=conditions.parallel,
    )
    players = [
        _player(name, net, settings, conditions, stop, device)
        for name, net in (("candidate", candidate), ("best", best))
    ]
    try:
        records = list(play_match((players[0], players[1]), game, rules))
    except Stopped:
        return None
    return GateResult(tally(records), settings.gate.share)


def _player(
    name: str, net: nn.Module, settings: LoopSettings, conditions: Conditions, stop: Callable[[], bool], device: str
) -> SearchPlayer:
    """A network as a player of the match, searched as in play but for self-play's constants: no noise, PUCT."""
    threads, precision = conditions.threads or 0, settings.selfplay.precision
    evaluator = leaf_evaluator("network", conditions.game, net, threads, conditions.seed, device, precision=precision)
    visits = settings.gate.visits
    search = replace(match_search(visits, conditions), c_puct=settings.selfplay.c_puct, fpu=settings.selfplay.fpu)
    return SearchPlayer(name, StoppableEvaluator(evaluator, stop), visits, search, conditions)
