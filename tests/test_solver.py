"""The solver of `tests.solver` on a game whose value is known."""

from __future__ import annotations

import pytest

from gozero.games import go
from tests.solver import board_and_past, solve


@pytest.mark.parametrize(("komi", "value"), [(0, 1), (1, 0), (1.5, -1)])
def test_go_on_2x2_is_won_by_one_point(komi: float, value: int) -> None:
    assert solve(go.make(2, komi=komi), board_and_past) == value
