"""The harness runs contenders in turn, takes medians and knows a disturbed row."""

from __future__ import annotations

import os
import re
import runpy
import sys
from argparse import ArgumentTypeError

import pytest

from benchmarks import harness, moves
from benchmarks.harness import Row
from gozero.errors import ChoiceError


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


def test_rows_on_several_cores_are_marked_only_where_each_core_has_a_process(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(harness, "available_threads", lambda: 4)
    assert [harness.kept_busy(processes) for processes in (1, 3, 4, 6)] == [0, 0, 4, 4]
    monkeypatch.setattr(harness, "available_threads", lambda: 1)
    assert harness.kept_busy() == 1


@pytest.mark.parametrize(
    ("text", "is_time"), [("0.5", True), ("0", False), ("-1", False), ("nan", False), ("x", False)]
)
def test_a_time_is_above_zero(text: str, is_time: bool) -> None:
    if is_time:
        assert harness.above_zero(text) == float(text)
    else:
        with pytest.raises((ValueError, ArgumentTypeError)):
            harness.above_zero(text)


@pytest.mark.parametrize(
    "package, name", [("ray", "cluster_load"), ("ray", "cluster_chaos"), ("aiohttp", "web_memory")]
)
def test_a_package_that_is_missing_is_one_line(
    package: str, name: str, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    for module in [each for each in sys.modules if each.split(".")[0] == package]:
        monkeypatch.delitem(sys.modules, module)
    monkeypatch.setitem(sys.modules, package, None)  # as if it could not be found
    monkeypatch.delitem(sys.modules, f"benchmarks.{name}", raising=False)  # another test may have imported it
    monkeypatch.setattr(sys, "argv", [f"benchmarks/{name}.py"])
    with pytest.raises(SystemExit) as ended:
        runpy.run_module(f"benchmarks.{name}", run_name="__main__")
    assert ended.value.code == 2
    (line,) = capsys.readouterr().err.splitlines()
    assert line.startswith(f"benchmarks.{name}: ")
    assert "is not installed; run: pip install" in line


def test_a_row_prints_its_rate_and_share() -> None:
    assert re.search(
        r"^x +1,234,568 moves/s +CPU/wall 0.99 +0.50 s x 5$", str(Row("x", "moves", 1234567.8, 0.99, 0.5, 5))
    )


@pytest.mark.skipif(not hasattr(os, "sched_setaffinity"), reason="this system cannot pin a process")
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


def test_a_request_that_cannot_be_met_is_one_line_and_exit_code_2(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    for arguments, reason in (
        (["--short", "--weights", "nofile.pt"], "nofile.pt"),
        (["--short", "--games", "0"], "argument --games: '0' is no whole number from 1 on"),
        (["--short", "--runs", "0"], "argument --runs: '0' is no whole number from 1 on"),
        (["--short", "--game", "chess"], "argument --game: invalid choice: 'chess'"),
        (["--short", "--foo"], "unrecognized arguments: --foo; see python -m benchmarks.moves --help"),
    ):
        monkeypatch.setattr(sys, "argv", ["benchmarks/moves.py", *arguments])
        with pytest.raises(SystemExit) as ended:
            harness.finish(moves.main)
        assert ended.value.code == 2
        (line,) = capsys.readouterr().err.splitlines()
        assert line.startswith("benchmarks.moves: ")
        assert reason in line


def test_the_machine_line_names_processor_python_and_commit() -> None:
    assert re.search(r"\d+ cores \(\d+ used\), .*Python 3\.\d+\.\d+, commit \S+$", harness.machine())
