"""The search against a slow one, on known positions, and by its laws."""

import time
from typing import Any

import numpy as np
import pytest

from gozero.coords import parse_vertex, pass_action
from gozero.evaluators.base import Evaluation
from gozero.evaluators.rollout import RolloutEvaluator, UniformEvaluator
from gozero.games import go, tictactoe
from gozero.games.game import BLACK, PLY, TO_PLAY, Game
from gozero.search.request import SearchRequest
from gozero.search.search import RootResult, Search
from gozero.search.settings import SearchSettings
from gozero.search.show import children_of
from gozero.search.tree import NO_NODE, find_child
from tests.rows import board
from tests.search.naive import HashEvaluator, NaiveSearch, Node, start

GO5 = go.make(5)
TICTACTOE = tictactoe.make()
OPENING = (12, 7, 11)


def searched(
    game: Game, visits: int, settings: SearchSettings | None = None, actions: tuple[int, ...] = (), **options: Any
) -> Search:
    """One tree, searched to its budget with the hash evaluator."""
    search = Search(game, HashEvaluator(game), settings or SearchSettings(max_nodes=visits + 1))
    search.begin(0, SearchRequest(*start(game, *actions), visits, **options))
    search.run()
    return search


def same(one: RootResult, other: RootResult) -> bool:
    arrays = ("visits", "q", "prior", "policy")
    return one.best == other.best and all(np.array_equal(getattr(one, name), getattr(other, name)) for name in arrays)


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
            assert node["visits"] - 1 == nodes["visits"][children].sum()
        if len(rest):
            assert forest.priors[tree, rest[0]] == forest.priors[tree, rest].max()


@pytest.mark.parametrize(
    "game, actions", [(TICTACTOE, ()), (TICTACTOE, (4, 0)), (GO5, OPENING)], ids=["ttt", "ttt-2", "go5"]
)
@pytest.mark.parametrize("root", ["puct", "gumbel"])
@pytest.mark.parametrize("visits", [1, 2, 3, 9, 60, 400])
def test_equals_slow_search(game: Game, actions: tuple[int, ...], root: str, visits: int) -> None:
    settings = SearchSettings(root=root, max_nodes=visits + 1, gumbel_m=6)
    found = searched(game, visits, settings, actions).result()
    slow = NaiveSearch(game, HashEvaluator(game), settings, *start(game, *actions))
    expected = slow.run(visits)
    counts = {action: child.visits for action, child in expected.children.items()}
    assert {int(action): int(found.visits[action]) for action in np.flatnonzero(found.visits)} == counts
    for action, child in expected.children.items():
        assert found.q[action] == pytest.approx(-child.q, abs=1e-5)
    if root == "puct":
        assert found.value == pytest.approx(expected.q, abs=1e-5)
    else:
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
    counts = {action: child.visits for action, child in slow.run(visits).children.items()}
    assert {int(action): int(found.visits[action]) for action in np.flatnonzero(found.visits)} == counts
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
    counts = {action: child.visits for action, child in slow.children.items()}
    assert {int(action): int(found.visits[action]) for action in np.flatnonzero(found.visits)} == counts
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
        search = Search(GO5, Won(GO5), SearchSettings(score_weight=weight, max_nodes=201))
        search.begin(0, SearchRequest(*start(GO5), 200))
        search.run()
        return int(search.result().visits[0])

    assert visits_of_the_first_point(0.0) < 20
    assert visits_of_the_first_point(0.3) > 100


def test_forced_playouts_reach_moves_that_noise_found_and_leave_no_trace_of_the_bad_ones() -> None:
    settings = SearchSettings(forced_playouts=2.0, dirichlet_weight=0.25, max_nodes=800)
    plain = searched(GO5, 800, settings, OPENING, noise=False).result()
    forced = searched(GO5, 800, settings, OPENING, noise=True).result()
    share = plain.visits / np.float32(plain.visits.sum())
    np.testing.assert_allclose(plain.policy, share, atol=1e-6)
    assert (forced.visits > 1).sum() > (plain.visits > 1).sum()
    assert 0 < (forced.policy > 0).sum() < (forced.visits > 0).sum()
    assert forced.policy[forced.best] > forced.visits[forced.best] / forced.visits.sum()
    assert forced.policy.sum() == pytest.approx(1, abs=1e-5)


def test_a_pruned_policy_by_hand() -> None:
    """Three children of 20 visits in all, k = 2, c_puct = 1: what the formulas of Wu 2019 leave of them."""
    search = searched(GO5, 21, SearchSettings(c_puct=1.0, forced_playouts=2.0, max_nodes=30), noise=True)
    forest, visits, priors, q = search.forest, (14, 4, 2), (0.5, 0.2, 0.1), (0.3, 0.1, -0.5)
    root = forest.nodes[0, 0]
    root["child_count"] = 3
    for place in range(3):
        edge = root["edge_start"] + place
        forest.actions[0, edge], forest.priors[0, edge], forest.children[0, edge] = place, priors[place], place + 1
        forest.nodes[0, place + 1]["visits"], forest.nodes[0, place + 1]["value_sum"] = (
            visits[place],
            -q[place] * visits[place],
        )
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
    counts = {action: child.visits for action, child in slow.run(33).children.items()}
    assert {int(action): int(found.visits[action]) for action in np.flatnonzero(found.visits)} == counts
    assert len(counts) == 4 and found.visits[found.best] == max(counts.values())


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


def test_score_is_averaged_like_value() -> None:
    result = searched(GO5, 30, actions=OPENING).result()
    assert result.score == pytest.approx(10 * result.value, abs=1e-4) and result.score != 0


@pytest.mark.parametrize("root", ["puct", "gumbel"])
def test_many_trees_equal_one_at_a_time(root: str) -> None:
    lines = [(), (12,), (12, 7), (0, 1, 5), (3, 8, 12, 17)]
    settings = SearchSettings(root=root, max_nodes=100, leaves=2)
    together = Search(GO5, HashEvaluator(GO5), settings, trees=len(lines), seed=3)
    for tree, line in enumerate(lines):
        together.begin(tree, SearchRequest(*start(GO5, *line), 30 + 10 * tree, noise=False))
    finished = []
    while together.forest.trees["active"].any():
        finished += together.wave()
    assert sorted(finished) == list(range(len(lines))) and finished[0] == 0
    for tree, line in enumerate(lines):
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


def test_dirichlet_noise_has_its_weight() -> None:
    """The searched prior is a mixture: averaged over seeds it is the prior mixed with the uniform one."""
    settings = SearchSettings(dirichlet_weight=0.25, max_nodes=2)
    search = Search(TICTACTOE, HashEvaluator(TICTACTOE), settings)
    total = np.zeros(9)
    for _ in range(2000):
        search.begin(0, SearchRequest(*start(TICTACTOE), 1, noise=True))
        search.run()
        mixed = np.exp(search.forest.root_logits[0, :9])
        assert mixed.sum() == pytest.approx(1, abs=1e-4)
        assert (mixed >= 0.75 * search.result().prior[:9] - 1e-6).all()
        total += mixed
    np.testing.assert_allclose(total / 2000, 0.75 * search.result().prior[:9] + 0.25 / 9, atol=0.006)


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
    state, history = start(GO5, pass_action(5))
    search = Search(GO5, UniformEvaluator(GO5), SearchSettings(max_nodes=300))
    search.begin(0, SearchRequest(state, history, 200))
    search.run()
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
    forest, mask = search.forest, np.zeros(game.actions, np.uint8)
    lines: dict[int, list[int]] = {0: []}
    longest = 0
    for index in range(forest.trees[0]["node_count"]):
        node = forest.nodes[0, index]
        edges = np.arange(node["edge_start"], node["edge_start"] + node["edge_count"])
        line = lines[index]
        for edge in edges[: node["child_count"]]:
            lines[int(forest.children[0, edge])] = [*line, int(forest.actions[0, edge])]
        if len(edges):
            game.thinkable(*start(game, *line), mask)
            assert set(forest.actions[0, edges]) == set(np.flatnonzero(mask)), line
            longest = max(longest, len(line))
    assert longest > 8


@pytest.mark.parametrize("root", ["puct", "gumbel"])
def test_no_line_passes_on_an_open_board_but_after_a_pass(root: str) -> None:
    search = searched(GO5, 400, SearchSettings(root=root, max_nodes=401), OPENING)
    assert search.result().prior[pass_action(5)] == 0
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
    assert kept.root_visits == total and {int(a): int(kept.visits[a]) for a in np.flatnonzero(kept.visits)} == visits
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


def test_depth_bound_does_not_stop_the_search() -> None:
    search = searched(go.make(2), 300, SearchSettings(max_nodes=400, max_depth=3))
    assert search.result().root_visits == 300
    assert len(search.principal_variation(0, search.result().best, 99).actions) <= 3


def test_deadline_and_stop() -> None:
    search = Search(GO5, HashEvaluator(GO5), SearchSettings(max_nodes=5000))
    search.begin(0, SearchRequest(*start(GO5), 10**12))
    search.run(deadline=time.monotonic() - 1)
    assert search.result().root_visits == 1
    looks = iter([False] * 9 + [True])
    search.run(stop=lambda: next(looks))
    assert search.result().root_visits == 11


def test_a_won_game_does_not_hold_the_clock_up() -> None:
    """Where every line ends at once, a wave still returns."""
    state = TICTACTOE.from_text("X to play\nXOX\nXOO\nO.X")
    search = Search(TICTACTOE, HashEvaluator(TICTACTOE), SearchSettings(max_nodes=10))
    search.begin(0, SearchRequest(state, np.zeros(20, np.uint64), 10**9))
    search.run(deadline=time.monotonic())
    search.run(deadline=time.monotonic())
    assert 2 <= search.result().root_visits < 1000


def test_later_plies_need_no_longer_history() -> None:
    """A tree that begins late in a game gets the room it needs."""
    state, history = start(GO5, *[pass_action(5), 3, pass_action(5), 7] * 1)
    state[PLY] += 300
    long = np.zeros(400, np.uint64)
    long[: 300 + 5] = history[4]
    search = Search(GO5, HashEvaluator(GO5), SearchSettings(max_nodes=60, max_depth=20))
    search.begin(0, SearchRequest(*start(GO5), 20))
    search.begin(0, SearchRequest(state, long, 50))
    search.run()
    check_tree(search)


def test_arrays_of_any_kind_are_taken() -> None:
    """Read-only states, histories that are slices, masks of numbers."""
    _, history = start(GO5)
    search = Search(GO5, HashEvaluator(GO5), SearchSettings(max_nodes=30))
    search.begin(
        0, SearchRequest(GO5.initial, np.repeat(history, 2)[::2], 20, root_mask=np.ones(GO5.actions, np.int32))
    )
    search.run()
    assert same(search.result(), searched(GO5, 20).result())


@pytest.mark.parametrize(
    "tree, state, history, options, message",
    [
        (2, GO5.initial, np.zeros(9, np.uint64), {}, "trees 0 to 0"),
        (0, GO5.initial[:9], np.zeros(9, np.uint64), {}, "state of shape"),
        (0, GO5.initial, np.zeros(0, np.uint64), {}, "history of 0 entries"),
        (0, GO5.initial, np.zeros(9, np.uint64), {"visits": 0}, "at least 1"),
        (0, GO5.initial, np.zeros(9, np.uint64), {"root_mask": np.ones(4, bool)}, "root_mask of shape"),
        (0, GO5.initial, np.zeros(9, np.uint64), {"left_out": np.zeros(GO5.actions, np.int32)}, "left_out of shape"),
    ],
)
def test_bad_input_is_refused(tree: int, state: np.ndarray, history: np.ndarray, options: dict, message: str) -> None:
    search = Search(GO5, HashEvaluator(GO5), SearchSettings(max_nodes=10))
    with pytest.raises(ValueError, match=message):
        search.begin(tree, SearchRequest(state, history, **{"visits": 5, **options}))


def test_no_move_is_an_error() -> None:
    search = Search(GO5, HashEvaluator(GO5), SearchSettings(max_nodes=10))
    with pytest.raises(ValueError, match="no move"):
        search.result()
    search.begin(0, SearchRequest(*start(GO5), 5, root_mask=np.zeros(GO5.actions, bool)))
    search.run()
    with pytest.raises(ValueError, match="no move"):
        search.result()


def test_a_long_search_loses_no_points() -> None:
    """After ten million visits a mean still moves by what is backed up."""

    class HalfAPoint(HashEvaluator):
        def evaluate(self, states: np.ndarray) -> Evaluation:
            black = np.where(states[:, TO_PLAY] == BLACK, 1, -1).astype(np.float32)
            return Evaluation(np.zeros((len(states), GO5.actions), np.float32), 0 * black, 0.3 * black)

    search = Search(GO5, HalfAPoint(GO5), SearchSettings(max_nodes=300))
    search.begin(0, SearchRequest(*start(GO5), 100))
    search.run()
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

    search = Search(GO5, Pointless(GO5), SearchSettings(max_nodes=300))
    search.begin(
        0, SearchRequest(*start(GO5, *OPENING, pass_action(5)), 100, root_mask=np.arange(GO5.actions) == pass_action(5))
    )
    search.run()
    assert search.result().root_visits == 100 and search.result().score == 0


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


def test_nodes_below_moves_left_out_take_no_room() -> None:
    search = searched(GO5, 300, SearchSettings(max_nodes=700))
    search.begin(
        0, SearchRequest(*start(GO5), 100, root_mask=np.arange(GO5.actions) != search.result().best, keep=True)
    )
    assert search.forest.trees[0]["node_count"] == search.root_visits() < 300
    check_tree(search)


BAD_SETTINGS = [
    {"root": "uct"},
    {"leaves": 0},
    {"c_puct": -1.0},
    {"dirichlet_weight": 1.5},
    {"root_policy_temperature": 0.0},
]


@pytest.mark.parametrize("change", BAD_SETTINGS)
def test_settings_are_checked(change: dict) -> None:
    with pytest.raises(ValueError, match=next(iter(change))):
        SearchSettings(**change)


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
