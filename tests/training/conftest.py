"""Fixtures of the tests of training."""

from collections.abc import Iterator

import pytest
import torch

from tests.training.refusals import Refused, refusals


@pytest.fixture
def one_thread() -> Iterator[None]:
    """Torch computes in one thread here, and afterwards in as many as before, whatever a run has set."""
    threads = torch.get_num_threads()
    torch.set_num_threads(1)
    yield
    torch.set_num_threads(threads)


@pytest.fixture
def refused(capsys: pytest.CaptureFixture[str]) -> Refused:
    """Has the line with which a command refuses its arguments."""
    return refusals(capsys)


@pytest.fixture
def no_graphs(monkeypatch: pytest.MonkeyPatch) -> None:
    """The weights that a run saves carry no inference graph, which takes longer to make than a tiny generation."""
    monkeypatch.setattr("training.run.run.carry_graph", lambda path: None)
