"""Fixtures of the tests of training."""

import pytest

from tests.training.refusals import Refused, refusals


@pytest.fixture
def refused(capsys: pytest.CaptureFixture[str]) -> Refused:
    """Has the line with which a command refuses its arguments."""
    return refusals(capsys)


@pytest.fixture
def no_graphs(monkeypatch: pytest.MonkeyPatch) -> None:
    """The weights that a run saves carry no inference graph, which takes longer to make than a tiny generation."""
    monkeypatch.setattr("training.run.run.carry_graph", lambda path: None)
