"""The one command: its table, its help, and how each command answers wrong arguments."""

import json
import subprocess
import sys
from functools import cache

import pytest

from gozero.__main__ import COMMANDS
from tests import ROOT

HEAVY = {"torch", "numba", "openvino", "ray", "matplotlib", "fsspec"}
NOT_YET_LIGHT = {"match", "tournament", "ladder", "table", "yardstick", "truth"} | {
    name for name, command in COMMANDS.items() if command.function.startswith("training")
}
PROGRAM = """
import json, sys
from gozero.__main__ import main
try:
    code = main(json.loads(sys.argv[1]))
except SystemExit as left:
    code = left.code
print(json.dumps([code, sorted(sys.modules)]), file=sys.stderr)
"""


@cache
def ran(*arguments: str) -> tuple[int, str, str, set[str]]:
    """(exit code, stdout, stderr, heavy packages loaded) of a command in a process of its own."""
    done = subprocess.run(
        [sys.executable, "-c", PROGRAM, json.dumps(arguments)], capture_output=True, text=True, cwd=ROOT, check=False
    )
    said, _, last = done.stderr.rstrip().rpartition("\n")
    code, modules = json.loads(last)
    return code, done.stdout, said, HEAVY & set(modules)


@pytest.mark.parametrize("name", sorted(COMMANDS.keys() - {"check", "gtp"}))
def test_every_command_has_help_and_refuses_an_unknown_option_before_anything_heavy_loads(name: str) -> None:
    code, out, err, heavy = ran(*name.split(), "--help")
    assert (code, err) == (0, "")
    assert out.startswith(f"usage: gozero {name} ")
    assert name in NOT_YET_LIGHT or not heavy
    with_arguments = [*name.split(), "--nonsense"]
    code, out, err, heavy = ran(*with_arguments)
    assert (code, out, err.count("\n")) == (2, "", 0)
    assert err.startswith(f"gozero {name}: ") and err.endswith(f"; see gozero {name} --help")
    assert name in NOT_YET_LIGHT or not heavy
