"""The search against a slow one, on known positions, and by its laws."""

import numpy as np
import pytest

from gozero.evaluators.base import Evaluation
from gozero.evaluators.rollout import RolloutEvaluator, UniformEvaluator
from gozero.games.coords import parse_vertex, pass_action
from gozero.games.game import BLACK, TO_PLAY, Game
from gozero.games.go import go
from gozero.search.root import RootResult, SearchRequest
from gozero.search.search import Search
from gozero.search.settings import SearchSettings
from tests.rows import board
from tests.search.naive import HashEvaluator, NaiveSearch, WideEvaluator, start
from tests.search.trees import GO5, GO9, OPENING, TICTACTOE, check_tree, counts, lines, same, searched


@pytest.mark.parametrize(
    "game, actions", [(TICTACTOE, ()), (TICTACTOE, (4, 0)), (GO5, OPENING)], ids=["ttt", "ttt-2", "go5"]
)
@pytest.mark.parametrize("visits", [1, 2, 3, 9, 60, 400])
def test_a_gumbel_root_equals_the_slow_search(game: Game, actions: tuple[int, ...], visits: int) -> None:
    """That of PUCT is held against `gozero.search.plain` (test_plain.py)."""
    settings = SearchSettings(root="gumbel", max_nodes=visits + 1, gumbel_m=6)
    found = searched(game, visits, settings, actions).result()
    slow = NaiveSearch(game, HashEvaluator(game), settings, *start(game, *actions))
    expected = slow.run(visits)
    assert counts(found) == expected.counts
    for action, child in expected.children.items():
        assert found.q[action] == pytest.approx(-child.q, abs=1e-5)
    scores = slow.gumbel_scores()
    weights = np.exp(np.array(list(scores.values())) - max(scores.values()))
    np.testing.assert_allclose(found.policy[list(scores)], weights / weights.sum(), atol=1e-4)


@pytest.mark.parametrize("visits", [2, 3, 20, 60, 400])
@pytest.mark.parametrize("weight", [0.0, 0.5])
@pytest.mark.parametrize("actions", [(), OPENING], ids=["empty", "opening"])
def test_forced_playouts_equal_the_slow_search(visits: int, actions: tuple[int, ...], weight: float) -> None:
    settings = SearchSettings(forced_playouts=2.0, score_weight=weight, max_nodes=visits + 1)
    found = searched(GO5, visits, settings, actions, noise=True).result()
    slow = NaiveSearch(GO5, HashEvaluator(GO5), settings, *start(GO5, *actions))
    assert counts(found) == slow.run(visits).counts
    policy = slow.pruned_policy()
    assert set(np.flatnonzero(found.policy)) == set(policy)
    for action, share in policy.items():
        assert found.policy[action] == pytest.approx(share, abs=1e-6)


@pytest.mark.parametrize("root", ["puct", "gumbel"])
@pytest.mark.parametrize("visits", [3, 60, 400])
@pytest.mark.parametrize("game, actions", [(TICTACTOE, (4, 0)), (GO5, OPENING)], ids=["ttt", "go5"])
def test_points_beside_the_result_equal_the_slow_search(
    game: Game, actions: tuple[int, ...], visits: int, root: str
) -> None:
    settings = SearchSettings(root=root, score_weight=0.5, max_nodes=visits + 1, gumbel_m=6)
    found = searched(game, visits, settings, actions).result()
    slow = NaiveSearch(game, HashEvaluator(game), settings, *start(game, *actions)).run(visits)
    assert counts(found) == slow.counts
    assert found.score == pytest.approx(slow.lead, abs=1e-3)
    if root == "puct":
        assert found.value == pytest.approx(slow.q, abs=1e-5)


def test_points_decide_between_moves_that_win_alike() -> None:
    """Every position is won, and only the first point is worth points."""

    class Won(HashEvaluator):
        def evaluate(self, states: np.ndarray) -> Evaluation:
            black = np.where(states[:, TO_PLAY] == BLACK, 1, -1).astype(np.float32)
            points = np.array([20 if GO5.board(state)[0, 0] == BLACK else 0 for state in states], np.float32)
            return Evaluation(np.zeros((len(states), GO5.actions), np.float32), 0.98 * black, points * black)

    def visits_of_the_first_point(weight: float) -> int:
        settings = SearchSettings(score_weight=weight, max_nodes=201)
        return int(searched(GO5, 200, settings, evaluator=Won(GO5)).result().visits[0])

    assert visits_of_the_first_point(0.0) < 20
    assert visits_of_the_first_point(0.3) > 100


def test_wide_root_noise_spreads_the_visits_and_the_value_stays_that_of_the_best_move() -> None:
    settings = SearchSettings(max_nodes=800)
    narrow = searched(GO5, 800, settings, OPENING).result()
    wide, again, other = (
        searched(GO5, 800, settings, OPENING, wide_root_noise=0.3, seed=seed).result() for seed in (1, 1, 2)
    )
    assert (wide.visits >= 10).sum() > (narrow.visits >= 10).sum()
    assert wide.value == wide.q[wide.best] > float(wide.visits @ wide.q) / wide.visits.sum()
    np.testing.assert_array_equal(wide.prior, narrow.prior)
    assert same(wide, again)
    assert not same(wide, other)


def test_without_noise_no_playouts_are_forced() -> None:
    forcing = SearchSettings(forced_playouts=2.0, max_nodes=101)
    assert same(searched(GO5, 100, forcing, OPENING).result(), searched(GO5, 100, actions=OPENING).result())


def test_a_pruned_policy_by_hand() -> None:
    """Three children of 20 visits in all, k = 2, c_puct = 1: what the formulas of Wu 2019 leave of them."""
    search = searched(GO5, 21, SearchSettings(c_puct=1.0, forced_playouts=2.0, max_nodes=30), noise=True)
    forest, visits, priors, q = search.forest, (14, 4, 2), (0.5, 0.2, 0.1), (0.3, 0.1, -0.5)
    root = forest.nodes[0, 0]
    root["child_count"] = 3
    for place in range(3):
        edge = root["edge_start"] + place
        forest.actions[0, edge], forest.priors[0, edge], forest.children[0, edge] = place, priors[place], place + 1
        child = forest.nodes[0, place + 1]
        child["visits"], child["value_sum"] = visits[place], -q[place] * visits[place]
    # PUCT of the first: 0.3 + 0.5 * sqrt(20) / 15 = 0.449. The second may lose sqrt(2 * 0.2 * 20) = 2.8 visits; with 3
    # its score is 0.1 + 0.2 * sqrt(20) / 4 = 0.324, with 2 it is 0.398: it keeps 2. The third may lose 2, and with 0
    # its score is -0.053: it keeps none.
    np.testing.assert_allclose(search.result().policy[:3], [14 / 16, 2 / 16, 0], atol=1e-6)


def test_the_root_temperature_flattens_the_prior_of_searches_that_explore() -> None:
    settings = SearchSettings(root_policy_temperature=1.1, max_nodes=10)
    found = {}
    for noise, temperature in ((False, 2.0), (True, None), (True, 2.0)):
        search = searched(GO5, 2, settings, noise=noise, temperature=temperature)
        prior, logits = search.result().prior, search.forest.root_logits[0]
        places = np.flatnonzero(prior)
        power = prior[places] ** (1 / {(False, 2.0): 1.0, (True, None): 1.1, (True, 2.0): 2.0}[noise, temperature])
        np.testing.assert_allclose(np.exp(logits[places]), power / power.sum(), rtol=1e-4)
        found[noise, temperature] = logits
    assert not np.array_equal(found[True, None], found[True, 2.0])


@pytest.mark.parametrize("temperature", [0.01, 0.05])
def test_a_low_root_temperature_leaves_the_likeliest_moves(temperature: float) -> None:
    """In float32 the powers of all priors would be 0."""
    settings = SearchSettings(max_nodes=20)
    search = searched(GO5, 20, settings, noise=True, temperature=temperature)
    assert search.result().visits.sum() == 19
    assert np.isfinite(search.result().prior).all()


def test_a_gumbel_root_is_worth_its_improved_policy() -> None:
    settings = SearchSettings(root="gumbel", gumbel_m=6, max_nodes=40)
    search = searched(GO5, 33, settings)
    found, own = search.result(), float(search.forest.nodes[0, 0]["value"])
    worths = [float(found.q[action]) if found.visits[action] else own for action in range(GO5.actions)]
    assert found.value == pytest.approx(
        sum(share * worth for share, worth in zip(found.policy.tolist(), worths, strict=True)), abs=1e-6
    )
    mean = search.forest.nodes[0, 0]["value_sum"] / found.root_visits
    assert found.value > mean, "the schedule's visits to weak moves must not count as if they would be played"


def test_gumbels_decide_who_is_considered() -> None:
    gumbels = np.random.default_rng(5).gumbel(size=GO5.actions).astype(np.float32)
    settings = SearchSettings(root="gumbel", gumbel_m=4, max_nodes=40)
    found = searched(GO5, 33, settings, gumbel=gumbels).result()
    slow = NaiveSearch(GO5, HashEvaluator(GO5), settings, *start(GO5))
    slow.gumbels = gumbels
    assert counts(found) == slow.run(33).counts
    assert len(counts(found)) == 4 and found.visits[found.best] == found.visits.max()


def test_golden_tree() -> None:
    """A tree as it prints; changes only where the search is meant to change."""
    search = searched(TICTACTOE, 12, actions=(4, 0, 8))
    assert search.text(0, 1) == GOLDEN


GOLDEN = """\
root   visits 12   value -0.062   nodes 12
  B3    visits 7      q +0.037  prior 0.402  then C3
  C2    visits 4      q -0.223  prior 0.417  then C3
"""


@pytest.mark.parametrize("root", ["puct", "gumbel"])
@pytest.mark.parametrize("leaves", [1, 4])
def test_laws_of_a_tree(root: str, leaves: int) -> None:
    search = searched(GO5, 200, SearchSettings(root=root, leaves=leaves, max_nodes=201))
    check_tree(search)
    result = search.result()
    assert result.root_visits == 200 and result.visits.sum() == 199
    assert result.policy.sum() == pytest.approx(1, abs=1e-5) and (result.policy >= 0).all()
    assert result.prior.sum() == pytest.approx(1, abs=1e-5)
    assert -1 <= result.value <= 1
    assert result.visits[GO5.resign_action] == result.prior[GO5.resign_action] == 0


@pytest.mark.parametrize("root", ["puct", "gumbel"])
def test_many_trees_equal_one_at_a_time(root: str) -> None:
    openings = [(), (12,), (12, 7), (0, 1, 5), (3, 8, 12, 17)]
    settings = SearchSettings(root=root, max_nodes=100, leaves=2)
    together = Search(GO5, HashEvaluator(GO5), settings, trees=len(openings), seed=3)
    for tree, line in enumerate(openings):
        together.begin(tree, SearchRequest(*start(GO5, *line), 30 + 10 * tree, noise=False))
    finished = []
    while together.forest.trees["active"].any():
        finished += together.wave()
    assert sorted(finished) == list(range(len(openings))) and finished[0] == 0
    for tree, line in enumerate(openings):
        alone = searched(GO5, 30 + 10 * tree, settings, line)
        assert same(together.result(tree), alone.result()), f"tree {tree}"
        check_tree(together, tree)


def test_leaves_of_a_wave_are_evaluated_together() -> None:
    evaluator = HashEvaluator(GO5)
    search = Search(GO5, evaluator, SearchSettings(leaves=8, max_nodes=200), trees=3)
    for tree in range(3):
        search.begin(tree, SearchRequest(*start(GO5), 100))
    search.run()
    assert evaluator.batches[0] == 3 and max(evaluator.batches) == 24
    assert np.mean(evaluator.batches) > 15


@pytest.mark.parametrize("visits", [1, 2, 20, 200])
def test_whole_rounds_find_what_one_leaf_after_the_other_finds(visits: int) -> None:
    """The moves of a round lie below different moves of the root; so they are evaluated together."""
    openings = [(), OPENING, OPENING[:2]]
    one, many = HashEvaluator(GO5), HashEvaluator(GO5)
    found = []
    for evaluator, whole in ((one, False), (many, True)):
        search = Search(GO5, evaluator, SearchSettings(root="gumbel", gumbel_m=8, whole_rounds=whole, max_nodes=300), 3)
        for tree, line in enumerate(openings):
            search.begin(tree, SearchRequest(*start(GO5, *line), visits, noise=True, seed=tree))
        search.run()
        found.append([search.result(tree) for tree in range(3)])
    assert all(same(first, second) for first, second in zip(*found, strict=True))
    assert sum(one.batches) == sum(many.batches)
    assert max(many.batches) <= 3 * 8
    assert visits < 200 or len(many.batches) < len(one.batches) / 2


@pytest.mark.parametrize("root", ["puct", "gumbel"])
@pytest.mark.parametrize("visits", [150, 400, 1999, 4000])
def test_waves_grow_with_the_tree_for_an_evaluator_that_prefers_large_batches(root: str, visits: int) -> None:
    evaluator = WideEvaluator(GO9)
    search = Search(GO9, evaluator, SearchSettings(root=root, leaves=8, most_leaves=64, max_nodes=5000))
    search.begin(0, SearchRequest(*start(GO9), visits))
    while not search.is_finished:
        before, asked = search.root_visits(), len(evaluator.batches)
        search.wave()
        found = evaluator.batches[asked:]
        assert sum(found) <= min(64, max(8, before // 25)), f"{found} leaves for a tree of {before} visits"
    check_tree(search)
    assert search.result().root_visits == visits
    if root == "puct":
        assert max(evaluator.batches) >= 0.8 * min(64, max(8, visits // 25))
        assert visits < 4000 or len(evaluator.batches) < visits / 8 / 3, "a third of the batches of 8 leaves"


@pytest.mark.parametrize("trees", [1, 2])
def test_waves_do_not_grow_for_an_evaluator_that_does_not_say_or_with_several_trees(trees: int) -> None:
    """As on a CPU: the same batches, and the same result, bit for bit."""
    found = []
    for most, kind in ((1, HashEvaluator), (64, HashEvaluator if trees == 1 else WideEvaluator)):
        evaluator = kind(GO5)
        search = Search(GO5, evaluator, SearchSettings(leaves=8, most_leaves=most, max_nodes=801), trees=trees)
        for tree in range(trees):
            search.begin(tree, SearchRequest(*start(GO5, *OPENING), 800))
        search.run()
        found.append((evaluator.batches, search.result()))
    assert found[0][0] == found[1][0]
    assert max(found[0][0]) <= 8 * trees
    assert same(found[0][1], found[1][1])


def test_a_search_that_is_begun_anew_takes_what_its_new_evaluator_prefers() -> None:
    settings = SearchSettings(leaves=8, most_leaves=64, max_nodes=2001)
    search = Search(GO9, HashEvaluator(GO9), settings)
    for evaluator, largest in ((WideEvaluator(GO9), 64), (HashEvaluator(GO9), 8)):
        search.restart(evaluator, 0)
        search.begin(0, SearchRequest(*start(GO9), 2000))
        search.run()
        assert max(evaluator.batches) == largest
        assert search.result().root_visits == 2000


def test_a_wave_that_has_grown_ends_at_the_deadline_and_at_a_stop() -> None:
    """After the wave under way, whose batch is no larger than the evaluator prefers."""
    evaluator = WideEvaluator(GO9)
    search = Search(GO9, evaluator, SearchSettings(leaves=8, most_leaves=64, max_nodes=5000))
    search.begin(0, SearchRequest(*start(GO9), 4000))
    search.run(stop=lambda: search.root_visits() >= 1600)
    assert 1600 <= search.root_visits() < 1600 + 64
    batches = len(evaluator.batches)
    search.run(deadline=0.0)
    assert len(evaluator.batches) == batches + 1
    check_tree(search)


@pytest.mark.parametrize("root", ["puct", "gumbel"])
def test_same_seed_same_result(root: str) -> None:
    def play(seed: int, tree: int) -> RootResult:
        settings = SearchSettings(root=root, dirichlet_weight=0.25, root_policy_temperature=1.2, max_nodes=50)
        search = Search(GO5, HashEvaluator(GO5), settings, trees=2, seed=seed)
        search.begin(tree, SearchRequest(*start(GO5), 40, noise=True))
        search.run()
        return search.result(tree)

    assert same(play(1, 0), play(1, 0))
    assert not same(play(1, 0), play(2, 0))
    assert not same(play(1, 0), play(1, 1))
    assert np.array_equal(play(1, 0).prior, play(2, 0).prior), "noise shows in the reported prior"


@pytest.mark.parametrize("alpha", [0.5, 0.0])
@pytest.mark.parametrize("moves", [(), (0, 1, 2, 3, 5)])
def test_the_noise_of_a_move_has_its_parameter_however_many_moves_there_are(alpha: float, moves: tuple[int]) -> None:
    """Parameters a of k moves give shares with a variance of (k - 1) / (k^2 (k a + 1)); a is a number, or total / k."""
    settings = SearchSettings(dirichlet_weight=0.5, dirichlet_total=9.0, dirichlet_alpha=alpha, max_nodes=2)
    search = Search(TICTACTOE, HashEvaluator(TICTACTOE), settings)
    k, drawn = 9 - len(moves), []
    for _ in range(1500):
        search.begin(0, SearchRequest(*start(TICTACTOE, *moves), 1, noise=True))
        search.run()
        prior = search.result().prior[:9]
        drawn.append((2 * np.exp(search.forest.root_logits[0, :9]) - prior)[prior > 0])
    a = alpha or 9.0 / k
    assert np.var(drawn) == pytest.approx((k - 1) / (k * k * (k * a + 1)), rel=0.1)
    np.testing.assert_allclose(np.mean(drawn, axis=0), 1 / k, atol=0.02)


def test_finds_a_win_and_stops_a_loss() -> None:
    search = Search(TICTACTOE, UniformEvaluator(TICTACTOE), SearchSettings(max_nodes=2000))
    for picture, best in (
        ("X to play\nXX.\nOO.\n...", 2),
        ("X to play\nOO.\nX..\n..X", 2),
        ("O to play\nX.O\n...\n..X", 4),
    ):
        state = TICTACTOE.from_text(picture)
        search.begin(0, SearchRequest(state, np.zeros(20, np.uint64), 1000))
        search.run()
        assert search.result().best == best, search.text()
    search.begin(0, SearchRequest(TICTACTOE.initial, np.zeros(20, np.uint64), 3000))
    search.run()
    assert abs(search.result().value) < 0.1, search.text()


@pytest.mark.parametrize("root", ["puct", "gumbel"])
def test_captures_in_go(root: str) -> None:
    """Two groups in atari: who takes first has won. Black takes at D5."""
    row = board(".XO.X/XXOXX/OOOXX/XXXX./.X.XX", komi=8.5)
    search = Search(row.game, RolloutEvaluator(row.game), SearchSettings(root=root, c_scale=0.1, max_nodes=1000))
    search.begin(0, SearchRequest(row.state, row.history, 800))
    search.run()
    assert search.result().best == parse_vertex("D5", 5), search.text()
    assert search.result().value > 0.5


def test_two_passes_end_the_game_in_the_tree() -> None:
    """White is ahead by komi alone: after Black's pass a pass wins for White, and the tree knows it for certain."""
    search = searched(GO5, 200, SearchSettings(max_nodes=300), (pass_action(5),), UniformEvaluator(GO5))
    result = search.result()
    assert result.q[pass_action(5)] == 1.0 and result.best == pass_action(5)
    assert search.principal_variation(0, result.best, 5).actions == [pass_action(5)]


def test_superko_is_respected_in_the_tree() -> None:
    """On 2x2 nearly every line meets a repetition: each edge of the tree is legal where it stands, and none but passes
    is missing.
    """
    game = go.make(2, komi=0.5)
    assert game.thinkable is not None
    search = searched(game, 3000, SearchSettings(max_nodes=3001, c_puct=4))
    forest, mask, longest = search.forest, np.zeros(game.actions, np.uint8), 0
    for index, line in lines(search).items():
        node = forest.nodes[0, index]
        if node["edge_count"]:
            game.thinkable(*start(game, *line), mask)
            edges = np.arange(node["edge_start"], node["edge_start"] + node["edge_count"])
            assert set(forest.actions[0, edges]) == set(np.flatnonzero(mask)), line
            longest = max(longest, len(line))
    assert longest > 8


@pytest.mark.parametrize("root", ["puct", "gumbel"])
def test_no_line_passes_on_an_open_board_but_after_a_pass(root: str) -> None:
    search = searched(GO5, 400, SearchSettings(root=root, max_nodes=401), OPENING)
    assert not [line for line in lines(search).values() if pass_action(5) in line]
    search = searched(GO5, 400, SearchSettings(root=root, max_nodes=401), (*OPENING, pass_action(5)))
    assert search.result().prior[pass_action(5)] > 0


def test_a_pass_that_alone_is_allowed_is_searched_on_an_open_board() -> None:
    mask = np.arange(GO5.actions) == pass_action(5)
    for actions in (OPENING, (*OPENING, pass_action(5))):
        assert searched(GO5, 20, SearchSettings(max_nodes=30), actions, root_mask=mask).result().best == pass_action(5)
    search = searched(GO5, 200, SearchSettings(max_nodes=400), OPENING)
    action = search.result().best
    assert search.advance(0, action)
    search.begin(0, SearchRequest(*start(GO5, *OPENING, action), 300, root_mask=mask, keep=True))
    search.run()
    assert search.result().best == pass_action(5)


def test_a_long_search_loses_no_points() -> None:
    """After ten million visits a mean still moves by what is backed up."""

    class HalfAPoint(HashEvaluator):
        def evaluate(self, states: np.ndarray) -> Evaluation:
            black = np.where(states[:, TO_PLAY] == BLACK, 1, -1).astype(np.float32)
            return Evaluation(np.zeros((len(states), GO5.actions), np.float32), 0 * black, 0.3 * black)

    search = searched(GO5, 100, SearchSettings(max_nodes=300), evaluator=HalfAPoint(GO5))
    root = search.forest.nodes[0, 0]
    root["score_sum"] += 1e8
    before = float(root["score_sum"])
    search.begin(0, SearchRequest(*start(GO5), 200, keep=True))
    search.run()
    assert float(root["score_sum"]) - before == pytest.approx(100 * 0.3, rel=1e-3)


def test_a_finished_game_has_the_score_of_its_board() -> None:
    actions = (*OPENING, pass_action(5))
    state, _ = start(GO5, *actions, pass_action(5))
    assert GO5.score is not None
    search = searched(GO5, 50, actions=actions, root_mask=np.arange(GO5.actions) == pass_action(5))
    line = search.principal_variation(0, pass_action(5), 3)
    assert line.actions == [pass_action(5)] and line.visits == [49]
    assert line.score == -GO5.score(state) != 0


def test_an_evaluator_without_points_gets_none_from_finished_games() -> None:
    class Pointless(HashEvaluator):
        def evaluate(self, states: np.ndarray) -> Evaluation:
            return super().evaluate(states)._replace(score=None)

    actions, mask = (*OPENING, pass_action(5)), np.arange(GO5.actions) == pass_action(5)
    result = searched(GO5, 100, SearchSettings(max_nodes=300), actions, Pointless(GO5), root_mask=mask).result()
    assert result.root_visits == 100 and result.score == 0


@pytest.mark.parametrize("root", ["puct", "gumbel"])
def test_two_halves_make_a_wave(root: str) -> None:
    """Between them the leaves wait unchanged while another search works."""
    settings, position = SearchSettings(root=root, leaves=3, max_nodes=101), start(GO5, *OPENING)
    whole, halves = (Search(GO5, HashEvaluator(GO5), settings, trees=2) for _ in range(2))
    for search in (whole, halves):
        for tree in (0, 1):
            search.begin(tree, SearchRequest(*position, 60 + 20 * tree))
    while halves.forest.trees["active"].any():
        states = halves.collect()
        before, finished = states.copy(), whole.wave()
        assert np.array_equal(states, before)
        assert halves.absorb(HashEvaluator(GO5).evaluate(states) if len(states) else None) == finished
    assert same(whole.result(0), halves.result(0)) and same(whole.result(1), halves.result(1))
