"""The page that sets gozero beside other programs: its opening, its lines, and what it says of a missing program."""

from __future__ import annotations

from pathlib import Path

import pytest

from benchmarks import compare, harness, rivals
from benchmarks.compare import Entry
from benchmarks.harness import Row
from gozero.games import coords
from gozero.games.go import go
from gozero.games.position import Position
from gozero.system.errors import ChoiceError


def test_the_opening_is_a_game() -> None:
    position = Position(go.make(rivals.SIZE, komi=rivals.KOMI))
    for action, vertex in zip(rivals.actions(rivals.OPENING), rivals.OPENING.split(), strict=True):
        assert action == coords.parse_vertex(vertex, rivals.SIZE)
        position.play(action)
    assert position.ply == 60 and not position.is_over


def test_a_disturbed_row_is_void_on_the_page() -> None:
    assert compare.line(Row("a", "moves", 1234567.8, 0.99, 0.5, 5), "x") == "| a | 1,234,568 | 0.99 | x |"
    assert compare.line(Row("a", "moves", 1.0, 0.5, 0.5, 5), "x") == "| a | 1 | 0.50, **void** | x |"


def test_a_program_that_is_not_installed_has_no_row() -> None:
    def fail() -> None:
        raise AssertionError("a contender of a missing program was made")

    entries = [Entry("ours", "numpy", lambda: lambda: 1000, "x"), Entry("theirs", "no_such_module", fail)]  # type: ignore[arg-type]
    lines = compare.table(entries, "moves", 1)
    assert len(lines) == 3 and lines[2].startswith("| ours | ") and lines[2].endswith(" | x |")


def test_the_page_names_what_is_missing(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(compare, "PACKAGES", ("no-such-package",))
    known, missing = compare.versions()
    assert "numba " in known
    assert missing.strip() == "Not installed when this page was written: no-such-package."


def test_a_page_that_cannot_be_written_is_told_before_the_measurement(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(compare, "pin", lambda core: core)
    monkeypatch.setattr(compare, "page", lambda *asked: pytest.fail("measured first"))
    with pytest.raises(ChoiceError):
        compare.main(["--out", str(tmp_path / "none" / "page.md")])


@pytest.mark.parametrize("arguments", [[], ["pachi"]])
def test_a_start_of_what_is_not_known_is_one_line(
    arguments: list[str], monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr("sys.argv", ["benchmarks/rivals.py", *arguments])
    with pytest.raises(SystemExit) as ended:
        harness.finish(rivals.main)
    assert ended.value.code == 2
    assert capsys.readouterr().err.count("\n") == 1


def test_a_start_is_measured_in_a_process_of_its_own() -> None:
    seconds, worked, peak = compare.start("gozero")
    assert seconds > 0 and worked > 0
    assert 20 < peak < 2000
