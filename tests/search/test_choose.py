"""From visits to a move."""

from dataclasses import replace

import numpy as np
import pytest

from gozero.search.root import RootResult
from gozero.search.search import choose, draw

VISITS = np.array([10, 0, 40, 30, 20], np.int32)
NO_VALUES = VISITS * 0.0
RESULT = RootResult(
    VISITS, NO_VALUES, NO_VALUES, VISITS / 100, VISITS / 100, best=3, value=0.0, score=0.0, root_visits=101
)


def test_temperature_0_plays_the_best_move() -> None:
    assert choose(RESULT, 0, np.random.default_rng(0)) == 3


@pytest.mark.parametrize("temperature", [0.5, 1.0, 2.0])
def test_moves_are_drawn_by_visits(temperature: float) -> None:
    rng = np.random.default_rng(1)
    drawn = np.bincount([choose(RESULT, temperature, rng) for _ in range(4000)], minlength=5) / 4000
    expected = VISITS ** (1 / temperature) / (VISITS ** (1 / temperature)).sum()
    np.testing.assert_allclose(drawn, expected, atol=0.03)
    assert drawn[1] == 0


@pytest.mark.parametrize("temperature", [1e-3, 1e-300])
def test_low_temperatures_do_not_overflow(temperature: float) -> None:
    assert choose(RESULT, temperature, np.random.default_rng(2)) == 2
    with np.errstate(all="raise", under="ignore"):
        assert draw(VISITS.astype(np.float32), temperature, np.random.default_rng(2)) == 2


NOTHING = np.zeros(5, np.int32)
UNSEARCHED = RootResult(
    NOTHING, NO_VALUES, NO_VALUES, VISITS / 100, VISITS / 100, best=2, value=0.0, score=0.0, root_visits=1
)


def test_without_visits_moves_are_drawn_by_the_prior() -> None:
    rng = np.random.default_rng(3)
    drawn = np.bincount([choose(UNSEARCHED, 1.0, rng) for _ in range(4000)], minlength=5) / 4000
    np.testing.assert_allclose(drawn, VISITS / 100, atol=0.03)
    assert choose(UNSEARCHED, 0, rng) == 2


def test_a_pass_is_played_where_it_is_best_and_never_drawn() -> None:
    rng = np.random.default_rng(4)
    assert {choose(RESULT, 2.0, rng, undrawn=3) for _ in range(100)} == {3}
    assert {choose(RESULT, 2.0, rng, undrawn=2) for _ in range(200)} == {0, 3, 4}
    assert {choose(UNSEARCHED, 2.0, rng, undrawn=3) for _ in range(200)} == {0, 2, 4}


def test_what_is_proven_to_lose_is_not_drawn() -> None:
    rng, refuted = np.random.default_rng(5), np.array([False, False, True, False, True])
    assert {choose(replace(RESULT, refuted=refuted), 2.0, rng) for _ in range(200)} == {0, 3}
    assert choose(replace(RESULT, refuted=VISITS > 0), 2.0, rng) == RESULT.best, "all of them lose"


def test_a_proven_win_is_played_at_once() -> None:
    rng, bound = np.random.default_rng(6), np.array([0, 0, 0, 1, 0], np.float32)
    proven = replace(RESULT, bound=bound, refuted=np.zeros(5, np.bool_))
    assert {choose(proven, 2.0, rng) for _ in range(100)} == {3}


def test_a_negative_temperature_is_refused() -> None:
    with pytest.raises(ValueError, match="temperature -1"):
        choose(RESULT, -1, np.random.default_rng(0))
