"""Ladders: by diagram, and against the recursive reader of tests/naive on random positions.

The second diagram of a case marks the stones that are caught, `c`, and the points where Black or White begins to catch
a chain, `b` and `w` (`2` where both do).
"""

from __future__ import annotations

import random
from contextlib import suppress

import numpy as np
import pytest

from gozero.games.game import BLACK, WHITE
from gozero.games.go import go
from gozero.games.go.ladders import CATCHES, CAUGHT, HUNTS, ladders
from tests.naive.ladders import Reader, TooLongError
from tests.rows import Row, board

FREE = "/".join(["......."] * 7)

CASES = {
    "no stone": (FREE, FREE),
    "in atari, and nothing helps": (
        "......./..X..../.XOX.../.X...../......./......./.......",
        "......./......./..c..../......./......./......./.......",
    ),
    # from below it would come to three liberties
    "two liberties, and one way to begin": (
        "......./..X..../.XO..../.X...../......./......./.......",
        "......./......./..cb.../......./......./......./.......",
    ),
    "a stone on the ladder's way": ("......./..X..../.XO..../.X...../......./...O.../.......", FREE),
    "two stones under a roof": (
        "......./..XX.../.XOOX../.X..X../......./......./.......",
        "......./......./..cc.../..bb.../......./......./.......",
    ),
    "both sides have a chain in a ladder": (
        "......./...XX../..XOO../...XOX./....XO./......./.......",
        "......./......./.....w./.....c./.....c./.....b./.......",
    ),
    "stones in the corner": (
        ".XO..../XO...../O....../......./......./......./.......",
        ".c...../c....../......./......./......./......./.......",
    ),
    # Black takes one stone, and its own stays alone and in atari: White may not take it back at once
    "a ko is not taken back": (".OX.X../OX.X.../.OX..../......./......./......./.......", FREE),
}


def marked(row: Row) -> list[str]:
    """The second diagram of a position."""
    found = np.zeros(row.game.points, np.uint8)
    ladders(row.state, found)
    names = {0: ".", CAUGHT: "c", CATCHES * BLACK: "b", CATCHES * WHITE: "w", CATCHES * (BLACK + WHITE): "2"}
    return ["".join(names[int(mark)] for mark in line) for line in found.reshape(row.game.shape)]


@pytest.mark.parametrize("case", CASES)
def test_by_diagram(case: str) -> None:
    text, expected = CASES[case]
    assert marked(board(text)) == expected.split("/")


@pytest.mark.parametrize(("size", "games"), [(2, 4), (5, 30), (7, 20), (9, 12)])
def test_random_positions_are_read_like_the_recursive_reader_reads_them(size: int, games: int) -> None:
    rng, read = random.Random(size), list[int]()
    for _ in range(games):
        row = Row(go.make(size))
        for ply in range(rng.randrange(size, 2 * size * size)):
            moves = sorted(move for move in row.legal() if move < row.game.points)
            if not moves:
                break
            row.play(rng.choice(moves))
            if ply % 5 == 0:
                with suppress(TooLongError):  # the kernel may have broken it off
                    caught, begins = Reader(row.stones(), size, HUNTS).ladders()
                    expected = np.zeros(row.game.points, np.uint8)
                    expected[list(caught)] = CAUGHT
                    for colour, points in begins.items():
                        expected[list(points)] |= CATCHES * colour
                    found = np.full(row.game.points, 7, np.uint8)
                    ladders(row.state, found)
                    assert (found == expected).all(), f"{found.reshape(size, size)}\n{row}"
                    read.append(int(np.bitwise_or.reduce(found)))
    assert len(read) >= games
    assert size == 2 or {CAUGHT, CAUGHT | CATCHES * (BLACK + WHITE)} <= set(read), "or nothing was tested"


def test_a_ladder_across_the_largest_board_is_read_to_its_end() -> None:
    empty = ["." * 19] * 19
    start = ["." * 19, "..X" + "." * 16, ".XO" + "." * 16, ".X" + "." * 17]
    assert marked(board("/".join(start + empty[4:])))[2][:4] == "..cb"
    breaker = [*empty[:17], "." * 16 + "O.."]
    assert "".join(marked(board("/".join([*start, *breaker[4:], empty[0]])))).strip(".") == ""
