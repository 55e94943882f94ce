"""The benchmark of one coordinator: what it says of stretches, of which none may have ended."""

from __future__ import annotations

from queue import SimpleQueue
from types import SimpleNamespace
from typing import Any

import pytest

pytest.importorskip("ray")

from benchmarks import cluster_load
from training.cluster.messages import StretchEnd


def listened(*seconds: float) -> tuple[int, float | None]:
    inbox, job = SimpleQueue[Any](), SimpleNamespace(order=SimpleNamespace(stretch=SimpleNamespace(seat=0)))
    for each in seconds:
        inbox.put((job, StretchEnd(None, 0, each)))  # type: ignore[arg-type]
    return cluster_load._listen(inbox, lambda seat: None, 0.02, 1.0)


def test_the_mean_is_that_of_the_stretches_that_ended() -> None:
    assert listened(4.5, 4.7) == (2, pytest.approx(0.6))
    assert listened() == (0, None)
