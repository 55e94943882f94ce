"""Small networks are fastest in one thread, which also makes their results repeatable."""

from collections.abc import Iterator

import pytest


@pytest.fixture(autouse=True)
def _one_thread(one_thread: None) -> Iterator[None]:
    yield
