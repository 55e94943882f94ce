"""The gate: a new network plays self-play's games only if it wins a match against the one that plays them now.

The candidate is the learner's average; the best network stays if the candidate's share of the points is below the
setting. The gate is off by default, because a refused network costs its whole generation (AlphaZero and KataGo have no
gate; AlphaGo Zero has one at 55 %).
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from torch import nn

from training.elo import MatchScore
from training.matches.interface import Conditions
from training.matches.match import MatchGame, fixture, play_schedule
from training.matches.players import network_player
from training.records import scoring
from training.settings.config import LoopSettings

PARALLEL = 32  # games at once, to fill batches
CANDIDATE = "candidate"  # its name in the match


@dataclass(frozen=True)
class GateResult:
    """A finished match from the candidate's side."""

    total: MatchScore
    share: float  # that was asked for

    @property
    def passed(self) -> bool:
        return self.total.score >= self.share

    def __str__(self) -> str:
        verb = "plays from now on" if self.passed else "is refused, and the one before it stays"
        return f"gate: the new network scored {self.total}; asked for {self.share:.0%}: it {verb}"

    def report(self) -> dict[str, float]:
        values = self.total.report() | {"passed": float(self.passed)}
        return {f"gate/{name}": value for name, value in values.items()}


@dataclass(frozen=True)
class MatchPart:
    """A part of a match: some of its pairs of games. Every part can be played by itself, anywhere."""

    settings: LoopSettings
    size: int  # of the board
    seed: int  # the same seed gives the same games
    numbers: tuple[int, ...]  # of its games, 0 ... games - 1


def parts(size: int, settings: LoopSettings, seed: int) -> list[MatchPart]:
    """The parts of a match: one for each slot of self-play, in pairs of games; all of it if there is one slot."""
    pairs = (settings.gate.games + 1) // 2
    shares = np.array_split(np.arange(2 * pairs).reshape(pairs, 2), min(pairs, settings.selfplay.slots))
    return [MatchPart(settings, size, seed, tuple(share.ravel().tolist())) for share in shares]


def play_part(
    part: MatchPart, candidate: nn.Module, best: nn.Module, threads: int, stop: Callable[[], bool], device: str
) -> list[MatchGame]:
    """The games of a part; Stopped once `stop()` is true."""
    settings = part.settings
    game, komi = scoring.match_game(settings, part.size)
    parallel = min(PARALLEL, settings.gate.games, len(part.numbers))
    conditions = Conditions(game, komi, part.seed, parallel, threads=threads)
    names, own = (CANDIDATE, "best"), settings.selfplay
    players = {  # without self-play's noise
        name: network_player(
            name, net, settings.gate.visits, conditions, stop, device, own.precision, c_puct=own.c_puct, fpu=own.fpu
        )
        for name, net in zip(names, (candidate, best), strict=True)
    }
    fixtures = [fixture(names, number, part.seed) for number in part.numbers]
    opening, longest = min(settings.gate.opening_moves, game.points // 4), scoring.longest(settings, game)
    return list(play_schedule(players, fixtures, game, opening, longest, parallel))
