"""Trees that use their room up: they grow as far as memory allows, and where it ends so does the search."""

import gc

import numpy as np
import pytest

from gozero.evaluators.rollout import RolloutEvaluator
from gozero.games.go import go
from gozero.search import search as search_module
from gozero.search.memory import FIRST_SHARE, Memory
from gozero.search.root import SearchRequest
from gozero.search.search import Search
from gozero.search.settings import SearchSettings
from gozero.search.tree import tree_bytes
from tests.search.naive import HashEvaluator, start
from tests.search.trees import OPENING, check_tree, same

GO5 = go.make(5)
NODE_BYTES = tree_bytes(GO5, 1)


def search_of(
    visits: int, settings: SearchSettings, memory: Memory | None = None, evaluator: HashEvaluator | None = None
) -> Search:
    """A search that has run."""
    search = Search(GO5, evaluator or HashEvaluator(GO5), settings, memory=memory)
    search.begin(0, SearchRequest(*start(GO5, *OPENING), visits))
    search.run()
    return search


@pytest.mark.parametrize("root", ["puct", "gumbel"])
@pytest.mark.parametrize("leaves", [1, 4])
def test_without_room_a_search_ends_and_backs_nothing_up_twice(root: str, leaves: int) -> None:
    evaluator = HashEvaluator(GO5)
    search = search_of(400, SearchSettings(root=root, leaves=leaves, max_nodes=40), evaluator=evaluator)
    assert search.is_finished and search.is_full()
    assert search.forest.trees[0]["node_count"] == search.result().root_visits == sum(evaluator.batches) == 40
    check_tree(search)
    assert (
        same(search.result(), search_of(40, SearchSettings(root=root, leaves=leaves, max_nodes=41)).result())
        or root == "gumbel"
    )


def test_random_playouts_end_at_the_same_bound() -> None:
    search = Search(GO5, RolloutEvaluator(GO5), SearchSettings(max_nodes=40))
    search.begin(0, SearchRequest(*start(GO5), 400))
    search.run()
    assert search.is_full() and search.result().root_visits == 40


def test_the_move_after_the_bound_builds_on_what_was_kept() -> None:
    search = search_of(400, SearchSettings(max_nodes=100))
    best = search.result().best
    assert search.advance(0, best)
    search.begin(0, SearchRequest(*start(GO5, *OPENING, best), 70, keep=True))
    assert not search.is_full()
    search.run()
    assert search.result().root_visits == 70
    check_tree(search)


@pytest.mark.parametrize("trees", [1, 3])
def test_a_tree_grows_into_memory_and_is_the_same_tree(trees: int) -> None:
    roomy, small = (SearchSettings(max_nodes=nodes, leaves=4) for nodes in (500, 20))
    kinds = ((roomy, None), (small, Memory(10**8)))
    found = [Search(GO5, HashEvaluator(GO5), settings, trees, memory=memory) for settings, memory in kinds]
    for search in found:
        for tree in range(trees):
            search.begin(tree, SearchRequest(*start(GO5, *OPENING[: tree + 1]), 300 + 40 * tree))
        search.run()
    for tree in range(trees):
        assert same(found[0].result(tree), found[1].result(tree))
        check_tree(found[1], tree)


@pytest.mark.parametrize("evaluator", [RolloutEvaluator(GO5), HashEvaluator(GO5)])
def test_a_wave_larger_than_the_first_room_is_no_end(evaluator: RolloutEvaluator | HashEvaluator) -> None:
    search = Search(GO5, evaluator, SearchSettings(max_nodes=2, leaves=8), memory=Memory(10**8))
    search.begin(0, SearchRequest(*start(GO5), 700))
    search.run()
    assert search.result().root_visits == 700 and not search.is_full()


def test_growth_ends_at_the_limit() -> None:
    memory = Memory(250 * NODE_BYTES)
    search = search_of(10**6, SearchSettings(max_nodes=20, leaves=4), memory)
    assert search.is_finished and search.is_full()
    assert search.reserved <= memory.limit and memory.free < NODE_BYTES
    assert search.result().root_visits == search.forest.trees[0]["node_count"] == 250
    check_tree(search)


def test_searches_share_what_there_is() -> None:
    memory = Memory(640 * NODE_BYTES)
    first = search_of(10**6, SearchSettings(max_nodes=600), memory)
    second = search_of(10**6, SearchSettings(max_nodes=600), memory)
    assert first.result().root_visits == 640
    assert second.result().root_visits == 640 // FIRST_SHARE, (
        "a search beside one that took everything has the room to begin"
    )
    del first
    gc.collect()
    assert memory.free == (640 - 40) * NODE_BYTES
    second.begin(0, SearchRequest(*start(GO5, *OPENING), 300, keep=True))
    second.run()
    assert second.result().root_visits == 300


def test_a_search_that_begins_anew_gives_memory_back() -> None:
    memory = Memory(640 * NODE_BYTES)
    search = search_of(500, SearchSettings(max_nodes=30), memory)
    result, held = search.result(), search.reserved
    search.restart(HashEvaluator(GO5), 0)
    assert search.reserved == 30 * NODE_BYTES < held
    search.begin(0, SearchRequest(*start(GO5, *OPENING), 500))
    search.run()
    assert same(result, search.result())


def test_a_system_with_less_memory_than_the_limit_ends_the_search(monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(*arguments: object) -> None:
        raise MemoryError

    monkeypatch.setattr(search_module, "enlarged", refuse)
    search = search_of(10**6, SearchSettings(max_nodes=100), Memory(10**8))
    assert search.is_full() and search.result().root_visits == 100


def test_edges_are_never_more_than_can_be_counted(monkeypatch: pytest.MonkeyPatch) -> None:
    """However much memory there is."""
    assert search_module.most_nodes(GO5) * (GO5.actions - 1) <= np.iinfo(np.int32).max
    monkeypatch.setattr(search_module, "most_nodes", lambda game: 130)
    search = search_of(10**6, SearchSettings(max_nodes=100), Memory(10**8))
    assert search.is_full() and search.result().root_visits == 130
    search = search_of(10**6, SearchSettings(max_nodes=1000))
    assert search.is_full() and search.result().root_visits == 130
