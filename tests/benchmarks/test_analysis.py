"""The benchmark of ending an analysis: an engine that does not start, or ends, is one line."""

from __future__ import annotations

import io

import pytest

from benchmarks import analysis
from gozero.weights import WeightsError
from gtp.client import EngineError


def test_weights_that_are_missing_are_told_before_the_start(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("sys.argv", ["benchmarks/analysis.py", "--short", "--weights", "none.pt"])
    monkeypatch.setattr(analysis.subprocess, "Popen", lambda *asked, **more: pytest.fail("started first"))
    with pytest.raises(WeightsError, match=r"none\.pt"):
        analysis.main()


@pytest.mark.parametrize("said", [b"", b"=\n", b"=\ninfo\ninfo\n"])
def test_an_engine_that_has_ended_is_told(said: bytes) -> None:
    with pytest.raises(EngineError, match="the engine has ended"):
        analysis.seconds_until_ended(io.BytesIO(), io.BytesIO(said))


def test_an_engine_that_hears_nothing_any_more_is_told() -> None:
    class Closed(io.BytesIO):
        def write(self, line: object) -> int:
            raise BrokenPipeError

    with pytest.raises(EngineError, match="the engine has ended"):
        analysis.seconds_until_ended(Closed(), io.BytesIO(b"=\ninfo\ninfo\n\n"))


def test_an_analysis_is_read_to_its_blank_line() -> None:
    to_engine, answers = io.BytesIO(), io.BytesIO(b"=\ninfo\ninfo\ninfo\n\nrest\n")
    assert analysis.seconds_until_ended(to_engine, answers) >= 0
    assert (to_engine.getvalue(), answers.read()) == (analysis.COMMAND + b"\n", b"rest\n")
