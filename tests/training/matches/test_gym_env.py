"""The gymnasium environments: gymnasium's own checker, what is seen and rewarded, opponents, and what goes wrong."""

from __future__ import annotations

import re
import warnings
from pathlib import Path

import numpy as np
import pytest

from gozero import games
from gozero.games import coords
from gozero.games.game import BLACK, WHITE
from gozero.games.position import Position
from gozero.nets import features, model, weights
from tests import ROOT
from tests.training.refusals import one_line
from training.matches.players import PlayerError

gymnasium = pytest.importorskip("gymnasium")
from gymnasium.utils.env_checker import check_env  # noqa: E402

import training.matches.gym_env  # noqa: E402 - registers the environments

SIZE = 5
STEPS = 20_000  # of learning: 25 s of a core


def make(**settings):
    return gymnasium.make("gozero/Go-v0", **{"size": SIZE, **settings})


every_game = pytest.mark.parametrize("name", training.matches.gym_env.NAMES)


def at(vertex: str) -> int:
    return coords.parse_vertex(vertex, SIZE)


@pytest.mark.parametrize(
    ("name", "settings"),
    [
        *((name, {"opponent": opponent}) for name in training.matches.gym_env.NAMES for opponent in ("random", None)),
        ("Go", {"size": SIZE, "colour": "random", "render_mode": "ansi"}),
        ("Go", {"opponent": "uct:4", "size": 3}),
    ],
)
def test_gymnasiums_checker_has_nothing_to_say(name: str, settings: dict) -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        check_env(gymnasium.make(f"gozero/{name}-v0", **settings).unwrapped)


@pytest.mark.parametrize("seconds", [0, float("inf"), float("nan")])
def test_a_move_has_a_time(seconds: float) -> None:
    with pytest.raises(ValueError, match=r"move_seconds .*: expected above 0, and at most 1,000,000"):
        make(move_seconds=seconds)


def test_every_game_is_an_environment_and_in_the_documentation() -> None:
    text = (ROOT / "docs" / "gym.md").read_text(encoding="utf-8")
    assert sorted(training.matches.gym_env.NAMES.values()) == sorted(games.GAMES)
    assert all(f"`gozero/{name}-v0`" in text for name in training.matches.gym_env.NAMES)


@every_game
def test_every_game_is_played_to_its_end(name: str) -> None:
    """Alone, with random moves: what is seen fits the board, and the last reward is the outcome."""
    env = gymnasium.make(f"gozero/{name}-v0", opponent=None)
    game = env.unwrapped.game
    env.action_space.seed(3)
    planes, info = env.reset(seed=2)
    terminated = False
    while not terminated:
        assert planes.shape == (len(features.layout(game.name).planes), *game.shape)
        assert info["globals"].shape == (len(features.layout(game.name).globals),)
        assert info["action_mask"].shape == (game.actions,)
        planes, reward, terminated, truncated, info = env.step(env.action_space.sample(info["action_mask"]))
        assert not truncated and not info["illegal"]
    position = env.unwrapped._position
    assert reward == position.outcome() * (1 if position.moves[-1].colour == position.to_play else -1)
    assert info["score"] == (position.score() if game.score else 0.0)


def test_the_examples_of_the_documentation_run(capsys: pytest.CaptureFixture[str]) -> None:
    text = (ROOT / "docs" / "gym.md").read_text(encoding="utf-8")
    one, two = re.findall(r"```python\n(.*?)```", text, re.DOTALL)
    assert one.count("\n") <= 10
    exec(one, {})
    assert "reward" in capsys.readouterr().out
    names: dict = {}
    exec(two, names)
    assert names["env"].agents == []


def test_the_agent_sees_what_features_encode_of_the_position() -> None:
    env, position = make(opponent=None, komi=0.5), Position(games.make("go", size=SIZE, komi=0.5))
    with pytest.raises(gymnasium.error.ResetNeeded):
        env.unwrapped.action_masks()
    planes, info = env.reset(seed=1)
    for vertex in ("C3", "C4", "pass", "B2", None):
        expected, numbers = features.encode(position.game, position.state[None])
        np.testing.assert_array_equal(planes, expected[0])
        np.testing.assert_array_equal(info["globals"], numbers[0])
        np.testing.assert_array_equal(info["action_mask"], position.legal())
        np.testing.assert_array_equal(masks := env.unwrapped.action_masks(), position.legal())
        assert masks.dtype == bool
        assert info["colour"] == position.to_play
        if vertex is not None:
            position.play(at(vertex))
            planes, reward, terminated, truncated, info = env.step(at(vertex))
            assert (reward, terminated, truncated) == (0, False, False)


@pytest.mark.parametrize("colour", ["black", "white"])
def test_against_an_opponent_the_reward_is_the_agents(colour: str, toy: str) -> None:
    env = make(opponent=toy, colour=colour, komi=0.5)
    _, info = env.reset()
    assert info["colour"] == {"black": BLACK, "white": WHITE}[colour]
    assert info["moves"] == (colour == "white")
    _, reward, terminated, _, info = env.step(at("pass"))
    assert (terminated, reward) == (True, -1.0 if colour == "black" else 1.0)
    assert info["moves"] == 2
    env.close()


def test_the_agents_colour_may_be_drawn() -> None:
    env = make(colour="random")
    assert {env.reset(seed=seed)[1]["colour"] for seed in range(8)} == {BLACK, WHITE}


def test_an_illegal_action_loses_at_once_and_resigning_too() -> None:
    for action, illegal in ((at("C3"), True), (SIZE * SIZE + 1, False)):
        env = make(opponent=None)
        env.reset()
        env.step(at("C3"))
        _, reward, terminated, truncated, info = env.step(action)
        assert not info["action_mask"].any()
        assert (reward, terminated, truncated, info["illegal"]) == (-1.0, True, False, illegal)
        with pytest.raises(gymnasium.error.ResetNeeded, match="call reset"):
            env.unwrapped.step(at("A1"))
        assert env.reset()[1]["illegal"] is False


@pytest.mark.parametrize("opponent", ["random", "uct:6", "puct-rollout:20"])
def test_the_same_seed_gives_the_same_game(opponent: str) -> None:
    def game(env, seed: int) -> list:
        env.action_space.seed(5)
        planes, info = env.reset(seed=seed)
        seen = [planes]
        for _ in range(5):
            planes, _, terminated, _, info = env.step(env.action_space.sample(info["action_mask"]))
            seen.append(planes)
            if terminated:
                break
        return seen

    one, other = make(opponent=opponent), make(opponent=opponent)
    first = game(one, 7)
    for again in (game(one, 7), game(other, 7)):
        assert len(first) == len(again)
        assert all(np.array_equal(a, b) for a, b in zip(first, again, strict=True))
    if opponent == "random":
        assert not all(np.array_equal(a, b) for a, b in zip(first, game(one, 8), strict=False))


@pytest.mark.slow
def test_maskable_ppo_learns_tic_tac_toe() -> None:
    """sb3-contrib's own loop, then 200 games against random moves, which win 87 and lose 87 against themselves."""
    sb3_contrib = pytest.importorskip("sb3_contrib")
    env = gymnasium.make("gozero/TicTacToe-v0", colour="random")
    agent = sb3_contrib.MaskablePPO("MlpPolicy", env, seed=1, device="cpu")
    agent.learn(STEPS)
    won = lost = 0
    for seed in range(200):
        (seen, info), terminated = env.reset(seed=seed), False
        while not terminated:
            action, _ = agent.predict(seen, action_masks=info["action_mask"], deterministic=True)
            seen, reward, terminated, _, info = env.step(action)
        won, lost = won + (reward > 0), lost + (reward < 0)
    assert not info["illegal"]
    assert won >= 150 and lost <= 40


@pytest.mark.pachi
def test_pachi_answers_and_takes_what_is_dead() -> None:
    env = make(opponent="pachi:500", komi=0.5, colour="white")
    _, info = env.reset(seed=1)
    assert info["moves"] == 1
    for _ in range(30):
        _, reward, terminated, truncated, info = env.step(at("pass"))
        assert not truncated
        if terminated:
            break
    assert (reward, terminated) == (-1.0, True)
    env.close()


def test_a_network_answers(tmp_path: Path) -> None:
    config = model.config("b1c8")
    weights.save(tmp_path / "tiny.pt", model.build(config, 1), config, size=SIZE)
    env = make(opponent=f"weights:{tmp_path / 'tiny.pt'}:2")
    env.reset(seed=1)
    _, _, _, truncated, info = env.step(at("C3"))
    assert (info["moves"], truncated) == (2, False)
    env.close()


def test_an_opponent_that_resigns_has_lost(toy: str) -> None:
    env = make(opponent=f"{toy} resign")
    env.reset()
    _, reward, terminated, _, _ = env.step(at("C3"))
    assert (reward, terminated) == (1.0, True)
    env.close()


@pytest.mark.parametrize(
    ("answer", "message"), [("dies", "ended without answering"), ("C3", "the opponent, Toy: C3 is illegal for White")]
)
def test_an_opponent_that_fails_truncates_the_episode(toy: str, answer: str, message: str) -> None:
    env = make(opponent=f"{toy} {answer}")
    env.reset()
    _, reward, terminated, truncated, info = env.step(at("C3"))
    assert (reward, terminated, truncated) == (0.0, False, True)
    assert message in info["fault"]
    env.close()


def test_a_closed_environment_can_be_reset_and_has_its_opponent_again(toy: str) -> None:
    env = make(opponent=toy).unwrapped
    env.reset()
    env.close()
    with pytest.raises(gymnasium.error.ResetNeeded, match="call reset"):
        env.step(at("C3"))
    env.reset()
    _, _, _, _, info = env.step(at("C3"))
    assert (info["moves"], info["colour"]) == (2, BLACK), "the opponent has not answered"
    env.close()


def test_an_opponent_that_cannot_begin_is_one_clear_line(toy: str) -> None:
    env = make(opponent=f"{toy} dies", colour="white")
    with pytest.raises(gymnasium.error.Error, match="ended without answering"):
        env.reset()
    env.close()


def test_the_opponents_process_ends_with_the_environment(toy: str) -> None:
    env = make(opponent=toy)
    env.reset()
    engine = env.unwrapped._opponent._engines[0]
    assert engine.alive
    env.close()
    assert not engine.alive
    env.close()


def test_it_shows_the_board(capsys: pytest.CaptureFixture[str]) -> None:
    text = make(opponent=None, render_mode="ansi")
    text.reset()
    text.step(at("C3"))
    assert text.render() == str(text.unwrapped._position)
    human = make(opponent=None, render_mode="human")
    human.reset()
    human.step(at("A5"))
    assert " 5 X . . . ." in capsys.readouterr().out


def test_it_runs_in_vectors() -> None:
    envs = gymnasium.make_vec("gozero/Go-v0", num_envs=3, vectorization_mode="sync", size=SIZE, colour="random")
    planes, info = envs.reset(seed=1)
    assert planes.shape == (3, features.PLANES, SIZE, SIZE)
    for _ in range(40):
        actions = np.array([np.flatnonzero(mask)[0] for mask in info["action_mask"]])
        planes, _, _, _, info = envs.step(actions)
        assert info["action_mask"].shape == (3, SIZE * SIZE + 2)
    envs.close()


@pytest.mark.parametrize(
    ("settings", "kind", "message"),
    [
        ({"size": 25}, ValueError, "board size 25 is not supported"),
        ({"colour": "green"}, ValueError, "unknown colour 'green': expected black, white or random"),
        ({"rules": "house"}, ValueError, "unknown rules 'house'"),
        ({"rules": "japanese"}, ValueError, "rules japanese: here nobody agrees about dead stones"),
        ({"game": "othello", "size": 7}, ValueError, "board size 7 is not supported"),
        ({"game": "nogo", "rules": "chinese"}, ValueError, "nogo has no setting 'rules'"),
        ({"game": "nogo", "komi": 7.5}, ValueError, "nogo has no setting 'komi'"),
        ({"komi": float("nan")}, ValueError, "komi nan: expected -1000 to 1000"),
        ({"komi": 1e9}, ValueError, "komi 1e+09: expected -1000 to 1000"),
        ({"game": "chequers"}, ValueError, "unknown game 'chequers'"),
        ({"opponent": "nobody"}, PlayerError, "no player is called 'nobody'"),
        ({"opponent": "pachi:499"}, PlayerError, "Pachi needs 500 playouts a move or more"),
        ({"game": "nogo", "opponent": "pachi:500"}, PlayerError, "pachi:500 plays Go only, not nogo"),
    ],
)
def test_a_bad_setting_is_one_clear_line(settings: dict, kind: type[Exception], message: str) -> None:
    with one_line(kind, message):
        training.matches.gym_env.BoardEnv(**settings)
