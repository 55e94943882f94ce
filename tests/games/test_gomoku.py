"""Gomoku: every line of the board, its edges, and overlines under both rule sets."""

from __future__ import annotations

import numpy as np
import pytest

from gozero.games import gomoku
from gozero.games.game import BLACK, NOT_OVER, WHITE
from tests.naive.lines import lines
from tests.rows import Row

RULES = ["freestyle", "exact"]


def after(rules: str, size: int, black: set[int], last: int) -> Row:
    """Black has played `last` as the last of its points; as many White stones as before lie a knight's move apart."""
    game = gomoku.make(size, rules)
    colours = np.zeros(size * size, np.uint8)
    others = [
        point for point in range(size * size) if (2 * (point // size) + point % size) % 5 == 0 and point not in black
    ]
    colours[others[: len(black) - 1]] = WHITE
    colours[list(black - {last})] = BLACK
    return Row(game, game.set_up(colours, BLACK)).play(last)


def wins(rules: str, size: int, black: set[int], last: int) -> bool:
    row = after(rules, size, black, last)
    return row.game.outcome(row.state) == -1


def progressions(size: int) -> list[range]:
    """Five points of equal distances: the lines, and what would be one if the edges were not there."""
    points = size * size
    return [range(first, first + 5 * step, step) for step in range(1, points) for first in range(points - 4 * step)]


@pytest.mark.parametrize("rules", RULES)
@pytest.mark.parametrize(("size", "expected"), [(5, 12), (6, 32), (9, 140), (15, 572)])
def test_the_lines_of_five_are_counted(rules: str, size: int, expected: int) -> None:
    found = {tuple(five) for five in progressions(size) if wins(rules, size, set(five), five[2])}
    assert len(found) == expected
    assert found == {tuple(sorted(line)) for line, _ in lines(size, size, 5)}


@pytest.mark.parametrize("rules", RULES)
def test_any_stone_of_a_line_may_be_the_last(rules: str) -> None:
    for line, _ in lines(9, 9, 5):
        assert all(wins(rules, 9, set(line), last) for last in line), line


@pytest.mark.parametrize("length", [6, 7, 8, 9])
def test_an_overline_wins_in_freestyle_alone(length: int) -> None:
    for line, _ in lines(9, 9, length):
        for last in line[length - 5 : 5]:
            assert wins("freestyle", 9, set(line), last), (line, last)
            assert not wins("exact", 9, set(line), last), (line, last)


def test_a_stone_that_makes_an_overline_and_a_line_wins() -> None:
    row, column = set(range(36, 42)), set(range(3, 48, 9))
    assert wins("exact", 9, row | column, 39)


def test_after_an_overline_the_game_goes_on() -> None:
    row = after("exact", 9, set(range(36, 42)), 38)
    assert row.game.outcome(row.state) == NOT_OVER and row.to_play == WHITE
    assert len(row.legal()) == 81 - 11


def test_a_full_board_is_a_draw() -> None:
    """Every row, column and diagonal of 5x5 holds both colours."""
    game = gomoku.make(5)
    row = Row(game, game.from_text("X to play\nXOXOX\nOXOXO\nOXOXO\nXOXOX\nXOXO."))
    assert game.outcome(row.state) == NOT_OVER
    assert game.outcome(row.play("E1").state) == 0
    assert row.legal() == set()
