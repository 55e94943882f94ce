"""A tree that is kept from move to move."""

from __future__ import annotations

from functools import partial

import numpy as np
import pytest

from gozero.evaluators.rollout import RolloutEvaluator
from gozero.games import coords
from gozero.games.go import go
from gozero.games.position import Position
from gozero.play.engine import search_settings
from gozero.play.player import PlayerSettings, make_player
from gozero.play.searcher import SPARE, Limits
from gozero.search.search import choose
from gozero.search.settings import SearchSettings
from gozero.search.tree import node_bytes
from tests.search.naive import FailingEvaluator, HashEvaluator

GO = go.make(5)


def test_a_search_after_one_that_failed_comes_to_its_end() -> None:
    """Leaves that were under way when an evaluation failed must not be waited for."""
    settings = PlayerSettings(seed=1, search=SearchSettings(leaves=8))
    searcher = make_player("go", (5,), partial(FailingEvaluator, after=4), settings, size=5).searcher
    position, everywhere = Position(GO), np.ones(GO.actions, np.bool_)
    with pytest.raises(MemoryError):
        searcher.search(position, everywhere, Limits(100))
    waves = iter(range(1000))
    result = searcher.search(position, everywhere, Limits(100, should_stop=lambda: next(waves) == 999))
    assert result.root_visits == 100


def test_trees_leave_memory_to_the_rest_of_the_process(monkeypatch: pytest.MonkeyPatch) -> None:
    """Where little is left a library ends the process, as OpenBLAS does."""
    limit, empty, room = 0, np.empty, []

    def limited(shape: int | tuple[int, ...], dtype: type) -> np.ndarray:
        if np.prod(shape, dtype=np.int64) * np.dtype(dtype).itemsize > limit:
            raise MemoryError
        return empty(shape, dtype)

    monkeypatch.setattr("gozero.play.searcher.np.empty", limited)
    for room_there in (2**40, SPARE + 2**28):
        limit = room_there
        player = make_player("go", (5,), HashEvaluator, PlayerSettings(max_memory=2**29), size=5)
        player.load()
        room.append(player.searcher.open(GO).settings.max_nodes * node_bytes(GO))
    assert 2**28 < room[0] < 2**29
    assert 2**27 < room[1] < 2**28


def test_what_a_search_has_proven_to_lose_is_not_played_for_variety() -> None:
    settings = PlayerSettings(seed=0, search=search_settings(3000, "gomoku"))
    player = make_player("gomoku", (5,), RolloutEvaluator, settings, size=5)
    for number, vertex in enumerate(("A3", "A1", "B3", "B1", "C3", "E5", "D3")):  # Black makes five at E3 next
        player.game.play(1 + number % 2, coords.parse_vertex(vertex, 5))
    result = player.searcher.search(player.game.position, player.game.position.legal(), Limits(3000))
    assert result.refuted is not None
    lost = {int(action) for action in np.flatnonzero(result.refuted & (result.visits > 0))}
    drawn = {choose(result, 5.0, np.random.default_rng(seed)) for seed in range(200)}
    assert lost
    assert len(drawn) > 3
    assert not lost & drawn
