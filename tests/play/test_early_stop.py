"""When a search has found out enough; no time passes here but that of a clock of our own."""

import math
from dataclasses import replace

import numpy as np
import pytest

from gozero.evaluators.rollout import RolloutEvaluator
from gozero.play.player import PlayerSettings, make_player
from gozero.play.searcher import FIRST_LOOK, Limits, StopRule, is_settled, is_undecided
from gozero.search.root import RootResult

TARGET = 110.0
"""Ten seconds after the first look of `rule_at`."""


def result(visits: list[int], q: list[float] | None = None) -> RootResult:
    """What a search found that gave its moves these visits and values."""
    counts = np.array(visits, np.int32)
    values = np.array(q or [0.1 * (count == max(visits)) for count in visits], np.float32)
    even = np.full(len(visits), 1 / len(visits), np.float32)
    return RootResult(counts, values, values, even, even, int(counts.argmax()), 0.0, 0.0, 1 + int(counts.sum()))


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


def test_a_leader_by_its_bound_is_as_sure_as_the_visits_are_gathered() -> None:
    behind = replace(result([400, 70, 30], [0.1, 0.5, 0.0]), best=1)
    assert not is_undecided(behind) and not is_settled(behind, 0)
    rule = rule_at(behind)
    assert not rule.is_met(behind, TARGET - 0.1)
    assert rule.is_met(behind, TARGET)


def rule_at(first: RootResult) -> StopRule:
    """Asked once, ten seconds before its target."""
    rule = StopRule(TARGET)
    assert not rule.is_met(first, TARGET - 10)
    return rule


def test_it_counts_with_the_rate_of_this_search_and_not_with_the_visits_that_were_kept() -> None:
    rule = rule_at(result([600, 300]))
    assert not rule.is_met(result([650, 350]), TARGET - 9)  # 100 a second: 900 to come against a lead of 300
    assert not rule.is_met(result([900, 600]), TARGET - 4)  # 400 to come: 0.75 * 400 = 300
    assert rule.is_met(result([930, 610]), TARGET - 3.9)


def test_a_forced_reply_is_played_before_half_of_the_target() -> None:
    rule = rule_at(result([1, 0]))
    assert not rule.is_met(result([390, 10]), TARGET - 6)
    assert rule.is_met(result([440, 10]), TARGET - 5.5)


def test_a_tenth_of_the_target_is_searched_whatever_was_kept() -> None:
    rule = rule_at(result([100_000, 0]))
    assert not rule.is_met(result([100_008, 0]), TARGET - 10 * (1 - FIRST_LOOK) - 0.01)
    assert rule.is_met(result([100_008, 0]), TARGET - 10 * (1 - FIRST_LOOK) + 0.01)


def test_an_undecided_search_goes_on_beyond_its_target_until_it_is_decided() -> None:
    rule = rule_at(result([1, 0]))
    assert not rule.is_met(result([600, 400], [0.1, 0.3]), TARGET + 1)
    assert rule.is_met(result([600, 400], [0.3, 0.1]), TARGET + 2)


def test_a_target_that_has_passed_ends_a_decided_search_at_the_first_look() -> None:
    assert StopRule(TARGET).is_met(result([2, 1]), TARGET)


# A player on the clock


class Ticks:
    """Stands in for time.monotonic: a tenth of a second passes whenever it is asked."""

    def __init__(self) -> None:
        self.now = 0.0

    def __call__(self) -> float:
        self.now += 0.1
        return self.now


def seconds_of(monkeypatch: pytest.MonkeyPatch, limits: Limits, *moves: int) -> float:
    """How long Black thinks of its move in tic-tac-toe after these moves."""
    player = make_player("tictactoe", (3,), RolloutEvaluator, PlayerSettings(seed=1), size=3)
    for ply, action in enumerate(moves):
        player.game.play(1 + ply % 2, action)
    ticks = Ticks()
    monkeypatch.setattr("time.monotonic", ticks)
    player.genmove(1, limits)
    return ticks.now


WINS_AT_ONCE = (0, 3, 1, 4)


def test_a_clear_move_takes_less_than_its_target(monkeypatch: pytest.MonkeyPatch) -> None:
    assert 1 <= seconds_of(monkeypatch, Limits(None, deadline=30.0, target=10.0), *WINS_AT_ONCE) < 6


def test_a_doubtful_move_takes_longer_than_its_target_and_no_longer_than_the_deadline(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr("gozero.play.searcher.is_settled", lambda result, simulations: False)
    monkeypatch.setattr("gozero.play.searcher.is_undecided", lambda result: True)
    assert seconds_of(monkeypatch, Limits(None, deadline=3.0, target=1.0)) == pytest.approx(3.0, abs=0.25)


def test_without_a_target_a_move_takes_all_of_its_limits(monkeypatch: pytest.MonkeyPatch) -> None:
    assert seconds_of(monkeypatch, Limits(None, deadline=30.0), *WINS_AT_ONCE) == pytest.approx(30.0, abs=0.25)
    assert seconds_of(monkeypatch, Limits(40_000), *WINS_AT_ONCE) == pytest.approx(40_000 / 256 / 10, rel=0.1)
    assert Limits(40_000).target == math.inf
