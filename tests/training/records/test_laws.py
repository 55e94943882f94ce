"""The rows that the learner is given obey the laws of `tests.training.laws`, and wrong ones are seen."""

import numpy as np
import pytest

from gozero.games import symmetry
from tests.training import laws
from tests.training.games import game_of, random_record
from training.doctor.checkup import stones_of
from training.records.replay import Replay
from training.records.rows import TO_PLAY_PLANE, Batch
from training.settings.config import ReplaySettings


def rows(version: int = 1) -> Batch:
    """Rows of 30 random games."""
    replay = Replay(ReplaySettings(held_out=0.0), game_of, version)
    replay.add(random_record(5, seed) for seed in range(30))
    return replay.sample(256, np.random.default_rng(1))


def test_random_games_obey_the_laws() -> None:
    batch = rows()
    assert set(laws.broken(batch, game_of(5)).values()) == {0.0}
    assert max(laws.symmetry_gaps(batch, game_of(5)).values()) < 1e-5


def test_tactics_that_do_not_turn_with_the_board_are_seen(monkeypatch: pytest.MonkeyPatch) -> None:
    batch = rows(version=2)
    assert batch.tactics is not None
    assert max(laws.symmetry_gaps(batch, game_of(5)).values()) < 1e-5
    turned = laws.transformed
    monkeypatch.setattr(laws, "transformed", lambda *given: turned(*given)._replace(tactics=batch.tactics))
    assert laws.symmetry_gaps(batch, game_of(5))["turn/policy"] > 0.1


def test_laws_that_are_broken() -> None:
    batch = rows()
    assert laws.broken(batch._replace(value=-batch.value), game_of(5))["law/value"] > 0.9
    assert laws.broken(batch._replace(score=batch.score + 1), game_of(5))["law/komi"] == 1
    black = np.where(batch.planes[:, TO_PLAY_PLANE, 0, 0] > 0.5, 1, -1)
    sound = stones_of(batch, game_of(5))
    assert laws.broken(batch._replace(owner=sound * black[:, None]), game_of(5))["law/view"] == 1
    assert laws.broken(batch._replace(policy=np.full_like(batch.policy, 1 / 27)), game_of(5))["law/occupied"] > 0.1


def test_targets_that_do_not_turn_with_the_board_are_seen(monkeypatch: pytest.MonkeyPatch) -> None:
    turn = symmetry.apply_policy
    backwards = lambda policy, size, k, directions: turn(policy, size, symmetry.inverse(k), directions)  # noqa: E731
    monkeypatch.setattr(symmetry, "apply_policy", backwards)
    monkeypatch.setattr(symmetry, "apply_points", lambda values, size, k: values)
    gaps = laws.symmetry_gaps(rows(), game_of(5))
    assert min(gaps["turn/policy"], gaps["turn/reply"], gaps["turn/owner"]) > 0.1
