"""Ratings of synthetic fields whose truth is known, and of fields that are hard to rate."""

from __future__ import annotations

import itertools
import math

import numpy as np
import pytest

from training.elo import Z95, MatchScore, Ratings, bradley_terry, rate
from training.matches.match import MatchGame
from training.matches.tournament.field import Entrant, Field
from training.matches.tournament.results import Results, remarks, score, totals

TRUTH = {"a": 0.0, "b": 40.0, "c": 110.0, "d": 200.0, "e": 320.0, "f": 480.0}  # Elo


def played(a: str, b: str, index: int, winner: str, **other: object) -> MatchGame:
    """A game with nothing remarkable but what is said."""
    values = {"result": "", "ended": "", "detail": "", "moves": "", "claims": (None, None), "seconds": (1.0, 2.0)}
    values |= {"answers": (10, 10), "longest": (0.5, 0.5), "replaced": (0, 0)}
    return MatchGame((a, b), index, winner, **values | other)  # type: ignore[arg-type]


def synthetic(truth: dict[str, float], games: int, seed: int, drawn: float = 0.0) -> dict[tuple[str, str], MatchScore]:
    """So many games between players that win with the probabilities of their ratings, pairs in turn; a share is drawn."""
    generator, pairs = np.random.default_rng(seed), list(itertools.combinations(truth, 2))
    found = {}
    for place, (a, b) in enumerate(pairs):
        count = games // len(pairs) + (place < games % len(pairs))
        chance = 1 / (1 + 10 ** ((truth[b] - truth[a]) / 400))
        draw = 2 * drawn * min(chance, 1 - chance)
        wins, draws, losses = generator.multinomial(count, [chance - draw / 2, draw, 1 - chance - draw / 2])
        found[a, b] = MatchScore(int(wins), int(losses), int(draws))
    return found


def coverage(truth: dict[str, float], games: int, seeds: int, drawn: float = 0.0) -> float:
    """The share of the 95 % intervals of pairwise differences that hold the truth."""
    held = []
    for seed in range(seeds):
        ratings = rate(list(truth), synthetic(truth, games, seed, drawn))
        for a, b in itertools.combinations(truth, 2):
            difference, error = ratings.difference(a, b)
            held.append(abs(difference - (truth[a] - truth[b])) <= Z95 * error)
    return float(np.mean(held))


def test_intervals_cover_the_truth_in_short() -> None:
    assert 0.91 <= coverage(TRUTH, games=1000, seeds=40) <= 0.99


@pytest.mark.slow
@pytest.mark.parametrize(
    ("truth", "drawn"),
    [
        (TRUTH, 0.0),
        ({"a": 0.0, "b": 0.0}, 0.0),
        ({"a": 0.0, "b": 250.0}, 0.0),
        ({name: 30.0 * place for place, name in enumerate("abcdefghijkl")}, 0.0),
        ({"weak": 0.0, "middle": 500.0, "strong": 1000.0}, 0.0),
        (TRUTH, 0.3),
    ],
)
def test_intervals_cover_the_truth(truth: dict[str, float], drawn: float) -> None:
    """Draws count half: the more there are, the wider the intervals are than they need be."""
    share = coverage(truth, games=1000, seeds=200, drawn=drawn)
    print(f"{len(truth)} players, {drawn:.0%} drawn: {share:.2%} of the intervals hold the truth")
    assert 0.91 <= share <= (0.99 if not drawn else 1.0)


def test_the_hessian_is_the_curvature_of_the_likelihood() -> None:
    matches = {(0, 1): MatchScore(30, 20, 4), (1, 2): MatchScore(11, 25), (0, 2): MatchScore(9, 3)}
    elo, covariance = bradley_terry(3, matches, draws=1.0)

    def likelihood(logits: np.ndarray) -> float:
        return sum(
            (total.points + 0.5) * -math.log1p(math.exp(logits[j] - logits[i]))
            + (total.games + 1 - total.points - 0.5) * -math.log1p(math.exp(logits[i] - logits[j]))
            for (i, j), total in matches.items()
        )

    unit, step, best = 400 / math.log(10), 1e-3, elo / (400 / math.log(10))
    curvature = np.zeros((2, 2))
    for i, j in itertools.product(range(2), repeat=2):
        near = [
            likelihood(best + step * (s * np.eye(3)[i + 1] + t * np.eye(3)[j + 1]))
            for s, t in ((1, 1), (1, -1), (-1, 1), (-1, -1))
        ]
        curvature[i, j] = -(near[0] - near[1] - near[2] + near[3]) / (4 * step * step)
    assert covariance[1:, 1:] == pytest.approx(unit**2 * np.linalg.inv(curvature), rel=1e-4)
    assert all(likelihood(best) >= likelihood(best + 0.01 * shift) for shift in np.eye(3))


def test_superiority() -> None:
    ratings = Ratings(("a", "b", "c"), np.array([Z95 * 50, 0.0, 0.0]), np.diag([2500.0, 0.0, 0.0]))
    assert ratings.superiority("b", "c") == 0.5
    assert ratings.superiority("a", "b") == pytest.approx(0.975, abs=1e-4)
    assert ratings.superiority("b", "a") == pytest.approx(0.025, abs=1e-4)


def test_ratings_have_the_mean_0_and_differences_do_not_depend_on_the_order() -> None:
    found = synthetic(TRUTH, 300, seed=1)
    ratings, turned = rate(list(TRUTH), found), rate(list(TRUTH)[::-1], found)
    assert ratings.elo.mean() == pytest.approx(0)
    for a, b in itertools.permutations(TRUTH, 2):
        assert ratings.difference(a, b) == pytest.approx(turned.difference(a, b))
        assert ratings.superiority(a, b) == pytest.approx(1 - ratings.superiority(b, a))


def test_entrants_without_games_are_not_rated_and_stand_last() -> None:
    games = [played("a", "b", index, "b") for index in range(4)]
    field = Field(tuple(Entrant("random", name) for name in ("idle", "a", "b")), games=4)
    results = Results(field, games, {"idle": "could not be started"})
    ratings, table = results.ratings, results.table
    assert math.isnan(ratings.of("idle")[0]) and math.isnan(ratings.superiority("a", "idle"))
    assert [row.entrant for row in table] == ["b", "a", "idle"]
    assert [(row.won, row.lost, row.forfeits) for row in table] == [(4, 0, 0), (0, 4, 0), (0, 0, 8)]
    assert results.left == 0
    assert [row.seconds_a_move for row in table[:2]] == [pytest.approx(0.2), pytest.approx(0.1)]
    assert rate(["a", "b"], {}).names == ()


def test_of_two_groups_that_never_met_the_larger_is_rated() -> None:
    found = {("a", "b"): MatchScore(1, 1), ("c", "d"): MatchScore(2, 0), ("d", "e"): MatchScore(2, 2)}
    assert rate(list("abcde"), found).names == ("c", "d", "e")


def test_a_score_is_seen_from_either_side() -> None:
    found = totals([played("a", "b", 0, "a"), played("a", "b", 1, ""), played("a", "b", 2, "a")])
    assert score(found, "a", "b") == MatchScore(2, 0, 1)
    assert score(found, "b", "a") == MatchScore(0, 2, 1)
    assert score(found, "a", "c") is None


@pytest.mark.parametrize(("detail", "said"), [("", ["a and b played only 1 different game of 6"]), ("silence", [])])
def test_games_that_repeat_are_said_but_not_those_that_a_fault_cut_short(detail: str, said: list[str]) -> None:
    games = [played("a", "b", index, "a", detail=detail) for index in range(6)]
    field = Field((Entrant("random", "a"), Entrant("random", "b")))
    assert [line.partition(":")[0] for line in remarks(Results(field, games, {})) if "different" in line] == said
