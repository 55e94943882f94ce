"""The small copy of a run: a training goes on from it, nothing of the machine is in it, and what cannot be kept changes
nothing.
"""

import errno
import json
import shutil
from pathlib import Path

import pytest
import torch

from tools import keep_run
from training.commands import selfplay
from training.doctor import history
from training.records import records
from training.storage import checkpoint, storage
from training.storage.checkpoint import Snapshot

pytestmark = pytest.mark.usefixtures("one_thread")

SHORT = "--preset tiny --set generation_rows=60 --set stage.1.full_visits=16 --set monitor.strength_every=0 --threads 1".split()


def train(folder: Path, generations: int) -> None:
    assert selfplay.main([*SHORT, "--run", str(folder), "--set", f"generations={generations}"]) == 0


@pytest.fixture(scope="module")
def finished(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A run of two short generations, which names a file of this machine's."""
    folder = tmp_path_factory.mktemp("runs") / "tiny"
    train(folder, 2)
    settings = json.loads((folder / "settings.json").read_text())
    settings["monitor"]["yardstick"] = "/home/somebody/labels.jsonl"
    (folder / "settings.json").write_text(json.dumps(settings))
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
        assert all(torch.equal(tensor, after.learner[name][key]) for key, tensor in before.learner[name].items())
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
    assert keep_run.main([str(finished), str(tmp_path / "kept")]) == 0
    assert snapshot(tmp_path / "kept").playing is None, "without a gate the average plays"


def test_a_training_that_begins_in_the_copy_meanwhile_is_not_replaced(
    finished: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    target = tmp_path / "run"
    assert keep_run.main([str(finished), str(target)]) == 0
    newest = keep_run._newest

    def begin(run: Path, most: float) -> list[Path]:
        (target / history.LOG).touch()
        return newest(run, most)

    monkeypatch.setattr(keep_run, "_newest", begin)
    assert keep_run.main([str(finished), str(target)]) == 2
    assert "exists and is no kept run" in capsys.readouterr().err
    (target / history.LOG).unlink()
    monkeypatch.setattr(keep_run, "_newest", newest)
    with storage.alone(target):
        assert keep_run.main([str(finished), str(target)]) == 2
    assert f"{target} is in use by another training" in capsys.readouterr().err
    assert keep_run.main([str(target), str(tmp_path / "copy")]) == 0, "a copy can be copied"
    assert keep_run.main([str(finished), str(target)]) == 0, "and replaced after it"


def test_nothing_of_the_machine_is_kept(finished: Path, tmp_path: Path) -> None:
    assert keep_run.main([str(finished), str(tmp_path / "run")]) == 0
    assert not [path for path in (tmp_path / "run").rglob("*") if path.is_file() and b"somebody" in path.read_bytes()]
    assert json.loads((tmp_path / "run" / "settings.json").read_text())["threads"] == 0
    assert [records.read(shard).settings["threads"] for shard in (tmp_path / "run" / "records").iterdir()] == [0, 0]
    assert sorted(path.name for path in (tmp_path / "run").iterdir()) == ["checkpoints", "records", "settings.json"]


def test_the_newest_records_are_kept_and_what_was_there_goes(finished: Path, tmp_path: Path) -> None:
    target = tmp_path / "run"
    assert keep_run.main([str(finished), str(target)]) == 0
    (target / "records" / "old.gzr").touch()
    older, newer = sorted((finished / "records").glob("*.gzr"))
    whole = sum(path.stat().st_size for path in target.rglob("*") if path.is_file())
    assert (
        keep_run.main(
            [str(finished), str(target), "--megabytes", str((whole - older.stat().st_size / 2) / storage.MEGABYTE)]
        )
        == 0
    )
    assert [path.name for path in (target / "records").iterdir()] == [newer.name]


def test_a_damaged_checkpoint_is_named_and_the_one_before_it_kept(
    finished: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    run = tmp_path / "copy"
    shutil.copytree(finished, run)
    older, newer = sorted((run / "checkpoints").glob("*.pt"))[-2:]
    newer.write_bytes(newer.read_bytes()[:1000])
    capsys.readouterr()
    assert keep_run.main([str(run), str(tmp_path / "kept")]) == 0
    complaint, kept = capsys.readouterr().out.splitlines()
    assert complaint.startswith(f"cannot read the checkpoint {newer}")
    assert kept.startswith(f"generation {int(older.stem)} ")


def test_a_folder_of_anything_else_is_left_alone(
    finished: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    for name, held in (("editor", ["settings.json", "launch.json"]), ("settings", ["settings.json"])):
        target = tmp_path / name
        target.mkdir()
        for file in held:
            (target / file).write_text("{}")
        assert keep_run.main([str(finished), str(target)]) == 2
        assert f"{target} exists and is no kept run" in capsys.readouterr().err
        assert sorted(path.name for path in target.iterdir()) == sorted(held)


@pytest.mark.parametrize("refused", ["run", "fresh"])
def test_a_folder_that_cannot_be_moved_stays_as_it_was(
    refused: str, finished: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    target = tmp_path / "run"
    assert keep_run.main([str(finished), str(target)]) == 0
    before, rename = sorted(target.rglob("*")), Path.rename

    def move(path: Path, to: Path) -> Path:
        if path.name == refused:
            raise OSError(errno.EBUSY, "Device or resource busy", str(path))
        return rename(path, to)

    monkeypatch.setattr(Path, "rename", move)
    assert keep_run.main([str(finished), str(target)]) == 2
    assert "Device or resource busy" in capsys.readouterr().err
    assert [path for path in sorted(target.rglob("*")) if path.name != storage.LOCK] == before
    assert sorted(tmp_path.iterdir()) == [target]


def test_ctrl_c_while_the_copies_change_places_loses_neither(
    finished: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    target = tmp_path / "run"
    assert keep_run.main([str(finished), str(target)]) == 0
    before, rename = sorted(target.rglob("*")), Path.rename

    def move(path: Path, to: Path) -> Path:
        moved = rename(path, to)
        if path == target:
            raise KeyboardInterrupt
        return moved

    monkeypatch.setattr(Path, "rename", move)
    assert keep_run.main([str(finished), str(target)]) == 130
    assert [path for path in sorted(target.rglob("*")) if path.name != storage.LOCK] == before


def test_a_link_and_the_folder_that_one_is_in_are_replaced(
    finished: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    target, link = tmp_path / "run", tmp_path / "link"
    assert keep_run.main([str(finished), str(target)]) == 0
    link.symlink_to(target)
    for given in (str(link), "."):
        (target / "records" / "old.gzr").touch()
        monkeypatch.chdir(target)
        assert keep_run.main([str(finished), given]) == 0
        assert not (target / "records" / "old.gzr").exists()
    assert link.is_symlink()


def test_a_run_is_not_replaced_by_its_own_copy(finished: Path, capsys: pytest.CaptureFixture[str]) -> None:
    before = sorted(finished.rglob("*"))
    for target in (finished, finished / "records" / "..", finished.parent):
        assert keep_run.main([str(finished), str(target)]) == 2
        assert "it would be lost" in capsys.readouterr().err
    assert sorted(finished.rglob("*")) == before


def test_a_run_is_not_replaced_by_another_ones_copy(finished: Path, tmp_path: Path) -> None:
    kept, other = tmp_path / "kept", tmp_path / "other"
    assert keep_run.main([str(finished), str(kept)]) == 0
    shutil.copytree(finished, other)
    before = sorted(other.rglob("*"))
    assert keep_run.main([str(kept), str(other)]) == 2  # the arguments in the wrong order
    assert sorted(other.rglob("*")) == before


@pytest.mark.parametrize("case", ["no run", "no checkpoint", "no room", "busy", "damaged", "something else there"])
def test_what_cannot_be_kept_is_said_in_one_line_and_changes_nothing(
    case: str, finished: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    run, target, arguments = tmp_path / "copy", tmp_path / "kept", []
    target.mkdir()
    (target / "settings.json").touch()
    (target / "checkpoints").mkdir()
    if case == "something else there":
        (target / "old").touch()
    before = sorted(target.iterdir())
    if case != "no run":
        shutil.copytree(finished, run)
    if case == "no checkpoint":
        shutil.rmtree(run / "checkpoints")
    if case == "damaged":
        (run / "settings.json").write_text("{")
    if case == "no room":
        arguments = ["--megabytes", "0.01"]
    words = {
        "no run": "is no run folder of gozero train; give one",
        "no checkpoint": "holds no checkpoint yet; let the run finish a generation first",
        "no room": "0.01 MB are too few for the network and a shard of records; give more with --megabytes",
        "busy": "is in use by another training",
        "damaged": "settings.json: Expecting property name",
        "something else there": "exists and is no kept run: it would be lost; give a new folder, or one that holds a copy",
    }
    capsys.readouterr()
    if case == "busy":
        with storage.alone(run):
            assert keep_run.main([str(run), str(target)]) == 2
    else:
        assert keep_run.main([str(run), str(target), *arguments]) == 2
    captured = capsys.readouterr()
    assert (captured.out, captured.err.count("\n")) == ("", 1)
    assert words[case] in captured.err
    assert sorted(target.iterdir()) == before


@pytest.mark.parametrize(
    ("content", "message"),
    [("3", "a table of settings"), ("null", "a table of settings"), ('{"game": "foo"}', "no game foo")],
)
def test_settings_that_are_none_are_one_line(
    content: str, message: str, finished: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    folder = tmp_path / "run"
    shutil.copytree(finished, folder)
    (folder / "settings.json").write_text(content)
    capsys.readouterr()
    assert keep_run.main([str(folder), str(tmp_path / "kept")]) == 2
    complaint = capsys.readouterr().err
    assert message in complaint and complaint.count("\n") == 1
    assert not (tmp_path / "kept").exists()
