"""A tree that is kept from move to move."""

from __future__ import annotations

import numpy as np
import pytest

from gozero.evaluators.base import Evaluation
from gozero.games.go import go
from gozero.games.position import Position
from gozero.play.game_tree import GameTree, Limits
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
    tree = GameTree(Failing(GO), SearchSettings(leaves=8), seed=1)
    position, everywhere = Position(GO), np.ones(GO.actions, np.bool_)
    with pytest.raises(MemoryError):
        tree.search(position, everywhere, Limits(100), lambda: False)
    waves = iter(range(1000))
    result = tree.search(position, everywhere, Limits(100), lambda: next(waves) == 999)
    assert result.root_visits == 100
