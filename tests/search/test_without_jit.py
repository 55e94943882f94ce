"""The same tests with the kernels run as plain Python: what compiling could hide, such as reads beyond an array, fails
there.
"""

import os
import subprocess
import sys

from tests import ROOT


def test_small_searches_without_jit() -> None:
    chosen = (
        "ttt or golden or stops_a_loss or memory_bound or depth_bound or keeps_nothing or left_out or no_move_is_left"
    )
    command = [
        sys.executable,
        "-m",
        "pytest",
        "-q",
        "-p",
        "no:cacheprovider",
        "tests/search/test_search.py",
        "tests/search/test_kept_trees.py",
        "tests/search/test_bounds.py",
        "-k",
        chosen,
    ]
    environment = {**os.environ, "NUMBA_DISABLE_JIT": "1"}
    done = subprocess.run(command, cwd=ROOT, env=environment, capture_output=True, text=True, timeout=300, check=False)
    assert done.returncode == 0, done.stdout[-3000:] + done.stderr[-1000:]
    assert " passed" in done.stdout
