"""Strength: games against opponents that do not change, within their time, and never in the way of stopping."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from gozero.nets import weights
from training.doctor import strength
from training.run import session
from training.run.run import Run
from training.settings import presets
from training.settings.config import MonitorSettings

TINY = presets.path_of("tiny")


@pytest.fixture
def run(tmp_path: Path) -> Run:
    """A run of the tiny preset that has worked for an hour, on 5x5."""
    chosen = MonitorSettings(strength_every=2, strength_games=4, strength_visits=4)
    made = session.prepare(replace(presets.load(TINY), monitor=chosen), tmp_path)
    made.progress.hours = 1.0
    return made


def test_games_against_rollouts_and_earlier_weights(tmp_path: Path, run: Run) -> None:
    assert strength.measure(run, 1, [], lambda: False) == {}  # not due
    first = strength.measure(run, 2, [], lambda: False)
    assert first["strength/uct_games"] == 4
    assert first["strength/uct_rollouts"] == strength.FIRST_ROLLOUTS
    assert 0 <= first["strength/uct_low"] <= first["strength/uct_score"] <= first["strength/uct_high"] <= 1
    assert "strength/frozen_score" not in first
    assert first["strength/size"] == 5
    second = strength.measure(run, 4, [first | {"strength/uct_up": 1.0}], lambda: False)
    assert second["strength/uct_rollouts"] == 2 * strength.FIRST_ROLLOUTS
    assert second["strength/frozen_generation"] == 2
    assert second["strength/frozen_games"] == 4
    frozen = sorted((tmp_path / "frozen").iterdir())
    assert [path.name for path in frozen] == ["000002.pt", "000004.pt"]
    assert weights.load(frozen[0]).provenance == {
        "run": tmp_path.name,
        "generation": 2,
        "evaluations": run.progress.evaluations,
    }


def test_games_that_are_cut_after_a_few_moves_are_measured_too(run: Run) -> None:
    run.settings = replace(run.settings, selfplay=replace(run.settings.selfplay, max_length=0.1))
    assert strength.measure(run, 2, [], lambda: False)["strength/uct_games"] == 4


def test_weights_frozen_by_a_killed_session_at_this_generation_are_no_opponent(run: Run) -> None:
    strength.freeze(run, 4)
    assert "strength/frozen_games" not in strength.measure(run, 4, [], lambda: False)


def test_old_weights_are_removed_and_copies_beside_them_are_the_users(tmp_path: Path, run: Run) -> None:
    strength.freeze(run, 1)
    copy = (tmp_path / "frozen" / "000001.pt").rename(tmp_path / "frozen" / "000001-copy.pt")
    for generation in range(2, 8):
        strength.freeze(run, generation)
    kept = [path.stem for path in sorted((tmp_path / "frozen").iterdir())]
    assert kept == [copy.stem, "000004", "000005", "000006", "000007"]
    assert strength.measure(run, 8, [], lambda: False)["strength/frozen_generation"] == 4


def test_frozen_weights_that_cannot_be_read_are_passed_over(
    tmp_path: Path, run: Run, monkeypatch: pytest.MonkeyPatch
) -> None:
    for generation in (1, 2):
        strength.freeze(run, generation)
    (tmp_path / "frozen" / "000001.pt").write_bytes(b"torn")
    assert strength.measure(run, 4, [], lambda: False)["strength/frozen_generation"] == 2

    def full(*arguments: object, **named: object) -> None:
        raise RuntimeError("can't allocate memory")

    monkeypatch.setattr("torch.load", full)
    assert "strength/frozen_games" not in strength.measure(run, 6, [], lambda: False)


def test_time_is_bounded(run: Run) -> None:
    # not enough saved up for another
    assert strength.measure(run, 2, [{"strength/seconds": 0.04 * 3600}], lambda: False) == {}
    run.progress.hours = 1e-9
    found = strength.measure(run, 2, [], lambda: False)
    assert "strength/uct_score" not in found  # given up
    assert found["strength/seconds"] < 30


def test_stopping_gives_the_games_up(tmp_path: Path, run: Run) -> None:
    asked = iter(range(1000))
    found = strength.measure(run, 2, [], lambda: next(asked) >= 3)
    assert "strength/uct_score" not in found
    assert not (tmp_path / "frozen").exists()
    assert next(asked) < 10  # left within a few moves
