"""What tic-tac-toe, gomoku and Connect-4 share: positions set up from stones, and what is drawn."""

from __future__ import annotations

import random

import numpy as np
import pytest

from gozero import games
from gozero.games.game import NOT_OVER
from tests.rows import Row, deviation

LINES = ("tictactoe", "gomoku", "connect4")


@pytest.mark.parametrize("name", LINES)
def test_a_position_set_up_goes_on_like_the_one_that_was_played(name: str) -> None:
    for seed in range(10):
        rng = random.Random(seed)
        game = games.make("gomoku", size=5 + seed, rules="exact") if name == "gomoku" else games.make(name)
        row = Row(game)
        while game.outcome(row.state) == NOT_OVER:
            again = Row(game, game.set_up(np.array(row.stones(), np.uint8), row.to_play))
            row.play(action := rng.choice(sorted(row.legal())))
            again.play(action)
            assert (again.stones(), again.legal()) == (row.stones(), row.legal()), f"{row}\n{again}"
            assert game.outcome(again.state) == game.outcome(row.state), f"{row}\n{again}"


@pytest.mark.parametrize("name", LINES)
def test_sample_draws_every_legal_action_alike(name: str) -> None:
    game = games.make(name)
    row = Row(game).play(game.pass_action - 1)
    assert deviation(row, draws=20000) < 2 * len(row.legal())
