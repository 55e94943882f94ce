"""A run that is killed and gone on with ends as the run that never was: the same weights, bit for bit, and the same
games.
"""

import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch

from tests import ROOT
from training.records import records
from training.storage import checkpoint

MOST = 45  # moments between two deaths; a whole run has about 200


def same(one: Any, other: Any) -> bool:
    """Deep equality of what a checkpoint holds; tensors to the bit."""
    if isinstance(one, torch.Tensor):
        return one.dtype == other.dtype and torch.equal(one, other)
    if isinstance(one, dict):
        return one.keys() == other.keys() and all(same(value, other[key]) for key, value in one.items())
    if isinstance(one, (list, tuple)):
        return len(one) == len(other) and all(map(same, one, other))
    return bool(one == other)


def check_same(*folders: Path) -> None:
    """Two runs made the same records, weights and games in flight."""
    (one, _), (other, _) = (checkpoint.latest(each / "checkpoints") or pytest.fail(str(each)) for each in folders)
    assert one.learner["steps"] > 10
    for part in one.learner:
        assert same(one.learner[part], other.learner[part]), part
    assert same(one.playing, other.playing)
    assert same(one.pools, other.pools)
    one.progress.hours = other.progress.hours = 0.0
    assert one.progress == other.progress
    for folder in folders:
        reports = [json.loads(line).get("run/generation") for line in (folder / "log.jsonl").read_text().splitlines()]
        assert all(reports.count(number) == 1 for number in range(1, one.progress.generation))
    first, second = ({path.name: path.read_bytes() for path in (each / "records").iterdir()} for each in folders)
    assert first == second


def check(folder: Path, mode: str, kills: int, seed: int) -> None:
    """Kill a run so many times, at moments drawn by `seed`, and hold its end against the run that was left alone."""
    moments = np.random.default_rng(seed).integers(1, MOST, size=kills).tolist()
    command = [sys.executable, "-m", "tests.training.crashes", str(folder), mode, json.dumps(moments)]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    check_same(folder / "whole", folder / "killed")
    assert all(records.read(path).corrupt == 0 for path in (folder / "killed" / "records").iterdir())


def test_killed_at_four_moments(tmp_path: Path) -> None:
    check(tmp_path, "sequential", kills=4, seed=1)


@pytest.mark.slow
@pytest.mark.parametrize("mode", ["sequential", "semi-asynchronous"])
def test_killed_at_twenty_moments(tmp_path: Path, mode: str) -> None:
    check(tmp_path, mode, kills=20, seed=2)
