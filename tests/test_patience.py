"""When a search has found out enough; no time passes here."""

import numpy as np
import pytest

from gozero.patience import FIRST_LOOK, Patience, is_settled, is_undecided
from gozero.search.search import RootResult

TARGET = 110.0
"""Ten seconds after the first look of `patience_at`."""


def result(visits: list[int], q: list[float] | None = None) -> RootResult:
    """What a search found that gave its moves these visits and values."""
    counts = np.array(visits, np.int32)
    values = np.array(q or [0.1 * (count == max(visits)) for count in visits], np.float32)
    even = np.full(len(visits), 1 / len(visits), np.float32)
    return RootResult(counts, values, even, even, int(counts.argmax()), 0.0, 0.0, 1 + int(counts.sum()))


@pytest.mark.parametrize(
    ("visits", "simulations", "settled"),
    [
        ([60, 20, 20], 50, True),  # a rival needs three quarters of 50 more than the leader: 37.5 of the 40 it lacks
        ([60, 20, 20], 54, False),
        ([97, 2, 1], 126, True),
        ([97, 2, 1], 127, False),
        ([50, 50, 0], 0, False),
        ([1, 0, 0], 0, True),
    ],
)
def test_settled(visits: list[int], simulations: float, settled: bool) -> None:
    assert is_settled(result(visits), simulations) is settled


@pytest.mark.parametrize(
    ("visits", "q", "undecided"),
    [
        ([60, 20, 20], [0.1, 0.0, 0.0], False),
        ([60, 20, 20], [0.1, 0.2, 0.0], True),  # a better value
        ([60, 14, 26], [0.1, 0.9, 0.0], False),  # of too few visits to count
        ([29, 25, 25, 21], [0.1, 0.0, 0.0, 0.0], True),  # visits all over the board
        ([31, 25, 25, 19], [0.1, 0.0, 0.0, 0.0], False),
        ([1, 0, 0], [-0.5, 0.0, 0.0], False),  # what was never tried has no value
        ([0, 0, 0], [0.0, 0.0, 0.0], False),
    ],
)
def test_undecided(visits: list[int], q: list[float], undecided: bool) -> None:
    assert is_undecided(result(visits, q)) is undecided


def patience_at(first: RootResult) -> Patience:
    """Asked once, ten seconds before its target."""
    patience = Patience(TARGET)
    assert not patience.is_exhausted(first, TARGET - 10)
    return patience


def test_it_counts_with_the_rate_of_this_search_and_not_with_the_visits_that_were_kept() -> None:
    patience = patience_at(result([600, 300]))
    assert not patience.is_exhausted(result([650, 350]), TARGET - 9)  # 100 a second: 900 to come against a lead of 300
    assert not patience.is_exhausted(result([900, 600]), TARGET - 4)  # 400 to come: 0.75 * 400 = 300
    assert patience.is_exhausted(result([930, 610]), TARGET - 3.9)


def test_a_forced_reply_is_played_before_half_of_the_target() -> None:
    patience = patience_at(result([1, 0]))
    assert not patience.is_exhausted(result([390, 10]), TARGET - 6)
    assert patience.is_exhausted(result([440, 10]), TARGET - 5.5)


def test_a_tenth_of_the_target_is_searched_whatever_was_kept() -> None:
    patience = patience_at(result([100_000, 0]))
    assert not patience.is_exhausted(result([100_008, 0]), TARGET - 10 * (1 - FIRST_LOOK) - 0.01)
    assert patience.is_exhausted(result([100_008, 0]), TARGET - 10 * (1 - FIRST_LOOK) + 0.01)


def test_an_undecided_search_goes_on_beyond_its_target_until_it_is_decided() -> None:
    patience = patience_at(result([1, 0]))
    assert not patience.is_exhausted(result([600, 400], [0.1, 0.3]), TARGET + 1)
    assert patience.is_exhausted(result([600, 400], [0.3, 0.1]), TARGET + 2)


def test_a_target_that_has_passed_ends_a_decided_search_at_the_first_look() -> None:
    assert Patience(TARGET).is_exhausted(result([2, 1]), TARGET)
