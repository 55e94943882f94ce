"""Random games in which the kernels of a game and its slow referee must agree at every ply. Go's own, with all that can
be counted in it, are in test_go_oracle.
"""

from __future__ import annotations

import random
from typing import Any

import numpy as np
import pytest

from gozero import games
from gozero.games.game import NOT_OVER
from tests.contract.test_contract import ORACLES, name_of
from tests.rows import Row

PASS_RATE = 0.1
COUNTED = ("course_go", "nogo", "othello")
"""Their referees know owners and score."""
LIMITED = ("course_go", "simple_go")
"""Some of their games reach a limit of plies, and some end before."""
BOARDS: list[tuple[str, dict[str, Any], int, int]] = [
    # settings, games, and games of the long run: ten thousand of each game
    ("tictactoe", {}, 20, 10_000),
    ("connect4", {}, 20, 10_000),
    *[("gomoku", {"size": size, "rules": "freestyle"}, 1, 455) for size in range(5, 16)],
    *[("gomoku", {"size": size, "rules": "exact"}, 1, 455) for size in range(5, 16)],
    *[("othello", {"size": size}, *played) for size, *played in ((4, 100, 5000), (6, 30, 3000), (8, 15, 2000))],
    *[("nogo", {"size": size}, *played) for size, *played in ((2, 10, 10), (3, 60, 3000), (4, 60, 3000))],
    *[("nogo", {"size": size}, *played) for size, *played in ((5, 40, 3000), (7, 10, 800), (9, 3, 190), (13, 1, 10))],
    ("simple_go", {}, 40, 10_000),
    ("course_go", {}, 60, 10_000),
]
IDS = [name_of(board[:2]) for board in BOARDS]


def play_random_game(name: str, settings: dict[str, Any], seed: int) -> Row:
    """A game of random moves, with a pass now and then; in every second one the moves are drawn by `sample`."""
    rng, generator = random.Random(seed), np.array([seed], np.uint64)
    row = Row(games.make(name, **settings))
    naive: Any = ORACLES[name](**settings)
    game = row.game
    while True:
        assert (row.to_play, row.stones()) == (naive.to_play, tuple(naive.board)), f"{row}\n{naive}"
        over = naive.over()
        assert game.outcome(row.state) == (naive.result() if over else NOT_OVER), f"{row}\n{naive}"
        if name in COUNTED:
            assert (row.points(game.owner), game.score(row.state)) == (naive.owner(), naive.score()), f"{row}\n{naive}"
        if over:
            return row
        legal = naive.legal()
        assert row.legal() == legal, f"{row}\n{naive}"
        if seed % 2:
            points = sorted(legal - {game.pass_action})
            passes = not points or (game.pass_action in legal and rng.random() < PASS_RATE)
            action = game.pass_action if passes else rng.choice(points)
        else:
            action = int(game.sample(row.state, row.history, generator))
        row.play(action)
        naive.play(action)


def play(name: str, settings: dict[str, Any], seeds: range) -> None:
    rows = [play_random_game(name, settings, seed) for seed in seeds]
    lengths, most = [len(row.actions) for row in rows], rows[0].game.max_plies
    assert max(lengths) <= most
    assert name not in LIMITED or max(lengths) == most > min(lengths)


@pytest.mark.parametrize(("name", "settings", "played", "_"), BOARDS, ids=IDS)
def test_random_games_agree_with_the_slow_referee(name: str, settings: dict[str, Any], played: int, _: int) -> None:
    play(name, settings, range(played))


@pytest.mark.slow
@pytest.mark.timeout(7200)
@pytest.mark.parametrize(("name", "settings", "_", "played"), BOARDS, ids=IDS)
def test_ten_thousand_random_games_agree_with_the_slow_referee(
    name: str, settings: dict[str, Any], _: int, played: int
) -> None:
    play(name, settings, range(1000, 1000 + played))
