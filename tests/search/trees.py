"""Trees for the tests of the search: a search with the hash evaluator, and what must hold of every tree."""

from typing import Any

import numpy as np
import pytest

from gozero.evaluators.base import Evaluator
from gozero.games import tictactoe
from gozero.games.game import Game
from gozero.games.go import go
from gozero.search.root import RootResult, SearchRequest
from gozero.search.search import Search
from gozero.search.settings import SearchSettings
from gozero.search.tree import DECIDED
from tests.search.naive import HashEvaluator, start

GO5, GO9 = go.make(5), go.make(9)
TICTACTOE = tictactoe.make()
OPENING = (12, 7, 11)


def searched(
    game: Game,
    visits: int,
    settings: SearchSettings | None = None,
    actions: tuple[int, ...] = (),
    evaluator: Evaluator | None = None,
    **options: Any,
) -> Search:
    """One tree, searched to its budget, with the hash evaluator if none is given."""
    search = Search(game, evaluator or HashEvaluator(game), settings or SearchSettings(max_nodes=visits + 1))
    search.begin(0, SearchRequest(*start(game, *actions), visits, **options))
    search.run()
    return search


def same(one: RootResult, other: RootResult) -> bool:
    arrays = ("visits", "q", "prior", "policy")
    return one.best == other.best and all(np.array_equal(getattr(one, name), getattr(other, name)) for name in arrays)


def counts(result: RootResult) -> dict[int, int]:
    """The visits of each action that has some."""
    return {int(action): int(result.visits[action]) for action in np.flatnonzero(result.visits)}


def lines(search: Search) -> dict[int, tuple[int, ...]]:
    """The moves that lead to each node of the tree."""
    forest, found = search.forest, {0: ()}
    for index in range(int(forest.trees[0]["node_count"])):
        node = forest.nodes[0, index]
        for edge in range(node["edge_start"], node["edge_start"] + node["child_count"]):
            found[int(forest.children[0, edge])] = (*found[index], int(forest.actions[0, edge]))
    return found


def check_tree(search: Search, tree: int = 0) -> None:
    """What must hold of every tree: visits add up, children follow parents, values are bounded, nothing is in flight."""
    forest = search.forest
    nodes = forest.nodes[tree, : forest.trees[tree]["node_count"]]
    assert (nodes["pending"] == 0).all()
    assert (np.abs(nodes["value_sum"]) <= nodes["visits"] + 1e-6).all()
    for index, node in enumerate(nodes):
        edges = np.arange(node["edge_start"], node["edge_start"] + node["edge_count"])
        visited, rest = edges[: node["child_count"]], edges[node["child_count"] :]
        children = forest.children[tree, visited]
        assert (children > index).all() and (nodes["parent"][children] == index).all()
        assert len(set(forest.actions[tree, edges])) == len(edges)
        if len(edges):
            assert forest.priors[tree, edges].sum() == pytest.approx(1, abs=1e-5)
            rest_of_visits = node["visits"] - 1 - nodes["visits"][children].sum()
            assert rest_of_visits == 0 or (rest_of_visits > 0 and node["status"] == DECIDED)
        if len(rest):
            assert forest.priors[tree, rest[0]] == forest.priors[tree, rest].max()
