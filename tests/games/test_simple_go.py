"""The simplified 5x5 Go: where it ends, and that draws exist."""

from __future__ import annotations

from gozero.games.go import simple_go
from tests.rows import Row


def test_two_passes_on_the_empty_board_are_a_draw() -> None:
    row = Row(simple_go.make()).play("pass", "pass")
    assert row.game.outcome(row.state) == 0


def test_one_stone_owns_the_board_and_no_komi_is_given() -> None:
    row = Row(simple_go.make()).play("C3", "pass", "pass")
    assert (row.game.outcome(row.state), row.game.score(row.state)) == (-1, -25)
