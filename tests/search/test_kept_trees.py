"""Trees that are kept from move to move, and searches in which moves are left out."""

import numpy as np
import pytest

from gozero.games.coords import pass_action
from gozero.search.root import SearchRequest
from gozero.search.search import Search, children_of
from gozero.search.settings import SearchSettings
from gozero.search.tree import NO_NODE, find_child
from tests.search.naive import HashEvaluator, NaiveSearch, Node, start
from tests.search.trees import GO5, OPENING, check_tree, counts, same, searched


@pytest.mark.parametrize("root", ["puct", "gumbel"])
def test_kept_tree_is_the_subtree(root: str) -> None:
    settings = SearchSettings(root=root, max_nodes=2000)
    search = searched(GO5, 500, settings, OPENING)
    best = search.result().best
    before = {action: child for action, _, child in children(search, best)}
    visits = {action: int(search.forest.nodes[0, child]["visits"]) for action, child in before.items()}
    total = int(search.result().visits[best])
    assert search.advance(0, best)
    search.begin(0, SearchRequest(*start(GO5, *OPENING, best), 500, keep=True))
    kept = search.result()
    assert kept.root_visits == total and counts(kept) == visits
    search.run()
    check_tree(search)
    assert search.result().root_visits == 500


def children(search: Search, action: int) -> list[tuple[int, float, int]]:
    index = find_child(search.forest, 0, 0, action)
    assert index != NO_NODE
    return list(children_of(search.forest, 0, index))


def test_kept_tree_grows_as_a_fresh_one() -> None:
    """PUCT has no memory beyond the tree: where all visits went to one move, keeping it equals a fresh search of that
    position.
    """
    mask = np.zeros(GO5.actions, bool)
    mask[6] = True
    search = searched(GO5, 101, SearchSettings(max_nodes=300), OPENING, root_mask=mask)
    assert search.advance(0, 6)
    search.begin(0, SearchRequest(*start(GO5, *OPENING, 6), 200, keep=True))
    search.run()
    fresh = searched(GO5, 200, SearchSettings(max_nodes=300), (*OPENING, 6))
    assert same(search.result(), fresh.result())


def test_advance_keeps_nothing_where_there_is_nothing() -> None:
    search = searched(GO5, 3, SearchSettings(max_nodes=30))
    unvisited = int(np.flatnonzero(search.result().visits[:25] == 0)[0])
    assert not search.advance(0, unvisited)
    assert not search.advance(0, 0)
    search.begin(0, SearchRequest(*start(GO5, unvisited), 20, keep=True))
    search.run()
    assert same(search.result(), searched(GO5, 20, actions=(unvisited,)).result())


def test_keep_is_refused_for_another_position() -> None:
    search = searched(GO5, 50, SearchSettings(max_nodes=200))
    search.advance(0, search.result().best)
    search.begin(0, SearchRequest(*start(GO5, 3, 4), 50, keep=True))
    search.run()
    assert same(search.result(), searched(GO5, 50, actions=(3, 4)).result())


@pytest.mark.parametrize("temperature", [1.0, 2.0])
def test_a_root_that_is_searched_again_has_temperature_and_noise_once(temperature: float) -> None:
    settings = SearchSettings(dirichlet_weight=0.25, max_nodes=400)
    raw = searched(GO5, 2).result().prior
    tempered = raw ** (1 / temperature)
    tempered /= tempered.sum()
    search = searched(GO5, 100, settings, noise=True, temperature=temperature)
    for visits in (200, 300):
        search.begin(0, SearchRequest(*start(GO5), visits, noise=True, temperature=temperature, keep=True))
        noise = (np.exp(search.forest.root_logits[0]) - 0.75 * tempered) / 0.25
        assert noise.min() > -1e-5 and noise.sum() == pytest.approx(1, abs=1e-4)
        assert np.array_equal(search.result().prior, raw)
        search.run()
    search.begin(0, SearchRequest(*start(GO5), 350, root_mask=np.arange(GO5.actions) >= 5, keep=True))
    search.run()
    check_tree(search)
    np.testing.assert_allclose(search.result().prior[5:], raw[5:] / raw[5:].sum(), rtol=1e-5)
    np.testing.assert_allclose(np.exp(search.forest.root_logits[0, 5:]), search.result().prior[5:], rtol=1e-5)


def test_root_mask_excludes_moves() -> None:
    mask = np.ones(GO5.actions, bool)
    mask[[7, 12, pass_action(5)]] = False
    for keep in (False, True):
        search = searched(GO5, 300, SearchSettings(max_nodes=700))
        best = search.result().best
        search.advance(0, best)
        search.begin(0, SearchRequest(*start(GO5, best), 300, root_mask=mask, keep=keep))
        search.run()
        result = search.result()
        assert not result.visits[~mask].any() and not result.prior[~mask].any() and not result.policy[~mask].any()
        assert result.visits.sum() == 299
        assert result.policy.sum() == pytest.approx(1, abs=1e-5)
        assert result.prior.sum() == pytest.approx(1, abs=1e-5)


def test_moves_left_out_below_the_root_equal_the_slow_search() -> None:
    left_out = np.zeros((2, GO5.actions), np.int32)
    left_out[0, :10], left_out[0, 10:13], left_out[1, 12:] = 3, 1, 4
    settings = SearchSettings(max_nodes=401)
    search = searched(GO5, 400, settings, OPENING, left_out=left_out)
    slow = NaiveSearch(GO5, HashEvaluator(GO5), settings, *start(GO5, *OPENING))
    slow.left_out = left_out
    check_equal(search, 0, slow.run(400))
    assert not same(search.result(), searched(GO5, 400, settings, OPENING, root_mask=left_out[0] == 0).result())


def check_equal(search: Search, index: int, node: Node) -> None:
    """The same visits at every node of the tree."""
    found = {action: child for action, _, child in children_of(search.forest, 0, index)}
    assert search.forest.nodes[0, index]["visits"] == node.visits and found.keys() == node.children.keys()
    for action, child in found.items():
        check_equal(search, child, node.children[action])


def test_where_no_move_is_left_the_evaluation_stands() -> None:
    left_out = np.zeros((2, GO5.actions), np.int32)
    left_out[1] = 2
    search = searched(GO5, 300, SearchSettings(max_nodes=300), OPENING, left_out=left_out)
    result = search.result()
    assert search.forest.trees[0]["node_count"] == 1 + (result.visits > 0).sum() and result.root_visits == 300
    for action in np.flatnonzero(result.visits):
        (value,) = HashEvaluator(GO5).evaluate(start(GO5, *OPENING, int(action))[0][None]).value
        assert result.q[action] == pytest.approx(-value, abs=1e-5)


@pytest.mark.parametrize("first", [True, False])
def test_a_tree_in_which_moves_were_left_out_below_the_root_is_not_kept(first: bool) -> None:
    left_out = np.zeros((2, GO5.actions), np.int32)
    left_out[1, :9] = 2
    free: dict[str, np.ndarray] = {}
    before, after = (free, {"left_out": left_out}) if first else ({"left_out": left_out}, free)
    search = searched(GO5, 100, SearchSettings(max_nodes=300), **before)
    search.begin(0, SearchRequest(*start(GO5), 100, keep=True, **after))
    assert search.root_visits() == 0
    search.run()
    assert same(search.result(), searched(GO5, 100, **after).result())


@pytest.mark.parametrize("keep", [True, False])
def test_visits_on_top_are_all_made_where_kept_moves_are_left_out(keep: bool) -> None:
    search = searched(GO5, 300, SearchSettings(max_nodes=700))
    best = search.result().best
    assert search.advance(0, best)
    kept = int(search.forest.nodes[0, 0]["visits"])
    favourite = max(children_of(search.forest, 0, 0), key=lambda child: search.forest.nodes[0, child[2]]["visits"])
    mask = np.arange(GO5.actions) != favourite[0]
    left = kept - int(search.forest.nodes[0, favourite[2]]["visits"]) if keep else 1
    search.begin(0, SearchRequest(*start(GO5, best), 100, root_mask=mask, keep=keep, on_top=True))
    search.run()
    assert left < kept and search.result().root_visits == left + 100
    check_tree(search)


def test_a_root_without_moves_that_are_allowed_again_is_not_kept() -> None:
    search = searched(GO5, 100, SearchSettings(max_nodes=300), root_mask=np.arange(GO5.actions) >= 5)
    search.begin(0, SearchRequest(*start(GO5), 100, keep=True))
    search.run()
    assert same(search.result(), searched(GO5, 100).result())


def test_nodes_below_moves_left_out_take_no_room() -> None:
    search = searched(GO5, 300, SearchSettings(max_nodes=700))
    search.begin(
        0, SearchRequest(*start(GO5), 100, root_mask=np.arange(GO5.actions) != search.result().best, keep=True)
    )
    assert search.forest.trees[0]["node_count"] == search.root_visits() < 300
    check_tree(search)


def test_a_restarted_search_is_a_new_one() -> None:
    settings, position = SearchSettings(root="gumbel", max_nodes=101), start(GO5, *OPENING)
    used, fresh = (Search(GO5, HashEvaluator(GO5), settings, seed=seed) for seed in (1, 2))
    for _ in range(3):
        used.begin(0, SearchRequest(*position, 100, noise=True))
        used.run()
    used.begin(0, SearchRequest(*position, 100, noise=True))
    used.collect()
    used.restart(HashEvaluator(GO5), seed=2)
    with pytest.raises(ValueError, match="tree 0 has no move"):
        used.result()
    for search in (used, fresh):
        search.begin(0, SearchRequest(*position, 100, noise=True, keep=True))
        search.run()
    assert same(used.result(), fresh.result())
    check_tree(used)
