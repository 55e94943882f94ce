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


def check(folder: Path, mode: str, kills: int, seed: int) -> None:
    """Kill a run so many times, at moments drawn by `seed`, and hold its end against the run that was left alone."""
    moments = np.random.default_rng(seed).integers(1, MOST, size=kills).tolist()
    command = [sys.executable, "-m", "tests.training.crashes", str(folder), mode, json.dumps(moments)]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    (whole, _), (killed, _) = (
        checkpoint.latest(folder / name / "checkpoints") or pytest.fail(name) for name in ("whole", "killed")
    )
    assert whole.learner["steps"] > 10
    for part in ("net", "ema", "optimiser"):
        assert same(whole.learner[part], killed.learner[part]), part
    assert same(whole.playing, killed.playing)
    assert same(whole.pools, killed.pools)
    whole.progress.hours = killed.progress.hours = 0.0
    assert whole.progress == killed.progress
    shards = sorted(path.name for path in (folder / "whole" / "records").iterdir())
    assert shards == sorted(path.name for path in (folder / "killed" / "records").iterdir())
    for name in shards:
        assert (folder / "whole" / "records" / name).read_bytes() == (folder / "killed" / "records" / name).read_bytes()
        assert records.read(folder / "killed" / "records" / name).corrupt == 0


def test_killed_at_four_moments(tmp_path: Path) -> None:
    check(tmp_path, "sequential", kills=4, seed=1)


@pytest.mark.slow
@pytest.mark.parametrize("mode", ["sequential", "semi-asynchronous"])
def test_killed_at_twenty_moments(tmp_path: Path, mode: str) -> None:
    check(tmp_path, mode, kills=20, seed=2)
