"""Intervals and ratings against published values and their own laws."""

from __future__ import annotations

import math

import numpy as np
import pytest

from training.elo import MatchScore, SprtSettings, bradley_terry, elo, elo_error, judge, wilson


@pytest.mark.parametrize(
    ("points", "games", "low", "high"),
    [
        (81, 263, 0.2553, 0.3662),  # Newcombe 1998, Statistics in Medicine 17, table I, method 3
        (15, 148, 0.0624, 0.1605),
        (0, 20, 0.0000, 0.1611),
        (1, 29, 0.0061, 0.1718),
    ],
)
def test_wilson_reproduces_newcombes_table(points: float, games: int, low: float, high: float) -> None:
    assert wilson(points, games) == (pytest.approx(low, abs=5e-5), pytest.approx(high, abs=5e-5))


def test_wilson_mirrors_and_holds_the_share() -> None:
    for games in (1, 7, 50):
        for doubled in range(2 * games + 1):
            low, high = wilson(doubled / 2, games)
            assert 0 <= low <= doubled / 2 / games + 1e-12
            assert (1 - high, 1 - low) == pytest.approx(wilson(games - doubled / 2, games))


def test_wilson_without_games_knows_nothing_and_refuses_the_impossible() -> None:
    assert wilson(0, 0) == (0.0, 1.0)
    with pytest.raises(ValueError, match="impossible"):
        wilson(3, 2)


def test_elo_at_known_scores() -> None:
    assert elo(0.5) == 0
    assert elo(10 / 11) == pytest.approx(400)
    assert elo(0.25) == pytest.approx(-elo(0.75))
    assert elo(1.0) == math.inf
    assert elo(0.0) == -math.inf


def test_elo_error_is_the_slope_times_the_binomial_error() -> None:
    score, games, step = 0.6, 200, 1e-6
    slope = (elo(score + step) - elo(score - step)) / (2 * step)
    assert elo_error(score, games) == pytest.approx(slope * math.sqrt(score * (1 - score) / games), rel=1e-6)
    assert elo_error(1.0, 10) == math.inf


def test_a_tally_counts_draws_as_half_and_prints_its_interval() -> None:
    total = MatchScore(wins=11, losses=8, draws=1)
    assert (total.games, total.points, total.score) == (20, 11.5, 0.575)
    low, high = (f"{elo(end):+.0f}" for end in total.interval)
    assert str(total) == f"11.5 of 20 = 57.5% (95 % interval 36.4% - 76.2%); Elo +53 ({low} to {high})"
    assert "Elo at least +" in str(MatchScore(100, 0))
    assert "Elo at most -" in str(MatchScore(0, 100))
    assert str(MatchScore(0, 0)) == "no games"


def test_a_pool_of_two_is_a_match() -> None:
    ratings, covariance = bradley_terry(2, {(1, 0): MatchScore(299, 99)})
    assert ratings == pytest.approx([0, elo(299.5 / 399)])
    assert np.sqrt(np.diag(covariance)) == pytest.approx([0, elo_error(299.5 / 399, 399)])


def test_a_pool_adds_up_along_a_line_and_is_told_more_by_a_ring() -> None:
    line = {(1, 0): MatchScore(70, 30), (2, 1): MatchScore(60, 40)}
    ratings, covariance = bradley_terry(3, line)
    assert ratings[2] == pytest.approx(elo(70.5 / 101) + elo(60.5 / 101))
    assert covariance[2, 2] ** 0.5 == pytest.approx(math.hypot(elo_error(70.5 / 101, 101), elo_error(60.5 / 101, 101)))
    more, surer = bradley_terry(3, line | {(0, 2): MatchScore(5, 95)})
    assert more[2] > ratings[2]
    assert surer[2, 2] < covariance[2, 2]


def test_a_clean_sweep_is_finite_and_strangers_are_refused() -> None:
    ratings, _ = bradley_terry(2, {(1, 0): MatchScore(20, 0)})
    assert 400 < ratings[1] < 1000
    with pytest.raises(ValueError, match="joined to player 0 by no match"):
        bradley_terry(4, {(1, 0): MatchScore(1, 0), (3, 2): MatchScore(1, 0)})


QUESTION = SprtSettings(elo0=0, elo1=80, alpha=0.05, beta=0.05)


def accepted(elo: float, matches: int, drawn: float = 0.0) -> float:
    """The share of matches in which H1 is accepted when the first entrant is so much stronger."""
    generator, chance = np.random.default_rng(7), 1 / (1 + 10 ** (-elo / 400))
    decisions = []
    for _ in range(matches):
        points = generator.choice([1.0, 0.5, 0.0], 4000, p=[chance - drawn / 2, drawn, 1 - chance - drawn / 2])
        decisions.append(judge(points.tolist(), QUESTION).accepted)
    assert set(decisions) <= {"H0", "H1"}
    return decisions.count("H1") / matches


def test_error_rates_are_as_agreed() -> None:
    matches = 300  # two standard errors are 2.5 %
    assert accepted(QUESTION.elo0, matches) <= QUESTION.alpha + 0.025
    assert accepted(QUESTION.elo1, matches) >= 1 - QUESTION.beta - 0.025
    assert accepted(QUESTION.elo0, matches, drawn=0.5) <= QUESTION.alpha


def test_the_likelihood_ratio_is_walds() -> None:
    low, high = QUESTION.bounds
    assert (low, high) == (pytest.approx(-2.944, abs=1e-3), pytest.approx(2.944, abs=1e-3))
    strong = 1 / (1 + 10 ** (-80 / 400))
    assert judge([1.0, 0.0], QUESTION).llr == pytest.approx(np.log(strong / 0.5) + np.log((1 - strong) / 0.5))
    assert judge([0.5, 0.5], QUESTION).llr == pytest.approx(judge([1.0, 0.0], QUESTION).llr)


def test_only_games_before_the_first_gap_count() -> None:
    wins: list[float | None] = [1.0] * 40
    assert judge(wins, QUESTION).accepted == "H1"
    gap = judge([1.0, 1.0, None, *wins], QUESTION)
    assert (gap.games, gap.accepted) == (2, "")


def test_a_pair_is_always_finished() -> None:
    decision = judge([1.0] * 41, QUESTION)
    assert decision.games % 2 == 0
    assert judge([1.0] * (decision.games - 1), QUESTION).accepted == ""
    assert judge([], QUESTION) == judge([None], QUESTION)
