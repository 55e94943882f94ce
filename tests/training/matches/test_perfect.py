"""The solvers on games whose values are known, and against a search without memory, symmetry or pruning."""

from __future__ import annotations

import sys

import numpy as np
import pytest

from gozero import games
from gozero.games.game import Game
from gozero.games.position import Position
from training.matches import perfect
from training.matches.perfect import UnsolvedError
from training.matches.players import random_action


def position_of(game: Game, *vertices: str) -> Position:
    position = Position(game)
    for vertex in vertices:
        position.play(game.action(vertex))
    return position


def plain_values(position: Position) -> dict[int, int]:
    """The value of each move by looking at every continuation."""
    values = {}
    for action in np.flatnonzero(position.legal()).tolist():
        after = position.copy()
        after.play(action)
        values[action] = -(after.outcome() if after.is_over else max(plain_values(after).values()))
    return values


def test_tictactoe_is_a_draw_that_an_edge_loses() -> None:
    game = games.make("tictactoe")
    solver = perfect.solver(game)
    assert solver.values(game.initial.copy()) == dict.fromkeys(range(9), 0)
    assert solver.values(position_of(game, "B2").state) == {0: 0, 2: 0, 6: 0, 8: 0, 1: -1, 3: -1, 5: -1, 7: -1}
    assert sorted(solver.best_moves(position_of(game, "B2").state)) == [0, 2, 6, 8]


def test_othello_on_4x4_is_won_by_the_second_player() -> None:
    game = games.make("othello", size=4)
    assert set(perfect.solver(game).values(game.initial.copy()).values()) == {-1}


@pytest.mark.parametrize(("name", "size", "ply"), [("tictactoe", 3, 3), ("nogo", 3, 3), ("othello", 4, 5)])
def test_memory_symmetry_and_pruning_change_no_value(name: str, size: int, ply: int) -> None:
    game = games.make(name, size=size)
    solver, generator = perfect.solver(game), np.array([3], np.uint64)
    compared: set[int] = set()
    for _ in range(25):
        position = Position(game)
        while position.ply < ply:
            position.play(random_action(position, generator))
        if not position.is_over:
            expected = plain_values(position)
            assert solver.values(position.state) == expected, str(position)
            compared |= set(expected.values())
    assert compared >= {1, -1}


def test_connect4_is_won_in_the_centre_column_alone() -> None:
    """Allis 1988: the centre wins, the columns beside it draw, the others lose."""
    pytest.importorskip("bitbully")
    game = games.make("connect4")
    solver = perfect.solver(game)
    by_column = {action % game.cols: value for action, value in solver.values(game.initial.copy()).items()}
    assert by_column == {0: -1, 1: -1, 2: 0, 3: 1, 4: 0, 5: -1, 6: -1}
    threat = position_of(game, "D1", "A1", "D2", "A2", "D3", "A3")  # four in a row at once, though other moves win too
    assert solver.best_moves(threat.state) == [game.action("D4")]
    assert sum(value == 1 for value in solver.values(threat.state).values()) > 1


def test_who_solves_nothing_says_so_in_a_line(monkeypatch: pytest.MonkeyPatch) -> None:
    with pytest.raises(
        UnsolvedError, match=r"^there is no perfect player of nogo 5x5: only of .* nogo up to 4x4 and othello 4x4$"
    ):
        perfect.solver(games.make("nogo", size=5))
    monkeypatch.setitem(sys.modules, "bitbully", None)
    with pytest.raises(UnsolvedError, match="the perfect player of connect4 needs bitbully; run: pip install bitbully"):
        perfect.solver(games.make("connect4"))
