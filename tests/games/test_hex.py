"""Hex's chains and its swap."""

import pytest

from gozero.games import hex
from tests.rows import Row, shown

GAME = hex.make(3)


def test_the_swap_takes_over_the_first_stone_with_row_and_column_exchanged() -> None:
    row = Row(GAME).play("C3")
    assert row.allows("C3")
    row.play("C3")
    assert GAME.board(row.state).tolist() == [[0, 0, 0], [0, 0, 0], [2, 0, 0]]
    assert not row.allows("A1") and row.allows("C3")
    assert not Row(GAME).play("C3", "A1").allows("C3")


def test_a_lone_stone_is_swapped_only_if_it_is_blacks() -> None:
    assert shown(GAME, ".../.X./...", "O").allows("B2")
    assert not shown(GAME, ".../.O./...").allows("B2")


@pytest.mark.parametrize(
    ("text", "move", "wins"),
    [
        ("..X/.XO/.O.", "A1", True),  # up to the right, twice
        ("X../..O/O.X", "B2", False),  # slantwise the other way points do not touch
        ("XO./.../XO.", "A2", True),
    ],
)
def test_black_joins_top_and_bottom(text: str, move: str, wins: bool) -> None:
    assert (GAME.outcome(shown(GAME, text).play(move).state) == -1) == wins


def test_white_joins_left_and_right() -> None:
    row = shown(GAME, ".X./O.O/.X.", "O").play("B2")
    assert (GAME.outcome(row.state), row.legal()) == (-1, set())


def test_its_diagram_is_slanted_and_can_be_read() -> None:
    row = Row(GAME)
    text = GAME.to_text(row.state)
    assert text.splitlines()[1:] == [" 3 . . .", "  2 . . .", "   1 . . .", "      A B C"]
    assert (GAME.from_text(text) == row.state).all()
