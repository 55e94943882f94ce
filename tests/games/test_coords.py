"""Coordinates: the ways of naming a point agree, and nothing off the board has a name."""

import pytest

from gozero.games import coords
from tests.training.refusals import one_line


@pytest.mark.parametrize("size", [2, 5, 9, 13, 19, 25])
def test_every_way_there_and_back_is_the_identity(size: int) -> None:
    for action in range(size * size):
        assert coords.action(*coords.point(action, size), size) == action
        assert coords.parse_vertex(coords.vertex(action, size), size) == action
        assert coords.from_sgf(coords.to_sgf(action, size), size) == action


def test_pass_and_resign_follow_the_points() -> None:
    assert (coords.pass_action(13), coords.resign_action(13), coords.resign_action(13) + 1) == (169, 170, 171)
    assert coords.vertex(169, 13) == "pass"
    assert coords.vertex(170, 13) == "resign"
    assert coords.to_sgf(169, 13) == ""
    assert {coords.from_sgf(text, 13) for text in ("", " ", "tt")} == {169}


@pytest.mark.parametrize(
    ("vertex", "row_from_top", "col"),
    [("A1", 12, 0), ("A13", 0, 0), ("N1", 12, 12), ("N13", 0, 12), ("H7", 6, 7), ("J7", 6, 8), ("D4", 9, 3)],
)
def test_corners_and_the_missing_letter_i(vertex: str, row_from_top: int, col: int) -> None:
    action = row_from_top * 13 + col
    assert coords.vertex(action, 13) == vertex
    assert coords.point(action, 13) == (row_from_top, col)
    assert coords.to_sgf(action, 13) == "abcdefghijklm"[col] + "abcdefghijklm"[row_from_top]


@pytest.mark.parametrize(
    ("texts", "action"),
    [(("d4", "D4", " d4 ", "D04"), 120), (("pass", "PASS", "Pass"), 169), (("resign", "RESIGN"), 170)],
)
def test_vertices_are_read_in_any_case(texts: tuple[str, ...], action: int) -> None:
    assert {coords.parse_vertex(text, 13) for text in texts} == {action}


NO_VERTICES = "A 1 A0 A14 O1 I5 i5 Z1 A-1 A+1 A1.0 AA1 4D A² A٣ A100 Ä1 pas".split()


@pytest.mark.parametrize("text", [*NO_VERTICES, "", " ", "A1 B2", "\x00"])
def test_what_is_no_vertex_of_the_board_is_refused_by_name(text: str) -> None:
    with one_line(ValueError, repr(text)):
        coords.parse_vertex(text, 13)


@pytest.mark.parametrize("action", [-1, 169, 170, 171])
def test_only_points_have_a_row_and_a_column(action: int) -> None:
    with pytest.raises(ValueError, match=str(action)):
        coords.point(action, 13)


def test_sgfmill_sees_the_same_point() -> None:
    from sgfmill.common import format_vertex
    from sgfmill.sgf_properties import interpret_go_point

    for action in range(coords.pass_action(19) + 1):
        move = interpret_go_point(coords.to_sgf(action, 19).encode(), 19)
        assert format_vertex(move).lower() == coords.vertex(action, 19).lower()


def test_boards_that_are_not_square() -> None:
    """7 columns, 6 rows: Connect-4's."""
    assert (coords.pass_action(7, 6), coords.resign_action(7, 6), coords.resign_action(7, 6) + 1) == (42, 43, 44)
    assert [coords.vertex(action, 7, 6) for action in (0, 6, 35, 41, 42, 43)] == "A6 G6 A1 G1 pass resign".split()
    for action in range(44):
        assert coords.parse_vertex(coords.vertex(action, 7, 6), 7, 6) == action
    with pytest.raises(ValueError, match="A1 to G6"):
        coords.parse_vertex("A7", 7, 6)
