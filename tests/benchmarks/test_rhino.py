"""GRhino's front end: a pass is answered for it, everything else reaches it and comes back."""

import io
import sys
from pathlib import Path

import pytest

from benchmarks import rhino

# knows one command, and tells of each line that it is given
FAKE = """#!{python}
import sys
for line in sys.stdin:
    if line == "list_commands\\n":
        print("= play\\ngenmove\\n", flush=True)
    else:
        print(f"? {{line.strip()}}, {{sys.argv[1:]}}\\n", flush=True)
sys.exit(3)
"""


def test_passes_are_answered_and_the_rest_is_passed_on(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / rhino.PROGRAM).write_text(FAKE.format(python=sys.executable))
    (tmp_path / rhino.PROGRAM).chmod(0o755)
    monkeypatch.setattr(rhino, "PLACES", str(tmp_path))
    monkeypatch.setattr(sys, "stdin", io.StringIO("list_commands\n\nplay w pass\n7 PLAY B PASS\nplay w a1\n"))
    assert rhino.main(["--level", "2"]) == 3
    answers = capsys.readouterr().out
    assert answers == "= play\ngenmove\n\n=\n\n=7\n\n? play w a1, ['--level', '2']\n\n"


def test_a_program_that_ends_is_not_spoken_to_any_more(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / rhino.PROGRAM).write_text(FAKE.format(python=sys.executable).replace('"list_commands', '"die'))
    fake = (tmp_path / rhino.PROGRAM).read_text().replace('print("= play\\ngenmove\\n", flush=True)', "sys.exit(7)")
    (tmp_path / rhino.PROGRAM).write_text(fake)
    (tmp_path / rhino.PROGRAM).chmod(0o755)
    monkeypatch.setattr(rhino, "PLACES", str(tmp_path))
    monkeypatch.setattr(sys, "stdin", io.StringIO("name\ndie\nname\n" + "name\n" * 100))
    assert rhino.main([]) == 7
    assert capsys.readouterr().out == "? name, []\n\n"


def test_a_program_that_is_not_there_is_one_line(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(rhino, "PLACES", str(tmp_path))
    assert rhino.main([]) == 2
    assert capsys.readouterr().err == "benchmarks.rhino: gtp-rhino is not on the PATH: apt-get install grhino\n"
