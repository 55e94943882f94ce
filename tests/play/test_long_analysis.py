"""An analysis that goes on for long: as fast at its end as at its beginning, and of one mind with a larger tree where
memory ends.
"""

import time

import numpy as np
import pytest

from gozero import games
from gozero.evaluators.factory import Evaluators
from gozero.evaluators.rollout import RolloutEvaluator
from gozero.games.game import BLACK
from gozero.play.engine import find_weights, search_settings
from gozero.play.player import PlayerSettings, make_player
from gozero.play.searcher import Analysis, Limits, Observer, never
from gozero.search.root import SearchRequest
from gozero.search.search import Search
from gozero.search.settings import SearchSettings
from gozero.search.tree import node_bytes
from tests.rows import board

SIZE = 9
SECONDS, STRETCH = 60.0, 10.0
"""Of the processor, not of the clock: other programs that work meanwhile change nothing."""
ATARI = ".XO.X/XXOXX/OOOXX/XXXX./.X.XX"  # two groups in atari: who takes first has won


def analysed(memory: int | None, seconds: float) -> list[tuple[float, Analysis]]:
    """(processor seconds, look) of an analysis of the empty board by the shipped network, and the last look at its end."""
    evaluators = Evaluators(find_weights(None, "go")[0], threads=1)
    settings = PlayerSettings(seed=1, search=search_settings(None, "go"), max_memory=memory)
    player = make_player("go", [SIZE], evaluators.open, settings, size=SIZE)
    player.load()
    begun, looks = time.process_time(), list[tuple[float, Analysis]]()
    observer = Observer(lambda look: looks.append((time.process_time() - begun, look)), interval=0.5)
    player.analyse(BLACK, Limits(None, should_stop=lambda: time.process_time() - begun >= seconds), observer)
    return looks


@pytest.mark.slow
@pytest.mark.timeout(1800)
def test_an_analysis_is_as_fast_after_a_minute_as_at_its_beginning() -> None:
    looks = analysed(None, SECONDS)
    times, visits = np.array([at for at, _ in looks]), np.array([look.visits for _, look in looks])
    first, second, third = (float(np.interp(at, times, visits)) for at in (STRETCH, times[-1] - STRETCH, times[-1]))
    assert 0.75 <= (third - second) / first <= 1.25
    for _, look in looks:
        assert sum(move.visits for move in look.moves) == look.visits - 1
        assert all(tuple(sorted(move.line_visits, reverse=True)) == move.line_visits for move in look.moves)


def best_in(nodes: int) -> int:
    """The best move of a search in a tree of so many nodes and is asked for as many visits as it can get."""
    row = board(ATARI, komi=8.5)
    search = Search(row.game, RolloutEvaluator(row.game), SearchSettings(max_nodes=nodes))
    search.begin(0, SearchRequest(row.state, row.history, 10**6))
    search.run(stop=never)
    result = search.result()
    assert search.is_full() and search.forest.trees[0]["node_count"] == nodes
    return result.best


def test_the_best_move_where_memory_ends_is_that_of_a_larger_tree() -> None:
    assert best_in(400) == best_in(4000)


@pytest.mark.slow
@pytest.mark.timeout(1800)
def test_the_network_s_best_move_where_memory_ends_is_that_of_a_larger_tree() -> None:
    node = node_bytes(games.make("go", size=SIZE))
    small, large = (analysed(nodes * node * 16 // 15, 10 * SECONDS)[-1][1] for nodes in (2_000, 20_000))
    assert small.visits == 2_000 and large.visits == 20_000
    assert small.moves[0].action == large.moves[0].action
