"""What tic-tac-toe, gomoku and Connect-4 share: random games against the slow referee, and positions set up from
stones.
"""

from __future__ import annotations

import random
from collections.abc import Callable

import numpy as np
import pytest

from gozero import games
from gozero.games.game import NOT_OVER, Game
from tests.naive.lines import NaiveLines, naive_connect4, naive_gomoku, naive_tictactoe
from tests.rows import Row, deviation

Pair = tuple[Game, NaiveLines]


def any_gomoku(rng: random.Random) -> Pair:
    size, rules = rng.randint(5, 15), rng.choice(["freestyle", "exact"])
    return games.make("gomoku", size=size, rules=rules), naive_gomoku(size, rules)


PAIRS: dict[str, Callable[[random.Random], Pair]] = {
    "tictactoe": lambda rng: (games.make("tictactoe"), naive_tictactoe()),
    "gomoku": any_gomoku,
    "connect4": lambda rng: (games.make("connect4"), naive_connect4()),
}


def play_random_game(name: str, seed: int) -> None:
    """A game of random legal moves, in every second one drawn by `sample`, in which kernels and referee agree at every
    ply.
    """
    rng, generator = random.Random(seed), np.array([seed], np.uint64)
    game, naive = PAIRS[name](rng)
    row = Row(game)
    while not naive.over():
        assert game.outcome(row.state) == NOT_OVER, f"{row}"
        legal = row.legal()
        assert legal == naive.legal(), f"{row}"
        action = rng.choice(sorted(legal)) if seed % 2 else int(game.sample(row.state, row.history, generator))
        naive.play(action)
        row.play(action)
        assert row.stones() == tuple(naive.board) and row.to_play == naive.to_play, f"{row}\n{naive}"
    assert game.outcome(row.state) == naive.result(), f"{row}"
    if naive.result():
        assert not row.legal(), f"{row}"


@pytest.mark.parametrize("name", PAIRS)
def test_random_games_agree_with_the_slow_referee(name: str) -> None:
    for seed in range(20):
        play_random_game(name, seed)


@pytest.mark.slow
@pytest.mark.timeout(7200)
@pytest.mark.parametrize("name", PAIRS)
def test_ten_thousand_random_games_agree_with_the_slow_referee(name: str) -> None:
    for seed in range(1000, 11000):
        play_random_game(name, seed)


@pytest.mark.parametrize("name", PAIRS)
def test_a_position_set_up_goes_on_like_the_one_that_was_played(name: str) -> None:
    for seed in range(10):
        rng = random.Random(seed)
        game, _ = PAIRS[name](rng)
        row = Row(game)
        while game.outcome(row.state) == NOT_OVER:
            again = Row(game, game.set_up(np.array(row.stones(), np.uint8), row.to_play))
            row.play(action := rng.choice(sorted(row.legal())))
            again.play(action)
            assert (again.stones(), again.legal()) == (row.stones(), row.legal()), f"{row}\n{again}"
            assert game.outcome(again.state) == game.outcome(row.state), f"{row}\n{again}"


@pytest.mark.parametrize("name", PAIRS)
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
