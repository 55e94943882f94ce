"""Tests of kernels once more with these as plain Python, where what compiling could hide, such as an index out of
range, is an error and coverage sees them.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys

from tests import ROOT

SMALL = (
    "go", "go_ko", "go_counting", "go_benson", "tictactoe", "lines", "connect4", "simple_go", "nogo", "othello", "referees"
)  # fmt: skip
SLOW = (
    "by_ply", "draws", "player_wins", "edge[8", "referee[gomoku", "referee[course", "referee[nogo-13", "referee[nogo-9",
    "referee[nogo-7", "referee[nogo-4", "referee[othello-8", "referee[othello-6", "perfect_play_leads_to[4",
    "perfect_play_leads_to[5", "perfect_play_leads_to[6", "perfect_play_leads_to[8",
)  # fmt: skip
SELECTIONS = (
    [*(f"tests/games/test_{name}.py" for name in SMALL), "-k", " and ".join(f"not {name}" for name in SLOW)],
    [
        *("tests/contract", "tests/games/test_go_oracle.py", "tests/games/test_perft.py"),
        "-k",
        "go-2 or go-5-tromp or nogo-5 or othello-4 or referee[2-60-1] or (sequences_of_go and 2-expected)",
    ],
    [
        *(f"tests/search/test_{name}.py" for name in ("search", "kept_trees", "bounds")),
        "-k",
        "ttt or golden or stops_a_loss or memory_bound or not_stop_the_search or keeps_nothing or no_room or no_move_is_left",
    ],
)
"""What one process runs, one after the other: it imports everything once."""
RUN = "import json, sys, pytest; print([int(pytest.main(chosen)) for chosen in json.loads(sys.argv[1])])"


def test_small_boards_without_the_jit() -> None:
    options = ["-q", "-p", "no:cacheprovider", "-W", "ignore:overflow:RuntimeWarning"]
    command = [sys.executable, "-c", RUN, json.dumps([[*options, *chosen] for chosen in SELECTIONS])]
    environment = {**os.environ, "NUMBA_DISABLE_JIT": "1"}
    done = subprocess.run(command, cwd=ROOT, env=environment, capture_output=True, text=True, timeout=500, check=False)
    assert done.stdout.endswith("\n[0, 0, 0]\n"), done.stdout[-6000:] + done.stderr[-2000:]
