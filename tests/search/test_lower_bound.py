"""The move of the highest lower confidence bound is played."""

from dataclasses import replace

import numpy as np
import pytest

from gozero.search.search import Search
from gozero.search.settings import SearchSettings
from tests.search.naive import HashEvaluator, NaiveSearch, Node, start
from tests.search.trees import GO5, OPENING, searched

PLAIN = SearchSettings(max_nodes=500)


def bound_of(child: Node, deviations: float) -> float:
    """By the textbook: the mean less that many standard errors, where one visit deviated by 0.4."""
    count, mean = len(child.values), float(np.mean(child.values))
    variance = (sum((value - mean) ** 2 for value in child.values) + 0.4**2) / (count + 1)
    return max(-mean - deviations * float(np.sqrt(variance / count)), -1.0)


@pytest.mark.parametrize("visits", [2, 20, 400])
@pytest.mark.parametrize("deviations", [0.5, 2.5])
def test_bounds_and_the_move_equal_the_slow_search(visits: int, deviations: float) -> None:
    settings = replace(PLAIN, lcb=deviations)
    found = searched(GO5, visits, settings, OPENING).result()
    slow = NaiveSearch(GO5, HashEvaluator(GO5), settings, *start(GO5, *OPENING)).run(visits)
    bounds = {action: bound_of(child, deviations) for action, child in slow.children.items()}
    for action, bound in bounds.items():
        assert found.bound[action] == pytest.approx(bound, abs=1e-5)
    most = max(child.visits for child in slow.children.values())
    tried = [action for action, child in slow.children.items() if child.visits >= 0.15 * most]
    assert found.best == max(tried, key=bounds.__getitem__)


def test_without_deviations_the_most_visited_move_is_played() -> None:
    found = searched(GO5, 400, PLAIN, OPENING).result()
    assert found.visits[found.best] == found.visits.max()
    np.testing.assert_array_equal(found.bound[found.visits > 0], found.q[found.visits > 0])


def by_hand(visits: tuple[int, ...], q: tuple[float, ...], deviation: float) -> Search:
    """A search of five points by five whose root has these children, all of whose values deviate alike."""
    search = searched(GO5, 30, replace(PLAIN, lcb=2.5), OPENING)
    forest, root = search.forest, search.forest.nodes[0, 0]
    root["child_count"] = len(visits)
    for place, (count, value) in enumerate(zip(visits, q, strict=True)):
        edge = root["edge_start"] + place
        forest.actions[0, edge], forest.children[0, edge] = place, place + 1
        child = forest.nodes[0, place + 1]
        child["visits"], child["value_sum"] = count, -value * count
        child["square_sum"] = count * (value * value + deviation * deviation)
    return search


def test_a_rival_that_turned_out_better_is_played_before_it_has_the_most_visits() -> None:
    assert by_hand((100, 60), (0.1, 0.4), deviation=0.3).result().best == 1
    assert by_hand((100, 60), (0.1, 0.12), deviation=0.3).result().best == 0, "the difference is within the error"


def test_a_move_that_was_hardly_tried_is_not_played() -> None:
    assert by_hand((100, 14), (-0.5, 0.9), deviation=0.1).result().best == 0
    assert by_hand((100, 15), (-0.5, 0.9), deviation=0.1).result().best == 1


def test_a_lost_move_is_not_played_where_another_is_only_nearly_lost() -> None:
    search = by_hand((9, 28), (-1.0, -0.8), deviation=0.6)
    search.forest.nodes[0, 1]["square_sum"] = 9.0  # the first one loses in every line
    found = search.result()
    assert found.bound[0] == found.bound[1] == -1.0, "or nothing was tested"
    assert found.best == 1


def test_the_policy_that_a_network_learns_is_that_of_the_visits() -> None:
    plain, bounded = (searched(GO5, 200, replace(PLAIN, lcb=lcb), OPENING).result() for lcb in (0.0, 2.5))
    np.testing.assert_array_equal(plain.policy, bounded.policy)
