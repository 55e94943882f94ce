"""The sequential probability ratio test of Wald (1945): a match that ends as soon as its question is answered.

Vocabulary
    H0, H1    the first entrant is elo0, or elo1, stronger than the second
    alpha     how often H1 is accepted although H0 is true; beta: the reverse
    LLR       the log-likelihood ratio of H1 to H0; H1 is accepted above the upper bound, H0 below the lower one

A draw counts as half a win and half a loss, and the two games of a pair as independent; with draws and paired openings
the true error rates are below alpha and beta. Games are judged in the order of the schedule, so that neither their
length nor the number of processes can change the decision.
"""

from __future__ import annotations

import math
from collections.abc import Iterable
from dataclasses import dataclass

from training.settings.config import setting


@dataclass(frozen=True)
class SprtSettings:
    """The question of the match."""

    elo0: float = setting(0.0, unit="Elo of H0", low=-2000, high=2000)
    elo1: float = setting(50.0, unit="Elo of H1; above elo0", low=-2000, high=2000)
    alpha: float = setting(0.05, unit="chance to accept H1 where H0 is true", low=1e-6, high=0.49)
    beta: float = setting(0.05, unit="chance to accept H0 where H1 is true", low=1e-6, high=0.49)

    @property
    def bounds(self) -> tuple[float, float]:
        """The lower and the upper bound of the LLR."""
        return math.log(self.beta / (1 - self.alpha)), math.log((1 - self.beta) / self.alpha)


@dataclass(frozen=True)
class Decision:
    """How far the test has come."""

    llr: float
    games: int  # counted so far, in the order of the schedule
    accepted: str  # H0, H1, or empty: not decided


def judge(points: Iterable[float | None], settings: SprtSettings) -> Decision:
    """The test over the first entrant's points (1, 0.5, 0) in the order of the schedule, up to the first game that is
    not finished (None). It is looked at after each pair.
    """
    win, loss = (_log_ratio(sign, settings) for sign in (1, -1))
    low, high = settings.bounds
    llr, games = 0.0, 0
    for point in points:
        if point is None:
            break
        llr += point * win + (1 - point) * loss
        games += 1
        if games % 2 == 0 and not low < llr < high:
            return Decision(llr, games, "H1" if llr >= high else "H0")
    return Decision(llr, games, "")


def _log_ratio(sign: int, settings: SprtSettings) -> float:
    """How much likelier H1 makes a win (+1) or a loss (-1) than H0 does, as a logarithm."""
    return math.log((1 + 10 ** (-sign * settings.elo0 / 400)) / (1 + 10 ** (-sign * settings.elo1 / 400)))
