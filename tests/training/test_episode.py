"""An episode: it comes back from a checkpoint, and decides what its settings say."""

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
import torch

from gozero.games.game import PLY
from gozero.search.search import RootResult
from tests.training.games import game_of
from training import records, scoring
from training.config import SelfPlaySettings, Stage
from training.episode import Episode

SETTINGS = SelfPlaySettings(games=1, full_share=0.5)
STAGE = Stage(rows=1, sizes={5: 1.0}, full_visits=16, cheap_visits=4)


def after(plies: int, number: int = 0, **changes: float) -> Episode:
    """An episode with so many moves behind it, as far as its schedules can see."""
    episode = Episode.begin(game_of(5), replace(SETTINGS, opening_share=0.0, **changes), (1,), number)
    episode.moves = [25] * plies
    return episode


def uniform_result(episode: Episode, value: float = 0.1) -> RootResult:
    """A search that found every legal move equally good."""
    actions = episode.game.actions
    legal = np.zeros(actions, np.uint8)
    episode.game.legal(episode.state, episode.history, legal)
    prior = (legal / legal.sum()).astype(np.float32)
    best = int(episode.generator.choice(np.flatnonzero(legal)))
    return RootResult(legal.astype(np.int32), np.zeros(actions, np.float32), prior, prior, best, value, 0.0, int(legal.sum()) + 1)


def play_on(episode: Episode, plies: int) -> str | None:
    """Play moves until the game is over or `plies` have been played."""
    ending = scoring.ending(episode.game, episode.state)
    for _ in range(plies):
        if ending is not None:
            break
        episode.plan(STAGE, 99)
        ending = episode.play(episode.move(uniform_result(episode), "puct"))
    return ending


def test_a_game_in_flight_comes_back_from_a_file_and_goes_on_identically(tmp_path: Path) -> None:
    game = game_of(5)
    whole = Episode.begin(game, SETTINGS, (1, 2))
    assert play_on(whole, 9) is None
    torch.save(whole.state_dict(), tmp_path / "game.pt")
    again = Episode.from_state_dict(game, SETTINGS, torch.load(tmp_path / "game.pt", weights_only=True))
    np.testing.assert_array_equal(again.state, whole.state)
    np.testing.assert_array_equal(again.history, whole.history)
    for episode in (whole, again):
        assert play_on(episode, 200) is not None
    assert records.encode(whole.record(1, "capped")) == records.encode(again.record(1, "capped"))


def test_temperatures_fall_by_half_each_board_width() -> None:
    found = [after(plies).plan(STAGE, 99).temperature for plies in (0, 5, 10, 200)]
    assert found == pytest.approx([1.25, 1.175, 1.1375, 1.1])
    assert [after(plies)._temperature() for plies in (0, 5, 200)] == pytest.approx([0.75, 0.45, 0.15], abs=1e-6)


def test_the_first_games_are_played_at_one_temperature_and_the_rest_at_another() -> None:
    found = [
        after(plies, number, temperature=1.0, temperature_end=0.4, temperature_games=10)._temperature()
        for plies in (0, 30)
        for number in (9, 10)
    ]
    assert found == [1.0, 0.4, 1.0, 0.4]


def test_moves_are_drawn_from_the_policy_not_from_forced_visits() -> None:
    episode = after(0, temperature=1.0)
    episode.full = True
    policy = np.zeros(27, np.float32)
    policy[7], visits = 1.0, np.full(27, 3, np.int32)
    result = RootResult(visits, policy, policy, policy, 7, 0.0, 0.0, 81)
    assert {episode.move(result, "puct") for _ in range(30)} == {7}


def test_a_move_that_changes_no_score_is_not_searched() -> None:
    game = game_of(5)
    episode = after(0)
    episode.state = game.from_text("""
        5 . . X O .
        4 X X X O O
        3 . . X O .
        2 X X X . O
        1 . X . O O
          A B C D E
        X to play""")
    episode.moves, episode.state[PLY] = [0] * 16, 16
    episode.decided = scoring.decided_points(game, episode.state)
    mask = episode._mask(99)
    assert mask is not None
    assert set(np.flatnonzero(mask)) == {18, 22, game.pass_action}, "only D2, C1 and the pass are worth a thought"
