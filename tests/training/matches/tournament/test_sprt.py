"""The sequential test keeps its error rates and is not moved by the order in which games end."""

from __future__ import annotations

import numpy as np
import pytest

from training.matches.elo import SprtSettings, judge

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
