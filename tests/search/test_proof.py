"""Results that are searched to the end of the game are proven, and played by."""

from dataclasses import replace
from functools import cache

import numpy as np
import pytest

from gozero.evaluators.base import Evaluation
from gozero.games import nogo
from gozero.search.settings import SearchSettings
from gozero.search.tree import DECIDED, EVALUATED
from tests.search.trees import TICTACTOE, check_tree, lines, searched

LINES = [
    frozenset(line) for line in ((0, 1, 2), (3, 4, 5), (6, 7, 8), (0, 3, 6), (1, 4, 7), (2, 5, 8), (0, 4, 8), (2, 4, 6))
]
SOLVING = SearchSettings(max_nodes=3000, lcb=2.5, solve=True)


def truth(actions: tuple[int, ...]) -> int:
    """The result of tic-tac-toe after these moves, for the side to move, by trying everything."""
    return _truth(frozenset(actions[::2]), frozenset(actions[1::2]))


@cache
def _truth(black: frozenset[int], white: frozenset[int]) -> int:
    if any(line <= stones for line in LINES for stones in (black, white)):
        return -1
    side, other = (black, white) if len(black) == len(white) else (white, black)
    after = [side | {point} for point in range(9) if point not in black | white]
    return max((-(_truth(new, other) if side is black else _truth(other, new)) for new in after), default=0)


@pytest.mark.parametrize("actions", [(), (4, 0), (0, 1, 4)])
@pytest.mark.parametrize("leaves", [1, 4])
def test_what_is_proven_is_true(actions: tuple[int, ...], leaves: int) -> None:
    search = searched(TICTACTOE, 2000, replace(SOLVING, leaves=leaves), actions)
    check_tree(search)
    nodes, proven = search.forest.nodes[0], 0
    for index, line in lines(search).items():
        if nodes[index]["status"] == DECIDED:
            assert nodes[index]["value"] == truth((*actions, *line)), line
            proven += nodes[index]["edge_count"] > 0
    assert proven > 20
    best = search.result().best
    assert -truth((*actions, best)) == truth(actions)


def test_nothing_is_proven_where_that_is_not_wanted() -> None:
    search = searched(TICTACTOE, 2000, replace(SOLVING, solve=False), (4, 0))
    nodes = search.forest.nodes[0, : search.forest.trees[0]["node_count"]]
    assert (nodes["edge_count"][nodes["status"] == DECIDED] == 0).all()


class Deceived:
    """Believes in one move: its prior is high, and what follows it looks won, until the game is over."""

    game = TICTACTOE

    def __init__(self, action: int, prior: float) -> None:
        self._action, self._prior = action, prior

    def evaluate(self, states: np.ndarray) -> Evaluation:
        logits = np.zeros((len(states), TICTACTOE.actions), np.float32)
        logits[:, self._action] = self._prior
        stones = np.array([TICTACTOE.board(state).reshape(-1)[self._action] for state in states])
        to_play = np.array([TICTACTOE.board(state).astype(bool).sum() % 2 for state in states])
        sign = np.where(stones == 0, 0, np.where(stones == to_play + 1, 1, -1))
        return Evaluation(logits, 0.9 * sign.astype(np.float32))


LOSING = (0, 8, 1), 3
"""White must stop the row of 0 and 1 at 2; 3 looks won and loses at once."""


def test_a_move_that_is_proven_to_lose_is_not_played() -> None:
    actions, wrong = LOSING
    for solve, played in ((False, True), (True, False)):
        settings = replace(SOLVING, solve=solve)
        result = searched(TICTACTOE, 40, settings, actions, Deceived(wrong, 6.0)).result()
        assert (result.best == wrong) == played
    assert result.bound[wrong] == -1


def test_a_win_that_is_proven_is_played_however_few_visits_it_has() -> None:
    actions = (0, 8, 1, 3)  # 2 wins at once
    result = searched(TICTACTOE, 60, SOLVING, actions, Deceived(5, 3.0)).result()
    assert result.best == 2 and result.visits[2] < 0.15 * result.visits.max()
    assert result.bound[2] == 1


def test_where_every_move_loses_the_most_visited_one_is_played() -> None:
    actions = (0, 1, 4, 5, 6)  # White to move: 2, 3 and 8 each win for Black
    result = searched(TICTACTOE, 500, SOLVING, actions).result()
    assert truth(actions) == -1
    assert result.visits[result.best] == result.visits.max()


@pytest.mark.parametrize(("plies", "status"), [(0, DECIDED), (1, DECIDED), (2, EVALUATED)])
def test_what_is_solved_decides_a_node_unless_moves_are_left_out_there(plies: int, status: int) -> None:
    """Four stones on 4x4 NoGo leave few moves: the root is searched, the first node below it is decided before its end,
    but where the caller leaves a reply out.
    """
    game, left_out = nogo.make(4), np.zeros((2, 18), np.int32)
    left_out[1, 12] = plies
    search = searched(game, 2, replace(SOLVING, max_nodes=9), (6, 5, 9, 10), left_out=left_out)
    nodes = search.forest.nodes[0]
    assert [nodes[index]["status"] for index in (0, 1)] == [EVALUATED, status]
    assert (nodes[1]["edge_count"] == 0) == (status == DECIDED)
    if status == DECIDED:
        assert nodes[1]["value"] == 1 and nodes[1]["score"] == abs(nodes[0]["score"]), "points for the side that wins"
