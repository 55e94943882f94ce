"""UCB1 in place of PUCT: a search by it is UCT (Kocsis and Szepesvari 2006), held against a plain-Python one."""

import math

import numpy as np
import pytest

from gozero.evaluators.rollout import RolloutEvaluator
from gozero.games.game import NOT_OVER, Game
from gozero.search.root import SearchRequest
from gozero.search.search import Search
from gozero.search.settings import SearchSettings
from tests.search.naive import HashEvaluator, start
from tests.search.trees import GO5, TICTACTOE, searched


class Node:
    """A node of the plain search: what its visits were worth to its side to move."""

    def __init__(self, game: Game, evaluator: HashEvaluator, state: np.ndarray, history: np.ndarray) -> None:
        self.game, self.evaluator, self.state, self.history = game, evaluator, state, history
        self.total, self.visits, self.children = 0.0, 0, dict[int, Node]()
        legal = np.zeros(game.actions, np.uint8)
        self.over = game.outcome(state) != NOT_OVER
        if not self.over:
            game.legal(state, history, legal)
        evaluation = evaluator.evaluate(state[None])
        self.value = float(game.outcome(state)) if self.over else float(evaluation.value[0])
        actions = np.flatnonzero(legal[: game.pass_action + 1])
        order = np.argsort(-evaluation.logits[0][actions], kind="stable")
        self.untried = actions[order].tolist()

    def simulate(self, constant: float) -> float:
        """One visit; its value for the side to move."""
        value = self.value if self.visits == 0 or self.over else -self._follow(constant)
        self.visits += 1
        self.total += value
        return value

    def _follow(self, constant: float) -> float:
        if self.untried:
            action = self.untried.pop(0)
            state, history = self.state.copy(), self.history.copy()
            self.game.step(state, history, action)
            self.children[action] = Node(self.game, self.evaluator, state, history)
            return self.children[action].simulate(constant)
        tries = math.log(sum(child.visits for child in self.children.values()))
        return max(
            self.children.values(),
            key=lambda child: -child.total / child.visits + constant * math.sqrt(tries / child.visits),
        ).simulate(constant)


@pytest.mark.parametrize("constant", [0.3, 2.0])
@pytest.mark.parametrize("visits", [5, 60, 700])
def test_it_visits_what_a_plain_search_visits(constant: float, visits: int) -> None:
    evaluator = HashEvaluator(TICTACTOE)
    search = searched(TICTACTOE, visits, SearchSettings(c_uct=constant, max_nodes=2000), (4,), evaluator)
    root = Node(TICTACTOE, evaluator, *start(TICTACTOE, 4))
    for _ in range(visits):
        root.simulate(constant)
    expected = {action: child.visits for action, child in root.children.items()}
    found = search.result().visits
    assert {int(action): int(found[action]) for action in np.flatnonzero(found)} == expected


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
