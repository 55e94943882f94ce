"""From visits to a move."""

import numpy as np
import pytest

from gozero.search.choose import choose
from gozero.search.search import RootResult

VISITS = np.array([10, 0, 40, 30, 20], np.int32)
RESULT = RootResult(VISITS, VISITS * 0.0, VISITS / 100, VISITS / 100, best=3, value=0.0, score=0.0, root_visits=101)


def test_temperature_0_plays_the_best_move() -> None:
    assert choose(RESULT, 0, np.random.default_rng(0)) == 3


@pytest.mark.parametrize("temperature", [0.5, 1.0, 2.0])
def test_moves_are_drawn_by_visits(temperature: float) -> None:
    rng = np.random.default_rng(1)
    drawn = np.bincount([choose(RESULT, temperature, rng) for _ in range(4000)], minlength=5) / 4000
    expected = VISITS ** (1 / temperature) / (VISITS ** (1 / temperature)).sum()
    np.testing.assert_allclose(drawn, expected, atol=0.03)
    assert drawn[1] == 0


def test_low_temperatures_do_not_overflow() -> None:
    assert choose(RESULT, 1e-3, np.random.default_rng(2)) == 2


def test_without_visits_the_best_move_is_played() -> None:
    nothing = np.zeros(5, np.int32)
    result = RootResult(nothing, nothing * 0.0, VISITS / 100, VISITS / 100, best=2, value=0.0, score=0.0, root_visits=1)
    assert choose(result, 1.0, np.random.default_rng(3)) == 2


def test_a_negative_temperature_is_refused() -> None:
    with pytest.raises(ValueError, match="temperature -1"):
        choose(RESULT, -1, np.random.default_rng(0))
