"""Fixtures of the tests of training."""

import pytest


@pytest.fixture
def no_graphs(monkeypatch: pytest.MonkeyPatch) -> None:
    """The weights that a run saves carry no inference graph, which takes longer to make than a tiny generation."""
    monkeypatch.setattr("training.run.run.carry_graph", lambda path: None)
