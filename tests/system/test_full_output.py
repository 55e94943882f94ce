"""Programs that print results: standard output that is full, closed, not read to its end, or lacks a character."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

COMMAND = """
import sys
from gozero.system.console import printing

def command():
    print("result\\n" * {lines})
    {after}
    return 0

sys.exit(printing("program", command))
"""
full = pytest.mark.skipif(not Path("/dev/full").exists(), reason="the system has no /dev/full")


def run(redirection: str, *arguments: str, **environment: str) -> tuple[int, str]:
    """(exit code, stderr) of Python under a shell that redirects its streams."""
    command = ["sh", "-c", f'exec "$@" {redirection}', "sh", sys.executable, *arguments]
    done = subprocess.run(command, capture_output=True, text=True, env=os.environ | environment, check=False)
    return done.returncode, done.stderr


@full
@pytest.mark.parametrize("lines", [1, 10_000])  # fewer than the buffer takes, and more
@pytest.mark.parametrize("unbuffered", ["", "1"])
def test_a_full_standard_output_is_one_line(lines: int, unbuffered: str) -> None:
    code = COMMAND.format(lines=lines, after="")
    said = run(">/dev/full", "-c", code, PYTHONUNBUFFERED=unbuffered)
    assert said == (2, "program: No space left on device\n")


@pytest.mark.parametrize("lines", [1, 10_000])
def test_a_closed_standard_output_is_quiet(lines: int) -> None:
    assert run(">&-", "-c", COMMAND.format(lines=lines, after="")) == (0, "")


def test_a_file_does_not_take_the_place_of_a_closed_standard_output(tmp_path: Path) -> None:
    file = tmp_path / "file"
    after = f'f = open({str(file)!r}, "w"); print("later"); sys.stdout.flush(); f.write("content")'
    assert run(">&-", "-c", COMMAND.format(lines=1, after=after)) == (0, "")
    assert file.read_text() == "content"


@pytest.mark.parametrize("lines", [1, 10_000])
def test_a_reader_that_has_gone_is_quiet(lines: int) -> None:
    reading, writing = os.pipe()
    os.close(reading)
    command = [sys.executable, "-c", COMMAND.format(lines=lines, after="")]
    done = subprocess.run(command, stdout=writing, stderr=subprocess.PIPE, check=False)
    os.close(writing)
    assert (done.returncode, done.stderr) == (0, b"")


@pytest.mark.parametrize("encoding", ["ascii", "utf-8"])
def test_a_character_that_standard_output_lacks_is_escaped(encoding: str) -> None:
    after = r'print("/fold\xe9r/\udcff", flush=True)'  # the latter as Python reads a file's name that is no UTF-8
    assert run("", "-c", COMMAND.format(lines=1, after=after), PYTHONIOENCODING=encoding) == (0, "")


@full
@pytest.mark.parametrize(
    "arguments",
    [
        ["levels"],
        ["records", "list", "weights/resume", "--limit", "1"],
        ["train", "--list-presets"],
        ["tournament", "--list-presets"],
    ],
)
def test_commands_say_that_standard_output_is_full(arguments: list[str], tmp_path: Path) -> None:
    code, said = run(">/dev/full", "-m", "gozero", *arguments, XDG_DATA_HOME=str(tmp_path))
    assert (code, said) == (2, f"gozero {arguments[0]}: No space left on device\n")


@full
@pytest.mark.parametrize("unbuffered", ["", "1"])
@pytest.mark.parametrize(("module", "option"), [("gtp", "--help"), ("gtp", "--version"), ("gozero", "weights --help")])
def test_help_that_cannot_be_written_is_a_failure(module: str, option: str, unbuffered: str) -> None:
    code, said = run(">/dev/full", "-m", module, *option.split(), PYTHONUNBUFFERED=unbuffered)
    assert (code, said.partition(":")[2]) == (2, " No space left on device\n")
