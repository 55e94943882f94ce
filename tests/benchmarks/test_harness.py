"""The harness runs contenders in turn, takes medians and knows a disturbed row."""

from __future__ import annotations

import argparse
import os
import re
from pathlib import Path

import pytest

from benchmarks import harness
from benchmarks.harness import Row
from gozero.nets.weights import WeightsError
from gozero.system.errors import ChoiceError
from tests.training.refusals import refusals

PINS = pytest.mark.skipif(not hasattr(os, "sched_setaffinity"), reason="this system cannot pin a process")


def test_contenders_run_in_turn_after_the_warm_up() -> None:
    order: list[str] = []
    contenders = {name: (lambda name=name: order.append(name) or 10) for name in "ab"}
    rows = harness.measure(contenders, unit="moves", runs=2, warm_ups=1)
    assert "".join(order) == "ab" * 3
    assert [(row.name, row.unit, row.runs) for row in rows.values()] == [("a", "moves", 2), ("b", "moves", 2)]


def test_medians_and_ratio(monkeypatch: pytest.MonkeyPatch) -> None:
    samples = iter(
        [(10.0, 1.0, 0.1), (5.0, 0.9, 0.2), (20.0, 1.0, 0.3), (1.0, 0.9, 0.2), (90.0, 0.2, 0.2), (6.0, 1.0, 0.2)]
    )
    monkeypatch.setattr(harness, "_timed", lambda work, clock: next(samples))
    rows = harness.measure({"a": lambda: 1, "b": lambda: 1}, unit="moves", runs=3, warm_ups=0)
    assert (rows["a"].rate, rows["a"].cpu_share, rows["a"].seconds) == (20.0, 1.0, 0.2)
    assert harness.ratio(rows, "a", "b") == 4.0
    assert rows["b"].void and "VOID" in str(rows["b"])
    assert not rows["a"].void and "VOID" not in str(rows["a"])


def test_what_is_void_depends_on_the_cores_that_the_work_keeps_busy() -> None:
    assert not Row("x", "moves", 1.0, 0.5, 0.5, 5, cores=0).void
    assert Row("x", "moves", 1.0, 1.5, 0.5, 5, cores=2).void


def test_a_measurement_that_lacks_a_program_is_left_out(capsys: pytest.CaptureFixture[str]) -> None:
    done: list[int] = []

    def lacking(chosen: argparse.Namespace) -> None:
        harness.need_program("no-such-program", "apt-get install it")

    measurements = {"one": lacking, "two": lambda chosen: done.append(chosen.runs)}
    options = harness.parser("", measurements)
    assert harness.measure_each(measurements, options.parse_args(["--short"])) == 0
    assert done == [1], "the other one was made, with one run"
    (line,) = capsys.readouterr().err.splitlines()
    assert "one is left out: no-such-program" in line
    assert harness.measure_each(measurements, options.parse_args(["one"])) == 2


def test_a_row_prints_its_rate_and_share() -> None:
    assert re.search(
        r"^x +1,234,568 moves/s +CPU/wall 0.99 +0.50 s x 5$", str(Row("x", "moves", 1234567.8, 0.99, 0.5, 5))
    )


@PINS
def test_pinning_keeps_to_one_allowed_core() -> None:
    allowed = os.sched_getaffinity(0)
    try:
        assert os.sched_getaffinity(0) == allowed
        assert harness.pin() in allowed
        assert len(os.sched_getaffinity(0)) == 1
        with pytest.raises(ChoiceError, match="--core 4096"):
            harness.pin(4096)
    finally:
        os.sched_setaffinity(0, allowed)


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (["--runs", "0"], "argument --runs"),
        (["speed"], "'speed' is none of one"),
        (["--foo"], "unrecognized arguments: --foo"),
        (["--core", "x"], "argument --core: invalid core value: 'x'"),
        pytest.param(["--core", "4096"], "argument --core: 4096: this process may only use cores", marks=PINS),
    ],
)
def test_a_request_that_makes_no_sense_is_one_line(
    arguments: list[str], words: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert words in refusals(capsys)(harness.parser("", {"one": lambda chosen: None}).parse_args, arguments)


def test_an_error_of_the_user_ends_a_script_with_one_line(capsys: pytest.CaptureFixture[str]) -> None:
    def main() -> None:
        raise WeightsError(Path("none.pt"), "no such file")

    assert "none.pt" in refusals(capsys)(harness.finish, main)


def test_the_machine_line_names_processor_python_and_commit() -> None:
    assert re.search(r"\d+ cores \(\d+ used\), .*Python 3\.\d+\.\d+, commit \S+$", harness.machine())
