"""Several waves of one tree in flight, for an evaluator that works on several batches at once."""

from __future__ import annotations

import numpy as np
import pytest

from gozero.evaluators.base import Evaluation, Lazy
from gozero.evaluators.cache import CachedEvaluator, Owners
from gozero.games.game import Game
from gozero.search.root import SearchRequest
from gozero.search.search import Search
from gozero.search.settings import SearchSettings
from tests.search.naive import HashEvaluator, start
from tests.search.trees import GO9, check_tree, same


class Streaming(HashEvaluator):
    """Works on `streams` batches at once, and notes how many were pending as each was begun."""

    def __init__(self, game: Game, streams: int) -> None:
        super().__init__(game)
        self.streams = streams
        self.pending = 0
        self.seen: list[int] = []

    def submit(self, states: np.ndarray) -> Lazy:
        self.pending += 1
        self.seen.append(self.pending)
        return Lazy(self, states)

    def evaluate(self, states: np.ndarray) -> Evaluation:
        self.pending -= 1
        return super().evaluate(states)


def search_with(evaluator: HashEvaluator, leaves: int, visits: int, root: str = "puct", most: int = 64) -> Search:
    settings = SearchSettings(root=root, leaves=leaves, most_leaves=most, max_nodes=visits + 1)
    search = Search(GO9, evaluator, settings)
    search.begin(0, SearchRequest(*start(GO9), visits))
    return search


@pytest.mark.parametrize("root", ["puct", "gumbel"])
@pytest.mark.parametrize(("streams", "leaves", "part", "waves"), [(2, 8, 4, 3), (3, 8, 3, 4), (8, 8, 2, 9), (2, 2, 1, 3)])
def test_each_stream_has_a_wave_and_one_waits(root: str, streams: int, leaves: int, part: int, waves: int) -> None:
    found = []
    for _ in range(2):
        evaluator = Streaming(GO9, streams)
        search = search_with(evaluator, leaves, 450, root)
        search.run()
        check_tree(search)
        found.append(search.result())
        assert found[-1].root_visits == 450
        assert evaluator.pending == 0
        assert max(evaluator.batches) == part
        assert max(evaluator.seen) == waves
    assert same(*found)


@pytest.mark.parametrize(("leaves", "visits", "most"), [(8, 200, 10), (8, 300, 12), (2, 50, 2)])
def test_a_young_tree_has_few_leaves_in_flight(leaves: int, visits: int, most: int) -> None:
    evaluator = Streaming(GO9, 8)
    search_with(evaluator, leaves, visits).run()
    assert max(evaluator.seen) * max(evaluator.batches) == most


def test_a_search_that_stops_waits_for_what_is_in_flight() -> None:
    evaluator = Streaming(GO9, 4)
    search = search_with(evaluator, 8, 4000)
    search.run(stop=lambda: search.root_visits() >= 500)
    assert evaluator.pending == 0
    assert 500 <= search.root_visits() < 500 + 2 * 5
    check_tree(search)
    search.run(deadline=0.0)
    assert evaluator.pending == 0
    check_tree(search)


def test_an_error_drops_the_tree() -> None:
    evaluator = Streaming(GO9, 2)
    search = search_with(evaluator, 8, 4000)
    search.run(stop=lambda: search.root_visits() >= 100)
    evaluator.game = None  # type: ignore[assignment]
    with pytest.raises(AttributeError):
        search.run()
    assert search.root_visits() == 0
    evaluator.game, evaluator.pending = GO9, 0
    search.begin(0, SearchRequest(*start(GO9), 100))
    search.run()
    check_tree(search)
    assert search.root_visits() == 100


def test_without_room_to_grow_there_is_one_wave() -> None:
    """As in matches, whose moves must not depend on the machine's threads."""
    evaluators = Streaming(GO9, 2), HashEvaluator(GO9)
    found = []
    for evaluator in evaluators:
        search = search_with(evaluator, 8, 200, most=8)
        search.run()
        found.append(search.result())
    assert not evaluators[0].seen
    assert same(*found)


def test_looks_at_the_search_change_nothing() -> None:
    found, looks = [], list[int]()
    for interval in (0.0, 1e9):
        search = search_with(Streaming(GO9, 2), 8, 200)
        search.run(look=lambda search=search: looks.append(search.result().root_visits), interval=interval)
        found.append(search.result())
    assert same(*found)
    assert len(looks) > 10
    assert max(looks) < 200


def test_one_batch_is_left_to_the_evaluator_to_divide_also_through_the_cache() -> None:
    evaluator = Streaming(GO9, 2)
    search = Search(GO9, Owners(CachedEvaluator(evaluator, 2**20)), SearchSettings(leaves=8, max_nodes=101), trees=2)
    for tree in range(2):
        search.begin(tree, SearchRequest(*start(GO9), 50))
    search.run()
    assert not evaluator.seen


def test_several_trees_share_one_batch() -> None:
    evaluator = Streaming(GO9, 2)
    search = Search(GO9, evaluator, SearchSettings(leaves=8, most_leaves=64, max_nodes=101), trees=2)
    for tree in range(2):
        search.begin(tree, SearchRequest(*start(GO9), 100))
    search.run()
    assert not evaluator.seen
    assert max(evaluator.batches) == 16
