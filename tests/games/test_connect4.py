"""Connect-4: every line of the board, and discs that fall."""

from __future__ import annotations

from gozero.games import connect4
from gozero.games.game import NOT_OVER
from tests.naive.lines import lines
from tests.rows import Row, shown

GAME = connect4.make()
POINTS = GAME.points
NEARLY_DRAWN = "OXXOXX./XOXOXOO/OXOOOXO/OOOXOXX/XXXOXXX/OXXOOOX"


def wins(four: range, last: int) -> bool:
    """Whether `last` makes a line of Black's four discs, gravity aside."""
    white = (point for point in range(POINTS) if point not in four)
    row = Row(GAME)
    for point in sorted(four, key=lambda point: point == last):
        assert GAME.outcome(row.state) == NOT_OVER, str(row)
        row.play(point)
        if point != last:
            row.play(next(white))
    return GAME.outcome(row.state) == -1


def test_the_lines_of_four_are_counted() -> None:
    """Among all fours of equal distances: the lines, and what would be one if the edges were not there."""
    fours = [range(first, first + 4 * step, step) for step in range(1, POINTS) for first in range(POINTS - 3 * step)]
    found = {tuple(four) for four in fours if all(wins(four, last) for last in four)}
    assert len(found) == 69
    assert found == {tuple(four) for four in fours if any(wins(four, last) for last in four)}
    assert found == {tuple(sorted(line)) for line, _ in lines(6, 7, 4)}


def test_discs_fall_until_the_column_is_full() -> None:
    row = Row(GAME)
    for height in range(1, 7):
        assert row.allows(f"D{height}") and len(row.legal()) == 7
        row.play(f"D{height}")
    assert row.legal() == {35, 36, 37, 39, 40, 41}


def test_a_full_board_is_a_draw() -> None:
    row = shown(GAME, NEARLY_DRAWN, "O")
    assert row.legal() == {6}
    assert GAME.outcome(row.play("G6").state) == 0
    assert row.legal() == set()


def test_its_board_is_wider_than_high() -> None:
    assert GAME.dimensions == "7x6"
