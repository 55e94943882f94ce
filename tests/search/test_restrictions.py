"""What restrictions leave out, and for how long."""

import numpy as np

from gozero.games.game import BLACK, WHITE
from gozero.search.root import left_out
from gozero.search.settings import Restriction


def plies(*restrictions: Restriction, to_play: int = BLACK) -> list[list[int]]:
    found: np.ndarray = left_out(restrictions, to_play, 4)
    assert found.dtype == np.int32
    return [list(map(int, row)) for row in found]


def one(colour: int, actions: set[int], count: int = 1, *, alone: bool = False) -> Restriction:
    return Restriction(colour, frozenset(actions), count, alone)


def test_nothing() -> None:
    assert plies() == plies(one(BLACK, set(), 5)) == plies(one(BLACK, {1}, -3)) == [[0] * 4, [0] * 4]


def test_rows_are_the_mover_and_the_other_side() -> None:
    both = one(BLACK, {0, 2}, 3), one(WHITE, {1})
    assert plies(*both) == [[3, 0, 3, 0], [0, 1, 0, 0]]
    assert plies(*both, to_play=WHITE) == [[0, 1, 0, 0], [3, 0, 3, 0]]


def test_the_longest_holds() -> None:
    assert plies(one(BLACK, {0, 1}, 2), one(BLACK, {1, 2}, 10**9), one(BLACK, {2}, 1))[0] == [2, 10**9, 10**9, 0]


def test_moves_alone_count_together_and_moves_left_out_are_left_out_all_the_same() -> None:
    alone = one(BLACK, {0}, 1, alone=True), one(BLACK, {3}, 4, alone=True)
    assert plies(*alone)[0] == [0, 4, 4, 0]
    assert plies(*alone, one(BLACK, {1, 3}, 2))[0] == [0, 4, 4, 2]
    assert plies(one(WHITE, set(), 2, alone=True)) == [[0] * 4, [2] * 4]
