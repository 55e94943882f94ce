"""Trees that use their room up: there their search ends."""

import numpy as np
import pytest

from gozero.search import search as search_module
from gozero.search.root import SearchRequest
from gozero.search.settings import SearchSettings
from tests.search.naive import HashEvaluator, start
from tests.search.trees import GO5, OPENING, check_tree, same, searched


@pytest.mark.parametrize("root", ["puct", "gumbel"])
@pytest.mark.parametrize("leaves", [1, 4])
def test_without_room_a_search_ends_and_backs_nothing_up_twice(root: str, leaves: int) -> None:
    evaluator = HashEvaluator(GO5)
    search = searched(GO5, 400, SearchSettings(root=root, leaves=leaves, max_nodes=40), OPENING, evaluator)
    assert search.is_finished and search.is_full()
    assert search.forest.trees[0]["node_count"] == search.result().root_visits == sum(evaluator.batches) == 40
    check_tree(search)
    roomy = searched(GO5, 40, SearchSettings(root=root, leaves=leaves, max_nodes=41), OPENING)
    assert same(search.result(), roomy.result()) or root == "gumbel"


def test_the_move_after_the_bound_builds_on_what_was_kept() -> None:
    search = searched(GO5, 400, SearchSettings(max_nodes=100), OPENING)
    best = search.result().best
    assert search.advance(0, best)
    search.begin(0, SearchRequest(*start(GO5, *OPENING, best), 70, keep=True))
    assert not search.is_full()
    search.run()
    assert search.result().root_visits == 70
    check_tree(search)


def test_edges_are_never_more_than_can_be_counted(monkeypatch: pytest.MonkeyPatch) -> None:
    """However much memory there is."""
    assert search_module.most_nodes(GO5) * (GO5.actions - 1) <= np.iinfo(np.int32).max
    monkeypatch.setattr(search_module, "most_nodes", lambda game: 130)
    search = searched(GO5, 10**6, SearchSettings(max_nodes=1000), OPENING)
    assert search.is_full() and search.result().root_visits == 130
