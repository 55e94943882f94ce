"""Ctrl-C while a command of the package is still importing."""

import os
import subprocess
import sys
from pathlib import Path

import pytest


@pytest.mark.parametrize("raised", ["KeyboardInterrupt", "RuntimeError('no torch')"])
def test_an_interrupt_during_imports_is_no_traceback_and_an_error_is(tmp_path: Path, raised: str) -> None:
    (tmp_path / "torch.py").write_text(f"raise {raised}\n")
    environment = {**os.environ, "PYTHONPATH": str(tmp_path)}
    found = subprocess.run(
        [sys.executable, "-m", "gozero", "train", "--preset", "tiny", "--run", str(tmp_path / "run")],
        env=environment,
        capture_output=True,
        text=True,
        check=False,
    )
    if raised == "KeyboardInterrupt":
        assert (found.returncode, found.stdout, found.stderr) == (130, "", "gozero train: interrupted\n")
    else:
        assert found.returncode == 1
        assert found.stderr.endswith("RuntimeError: no torch\n")
