"""Area, komi, handicap bonus and the end of the game, by diagram."""

from __future__ import annotations

import pytest

from gozero.games.game import NOT_OVER
from gozero.games.go import go, header
from gozero.games.go.rules import RULES
from tests.rows import Row, board


@pytest.mark.parametrize(
    ("text", "black", "white"),
    [
        ("...../...../...../...../.....", 0, 0), ("...../..X../...../...../.....", 25, 0),
        ("...../..O../...../...../.....", 0, 25), ("..XO./..XO./..XO./..XO./..XO.", 15, 10),
        (".X.O./.X.O./.X.O./.X.O./.X.O.", 10, 10), ("X.XO./XXXO./OOOO./...../.....", 6, 19),
        ("XXXXX/XOOOX/XO.OX/XOOOX/XXXX.", 16, 9), ("XXX.O/X.X.O/..X.O/..X.O/XXX.O", 15, 5),
    ],
)  # fmt: skip
def test_area_counts_stones_and_what_only_they_reach(text: str, black: int, white: int) -> None:
    row = board(text, to_play="X")
    area = row.points(go.owner)
    assert (area.count(1), area.count(-1)) == (black, white), str(row)
    assert go.score(row.state) == black - white
    row.play("pass")
    assert row.points(go.owner) == [-owner for owner in area], "ownership is for the side to move"
    assert go.score(row.state) == white - black


@pytest.mark.parametrize(
    ("rules", "bonuses"), [("chinese", (0, 0, 2, 9)), ("aga", (0, 0, 1, 8)), ("new-zealand", (0, 0, 0, 0))]
)
def test_white_is_paid_for_handicap_stones(rules: str, bonuses: tuple[int, ...]) -> None:
    for handicap, bonus in zip((0, 1, 2, 9), bonuses, strict=True):
        game = go.make(9, rules, 0.5, handicap)
        assert go.score(game.initial.copy()) == -0.5 - bonus, f"{rules}, {handicap} stones"


@pytest.mark.parametrize("name", RULES)
def test_the_rule_table(name: str) -> None:
    ko = {"chinese-simple": 0, "japanese": 0, "aga": 2, "new-zealand": 2}.get(name, 1)
    bonus = {"tromp-taylor": 0, "new-zealand": 0, "japanese": 0, "aga": 3, "ing": 0}.get(name, 4)
    rules = RULES[name]
    assert (rules.ko, rules.suicide, rules.handicap_bonus(4)) == (ko, name in ("tromp-taylor", "new-zealand", "ing"), bonus)
    assert rules.territory == (name == "japanese")
    assert go.make(9, name).initial[header.KOMI] == (6500 if rules.territory else 7500)


@pytest.mark.parametrize("to_play", "XO")
def test_stones_that_are_set_up_are_neither_moves_nor_prisoners(to_play: str) -> None:
    row = board(".XO.O/.XO.O/.XO.O/.XOO./.XOO.", to_play=to_play, rules="japanese", komi=0.5)
    sign = 1 if to_play == "X" else -1
    assert go.score(row.state) == sign * (5 - 5 - 0.5)
    row.play("pass", "pass", "pass")
    assert go.score(row.state) == -sign * (5 - 5 - 0.5), "a pass costs nothing"
    row.play(*(["D5"] if to_play == "X" else ["pass", "D5"]))
    assert go.score(row.state) == 5 - 4 - 0.5, "White's stone in its own territory costs a point"


@pytest.mark.parametrize("komi", [0, 0.5, 7, 7.5, -3.5, 6.125, 361])
def test_komi_is_whites(komi: float) -> None:
    row = Row(go.make(9, komi=komi))
    assert go.score(row.state) == -komi
    assert go.score(row.play("pass").state) == komi


@pytest.mark.parametrize(("komi", "for_black"), [(4.5, 1), (5, 0), (5.5, -1)])
def test_the_outcome_is_for_the_side_to_move(komi: float, for_black: int) -> None:
    text = "..XO./..XO./..XO./..XO./..XO."
    assert go.outcome(board(text, to_play="X", komi=komi).play("pass", "pass").state) == for_black
    assert go.outcome(board(text, to_play="O", komi=komi).play("pass", "pass").state) == -for_black


def test_only_two_passes_in_a_row_end_the_game() -> None:
    row = Row(go.make(5))
    for moves, over in [(("pass",), False), (("A1", "pass"), False), (("pass",), True)]:
        assert (go.outcome(row.play(*moves).state) != NOT_OVER) == over, str(row)


def test_the_move_limit_ends_the_game_and_counts_the_board() -> None:
    row = board("..XO./..XO./..XO./..XO./..XO.", komi=4.5, move_limit=3).play("A1", "E1")
    assert go.outcome(row.state) == NOT_OVER
    assert go.outcome(row.play("pass").state) == -1, "White to move has lost by half a point"
