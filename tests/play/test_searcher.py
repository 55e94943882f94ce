"""A tree that is kept from move to move."""

from __future__ import annotations

import numpy as np
import pytest

from gozero.evaluators.base import Evaluation
from gozero.games.go import go
from gozero.games.position import Position
from gozero.play.player import PlayerSettings, make_player
from gozero.play.searcher import Limits
from gozero.search.settings import SearchSettings
from tests.search.naive import HashEvaluator

GO = go.make(5)


class Failing(HashEvaluator):
    """Has no memory for its fifth batch."""

    def evaluate(self, states: np.ndarray) -> Evaluation:
        if len(self.batches) == 4:
            self.batches.append(len(states))
            raise MemoryError
        return super().evaluate(states)


def test_a_search_after_one_that_failed_comes_to_its_end() -> None:
    """Leaves that were under way when an evaluation failed must not be waited for."""
    settings = PlayerSettings(seed=1, search=SearchSettings(leaves=8))
    searcher = make_player("go", (5,), Failing, settings, size=5).searcher
    position, everywhere = Position(GO), np.ones(GO.actions, np.bool_)
    with pytest.raises(MemoryError):
        searcher.search(position, everywhere, Limits(100))
    waves = iter(range(1000))
    result = searcher.search(position, everywhere, Limits(100, should_stop=lambda: next(waves) == 999))
    assert result.root_visits == 100
