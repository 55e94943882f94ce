"""Fixtures of the tests of training."""

from collections.abc import Iterator

import pytest


@pytest.fixture(scope="module", autouse=True)
def no_graphs() -> Iterator[None]:
    """The weights that a run saves carry no inference graph, which takes longer to make than a tiny generation."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("training.run.run.carry_graph", lambda path: None)
        yield
