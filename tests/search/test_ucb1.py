"""UCB1 in place of PUCT: a search by it is UCT (Kocsis and Szepesvari 2006), held against a plain-Python one."""

import math

import numpy as np
import pytest

from gozero.evaluators.rollout import RolloutEvaluator
from gozero.search.root import SearchRequest
from gozero.search.search import Search
from gozero.search.settings import SearchSettings
from tests.search.naive import HashEvaluator, NaiveSearch, Node, start
from tests.search.trees import GO5, TICTACTOE, counts, searched


class Uct(NaiveSearch):
    """Tries every move once, the likeliest first, and then chooses by UCB1."""

    def _puct_action(self, node: Node) -> int:
        if untried := [action for action in node.prior if action not in node.children]:
            return max(untried, key=node.prior.__getitem__)
        tries = math.log(node.visits - 1)

        def bound(action: int) -> float:
            child = node.children[action]
            return -child.q + self.settings.c_uct * math.sqrt(tries / child.visits)

        return max(node.children, key=bound)


@pytest.mark.parametrize("constant", [0.3, 2.0])
@pytest.mark.parametrize("visits", [5, 60, 700])
def test_it_visits_what_a_plain_search_visits(constant: float, visits: int) -> None:
    settings = SearchSettings(c_uct=constant, max_nodes=2000)
    slow = Uct(TICTACTOE, HashEvaluator(TICTACTOE), settings, *start(TICTACTOE, 4)).run(visits)
    assert counts(searched(TICTACTOE, visits, settings, (4,)).result()) == slow.counts


def test_every_move_is_tried_once_before_one_is_tried_twice() -> None:
    settings = SearchSettings(c_uct=2.0, max_nodes=200)
    search = searched(GO5, 27, settings, evaluator=RolloutEvaluator(GO5, lots=True))  # the root, 25 points and the pass
    assert (search.result().visits[:26] == 1).all()


def test_by_lots_moves_are_tried_in_another_order_in_each_position() -> None:
    def first(lots: bool) -> list[list[int]]:
        search = Search(TICTACTOE, RolloutEvaluator(TICTACTOE, lots=lots), SearchSettings(c_uct=2.0, max_nodes=10))
        found = []
        for _ in range(6):
            search.begin(0, SearchRequest(*start(TICTACTOE), 4))
            search.run()
            found.append(np.flatnonzero(search.result().visits).tolist())
        return found

    assert first(lots=False) == [[0, 1, 2]] * 6
    assert len({tuple(found) for found in first(lots=True)}) > 2
