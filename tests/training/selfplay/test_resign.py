"""Resignation: when it begins, how its threshold keeps mistakes rare, and what is reported."""

from dataclasses import replace

import numpy as np
import pytest

from training.records.records import Record
from training.selfplay.resign import ENOUGH, FALSE_SHARE, MEMORY, NEVER, Calibration, level, report
from training.settings.config import SelfPlaySettings

SETTINGS = SelfPlaySettings(resign_threshold=0.9, resign_generations=3)


def game(
    winner: float, loser: float, *, score: float = 5.5, unresigned: bool = True, conceded: int | None = None
) -> Record:
    """A game that Black won (White, with a negative score), with these peaks."""
    peaks = (winner, loser) if score > 0 else (loser, winner)
    return Record(9, 7.5, 1, np.zeros(40, np.int32), (), score, "passes", 0, conceded, unresigned, peaks)


def calibrated(*games: Record) -> Calibration:
    calibration = Calibration(SETTINGS)
    for record in games:
        calibration.add(record)
    return calibration


def test_a_level_is_the_lowest_of_five_own_values() -> None:
    values = [0.9, -1, 0.8, -1, 0.7, -1, 0.95, -1, 0.99]
    assert level(values) == 0.7
    assert level(values[:-1]) == -1
    assert level([*values, 0.1]) == -1
    assert level([0.1, *values]) == 0.7
    assert level([]) == -1


def test_nothing_is_conceded_before_enough_is_known() -> None:
    certain = game(0.99, -0.9)
    assert calibrated(*[certain] * (ENOUGH - 1)).threshold(5) == NEVER
    assert calibrated(*[certain] * ENOUGH).threshold(5) == 0.9
    assert calibrated(*[certain] * ENOUGH).threshold(3) == NEVER, "the first three generations concede nothing"
    assert calibrated(*[certain] * ENOUGH).threshold(4) == 0.9
    assert calibrated(*[replace(certain, unresigned=False)] * ENOUGH).threshold(5) == NEVER
    assert (
        Calibration(SelfPlaySettings(resign_threshold=0.0), calibrated(*[certain] * ENOUGH).peaks).threshold(5) == NEVER
    )


@pytest.mark.parametrize("score", [5.5, -5.5, 0.0])
def test_mistakes_raise_the_threshold(score: float) -> None:
    good = [game(0.97, -0.2)] * 30
    bad = [game(0.9, loser, score=score) for loser in (0.91, 0.93, 0.95)]
    calibration = calibrated(*good, *bad)
    threshold = calibration.threshold(5)
    assert 0.91 < threshold < 0.97
    false, conceded = calibration.checked(threshold)
    assert conceded >= 30 and false / conceded < FALSE_SHARE
    assert calibration.checked(0.9) == (3, 33)


def test_where_the_network_is_never_right_nobody_resigns() -> None:
    assert calibrated(*[game(-0.5, 1.0)] * ENOUGH).threshold(5) == NEVER


def test_old_games_are_forgotten() -> None:
    calibration = calibrated(*[game(-0.5, 1.0)] * 50, *[game(0.95, -1.0)] * MEMORY)
    assert calibration.threshold(5) == 0.9


def test_the_report_counts_false_ones_among_the_unresigned() -> None:
    assert report([calibrated()], 5, [game(0.9, 0.0)]) == {}
    calibration = calibrated(*[game(0.97, -0.2)] * 24, game(0.3, 0.92))
    games = [game(0.97, 0, unresigned=False, conceded=20), game(0.2, 0.1)]
    found = report([calibration, calibrated()], 5, games)
    assert found == {
        "resign/conceded": 0.5, "resign/threshold": 0.9, "resign/checked": 25, "resign/false_positives": 1 / 25,
    }  # fmt: skip
    early = report([calibration], 1, games)
    assert (early["resign/threshold"], early["resign/checked"]) == (1.0, 25)
