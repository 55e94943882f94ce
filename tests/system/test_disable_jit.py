"""The small-board tests once more with the kernels as plain Python, where an index out of range is an error and
coverage sees them.
"""

from __future__ import annotations

import os
import subprocess
import sys

import pytest

from tests import ROOT

DIAGRAMS = [
    "tests/games/test_go.py",
    "tests/games/test_go_ko.py",
    "tests/games/test_go_counting.py",
    "tests/games/test_go_benson.py",
]
LAWS = ["tests/contract", "tests/games/test_go_oracle.py", "tests/games/test_perft.py"]
LINES = [f"tests/games/test_{name}.py" for name in ("tictactoe", "lines", "connect4", "simple_go")]
OTHERS = ["tests/games/test_nogo.py", "tests/games/test_othello.py"]
SELECTIONS = {
    "diagrams": DIAGRAMS,
    "laws": [
        *LAWS,
        "-k",
        "go-2 or go-5-tromp or nogo-5 or othello-4 or referee[2-60-1] or (sequences_of_go and 2-expected)",
    ],
    "lines": [*LINES, "-k", "not by_ply"],
    "others": [*OTHERS, "-k", "not player_wins and not referee[13"],  # what needs a search, or a big board, is slow
}


@pytest.mark.parametrize("selection", SELECTIONS.values(), ids=SELECTIONS)
def test_small_boards_without_the_jit(selection: list[str]) -> None:
    command = [
        sys.executable,
        "-m",
        "pytest",
        "-q",
        "-p",
        "no:cacheprovider",
        "-W",
        "ignore:overflow:RuntimeWarning",
        *selection,
    ]
    environment = {**os.environ, "NUMBA_DISABLE_JIT": "1"}
    done = subprocess.run(command, cwd=ROOT, env=environment, capture_output=True, text=True, timeout=500, check=False)
    assert done.returncode == 0, done.stdout[-6000:] + done.stderr[-2000:]
    assert " passed" in done.stdout, done.stdout
