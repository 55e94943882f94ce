"""What tic-tac-toe, gomoku and Connect-4 share: positions set up from stones, and what is drawn and refused."""

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


@pytest.mark.parametrize(
    ("stones", "message"),
    [
        ("XXX/.../...", "3 black and 0 white stones"),
        ("O.O/.O./..X", "1 black and 3 white stones"),
        ("XXX/OO./...", "the side to move has made a line"),
        ("XXX/OOO/...", "the side to move has made a line"),
    ],
)
def test_stones_that_cannot_stand_are_refused(stones: str, message: str) -> None:
    with pytest.raises(ValueError, match=message):
        games.make("tictactoe").from_text("X to play\n" + stones.replace("/", "\n"))


@pytest.mark.parametrize(
    ("name", "settings", "message"),
    [
        ("tictactoe", {"size": 4}, "board size 4 is not supported: tic-tac-toe has only 3"),
        ("gomoku", {"size": 4}, "board size 4 is not supported: gomoku has 5 to 15"),
        ("gomoku", {"size": 16}, "board size 16 is not supported"),
        ("gomoku", {"rules": "renju"}, "unknown rules 'renju': expected one of freestyle, exact"),
        ("connect4", {"size": 8}, "board size 8 is not supported: Connect-4 has only 7"),
        ("connect4", {"rules": "popout"}, "connect4 has no setting 'rules'"),
    ],
)
def test_sizes_and_rules_that_are_not_supported_are_refused(
    name: str, settings: dict[str, int | str], message: str
) -> None:
    with pytest.raises(ValueError, match=message):
        games.make(name, **settings)
