"""The same tests with the kernels run as plain Python: what compiling could hide, such as reads beyond an array, fails
there.
"""

import os
import subprocess
import sys

from tests import ROOT


def test_small_searches_without_jit() -> None:
    chosen = "ttt or golden or stops_a_loss or memory_bound or not_stop_the_search or keeps_nothing or no_room or no_move_is_left"
    files = [f"tests/search/test_{name}.py" for name in ("search", "kept_trees", "bounds")]
    command = [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", *files, "-k", chosen]
    environment = {**os.environ, "NUMBA_DISABLE_JIT": "1"}
    done = subprocess.run(command, cwd=ROOT, env=environment, capture_output=True, text=True, timeout=300, check=False)
    assert done.returncode == 0, done.stdout[-3000:] + done.stderr[-1000:]
    assert " passed" in done.stdout
