"""Where a search stops, and what it refuses."""

import time

import numpy as np
import pytest

from gozero.games.coords import pass_action
from gozero.games.game import PLY
from gozero.search.root import SearchRequest
from gozero.search.search import Search
from gozero.search.settings import SearchSettings
from gozero.system.errors import ChoiceError
from tests.search.naive import HashEvaluator, start
from tests.search.trees import GO5, TICTACTOE, check_tree, same, searched


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


def test_a_depth_bound_does_not_stop_the_search_and_is_the_same_late_in_a_game() -> None:
    """Also where histories have room for more."""
    state, history = start(GO5)
    state[PLY] += 200
    search = Search(GO5, HashEvaluator(GO5), SearchSettings(max_nodes=3000, max_depth=2))
    search.begin(0, SearchRequest(state, np.resize(history, 200 + 1), 3000))
    search.run()
    assert search.root_visits() == 3000
    assert max(len(search.principal_variation(0, action, 9).actions) for action in range(GO5.actions)) == 2


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


@pytest.mark.parametrize(
    ("setting", "value"),
    [
        ("root", "uct"), ("leaves", 0), ("most_leaves", 0), ("c_puct", -1.0), ("dirichlet_weight", 1.5),
        ("root_policy_temperature", 0.0), ("c_uct", -1.0),
    ],
)  # fmt: skip
def test_settings_are_checked(setting: str, value: str | float) -> None:
    with pytest.raises(ChoiceError, match=setting):
        SearchSettings(**{setting: value})
