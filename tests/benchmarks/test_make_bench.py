"""`make bench`: what cannot be measured here is left out and named, anything else that goes wrong ends it."""

from __future__ import annotations

import shutil
import subprocess
from pathlib import Path

import pytest

from tests import ROOT

SCRIPT = """#!/bin/sh
echo "$2 $3"
case $2 in *.missing) exit 2;; *.broken) exit 1;; esac
"""

pytestmark = pytest.mark.skipif(shutil.which("make") is None, reason="make is not installed")


@pytest.mark.parametrize(
    ("names", "code", "run", "left_out"),
    [
        ("fine missing last", 0, ["fine", "missing", "last"], "left out, for the reasons above: missing"),
        ("fine broken last", 2, ["fine", "broken"], ""),
        ("missing", 2, ["missing"], "left out, for the reasons above: missing"),
        ("fine last", 0, ["fine", "last"], ""),
    ],
)
def test_make_bench(tmp_path: Path, names: str, code: int, run: list[str], left_out: str) -> None:
    python = tmp_path / "python"
    python.write_text(SCRIPT)
    python.chmod(0o755)
    there = ["--assume-old=setup", f"--assume-old={tmp_path}/bench-packages"]
    (tmp_path / "bench-packages").touch()
    given = [f"PYTHON={python}", f"STAMPS={tmp_path}", f"BENCHMARKS={names}", "ARGS=--short"]
    done = subprocess.run(
        ["make", "-C", str(ROOT), *there, *given, "bench"], capture_output=True, text=True, check=False
    )
    assert done.returncode == code, done.stderr
    said = [line.split() for line in done.stdout.splitlines() if line.startswith("benchmarks.")]
    assert said == [[f"benchmarks.{name}", "--short"] for name in run]
    told = [line for line in done.stderr.splitlines() if line.startswith("left out")]
    assert told == ([left_out] if left_out else [])
