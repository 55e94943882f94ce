"""Computes a strength, with its uncertainty, from games won.

Vocabulary
    score      share of the points won, draws counting one half: 0 ... 1
    interval   95 % unless `z` says otherwise; Wilson's, which stays inside 0 ... 1 and is honest at 0 and 100 %
    Elo        400 * log10(score / (1 - score)): the rating difference at which that score is expected

    pool       players of whom each has played some of the others; their ratings are those that make the results
               likeliest

Games are taken as independent. This module plays nothing and knows no game.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np

Z95 = 1.959964  # two-sided 95 % of the normal distribution


@dataclass(frozen=True)
class Tally:
    """A match from the first player's side, in games."""

    wins: int
    losses: int
    draws: int = 0

    @property
    def games(self) -> int:
        return self.wins + self.losses + self.draws

    @property
    def points(self) -> float:
        return self.wins + 0.5 * self.draws

    @property
    def score(self) -> float:
        """Share of the points, 0 ... 1; not a number before the first game."""
        return self.points / self.games if self.games else math.nan

    def report(self) -> dict[str, float]:
        """The numbers for log and TensorBoard: games, score, and the ends of its interval, low and high."""
        low, high = wilson(self.points, self.games)
        return {"games": float(self.games), "score": self.score, "low": low, "high": high}

    def __str__(self) -> str:
        if not self.games:
            return "no games"
        low, high = wilson(self.points, self.games)
        share = f"{self.points:g} of {self.games} = {self.score:.1%} (95 % interval {low:.1%} - {high:.1%})"
        return f"{share}; {elo_text(self.points, self.games)}"


def wilson(points: float, games: int, z: float = Z95) -> tuple[float, float]:
    """Wilson's score interval for a share of `points` out of `games` (Wilson 1927, JASA 22, eq. 2); (0, 1) without
    games.

    With draws, `points` is no whole number and the interval is a little too wide, never too narrow.
    """
    if not 0 <= points <= games:
        raise ValueError(f"{points} points of {games} games is impossible")
    if games == 0:
        return 0.0, 1.0
    share, spread = points / games, z * z / games
    centre = (share + spread / 2) / (1 + spread)
    half = z * math.sqrt(share * (1 - share) / games + spread / (4 * games)) / (1 + spread)
    return max(0.0, centre - half), min(1.0, centre + half)


def elo(score: float) -> float:
    """The rating difference at which `score` (0 ... 1) is expected; infinite at 0 and 1."""
    if not 0 <= score <= 1:
        raise ValueError(f"a score lies between 0 and 1, not {score}")
    if score in (0.0, 1.0):
        return math.copysign(math.inf, score - 0.5)
    return 400 * math.log10(score / (1 - score))


def elo_error(score: float, games: int) -> float:
    """Standard error of `elo(score)` by the delta method: (400 / ln 10) / sqrt(games * score * (1 - score)); infinite
    at 0 and 1.
    """
    variance = games * score * (1 - score)
    return 400 / math.log(10) / math.sqrt(variance) if variance > 0 else math.inf


def elo_text(points: float, games: int) -> str:
    """`Elo +35 +- 25`, or the bound that the interval gives when all or no games were won."""
    low, high = wilson(points, games)
    if points == games:
        return f"Elo at least {elo(low):+.0f}"
    if points == 0:
        return f"Elo at most {elo(high):+.0f}"
    return f"Elo {elo(points / games):+.0f} +- {elo_error(points / games, games):.0f} (standard error)"


ELO_UNIT = 400 / math.log(10)
"""Elo in one unit of the logistic scale."""


def pool(players: int, matches: Mapping[tuple[int, int], Tally]) -> tuple[np.ndarray, np.ndarray]:
    """The ratings of a pool as `bradley_terry` finds them, with one draw besides for each match.

    Returns:
        Elo float64 [players], and the standard error of each difference to player 0, float64 [players].
    """
    ratings, covariance = bradley_terry(players, matches)
    return ratings, np.sqrt(np.diag(covariance))


def bradley_terry(
    players: int, matches: Mapping[tuple[int, int], Tally], draws: float = 1.0
) -> tuple[np.ndarray, np.ndarray]:
    """The ratings by the model of Bradley and Terry (1952) that make the results likeliest, player 0 at 0.

    A draw is half a win. The covariance is the inverse of the Hessian of the log-likelihood.

    Args:
        players: how many there are.
        matches: the tally of player i against player j under (i, j). They must join all players; ValueError where they
            do not.
        draws: how many draws each match is given besides, so that a clean sweep stays finite; above 0.

    Returns:
        Elo float64 [players], and the covariance of the ratings, float64 [players, players] in square Elo; row and
        column 0 are 0.
    """
    logits = np.zeros(players)
    covariance = np.zeros((players, players))
    for _ in range(1000):  # Newton's method: the likelihood is concave
        slope, curvature = _derivatives(logits, matches, draws)
        try:
            covariance[1:, 1:] = np.linalg.inv(curvature[1:, 1:])
        except np.linalg.LinAlgError:
            raise ValueError("some players are joined to player 0 by no match: they cannot be rated") from None
        step = np.clip(covariance[1:, 1:] @ slope[1:], -1.0, 1.0)
        logits[1:] += step
        if np.abs(step).max(initial=0.0) < 1e-9:
            break
    return ELO_UNIT * logits, ELO_UNIT**2 * covariance


def _derivatives(
    logits: np.ndarray, matches: Mapping[tuple[int, int], Tally], draws: float
) -> tuple[np.ndarray, np.ndarray]:
    """(slope float64 [players], minus the Hessian float64 [players, players]) of the log-likelihood."""
    slope, curvature = np.zeros(len(logits)), np.zeros((len(logits), len(logits)))
    for (i, j), tally in matches.items():
        games, expected = tally.games + draws, 1 / (1 + math.exp(logits[j] - logits[i]))
        surplus, weight = tally.points + 0.5 * draws - games * expected, games * expected * (1 - expected)
        slope[[i, j]] += surplus, -surplus
        curvature[[i, j], [i, j]] += weight
        curvature[[i, j], [j, i]] -= weight
    return slope, curvature


def superiority(difference: float, error: float) -> float:
    """The likelihood of superiority: the chance that the truth lies above 0, for a rating difference with a normal
    error.
    """
    return 0.5 * math.erfc(-difference / (error * math.sqrt(2))) if error > 0 else 0.5
