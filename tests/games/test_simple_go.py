"""The simplified 5x5 Go: where it ends, that draws exist, and random games against the slow referee."""

from __future__ import annotations

import random
from typing import Any

import pytest

from gozero import games
from gozero.games.game import NOT_OVER
from gozero.games.go import simple_go
from tests.naive.simple_go import NaiveSimpleGo
from tests.rows import Row


def test_two_passes_on_the_empty_board_are_a_draw() -> None:
    row = Row(simple_go.make()).play("pass", "pass")
    assert row.game.outcome(row.state) == 0


def test_one_stone_owns_the_board_and_no_komi_is_given() -> None:
    row = Row(simple_go.make()).play("C3", "pass", "pass")
    assert (row.game.outcome(row.state), row.game.score(row.state)) == (-1, -25)


@pytest.mark.parametrize(
    ("setting", "said"), [({"size": 9}, "board size 9"), ({"rules": "chinese"}, "unknown rules 'chinese'")]
)
def test_other_boards_and_rules_are_refused(setting: dict[str, Any], said: str) -> None:
    with pytest.raises(ValueError, match=said):
        games.make("simple_go", **setting)


def play_random_game(seed: int) -> Row:
    """A random game, with a pass now and then, in which the kernels and the slow referee agree at every ply."""
    rng, row, naive = random.Random(seed), Row(simple_go.make()), NaiveSimpleGo()
    while not naive.over():
        legal = naive.legal()
        assert row.legal() == legal, f"{row}\n{naive}"
        assert row.game.outcome(row.state) == NOT_OVER, f"{row}\n{naive}"
        action = (
            rng.choice(sorted(legal - {naive.pass_action}) or [naive.pass_action])
            if rng.random() < 0.9
            else naive.pass_action
        )
        row.play(action)
        naive.play(action)
    assert row.game.outcome(row.state) == naive.result(), f"{row}\n{naive}"
    assert len(row.actions) <= row.game.max_plies == 100
    return row


def test_random_games_agree_with_the_slow_referee() -> None:
    lengths = {len(play_random_game(seed).actions) for seed in range(40)}
    assert max(lengths) == 100 > min(lengths), "some games reach the limit and some end before"


@pytest.mark.slow
@pytest.mark.timeout(7200)
def test_ten_thousand_random_games_agree_with_the_slow_referee() -> None:
    for seed in range(1000, 11000):
        play_random_game(seed)
