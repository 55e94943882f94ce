"""The benchmark of a cluster: what it counts as an answer, and which worker begins again."""

from __future__ import annotations

from queue import SimpleQueue
from types import SimpleNamespace
from typing import Any

import pytest

pytest.importorskip("ray")

from benchmarks import cluster
from training.cluster.messages import StretchEnd


def test_all_answers_count_and_a_worker_that_has_ended_begins_again() -> None:
    inbox, submitted = SimpleQueue[Any](), list[int]()
    for seat, answer in ((0, object()), (1, StretchEnd(None, 0, 4.5)), (0, StretchEnd(None, 0, 4.7))):  # type: ignore[arg-type]
        inbox.put((SimpleNamespace(order=SimpleNamespace(stretch=SimpleNamespace(seat=seat))), answer))
    assert cluster.answered(inbox, submitted.append, 0.02) == 3
    assert submitted == [1, 0]


def test_a_worker_that_fails_ends_the_measurement() -> None:
    inbox = SimpleQueue[Any]()
    inbox.put((None, RuntimeError("gone")))
    with pytest.raises(RuntimeError, match="gone"):
        cluster.answered(inbox, lambda seat: None, 0.02)
