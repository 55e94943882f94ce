"""The benchmark of response times: an engine that ends is one line, an analysis is read to its end."""

from __future__ import annotations

import io

import pytest

from benchmarks import response
from gtp.client import EngineError


@pytest.mark.parametrize("answers", [b"", b"=\n", b"=\ninfo\ninfo\n"])
def test_an_engine_that_has_ended_is_reported(answers: bytes) -> None:
    with pytest.raises(EngineError):
        response.seconds_until_ended(io.BytesIO(), io.BytesIO(answers))


def test_an_engine_that_reads_nothing_any_more_is_reported() -> None:
    class Closed(io.BytesIO):
        def write(self, line: object) -> int:
            raise BrokenPipeError

    with pytest.raises(EngineError):
        response.seconds_until_ended(Closed(), io.BytesIO(b"=\ninfo\ninfo\n\n"))


def test_an_analysis_is_read_to_its_blank_line() -> None:
    to_engine, answers = io.BytesIO(), io.BytesIO(b"=\ninfo\ninfo\ninfo\n\nrest\n")
    assert response.seconds_until_ended(to_engine, answers) >= 0
    assert (to_engine.getvalue(), answers.read()) == (response.ANALYSE + b"\n", b"rest\n")


def test_times_are_summed_up_in_their_unit() -> None:
    assert response.summary([0.010, 0.020, 0.012]) == "median 12 ms, worst 20 ms of 3"
    assert response.summary([1.0, 2.0, 1.5]) == "median 1.5 s, worst 2 s of 3"
