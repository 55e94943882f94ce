"""Windows, generations and limits that are counted in games, and steps that a generation pays for."""

from dataclasses import replace
from pathlib import Path

import pytest

from tests.training import crashes
from tests.training.games import game_of, random_record
from tests.training.run.test_resume import same
from training.records import records
from training.records.replay import Replay
from training.run import estimate, session
from training.run.run import Run
from training.settings.config import ReplaySettings
from training.storage import checkpoint

PLAYOUTS = {"rows": 1, "sizes": {"4": 1.0}, "evaluator": "rollouts", "full_visits": 4, "cheap_visits": 2}
ONE_SIZE = {"stage": [PLAYOUTS], "checkpoint_rows": 0}


def test_a_window_of_games_holds_the_newest_ones_whole() -> None:
    replay = Replay(ReplaySettings(held_out=0, window_games=3, window=1), game_of)
    for seed in range(6):
        replay.add([random_record(5, seed)])
        kept = [random_record(5, held).rows for held in range(max(0, seed - 2), seed + 1)]
        assert sum(replay.sizes().values()) == sum(kept)
        assert replay.rows[False, 5].serial[-1] == replay.total - 1


def test_games_without_rows_count_as_games() -> None:
    replay = Replay(ReplaySettings(held_out=0, window_games=2), game_of)
    replay.add([random_record(5, 1), replace(random_record(5, 2), targets=())])
    assert sum(replay.sizes().values()) == random_record(5, 1).rows
    replay.add([random_record(5, 3)])
    assert sum(replay.sizes().values()) == random_record(5, 3).rows


def finished(folder: Path, **changes: object) -> Run:
    """A short run that has come to its end."""
    settings = crashes.settings(**{**ONE_SIZE, **changes})
    crashes.go_on(folder, settings)
    return session.prepare(settings, folder)


def test_a_generation_of_games_and_a_limit_in_games(tmp_path: Path) -> None:
    run = finished(tmp_path, generations=0, generation_games=6, games=18, selfplay={"games": 3, "groups": 1})
    shards = [len(records.read(path).records) for path in sorted((tmp_path / "records").iterdir())]
    assert 3 <= len(shards) <= 4 and all(4 <= games <= 8 for games in shards), shards
    assert run.progress.games == sum(shards) >= 18
    assert sum(shards[:-1]) < 18, "it ends with the first generation that reaches the limit"
    assert run.progress.games_backlog[4] == 6 * len(shards) - sum(shards)
    assert run.progress.rows_backlog == {}


def test_a_window_of_games_comes_back_as_it_was(tmp_path: Path) -> None:
    changes = {"generations": 4, "generation_games": 5, "replay": {"window_games": 7, "held_out": 0.0}, "keep": 0}
    run = finished(tmp_path, **changes)
    newest = [r for path in sorted((tmp_path / "records").iterdir()) for r in records.read(path).records][-7:]
    assert sum(run.trainer.replay.sizes().values()) == sum(record.rows for record in newest)
    assert run.trainer.needed_from(run.progress.generation) > 1, "older shards may go"


def test_a_generation_pays_for_its_steps(tmp_path: Path) -> None:
    learner = {"generation_steps": 40, "batch": 8, "warm_up": 0}
    run = finished(tmp_path, generations=2, generation_games=6, learner=learner, selfplay={"games": 3, "groups": 1})
    assert run.trainer.learner.steps == int(40 * run.progress.games / 6)
    assert run.trainer.paid_by(1000, 3) == 20
    run.trainer.settings = replace(run.settings, generation_games=0, generation_rows=60)
    assert run.trainer.paid_by(30, 3) == 20


def test_a_run_in_games_goes_on_after_a_stop_as_if_there_were_none(tmp_path: Path) -> None:
    changes = {**ONE_SIZE, "generation_games": 6, "checkpoint_rows": 10, "replay": {"window_games": 9, "held_out": 0.0}}
    changes |= {"learner": {"batch": 16, "warm_up": 2, "anneal": 0.0}}
    crashes.go_on(tmp_path / "whole", crashes.settings(**changes, generations=3))
    for generations in (1, 2, 3):
        crashes.go_on(tmp_path / "parts", crashes.settings(**changes, generations=generations))
    (whole, _), (parts, _) = (
        checkpoint.latest(tmp_path / name / "checkpoints") or pytest.fail(name) for name in ("whole", "parts")
    )
    assert same(whole.learner, parts.learner) and same(whole.playing, parts.playing)
    whole.progress.hours = parts.progress.hours = 0.0
    assert whole.progress == parts.progress


def test_an_estimate_knows_games() -> None:
    settings = crashes.settings(
        **ONE_SIZE, generation_games=30, games=300, learner={"generation_steps": 100, "batch": 64}
    )
    stage = settings.stage[0]
    cost = estimate.Cost({("rollouts", 4): 1000.0}, {4: 0.01})
    longer = replace(settings, learner=replace(settings.learner, generation_steps=200))
    assert estimate.forecast(longer, stage, cost)[2] < estimate.forecast(settings, stage, cost)[2]


def test_how_far_self_play_may_be_ahead_is_counted_in_games_too(tmp_path: Path) -> None:
    changes = {"mode": "asynchronous", "generations_ahead": 2.0, "generation_rows": 1}
    run = finished(tmp_path, generations=1, generation_games=6, **changes)
    a_generation = run.trainer.paid_by(6 * run.progress.rows / run.progress.games)
    run.trainer.steps_backlog = 2 * a_generation - 1
    assert run.trainer.steps_ready() > 1 and not run.is_ahead()
    run.trainer.steps_backlog = 2 * a_generation + 1
    assert run.is_ahead()
    run.settings = replace(run.settings, generations_ahead=0.0)
    assert not run.is_ahead(), "there is no limit"
