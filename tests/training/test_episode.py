"""An episode: it comes back from a checkpoint, and decides what its settings say."""

from pathlib import Path

import numpy as np
import torch

from gozero.search.search import RootResult
from tests.training.games import game_of
from training import records, scoring
from training.config import SelfPlaySettings, Stage
from training.episode import Episode

SETTINGS = SelfPlaySettings(games=1, full_share=0.5)
STAGE = Stage(rows=1, sizes={5: 1.0}, full_visits=16, cheap_visits=4)


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
