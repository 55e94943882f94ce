"""The small copy of a run: a training goes on from it, nothing of the machine is in it, and what cannot be kept changes
nothing.
"""

import contextlib
import json
import shutil
from pathlib import Path

import pytest
import torch

from tests.training.refusals import Refused
from tools import keep_run
from training.commands import selfplay
from training.doctor import history
from training.records import records
from training.storage import checkpoint, storage
from training.storage.checkpoint import Snapshot

SHORT = "--preset tiny --set generation_rows=60 --set stage.1.full_visits=16 --threads 1".split()
SHORT += ["--set", "monitor.strength_every=0", "--set", "monitor.report_every=0"]


def train(folder: Path, generations: int) -> None:
    assert selfplay.main([*SHORT, "--run", str(folder), "--set", f"generations={generations}"]) == 0


@pytest.fixture(scope="module")
def finished(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A run of two short generations."""
    folder = tmp_path_factory.mktemp("runs") / "tiny"
    train(folder, 2)
    return folder


def snapshot(folder: Path) -> Snapshot:
    found = checkpoint.latest(folder / "checkpoints")
    assert found is not None
    return found[0]


def test_a_training_goes_on_from_the_copy(finished: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    folder, target = tmp_path / "run", tmp_path / "kept" / "run"
    shutil.copytree(finished, folder)
    (folder / "records" / "mine.gzr").write_bytes(b"no shard of the run")
    assert keep_run.main([str(folder), str(target)]) == 0
    assert not (target / "records" / "mine.gzr").exists()
    before, after = snapshot(finished), snapshot(target)
    assert (
        f"generation {before.progress.generation} and the records 000001 to 000002 are kept in {target}"
        in capsys.readouterr().out
    )
    assert after.progress == before.progress
    assert after.pools == before.pools and any(len(game["moves"]) for game in after.pools[5, 0]["games"])
    assert set(before.learner) - set(after.learner) == {"optimiser"}
    for name in ("net", "ema"):
        assert all(torch.equal(tensor, after.learner[name][key]) for key, tensor in before.learner["ema"].items())
    train(target, 3)
    reports = history.read(target).reports
    assert [report["run/generation"] for report in reports] == [3]
    assert reports[0]["run/rows"] > before.progress.rows
    assert reports[0]["run/window"] > 120, "the rows of the kept records are in the window"


def test_the_network_that_won_the_gate_plays_on(finished: Path, tmp_path: Path) -> None:
    folder = tmp_path / "gated"
    shutil.copytree(finished, folder)
    settings = json.loads((folder / "settings.json").read_text())
    settings["gate"]["games"] = 2
    (folder / "settings.json").write_text(json.dumps(settings))
    before = snapshot(folder)
    assert before.playing is not None
    for tensor in before.playing.values():
        tensor.zero_()
    checkpoint.save(folder / "checkpoints", before, settings, keep=3)
    assert keep_run.main([str(folder), str(tmp_path / "kept")]) == 0
    after = snapshot(tmp_path / "kept")
    assert after.playing is not None
    assert not any(tensor.any() for tensor in after.playing.values())
    assert keep_run.main([str(finished), str(tmp_path / "other")]) == 0
    assert snapshot(tmp_path / "other").playing is None, "without a gate the average plays"


def test_nothing_of_the_machine_is_kept(finished: Path, tmp_path: Path) -> None:
    assert keep_run.main([str(finished), str(tmp_path / "run")]) == 0
    assert json.loads((tmp_path / "run" / "settings.json").read_text())["threads"] == 0
    assert [records.read(shard).settings["threads"] for shard in (tmp_path / "run" / "records").iterdir()] == [0, 0]
    assert sorted(path.name for path in (tmp_path / "run").iterdir()) == ["checkpoints", "records", "settings.json"]


def test_the_newest_records_are_kept(finished: Path, tmp_path: Path) -> None:
    part = tmp_path / "part"
    older, newer = sorted((finished / "records").glob("*.gzr"))
    length = newer.stat().st_size + older.stat().st_size / 2
    assert keep_run.main([str(finished), str(part), "--megabytes", str(length / storage.MEGABYTE)]) == 0
    assert [path.name for path in (part / "records").iterdir()] == [newer.name]


CASES = {
    "no run": "holds no settings.json; is it a run folder?",
    "no checkpoint": "holds no checkpoint yet",
    "no room": "0.0001 MB are too few",
    "busy": "is in use by another gozero command",
    "damaged": "settings.json: Expecting property name",
    "something there": "exists; remove it first",
}


@pytest.mark.parametrize("case", CASES)
def test_what_cannot_be_kept_is_said_in_one_line_and_changes_nothing(
    case: str, finished: Path, tmp_path: Path, refused: Refused
) -> None:
    run, target, megabytes = tmp_path / "copy", tmp_path / "kept", "10"
    if case != "no run":
        shutil.copytree(finished, run)
    if case == "no checkpoint":
        shutil.rmtree(run / "checkpoints")
    if case == "damaged":
        (run / "settings.json").write_text("{")
    if case == "no room":
        megabytes = "0.0001"
    if case == "something there":
        target.mkdir()
    before = sorted(tmp_path.iterdir())
    with storage.alone(run) if case == "busy" else contextlib.nullcontext():
        assert CASES[case] in refused(keep_run.main, [str(run), str(target), "--megabytes", megabytes])
    assert sorted(tmp_path.iterdir()) == before
