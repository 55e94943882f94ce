"""A pool of games in flight: it comes back from a checkpoint and goes on as if nothing had happened."""

from pathlib import Path

import pytest
import torch

from gozero.evaluators.rollout import RolloutEvaluator
from tests.training.games import game_of
from training import records
from training.config import SelfPlaySettings, Stage
from training.pool import Pool

STAGE = Stage(rows=1, sizes={5: 1.0}, full_visits=32, cheap_visits=8, evaluator="rollouts")
SIX = SelfPlaySettings(games=6)


def pool_of(settings: SelfPlaySettings = SIX, seed: int = 1) -> Pool:
    return Pool(game_of(5), settings, (seed,))


def play(pool: Pool, rows: float, generation: int = 99) -> list[bytes]:
    """The records of a stretch of self-play that begins, as after a checkpoint, with new searches."""
    pool.use(RolloutEvaluator(game_of(5)), STAGE, generation)
    return [records.encode(record) for record in pool.play(rows)]


def test_a_pool_comes_back_from_a_file_and_goes_on_identically(tmp_path: Path) -> None:
    whole = pool_of()
    play(whole, 40)
    torch.save(whole.state_dict(), tmp_path / "pool.pt")
    again = pool_of(seed=7)
    again.load_state_dict(torch.load(tmp_path / "pool.pt", weights_only=True))
    for generation in (100, 101):
        assert play(again, 40, generation) == play(whole, 40, generation)
    assert again.evaluations == whole.evaluations


def test_a_pool_of_another_size_is_refused() -> None:
    state = pool_of().state_dict()
    with pytest.raises(ValueError, match="the pool saved holds 6 games, the settings ask for 4"):
        pool_of(SelfPlaySettings(games=4)).load_state_dict(state)
