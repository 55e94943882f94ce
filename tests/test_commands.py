"""The one command: its table, its help, completion, and how each command answers wrong arguments."""

import json
import os
import re
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from gozero.__main__ import COMMANDS, main
from tests import ROOT

HEAVY = {"torch", "numba", "openvino", "ray", "matplotlib", "fsspec"}
SERVERS = {"gtp", "check", "web", "analysis"}  # take over the streams, and have tests of their messages
ANSWERS = """
import contextlib, io, json, sys
from gozero.__main__ import main

def answer(arguments):
    out, err = io.StringIO(), io.StringIO()
    with contextlib.redirect_stdout(out), contextlib.redirect_stderr(err):
        try:
            code = main(arguments)
        except SystemExit as left:
            code = left.code
    return [code, out.getvalue(), err.getvalue(), sorted(set(sys.argv[2:]) & set(sys.modules))]

print(json.dumps([answer(arguments) for arguments in json.loads(sys.argv[1])]))
"""
WRONG = {  # what is refused before anything heavy is loaded, beside options that do not exist
    "train": ["--preset", "tiny", "--set", "learner.bach=3"],
    "train ": ["--preset", "nonsense"],
    "selfplay": ["--weights", "nowhere.pt", "--out", "x"],
    "selfplay ": ["--weights", "none", "--out", "x", "--games", "0"],
    "records": ["list", "x", "--min-length", "9", "--max-length", "3"],
    "supervised": ["x", "--out", "y.pt", "--epochs", "0"],
    "worker": ["--address", "x:1", "--threads", "0"],
    "play": ["chess"],
    "play ": ["go", "--weights", "nowhere.pt"],
    "play  ": ["go", "--rules", "house"],
    "play   ": ["go", "--visits", "0"],
    "perft": ["go", "--depth", "0"],
    "perft ": ["go", "--size", "20"],
    "weights": ["nowhere.pt"],
    "graph": ["nowhere.pt"],
    "course play": ["x:val", "--game", "chess"],
    "match": ["random", "random", "--game", "chess"],
    "ladder": ["--games", "0"],
    "ladder ": ["--opponent", "engine"],
    "tournament": ["nowhere.toml"],
    "table": ["s9", "--weights", "nowhere.pt"],
    "table ": ["s2", "--weights", "nowhere.pt"],
    "truth": ["--game", "chess", "--weights", "ttt.pt"],
    "yardstick": ["--weights", "nowhere.pt", "--yardstick", "setup.cfg"],
    "yardstick ": ["--weights", "ttt.pt", "--yardstick", "nowhere.gz"],
}


def answers(requests: list[list[str]], *options: str) -> list[tuple[Any, ...]]:
    """(exit code, stdout, stderr, heavy packages loaded so far) of commands one after the other in a new process."""
    words = [sys.executable, *options, "-c", ANSWERS, json.dumps(requests), *sorted(HEAVY)]
    done = subprocess.run(words, capture_output=True, text=True, cwd=ROOT, check=True)
    return [tuple(each) for each in json.loads(done.stdout)]


def test_help_and_wrong_arguments_are_answered_before_anything_heavy_is_loaded() -> None:
    served = {"gtp": "gozero-gtp", "check": "gozero-gtp"}
    helped = answers([[*name.split(), "--help"] for name in COMMANDS])
    for name, (code, out, err, heavy) in zip(COMMANDS, helped, strict=True):
        assert (name, code, err, heavy) == (name, 0, "", [])
        assert out.startswith(f"usage: {served.get(name, f'gozero {name}')} ")
        assert not re.search(r"visits [A-Z_]+\s+(?!-)[^-]*simulation", out), name  # one word for one thing
    names = [*COMMANDS, *WRONG]
    refused = answers(
        [*([*name.split(), "--nonsense"] for name in COMMANDS), *([*n.split(), *w] for n, w in WRONG.items())]
    )
    for name, (code, out, err, heavy) in zip(names, refused, strict=True):
        assert (name, code, out, heavy) == (name, 2, "", [])
        assert name in SERVERS or (err.startswith(f"gozero {name.rstrip()}: ") and err.count("\n") == 1)


def test_help_does_without_docstrings() -> None:
    helped = answers([[*name.split(), "--help"] for name in COMMANDS], "-OO")
    assert [(name, code) for name, (code, *_) in zip(COMMANDS, helped, strict=True) if code] == []


@pytest.mark.parametrize("argument", ["--help", "help"])
def test_help_lists_every_command(argument: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert main([argument]) == 0
    text = capsys.readouterr().out
    assert all(f"  {name} " in text for name in COMMANDS)
    assert main(["course"]) == 0
    assert "course reinforce" in capsys.readouterr().out


def test_alone_it_says_what_to_try_first(capsys: pytest.CaptureFixture[str]) -> None:
    assert main([]) == 0
    text = capsys.readouterr().out
    assert "gozero --help" in text and len(text.splitlines()) <= 6
    tried = [line.split()[1] for line in text.splitlines() if line.startswith("  gozero ")]
    assert tried and set(tried) <= COMMANDS.keys()


@pytest.mark.parametrize(
    ("typed", "meant"), [("trian", "train"), ("lader", "ladder"), ("course imitat", "course imitate")]
)
def test_a_misspelt_command_gets_the_nearest(typed: str, meant: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(typed.split()) == 2
    out, err = capsys.readouterr()
    assert (out, err.count("\n")) == ("", 1)
    assert repr(typed) in err and repr(meant) in err


@pytest.mark.parametrize(
    ("line", "expected"),
    [
        ("gozero tr", {"train", "truth"}), ("gozero course im", {"imitate"}), ("gozero train --pre", {"--preset"}),
        ("gozero course imitate --ga", {"--game", "--games"}), ("gozero course play --colour ", {"black", "white"}),
        ("gozero gtp --vis", {"--visits"}),
    ],
)  # fmt: skip
def test_shells_complete_commands_and_options(line: str, expected: set[str], tmp_path: Path) -> None:
    file = tmp_path / "completions"
    asked = {"_ARGCOMPLETE": "1", "_ARGCOMPLETE_STDOUT_FILENAME": str(file), "_ARGCOMPLETE_IFS": "\n"}
    asked |= {"COMP_LINE": line, "COMP_POINT": str(len(line)), "COMP_TYPE": "9"}
    subprocess.run([sys.executable, "-m", "gozero"], env=os.environ | asked, cwd=ROOT, check=False)
    assert {word.strip() for word in file.read_text().splitlines()} == expected


def test_the_script_works_beside_folders_of_the_packages_names(tmp_path: Path) -> None:
    for name in ("gozero", "training", "gtp"):
        (tmp_path / name).mkdir()
        (tmp_path / name / "__init__.py").write_text("raise RuntimeError('the wrong package')")
    script = tmp_path / "bin" / "gozero"
    script.parent.mkdir()
    script.write_text("import sys\nfrom gozero.__main__ import main\nsys.exit(main())\n")
    command = [sys.executable, str(script), "train", "--list-presets"]
    done = subprocess.run(
        command, cwd=tmp_path, env=os.environ | {"PYTHONPATH": str(ROOT)}, capture_output=True, text=True
    )
    assert (done.returncode, done.stderr) == (0, "")
    assert "tiny" in done.stdout
