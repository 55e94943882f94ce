"""Computes a strength, with its uncertainty, from games won. Games are taken as independent.

A score is the share of the points, 0 ... 1, draws counting one half; intervals are Wilson's of 95 %, which stay inside
0 ... 1 and are honest at 0 and 100 %. Ratings are those of the model of Bradley and Terry (1952).
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from gozero.system.options import setting

Z95 = 1.959964  # two-sided 95 % of the normal distribution
ELO_UNIT = 400 / math.log(10)  # Elo in one unit of the logistic scale


@dataclass(frozen=True)
class MatchScore:
    """A match from the first player's side, in games."""

    wins: int = 0
    losses: int = 0
    draws: int = 0

    def __add__(self, other: MatchScore) -> MatchScore:
        return MatchScore(self.wins + other.wins, self.losses + other.losses, self.draws + other.draws)

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

    @property
    def interval(self) -> tuple[float, float]:
        return wilson(self.points, self.games)

    def report(self) -> dict[str, float]:
        """The numbers for log and TensorBoard: games, score, and the ends of its interval, low and high."""
        low, high = self.interval
        return {"games": float(self.games), "score": self.score, "low": low, "high": high}

    def __str__(self) -> str:
        if not self.games:
            return "no games"
        low, high = self.interval
        rating = f"Elo {elo(self.score):+.0f} ({elo(low):+.0f} to {elo(high):+.0f})"
        if self.score in (0, 1):  # the bound that the interval gives
            rating = f"Elo at least {elo(low):+.0f}" if self.score else f"Elo at most {elo(high):+.0f}"
        share = f"{self.points:g} of {self.games} = {self.score:.1%} (95 % interval {low:.1%} - {high:.1%})"
        return f"{share}; {rating}"


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
    return math.copysign(math.inf, score - 0.5) if score in (0.0, 1.0) else 400 * math.log10(score / (1 - score))


def elo_error(score: float, games: int) -> float:
    """Standard error of `elo(score)` by the delta method: (400 / ln 10) / sqrt(games * score * (1 - score)); infinite
    at 0 and 1.
    """
    variance = games * score * (1 - score)
    return ELO_UNIT / math.sqrt(variance) if variance > 0 else math.inf


def bradley_terry(
    players: int, matches: Mapping[tuple[int, int], MatchScore], draws: float = 1.0
) -> tuple[np.ndarray, np.ndarray]:
    """The ratings that make the results likeliest, player 0 at 0. A draw is half a win.

    Args:
        players: how many there are.
        matches: the total of player i against player j under (i, j). They must join all players; ValueError if they do
            not.
        draws: how many draws each match is given besides, so that a clean sweep stays finite; above 0.

    Returns:
        Elo float64 [players], and the covariance of the ratings, the inverse of the Hessian of the log-likelihood,
        float64 [players, players] in square Elo; row and column 0 are 0.
    """
    first, second = np.array(list(matches), np.int64).reshape(-1, 2).T
    games = np.array([total.games + draws for total in matches.values()])
    points = np.array([total.points + 0.5 * draws for total in matches.values()])
    logits, covariance = np.zeros(players), np.zeros((players, players))
    for _ in range(1000):  # Newton's method: the likelihood is concave
        expected = 1 / (1 + np.exp(logits[second] - logits[first]))
        surplus, weight = points - games * expected, games * expected * (1 - expected)
        slope, curvature = np.zeros(players), np.zeros((players, players))
        for player, other, sign in ((first, second, 1), (second, first, -1)):
            np.add.at(slope, player, sign * surplus)
            np.add.at(curvature, (player, player), weight)
            np.add.at(curvature, (player, other), -weight)
        try:
            covariance[1:, 1:] = np.linalg.inv(curvature[1:, 1:])
        except np.linalg.LinAlgError:
            raise ValueError("some players are joined to player 0 by no match: they cannot be rated") from None
        step = np.clip(covariance[1:, 1:] @ slope[1:], -1.0, 1.0)
        logits[1:] += step
        if np.abs(step).max(initial=0.0) < 1e-9:
            break
    return ELO_UNIT * logits, ELO_UNIT**2 * covariance


@dataclass(frozen=True)
class Ratings:
    """Elo of n players that are joined by games, and what is known of the differences."""

    names: tuple[str, ...]
    elo: np.ndarray  # float64 [n], mean 0
    covariance: np.ndarray  # float64 [n, n], square Elo

    def of(self, name: str) -> tuple[float, float]:
        """(Elo, standard error of its difference to the mean); not a number for a player that is not rated."""
        if name not in self.names:
            return math.nan, math.nan
        place = self.names.index(name)
        return float(self.elo[place]), math.sqrt(max(0.0, float(self.covariance[place, place])))

    def difference(self, a: str, b: str) -> tuple[float, float]:
        """(how much stronger a is than b, standard error of that); not a number if one is not rated."""
        if a not in self.names or b not in self.names:
            return math.nan, math.nan
        i, j = self.names.index(a), self.names.index(b)
        variance = self.covariance[i, i] + self.covariance[j, j] - 2 * self.covariance[i, j]
        return float(self.elo[i] - self.elo[j]), math.sqrt(max(0.0, float(variance)))

    def superiority(self, a: str, b: str) -> float:
        """The likelihood that a is stronger than b, the error being normal; not a number if one is not rated."""
        difference, error = self.difference(a, b)
        return 0.5 * math.erfc(-difference / (error * math.sqrt(2))) if error else 0.5


def rate(names: Sequence[str], found: Mapping[tuple[str, str], MatchScore]) -> Ratings:
    """The ratings of the largest set of players that are joined by games. Each match is given a share of one draw
    besides: one divided by the number of the other players.
    """
    groups: list[set[str]] = []
    for pair in found:
        with_pair = set(pair).union(*(group for group in groups if group & set(pair)))
        groups = [group for group in groups if not group & with_pair] + [with_pair]
    joined = max(groups, key=len, default=set())
    rated = [name for name in names if name in joined]
    if not rated:
        return Ratings((), np.zeros(0), np.zeros((0, 0)))
    places = {name: place for place, name in enumerate(rated)}
    matches = {(places[a], places[b]): total for (a, b), total in found.items() if a in places and b in places}
    ratings, covariance = bradley_terry(len(rated), matches, draws=1 / max(1, len(names) - 1))
    to_mean = np.eye(len(rated)) - 1 / len(rated)
    return Ratings(tuple(rated), to_mean @ ratings, to_mean @ covariance @ to_mean.T)


@dataclass(frozen=True)
class SprtSettings:
    """The question of a sequential probability ratio test (Wald 1945): is the first player elo0 (H0) or elo1 (H1)
    stronger than the second? The match ends as soon as that is answered.

    A draw counts as half a win and half a loss, and the two games of a pair as independent; with draws and paired
    openings the true error rates are below alpha and beta.
    """

    elo0: float = setting(0.0, unit="Elo of H0", low=-2000, high=2000)
    elo1: float = setting(50.0, unit="Elo of H1; above elo0", low=-2000, high=2000)
    alpha: float = setting(0.05, unit="chance to accept H1 where H0 is true", low=1e-6, high=0.49)
    beta: float = setting(0.05, unit="chance to accept H0 where H1 is true", low=1e-6, high=0.49)

    @property
    def bounds(self) -> tuple[float, float]:
        """The log-likelihood ratios of H1 to H0 below which H0, and above which H1 is accepted."""
        return math.log(self.beta / (1 - self.alpha)), math.log((1 - self.beta) / self.alpha)


@dataclass(frozen=True)
class Decision:
    """How far the test has come."""

    llr: float  # the log-likelihood ratio of H1 to H0
    games: int  # counted so far, in the order of the schedule
    accepted: str  # H0, H1, or empty: not decided


def judge(points: Iterable[float | None], settings: SprtSettings) -> Decision:
    """The test over the first player's points (1, 0.5, 0) in the order of the schedule, so that neither the length of
    games nor the number of processes can change it, up to the first game that is not finished (None). It is looked at
    after each pair.
    """
    # how much likelier H1 makes a win and a loss than H0 does, as logarithms
    win, loss = (
        math.log((1 + 10 ** (-sign * settings.elo0 / 400)) / (1 + 10 ** (-sign * settings.elo1 / 400)))
        for sign in (1, -1)
    )
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
