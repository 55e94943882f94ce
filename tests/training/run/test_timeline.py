"""Which part of a run worked when."""

from types import SimpleNamespace

import pytest

from training.run import timeline
from training.run.timeline import Timeline


def test_waiting_within_a_part_is_no_work_of_it(monkeypatch: pytest.MonkeyPatch) -> None:
    now = [0.0]
    monkeypatch.setattr(timeline, "time", SimpleNamespace(monotonic=lambda: now[0]))
    found = Timeline()
    with found.during("selfplay"):
        now[0] = 2.0
        with found.during("held", within="selfplay"):
            now[0] = 9.0
        now[0] = 10.0
    with found.during("held", within="selfplay"):  # between two generations
        now[0] = 20.0
    report = found.report()
    assert report["speed/selfplay_seconds"] == 3.0
    assert report["speed/held_seconds"] == 17.0
    assert report["speed/selfplay_busy"] == pytest.approx(0.15)
    assert report["speed/held_busy"] == pytest.approx(0.85)
