"""The benchmark of memory: what it says of readings that grow, and what it refuses to measure."""

from __future__ import annotations

import pytest

from benchmarks import memory
from tests.training.refusals import refusals


@pytest.mark.parametrize(
    ("found", "percent"),
    [
        ([100 + step / 9 for step in range(91)], "+10.0 %"),
        ([100.0, 120.0, 100.0], "+20.0 %"),
        ([100.0, 99.0], "-1.0 %"),
    ],
    ids=["a straight line", "a peak in between", "less"],
)
def test_growth_is_from_the_first_reading_to_the_largest(found: list[float], percent: str) -> None:
    assert memory.growth(found).endswith(f", {percent}")


def test_too_few_readings_are_refused_in_one_line(capsys: pytest.CaptureFixture[str]) -> None:
    assert "--games" in refusals(capsys)(memory.main, ["--games", "11"])
