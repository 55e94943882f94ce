"""From games to a table: who won how often, against whom, and how strong that makes each entrant.

Vocabulary
    standing   an entrant's line of the table
    forfeit    a game of an entrant that could not be started, or was withdrawn: not played, not rated
    Elo        by the model of Bradley and Terry (`training.matches.elo`), the mean of all rated entrants at 0; an entrant
               without a finished game is not rated. Each pairing is given a share of one draw besides, so that a clean
               sweep stays finite: one divided by the number of the other entrants
    error      the standard error, from the Hessian; of a rating, that of its difference to the mean
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from training.matches.elo import Tally, bradley_terry, superiority
from training.matches.tournament.journal import PlayedGame

Tallies = Mapping[tuple[str, str], Tally]


@dataclass(frozen=True)
class Ratings:
    """Elo of n entrants that are joined by games, and what is known of the differences."""

    names: tuple[str, ...]
    elo: np.ndarray  # float64 [n], mean 0
    covariance: np.ndarray  # float64 [n, n], square Elo

    def of(self, name: str) -> tuple[float, float]:
        """(Elo, standard error); not a number for an entrant that is not rated."""
        if name not in self.names:
            return math.nan, math.nan
        place = self.names.index(name)
        return float(self.elo[place]), math.sqrt(max(0.0, float(self.covariance[place, place])))

    def difference(self, a: str, b: str) -> tuple[float, float]:
        """(how much stronger a is than b, standard error of that); not a number where one is not rated."""
        if a not in self.names or b not in self.names:
            return math.nan, math.nan
        i, j = self.names.index(a), self.names.index(b)
        variance = self.covariance[i, i] + self.covariance[j, j] - 2 * self.covariance[i, j]
        return float(self.elo[i] - self.elo[j]), math.sqrt(max(0.0, float(variance)))

    def superiority(self, a: str, b: str) -> float:
        """The likelihood that a is stronger than b; not a number where one is not rated."""
        difference, error = self.difference(a, b)
        return math.nan if math.isnan(difference) else superiority(difference, error)


@dataclass(frozen=True)
class Standing:
    """One entrant."""

    name: str
    player: str
    tally: Tally
    elo: float
    error: float
    faults: int  # games lost by one
    forfeits: int
    replaced: int  # moves drawn at random for it
    seconds: float  # a move, in the mean; not a number without a move
    longest: float  # seconds of the slowest move


def tallies(games: Iterable[PlayedGame]) -> dict[tuple[str, str], Tally]:
    """Each pairing's tally from the first one's side, the pair in the order of the alphabet."""
    counts: dict[tuple[str, str], Counter[str]] = {}
    for game in games:
        counts.setdefault(game.pair, Counter())[game.winner] += 1
    return {(a, b): Tally(count[a], count[b], count[""]) for (a, b), count in counts.items()}


def score(found: Tallies, a: str, b: str) -> Tally | None:
    """a's tally against b; None where they have not met."""
    if (a, b) in found:
        return found[a, b]
    mirrored = found.get((b, a))
    return None if mirrored is None else Tally(mirrored.losses, mirrored.wins, mirrored.draws)


def rate(names: Sequence[str], found: Tallies) -> Ratings:
    """The ratings of the largest set of entrants that are joined by games."""
    joined = _largest_group(found)
    rated = [name for name in names if name in joined]
    places = {name: place for place, name in enumerate(rated)}
    matches = {(places[a], places[b]): tally for (a, b), tally in found.items() if a in places and b in places}
    if not rated:
        return Ratings((), np.zeros(0), np.zeros((0, 0)))
    elo, covariance = bradley_terry(len(rated), matches, draws=1 / max(1, len(names) - 1))
    to_mean = np.eye(len(rated)) - 1 / len(rated)
    return Ratings(tuple(rated), to_mean @ elo, to_mean @ covariance @ to_mean.T)


def standings(
    players: Mapping[str, str], games: Sequence[PlayedGame], ratings: Ratings, forfeits: Mapping[str, int]
) -> list[Standing]:
    """The table, best first: by Elo, entrants that are not rated last. `players`: each name's description; `forfeits`:
    the games that each withdrawn entrant did not play.
    """
    found = tallies(games)
    rows = []
    for name, player in players.items():
        own = [game for game in games if name in game.pair]
        parts = [score(found, name, other) or Tally(0, 0) for other in players if other != name]
        tally = Tally(*(sum(getattr(part, kind) for part in parts) for kind in ("wins", "losses", "draws")))
        places = [game.pair.index(name) for game in own]
        answers = sum(game.answers[place] for game, place in zip(own, places, strict=True))
        seconds = sum(game.seconds[place] for game, place in zip(own, places, strict=True))
        longest = max((game.longest[place] for game, place in zip(own, places, strict=True)), default=0.0)
        replaced = sum(game.replaced[place] for game, place in zip(own, places, strict=True))
        faults = sum(game.faulty == name for game in own)
        mean = seconds / answers if answers else math.nan
        missed = forfeits.get(name, 0)
        rows.append(Standing(name, player, tally, *ratings.of(name), faults, missed, replaced, mean, longest))
    return sorted(rows, key=lambda row: (math.isnan(row.elo), -row.elo if not math.isnan(row.elo) else 0.0))


def _largest_group(found: Tallies) -> set[str]:
    """The largest set of entrants that are joined by games."""
    groups: list[set[str]] = []
    for pair in found:
        joined = set(pair).union(*(group for group in groups if group & set(pair)))
        groups = [group for group in groups if not group & joined] + [joined]
    return max(groups, key=len, default=set())
