"""What the tests of the commands share."""

import pytest

from tests.gtp.engine import Engine


@pytest.fixture
def engine() -> Engine:
    """Go on 9x9, komi 7.5, 8 visits a move."""
    return Engine()
