"""Which part of a run worked when."""

from pathlib import Path
from types import SimpleNamespace

import pytest

from tests.training import crashes
from training.run import measures, session
from training.run.measures import Timeline


def test_waiting_within_a_part_is_no_work_of_it(monkeypatch: pytest.MonkeyPatch) -> None:
    now = [0.0]
    monkeypatch.setattr(measures, "time", SimpleNamespace(monotonic=lambda: now[0]))
    found = Timeline()
    with found.during("selfplay"):
        now[0] = 2.0
        with found.during("waiting", within="selfplay"):
            now[0] = 9.0
        now[0] = 10.0
    with found.during("waiting", within="selfplay"):  # between two generations
        now[0] = 20.0
    report = found.report()
    assert report["speed/selfplay_seconds"] == 3.0
    assert report["speed/waiting_seconds"] == 17.0
    assert report["speed/selfplay_busy"] == pytest.approx(0.15)
    assert report["speed/waiting_busy"] == pytest.approx(0.85)


def test_what_was_spent_before_a_restart_counts(monkeypatch: pytest.MonkeyPatch) -> None:
    now = [0.0]
    monkeypatch.setattr(measures, "time", SimpleNamespace(monotonic=lambda: now[0]))
    before = Timeline()
    with before.during("selfplay"):
        now[0] = 3.0
    with before.during("learner"):
        now[0] = 4.0
        saved = before.spent()
    now[0] = 100.0  # stopped
    after = Timeline(saved)
    with after.during("learner"):
        now[0] = 106.0
    report = after.report()
    assert (report["speed/selfplay_seconds"], report["speed/learner_seconds"]) == (3.0, 7.0)
    assert report["speed/selfplay_busy"] == pytest.approx(0.3)
    assert after.report()["speed/selfplay_seconds"] == 0.0, "each second is reported once"


def test_a_generation_that_was_interrupted_has_the_speed_of_its_games(tmp_path: Path) -> None:
    settings = crashes.settings()
    run = session.prepare(settings, tmp_path)
    run.play(lambda: False)
    run.complete()
    run.save()
    spent = run.timeline.spent()["selfplay"]
    run = session.prepare(settings, tmp_path)  # as after a kill
    run.learn(lambda: False)
    report = run.report(lambda: False)
    assert report["speed/selfplay_seconds"] == pytest.approx(spent, abs=1e-3)
    assert report["speed/evaluations"] == pytest.approx(run.progress.evaluations / spent, rel=0.05)
    assert report["speed/playouts"] == (settings.stage[0].evaluator == "rollouts")
    assert run.progress.evaluations_reported == run.progress.evaluations, "each is reported once"


def test_evaluations_that_no_time_was_taken_of_are_no_speed(tmp_path: Path) -> None:
    """A copy of a run has the counters of all its games, and the seconds of none."""
    run = session.prepare(crashes.settings(), tmp_path)
    run.progress.evaluations = 10**9
    measures.Measures(run.progress, run.trainer, run.timeline)
    run.play(lambda: False)
    assert run.report(lambda: False)["speed/evaluations"] < 10**8
