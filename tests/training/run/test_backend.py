"""What a run says of the threads that it uses."""

import pytest

from training.run.backend import MOST_REPORTED, pace_of
from training.settings import presets


def test_the_changes_of_threads_are_told_a_few_times_only(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr("training.run.backend.available_threads", lambda: 2)
    pace = pace_of(presets.load(presets.path_of("tiny"), "tiny", ["threads=0"]), "cpu")
    for change in range(2 * MOST_REPORTED):
        pace._on_change(1 + change % 2)
    told = capsys.readouterr().err.splitlines()
    assert told[0] == "the learner uses 1 of 2 threads from now on, which is faster at the moment"
    assert len(told) == MOST_REPORTED
    assert told[-1].endswith("; more such changes are not reported")
