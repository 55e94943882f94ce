"""The estimate of what a run will cost: what follows from measured speeds, and what is measured and printed."""

from contextlib import closing

import pytest

from training.learner.learner import Learner
from training.run import estimate
from training.run.backend import LOCAL
from training.run.estimate import Cost
from training.settings import presets
from training.settings.config import LoopSettings


def settings(*overrides: str) -> LoopSettings:
    return presets.load(presets.path_of("tiny"), "tiny", overrides)


@pytest.mark.parametrize("mode, seconds", [("sequential", 0.02 + 0.01), ("asynchronous", 0.02)])
def test_the_estimate_follows_from_what_is_measured(mode: str, seconds: float) -> None:
    changes = ("selfplay.full_share=0.25", "learner.reuse=4", "learner.batch=32", "stage.2.sizes={5=1}")
    chosen = settings(f"mode={mode}", *changes)
    cost = Cost(speeds={("rollouts", 5): 5600.0, ("network", 5): 200.0}, step={5: 0.08})
    (_, games, rows), (speed, *_) = (estimate.forecast(chosen, stage, cost) for stage in chosen.stage)
    # stage 1: (0.25 * 64 + 0.75 * 16) / 0.25 = 112 evaluations a row, 0.02 s, and 4 / 32 steps of 0.08 s
    assert rows == pytest.approx(3600 / seconds)
    assert games == pytest.approx(rows / (0.25 * 25))
    assert speed == pytest.approx(200)


def test_the_estimate_reckons_with_games_of_which_only_the_first_moves_are_searched_fully() -> None:
    chosen = settings(
        "selfplay.full_share=0.5", "selfplay.full_until={5=0.2}", "learner.reuse=4", "learner.batch=32",
        "stage.1.sizes={3=0.5,5=0.5}",
    )  # fmt: skip
    cost = Cost(speeds={("rollouts", 3): 8000.0, ("rollouts", 5): 2080.0}, step={3: 0.08, 5: 0.08})
    _, games, rows = estimate.forecast(chosen, chosen.stage[0], cost)
    # a row of 3x3 is a search of 64 visits and one of 16, of 5x5 one of 64 and nine of 16; 0.01 s of learning each
    assert rows == pytest.approx(3600 / (0.5 * 80 / 8000 + 0.5 * 208 / 2080 + 0.01))
    # a game of 3x3 has 4.5 rows, of 5x5 2.5: half the rows each
    assert rows / games == pytest.approx(1 / (0.5 / 4.5 + 0.5 / 2.5))


def test_the_estimate_measures_and_prints() -> None:
    text = estimate.report(settings("threads=1", "selfplay.games=4"), seconds=0.2)
    assert "evaluations a second by the network at 4x4, 4 games at once" in text
    assert " with 1 thread\n" in text
    assert len(text.splitlines()) == 9
    an_hour, rows, hours = (float(number.replace(",", "")) for number in text.splitlines()[-2].split()[-3:])
    assert hours == pytest.approx(rows / an_hour, abs=0.01)


def test_the_estimate_measures_all_slots_of_the_run() -> None:
    chosen = settings("threads=1", "selfplay.games=4", "selfplay.slots=2")
    with closing(LOCAL.selfplay(chosen, Learner.of(chosen).ema)) as play:
        stage = chosen.stage[-1]
        assert estimate.evaluations_a_second(play, stage, 4, 1e-6) > 0, "also if the time is over before the first batch"
        assert len(estimate.play_for(play, stage, 4, 0.2)) == 2, "both play"
