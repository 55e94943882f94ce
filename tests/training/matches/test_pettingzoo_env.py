"""The PettingZoo environments: PettingZoo's own tests, and that both agents see and get what gymnasium's one does."""

from __future__ import annotations

import warnings
from functools import partial

import numpy as np
import pytest

from tests.training.matches.test_gym_env import SIZE, at
from training.matches.gym_env import NAMES

pytest.importorskip("pettingzoo")
from pettingzoo.test import api_test, seed_test

from training.matches import pettingzoo_env

SMALL = {"go": SIZE, "nogo": 4, "othello": 4, "gomoku": SIZE}


@pytest.mark.parametrize("game", NAMES.values())
def test_pettingzoos_own_tests_pass(game: str) -> None:
    make = partial(pettingzoo_env.env, game, size=SMALL.get(game))
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        # PettingZoo expects a dict with a mask of its own games alone; an empty board is all zeros, and so is the mask
        # of the agent that is not to move
        warnings.filterwarnings("ignore", message=".*(all zeros|should be gymnasium.spaces|not a NumPy array)")
        api_test(make(), num_cycles=60)
        seed_test(make, num_cycles=20)


def test_each_agent_sees_the_board_as_its_own_and_only_the_mover_has_moves() -> None:
    env = pettingzoo_env.env("go", size=SIZE, komi=0.5)
    env.reset()
    env.step(at("C3"))
    assert env.agent_selection == "white_0"
    black, white = env.observe("black_0"), env.observe("white_0")
    assert black["observation"][0].argmax() == white["observation"][5].argmax() == at("C3")
    assert not black["action_mask"].any()
    assert white["action_mask"].sum() == SIZE * SIZE  # all points but one, and the pass
    assert env.infos["black_0"]["globals"][0] == -env.infos["white_0"]["globals"][0] == pytest.approx(-0.025)


@pytest.mark.parametrize(
    ("action", "black"), [(at("pass"), -1.0), (at("C3"), 1.0), (SIZE * SIZE + 1, 1.0)], ids=["pass", "illegal", "resign"]
)
def test_both_get_the_result(action: int, black: float) -> None:
    """White passes after Black's pass, which White wins by komi; or plays on a stone; or resigns."""
    env = pettingzoo_env.env("go", size=SIZE, komi=0.5)
    env.reset()
    env.step(at("pass") if black < 0 else at("C3"))
    env.step(action)
    got = {}
    for agent in env.agent_iter():
        _, reward, terminated, truncated, _ = env.last()
        assert (terminated, truncated) == (True, False)
        got[agent] = reward
        env.step(None)
    assert got == {"black_0": black, "white_0": -black}
    env.reset()
    assert env.agents == ["black_0", "white_0"] and env.last()[1:3] == (0.0, False)


def test_it_shows_the_board(capsys: pytest.CaptureFixture[str]) -> None:
    env = pettingzoo_env.env("tictactoe", render_mode="human")
    env.reset()
    env.step(4)
    assert " 2 . X ." in capsys.readouterr().out


def test_a_game_that_there_is_not_is_one_clear_line() -> None:
    with pytest.raises(ValueError, match="unknown game 'chequers'"):
        pettingzoo_env.env("chequers")


def test_masks_are_never_wrong() -> None:
    env, generator = pettingzoo_env.env("othello", size=4), np.random.default_rng(1)
    for _ in range(5):
        env.reset()
        for _ in env.agent_iter():
            seen, _, terminated, _, info = env.last()
            assert not info["illegal"]
            env.step(None if terminated else int(generator.choice(np.flatnonzero(seen["action_mask"]))))
