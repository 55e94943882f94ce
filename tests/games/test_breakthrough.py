"""Breakthrough's rules on boards, and moves as text."""

import pytest

from gozero.games import breakthrough
from gozero.games.position import Position
from gozero.games.refusals import refusal
from tests.rows import shown

GAME = breakthrough.make(5)


def test_a_piece_moves_ahead_and_captures_slantwise() -> None:
    row = shown(GAME, "...../OOO../.XX../...../.....")
    assert {GAME.vertex(action) for action in row.legal()} == {"B3-A4", "B3-C4", "C3-B4", "C3-D4"}
    after = row.play("B3-C4")
    assert GAME.board(after.state).tolist()[1:3] == [[2, 2, 1, 0, 0], [0, 0, 1, 0, 0]]
    assert {GAME.vertex(action) for action in after.legal()} == {"A4-A3", "A4-B3", "B4-A3", "B4-B3", "B4-C3"}


@pytest.mark.parametrize(
    ("text", "move"), [("...../X..../....O/...../.....", "A4-A5"), ("...../...../O..../.X.../.....", "B2-A3")]
)
def test_the_last_row_and_the_last_piece_win(text: str, move: str) -> None:
    row = shown(GAME, text).play(move)
    assert (GAME.outcome(row.state), row.legal()) == (-1, set())


def test_moves_are_read_in_several_forms() -> None:
    assert GAME.action("a2-b3") == GAME.action("A2B3") == GAME.action(" a2b3 ")
    assert (GAME.action("pass"), GAME.action("resign")) == (GAME.pass_action, GAME.resign_action)
    for text in ("", "a2", "a2-a4", "a2-c3", "a2-b9", "a2--b3", "a1-a2-a3"):
        with pytest.raises(ValueError, match="invalid"):
            GAME.action(text)


def test_a_refusal_says_why() -> None:
    begun = Position(GAME)
    assert "piece" in refusal(begun, GAME.action("A3-A4"))
    assert "A1-A2" in refusal(begun, GAME.action("A1-A2"))
    assert refusal(begun, GAME.action("A2-A3")) == ""
