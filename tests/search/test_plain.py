"""The search in plain Python beside the fast one: the same visits, values and priors."""

import numpy as np
import pytest

from gozero.games.coords import pass_action
from gozero.games.game import Game
from gozero.search.plain import PlainSearch
from gozero.search.root import SearchRequest
from gozero.search.settings import SearchSettings
from tests.search.naive import HashEvaluator, start
from tests.search.trees import GO5, OPENING, TICTACTOE, searched


def plain(game: Game, visits: int, settings: SearchSettings, *actions: int, **options: object) -> PlainSearch:
    search = PlainSearch(game, HashEvaluator(game), settings)
    search.begin(0, SearchRequest(*start(game, *actions), visits, **options))  # type: ignore[arg-type]
    search.run()
    return search


@pytest.mark.parametrize("game, actions", [(TICTACTOE, ()), (GO5, OPENING)], ids=["ttt", "go5"])
@pytest.mark.parametrize("visits", [1, 2, 3, 400])
@pytest.mark.parametrize(
    "settings", [{}, {"fpu": 0.0, "c_puct": 3.0}, {"root_policy_temperature": 1.6}], ids=["usual", "wide", "tempered"]
)
def test_the_fast_search_visits_what_the_plain_one_does(
    game: Game, actions: tuple[int, ...], visits: int, settings: dict[str, float]
) -> None:
    chosen = SearchSettings(**settings, max_nodes=visits + 1)  # type: ignore[arg-type]
    found = searched(game, visits, chosen, actions, noise=True).result()
    expected = plain(game, visits, chosen, *actions, noise=True).result()
    np.testing.assert_array_equal(found.visits, expected.visits)
    for name in ("q", "prior", "policy", "value"):
        np.testing.assert_allclose(getattr(found, name), getattr(expected, name), atol=1e-5)
    assert (found.best, found.root_visits) == (expected.best, expected.root_visits)


@pytest.mark.parametrize("allowed", [[3, 17, 20], [pass_action(5)]])
def test_a_root_is_searched_in_the_moves_that_are_allowed(allowed: list[int]) -> None:
    mask = np.isin(np.arange(GO5.actions), allowed)
    settings = SearchSettings(max_nodes=101)
    found = searched(GO5, 100, settings, OPENING, root_mask=mask).result()
    expected = plain(GO5, 100, settings, *OPENING, root_mask=mask).result()
    np.testing.assert_array_equal(found.visits, expected.visits)
    assert set(np.flatnonzero(expected.visits)) == set(allowed)


def test_many_trees_are_searched_in_one_batch_and_alone_alike() -> None:
    search = PlainSearch(GO5, evaluator := HashEvaluator(GO5), SearchSettings(), trees=3)
    for tree, visits in enumerate((20, 30, 10)):
        search.begin(tree, SearchRequest(*start(GO5, tree), visits))
    search.run()
    assert evaluator.batches[:10] == [3] * 10 and evaluator.batches[-1] == 1
    for tree, visits in enumerate((20, 30, 10)):
        alone = plain(GO5, visits, SearchSettings(), tree)
        np.testing.assert_array_equal(search.result(tree).visits, alone.result().visits)


def test_noise_is_a_share_of_the_roots_prior_and_follows_from_the_seed() -> None:
    def mixed(seed: int) -> np.ndarray:
        settings = SearchSettings(dirichlet_weight=0.25, dirichlet_alpha=0.3)
        search = PlainSearch(GO5, HashEvaluator(GO5), settings, seed=seed)
        search.begin(0, SearchRequest(*start(GO5), 1, noise=True))
        search.run()
        prior = search.roots[0].prior
        assert list(prior.values()) == sorted(prior.values(), reverse=True) and sum(prior.values()) == pytest.approx(1)
        noise = (np.array([prior.get(action, 0.0) for action in range(27)]) - 0.75 * search.result().prior) / 0.25
        assert (noise > -1e-6).all()
        return noise

    np.testing.assert_array_equal(mixed(1), mixed(1))
    assert np.abs(mixed(1) - mixed(2)).max() > 0.01
