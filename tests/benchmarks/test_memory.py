"""The benchmarks of memory: what they say of readings that grow, and what they refuse to measure."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from benchmarks import harness, memory


def test_a_straight_line_is_told_in_its_whole_length() -> None:
    found = [90.0] * memory.SETTLED + [100 + step / 9 for step in range(91)]
    assert memory.verdict(found) == "from game 11 on: 100 MB at first, 110 at most later, +10.0 %; claimed at most 5 %"


def test_a_peak_between_the_first_and_the_last_minute_is_told() -> None:
    web_memory = imported()
    found = [(50.0, 500.0)] * web_memory.SETTLED + [(100.0, 1000.0), (120.0, 900.0), (100.0, 1000.0)]
    assert web_memory.verdict(found) == [
        "server: 100.0 MB at first, 120.0 at most in the 2 minutes after, +20.0 %; claimed at most 5 %",
        "engine: 1000.0 MB at first, 1000.0 at most in the 2 minutes after, +0.0 %; claimed at most 5 %",
    ]
    assert web_memory.verdict(found[: web_memory.SETTLED + 1]) == ["too few readings to compare: 4"]


@pytest.mark.parametrize("arguments", [["--games", "10"], ["--games", "11"]])
def test_too_few_games_are_one_line_before_the_first(
    arguments: list[str], monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    assert f"no whole number from {memory.FEWEST} on" in refused(memory.main, arguments, monkeypatch, capsys)


@pytest.mark.parametrize("arguments", [["--minutes", "0"], ["--minutes", "4.5"]])
def test_too_few_minutes_are_one_line_before_the_first(
    arguments: list[str], monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    assert "--minutes" in refused(imported().main, arguments, monkeypatch, capsys)


def imported():  # type: ignore[no-untyped-def]
    """`benchmarks.web_memory`, where there is what it needs."""
    pytest.importorskip("aiohttp")
    from benchmarks import web_memory

    return web_memory


def refused(
    main: Callable[[], None],
    arguments: list[str],
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> str:
    """The one line with which a script ends."""
    monkeypatch.setattr("sys.argv", ["benchmarks/x.py", *arguments])
    with pytest.raises(SystemExit) as ended:
        harness.finish(main)
    assert ended.value.code == 2
    (line,) = capsys.readouterr().err.splitlines()
    return line
