"""Files that a command is to write are tried before the games."""

from __future__ import annotations

import os
import sys
from pathlib import Path

import pytest

from gozero.system.errors import ChoiceError
from training.commands import match
from training.matches.options import check_files


def test_a_file_that_can_be_written_is_left_as_it_was(tmp_path: Path) -> None:
    old, fresh, link = tmp_path / "old.json", tmp_path / "fresh.json", tmp_path / "link.json"
    old.write_text("kept")
    link.symlink_to(tmp_path / "aim.json")
    check_files(None, old, fresh, link)
    assert old.read_text() == "kept"
    assert sorted(path.name for path in tmp_path.iterdir()) == ["link.json", "old.json"]


@pytest.mark.skipif(not Path("/proc/self").is_dir(), reason="/proc")
def test_a_file_that_cannot_be_made_is_one_line_before_the_games(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    csv = tmp_path / "a.csv"
    arguments = ["random", "random", "--game", "tictactoe", "--games", "2", "--csv", str(csv), "--json", "/proc/x"]
    assert match.main(arguments) == 2
    output = capsys.readouterr()
    assert output.err.startswith("gozero match: cannot write /proc/x: ") and output.err.count("\n") == 1
    assert output.out == "" and not csv.exists()


def test_a_name_that_is_too_long_or_a_loop_is_refused(tmp_path: Path) -> None:
    loop = tmp_path / "loop"
    loop.symlink_to(loop)
    for file in (tmp_path / ("x" * 300), loop):
        with pytest.raises(ChoiceError, match="cannot write"):
            check_files(file)


@pytest.mark.skipif(sys.platform == "win32", reason="pipes with a name")
def test_a_pipe_is_not_opened(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "pipe")
    check_files(tmp_path / "pipe")
