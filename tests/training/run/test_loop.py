"""The cycle: it runs, saves, goes on where it stopped, and says what is wrong with its folder."""

import json
import shutil
from dataclasses import replace
from pathlib import Path

import pytest
import torch
from tensorboard.backend.event_processing.event_accumulator import EventAccumulator

from gozero.nets import weights
from gozero.system.errors import UserError
from tests import ROOT
from tests.training.games import random_record, write_shard
from training.commands import train
from training.doctor import monitor
from training.learner.learner import Learner
from training.records import records
from training.records.rows import Batch
from training.run import session
from training.settings import config, presets
from training.storage import checkpoint

TINY = presets.path_of("tiny")


QUIET = ("--set", "monitor.report_every=0", "--set", "monitor.strength_every=0")


def run_loop(folder: Path, *arguments: str) -> int:
    return train.main(["--config", str(TINY), "--run", str(folder), "--threads", "1", *QUIET, *arguments])


def tiny(generations: int) -> config.LoopSettings:
    settings = presets.load(TINY)
    return replace(settings, generations=generations, monitor=config.MonitorSettings(report_every=0, strength_every=0))


@pytest.fixture(scope="module")
def finished(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The folder of a tiny run of three generations."""
    folder = tmp_path_factory.mktemp("runs") / "tiny"
    assert train.main(["--config", str(TINY), "--run", str(folder), "--threads", "1", *QUIET[2:]]) == 0
    return folder


def reports(folder: Path) -> list[dict[str, float]]:
    return [json.loads(line) for line in (folder / "log.jsonl").read_text().splitlines()]


def test_a_run_leaves_all_it_promises(finished: Path) -> None:
    assert len(reports(finished)) == 3
    assert sorted(path.name for path in (finished / "records").iterdir()) == ["000001.gzr", "000002.gzr", "000003.gzr"]
    assert json.loads((finished / "settings.json").read_text())["network"] == "b2c16"
    assert list((finished / "tensorboard").glob("events.*")) and (finished / "report.html").exists()
    drawn = EventAccumulator(str(finished / "tensorboard" / "steps")).Reload().Scalars("steps/policy")
    assert [point.step for point in drawn] == list(range(10, int(reports(finished)[-1]["run/steps"]) + 1, 10))
    assert len(drawn) > 3, "more points than generations"
    found = weights.load(finished / "weights.pt")
    last = reports(finished)[-1]
    assert {report["speed/learner_threads"] for report in reports(finished)} == {1}
    assert found.provenance["rows"] == last["run/rows"]
    assert found.provenance["settings"]["generation_rows"] == 120
    assert found.config.name == "b2c16"
    assert found.trained_sizes == (4, 5)


def test_rows_are_the_full_searches_of_the_records(finished: Path) -> None:
    shards = [records.read(path) for path in sorted((finished / "records").iterdir())]
    assert all(shard.corrupt == 0 and shard.settings["network"] == "b2c16" for shard in shards)
    games = [record for shard in shards for record in shard.records]
    last = reports(finished)[-1]
    assert last["run/rows"] == sum(record.rows for record in games)
    assert last["run/games"] == len(games)
    assert last["run/steps"] == pytest.approx(last["run/rows"] * 4 / 32, abs=1)


def test_sizes_follow_their_shares(finished: Path) -> None:
    late = [record for path in sorted((finished / "records").iterdir())[1:] for record in records.read(path).records]
    rows = {size: sum(record.rows for record in late if record.size == size) for size in (4, 5)}
    assert 0.15 < rows[4] / (rows[4] + rows[5]) < 0.45


@pytest.mark.parametrize("limits", [{"games": 5}, {"generations": 1}], ids=["games", "generations"])
def test_a_run_that_was_stopped_in_its_last_learning_takes_the_steps_that_it_owes(
    limits: dict[str, int], tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    settings = replace(tiny(generations=0), **limits)
    run = session.prepare(settings, tmp_path / "run")
    watch = monitor.Monitor(run.folder, run.settings)
    assert session.train(run, watch, "test", lambda: run.trainer.learner.steps > 0) == 0
    assert run.progress.learning and run.trainer.steps_ready() > 0
    assert "stopped, all is saved; the same command continues" in capsys.readouterr().err
    again = session.prepare(settings, tmp_path / "run")
    owed = again.trainer.steps_ready()
    assert session.train(again, monitor.Monitor(run.folder, run.settings), "test", lambda: False) == 0
    said = capsys.readouterr().err
    assert f"continuing in generation 1, with {run.progress.games} games and" in said
    assert f"catching up: {owed:,} training step" in said
    assert "the run has reached its limit" in said
    assert not again.progress.learning and not again.trainer.steps_ready()
    assert again.progress.generation == 2
    assert weights.load(again.folder / "weights.pt").provenance["steps"] == again.trainer.learner.steps > run.trainer.learner.steps
    assert len(reports(again.folder)) == 1


def test_an_unreadable_checkpoint_gives_way_to_the_one_before(finished: Path, tmp_path: Path) -> None:
    folder = tmp_path / "checkpoints"
    folder.mkdir()
    for path in sorted((finished / "checkpoints").iterdir()):
        (folder / path.name).write_bytes(path.read_bytes())
    newest = sorted(folder.iterdir())[-1]
    whole = newest.read_bytes()
    flipped = bytearray(whole)
    flipped[len(whole) // 2] ^= 16
    for damaged in (whole[:1000], flipped):
        newest.write_bytes(damaged)
        snapshot, complaints = checkpoint.latest(folder)
        assert snapshot.progress.generation == 3
        assert len(complaints) == 1
        assert str(newest) in complaints[0]
    for path in folder.iterdir():
        path.write_bytes(b"nothing")
    with pytest.raises(UserError):
        checkpoint.latest(folder)


def test_old_checkpoints_are_removed(tmp_path: Path) -> None:
    for generation in range(1, 8):
        checkpoint.save(tmp_path, checkpoint.Snapshot(checkpoint.Progress(generation=generation), {}), {}, keep=2)
    assert [path.name for path in sorted(tmp_path.iterdir())] == ["000005.pt", "000006.pt", "000007.pt"]


def test_the_run_that_ships_is_opened(tmp_path: Path) -> None:
    """Of its records some games are enough here; shards that are missing count as empty."""
    kept, folder = ROOT / "weights" / "resume", tmp_path / "run"
    saved = max((kept / "checkpoints").iterdir())
    shard = max((kept / "records").iterdir())
    for path in (kept / "settings.json", saved):
        target = folder / path.relative_to(kept)
        target.parent.mkdir(parents=True, exist_ok=True)
        shutil.copy(path, target)
    found = records.read(shard)
    write_shard(folder / "records" / shard.name, games := found.records[:40], found.settings)
    run = session.prepare(config.saved(folder / "settings.json"), folder)
    progress = torch.load(saved, weights_only=True)["progress"]
    assert not run.is_new
    assert (run.progress.generation, run.progress.rows) == (progress["generation"], progress["rows"])
    assert run.progress.rows > 200_000 and run.trainer.learner.steps > 9_000
    assert run.trainer.replay.corrupt == 0
    rows = sum(sum(run.trainer.replay.sizes(held_out=held).values()) for held in (False, True))
    assert rows == sum(game.rows for game in games) > 0


def test_a_run_with_tactics_plays_learns_and_is_opened_again(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    arguments = ("--set", "features=2", "--set", "generations=2")
    assert run_loop(tmp_path / "run", *arguments, "--set", "generations=1") == 0
    assert run_loop(tmp_path / "run", *arguments) == 0
    found = weights.load(tmp_path / "run" / "weights.pt")
    assert (found.feature_version, found.config.tactics) == (2, 3)
    assert found.state_dict["stem.conv.weight"].shape[1] == 14
    capsys.readouterr()
    assert run_loop(tmp_path / "run", "--set", "features=1") == 2
    assert "a run of features 2, not 1" in capsys.readouterr().err


def test_the_learning_rate_falls_at_the_end(tmp_path: Path) -> None:
    run = session.prepare(tiny(generations=10), tmp_path / "run")
    factors = []
    for _ in range(10):
        run.complete()
        factors.append(run.progress.rate)
        run.advance()
    assert factors == pytest.approx([1.0] * 8 + [0.525, 0.05])


def test_rows_pay_for_their_uses_or_for_passes_over_the_window(tmp_path: Path) -> None:
    run = session.prepare(tiny(generations=1), tmp_path / "run")
    run.trainer.replay.add([random_record(5, seed) for seed in range(40)])
    window = sum(run.trainer.replay.sizes().values())
    assert run.trainer.paid_by(64) == 64 * 4 / 32
    passes = replace(run.settings, learner=replace(run.settings.learner, epochs=10.0))
    run.trainer.settings = passes
    assert run.trainer.paid_by(passes.generation_rows) == pytest.approx(10 * window / 32)


def test_a_loss_that_is_no_number_ends_the_run_and_keeps_its_checkpoint(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys
) -> None:
    folder, train = tmp_path / "run", Learner.train

    def spoiled(self: Learner, batch: Batch, rate: float = 1.0) -> dict[str, torch.Tensor]:
        return train(self, batch._replace(score=batch.score * float("nan")) if self.steps == 2 else batch, rate)

    monkeypatch.setattr(Learner, "train", spoiled)
    assert run_loop(folder) == 1
    said = capsys.readouterr().err
    assert "the score loss became nan at step 3" in said and "Traceback" not in said
    found = checkpoint.latest(folder / "checkpoints")
    assert found is not None and not found[1]
    assert all(tensor.isfinite().all() for tensor in found[0].learner["net"].values())
