"""Go by diagram: captures, suicide and set-up positions, on boards small enough to check by eye."""

from __future__ import annotations

import numpy as np
import pytest

from gozero.games.coords import parse_vertex
from gozero.games.game import BLACK, PLY, WHITE
from gozero.games.go import go, header
from gozero.games.go.rules import RULES
from tests.rows import board, deviation, picture

CAPTURES = {
    # name: (before, side to move, move, after)
    "one stone in the middle": (".X.../XO.../.X.../...../.....", "X", "C4", ".X.../X.X../.X.../...../....."),
    "one stone at the edge": (".XOX./...../...../...../.....", "X", "C4", ".X.X./..X../...../...../....."),
    "one stone in the corner": ("OX.../...../...../...../.....", "X", "A4", ".X.../X..../...../...../....."),
    "a chain": (".XX../XOO../.XXX./...../.....", "X", "D4", ".XX../X..X./.XXX./...../....."),
    "a bent chain": ("XOO../XXOX./.XOX./..X../.....", "X", "D5", "X..X./XX.X./.X.X./..X../....."),
    "four chains at once": ("..O../.OXO./OX.XO/.OXO./..O..", "O", "C3", "..O../.O.O./O.O.O/.O.O./..O.."),
    "one chain of two beside it": ("..X../.XOX./...O./...../.....", "X", "C3", "..X../.X.X./..XO./...../....."),
    "two from a point without liberties": (".OX../OX.../X..../...../.....", "X", "A5", "X.X../.X.../X..../...../....."),
    "a chain by filling its only eye": ("OOX../.OX../OOX../XXX../.....", "X", "A4", "..X../X.X../..X../XXX../....."),
    "the whole board by its last point": ("XXXXX/XXXXX/XXXXX/XXXXX/XXXX.", "O", "E1", "...../...../...../...../....O"),
    "a corner chain": ("XXO../XX.../OO.../...../.....", "O", "C4", "..O../..O../OO.../...../....."),
}


@pytest.mark.parametrize("name", CAPTURES)
def test_captures(name: str) -> None:
    before, to_play, move, after = CAPTURES[name]
    row = board(before, to_play=to_play)
    assert row.allows(move), str(row)
    row.play(move)
    assert picture(row) == after, str(row)


SUICIDES = {
    # name: (board, side to move, move, stones that would vanish)
    "one stone in the corner": (".O.../O..../...../...../.....", "X", "A5", 1),
    "one stone in an eye": ("..O../.O.O./..O../...../.....", "X", "C4", 1),
    "two stones": (".XO../OO.../...../...../.....", "X", "A5", 2),
    "two chains joined": (".XO../XO.../O..../...../.....", "X", "A5", 3),
    "a chain of four": ("OOOO./OXXXO/O.OO./OO.../.....", "X", "B3", 4),
}


@pytest.mark.parametrize("name", SUICIDES)
def test_suicide_is_legal_only_where_the_rules_say_so(name: str) -> None:
    text, to_play, move, vanishing = SUICIDES[name]
    for rules in RULES.values():
        row = board(text, to_play=to_play, rules=rules.name)
        if vanishing > 1:
            assert row.allows(move) == rules.suicide, f"{rules.name}\n{row}"
            continue
        # one stone leaves the board as it was: a repetition, but for the side to move
        assert row.allows(move) == (rules.name == "new-zealand"), f"{rules.name}\n{row}"


@pytest.mark.parametrize("name", SUICIDES)
def test_suicide_removes_the_stones_of_the_side_that_moved(name: str) -> None:
    text, to_play, move, vanishing = SUICIDES[name]
    row = board(text, to_play=to_play, rules="new-zealand")
    stones = sum(stone == (BLACK if to_play == "X" else WHITE) for stone in row.stones())
    row.play(move)
    left = [stone for stone in row.stones() if stone == (BLACK if to_play == "X" else WHITE)]
    assert len(left) == stones + 1 - vanishing, str(row)


def test_snapback() -> None:
    """White takes one stone and is retaken, three stones, on the same point: no ko."""
    row = board("X.X../OOX../XXX../...../.....", to_play="O").play("B5")
    assert picture(row) == ".OX../OOX../XXX../...../.....", str(row)
    for rules in RULES.values():
        header.set_rules(row.state, rules, 7.5)
        assert row.allows("A5"), f"{rules.name}\n{row}"
    assert picture(row.play("A5")) == "X.X../..X../XXX../...../.....", str(row)


@pytest.mark.parametrize(
    "text", ["..\n..", "X to play\n" + "...\n" * 3, "....\n....\n....\n...", "....\n.Z..\n....\n....", ""]
)
def test_a_diagram_that_does_not_fit_is_refused(text: str) -> None:
    with pytest.raises(ValueError):
        go.make(4).from_text(text)


def test_playouts_fill_no_own_eye_and_choose_uniformly() -> None:
    """Also where most draws are refused first: two eyes of the mover's, two points where it would have no liberty."""
    row = board(".XXO./X.XOO/XXXO./OOOOO/.....", to_play="X")
    eyes = {parse_vertex(name, 5) for name in ("A5", "B4")}
    drawn = row.legal() - eyes - {row.game.pass_action}
    assert deviation(row, 6000, drawn) < 18  # chi-square of 4 degrees of freedom: p < 0.001


OPEN_BOARDS = {
    # name: (board, whether it is open)
    "empty": ("...../...../...../...../.....", True),
    "one colour": ("...../...../..X../...../.....", True),
    "both colours": ("...../.O.../..X../...../.....", True),
    "divided": ("...../OOOOO/XXXXX/...../.....", False),
    "two neutral points": (".O.O./OOOOO/X..XX/XXXXX/.X.X.", False),
    "three neutral points": (".O.O./OOOOO/X...X/XXXXX/.X.X.", True),
}


@pytest.mark.parametrize("name", OPEN_BOARDS)
def test_nobody_needs_to_think_of_a_pass_on_an_open_board(name: str) -> None:
    text, is_open = OPEN_BOARDS[name]
    row = board(text)
    assert bool(go.is_open(row.state)) is is_open, str(row)
    legal, thinkable = np.zeros(27, np.uint8), np.zeros(27, np.uint8)
    for passes in (0, 1):
        row.state[go.PASSES] = passes
        counts = [
            kernel(row.state, row.history, mask) for kernel, mask in ((go.legal, legal), (go.thinkable, thinkable))
        ]
        assert (legal[:25] == thinkable[:25]).all()
        assert thinkable[25] == (not is_open or passes == 1)
        assert counts == [legal.sum(), thinkable.sum()]


def test_pass_alive_territory_is_not_open_whatever_lies_dead_in_it() -> None:
    row = board(".X.X./XXXXX/....O/XXXXX/.X.X.")
    assert go.is_open(row.state), "so early in a game nothing is asked of Benson"
    row.state[PLY] = 20
    assert not go.is_open(row.state)


def test_a_side_without_stones_has_much_to_play_for_until_half_the_board_is_played() -> None:
    row = board("...../...../..X../...../.....")
    row.state[PLY] = 12
    assert go.is_open(row.state)
    row.state[PLY] = 13
    assert not go.is_open(row.state)
