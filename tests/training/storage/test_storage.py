"""What happens to a run's files when the disk is full, a process was killed, or they grow too large."""

import errno
import json
import os
import shutil
import subprocess
import sys
import zlib
from dataclasses import replace
from pathlib import Path

import pytest
import torch

from gozero.system.errors import UserError
from tests import ROOT
from tests.training import crashes
from tests.training.games import random_record, write_shard
from training.commands import train
from training.doctor import history, monitor
from training.records import records
from training.records.replay import window_rows
from training.run import session
from training.settings import config, presets
from training.settings.config import MonitorSettings
from training.storage import checkpoint, storage
from training.storage.checkpoint import Progress, Snapshot
from training.storage.storage import StorageError

TINY = presets.path_of("tiny")


SAVES_TOO_MUCH = """
import resource, sys
from pathlib import Path
import torch
from training.storage import checkpoint
from training.storage.checkpoint import Progress, Snapshot
from training.storage.storage import StorageError
_, hard = resource.getrlimit(resource.RLIMIT_FSIZE)
resource.setrlimit(resource.RLIMIT_FSIZE, (20_000, hard))
try:
    checkpoint.save(Path(sys.argv[1]), Snapshot(Progress(generation=2), {"net": torch.full((100_000,), 7.0)}), {}, keep=3)
except StorageError as error:
    print(error)
"""
"""A process of its own, which may let no file grow beyond 20 kB: a limit in this one would be met by the log of the
tests.
"""


def snapshot(generation: int, numbers: int) -> Snapshot:
    return Snapshot(Progress(generation=generation), {"net": torch.full((numbers,), 7.0)})


def shards(folder: Path, sizes: dict[int, int]) -> None:
    for generation, size in sizes.items():
        path = storage.shard(folder, generation)
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(b"x" * size)


def test_a_checkpoint_that_does_not_fit_leaves_the_one_before(tmp_path: Path) -> None:
    checkpoint.save(tmp_path, snapshot(1, 10), {}, keep=3)
    command = [sys.executable, "-c", SAVES_TOO_MUCH, str(tmp_path)]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, timeout=120, check=True)
    (line,) = done.stdout.splitlines()
    assert str(tmp_path / "000002.pt") in line
    assert "File too large" in line
    assert [path.name for path in tmp_path.iterdir()] == ["000001.pt"], "nothing half-written stays"
    found, complaints = checkpoint.latest(tmp_path) or pytest.fail("no checkpoint")
    assert found.progress.generation == 1
    assert not complaints


def test_a_checkpoint_that_the_system_refuses_to_read_is_not_passed_over(tmp_path: Path) -> None:
    checkpoint.save(tmp_path, snapshot(1, 10), {}, keep=3)
    (tmp_path / "000002.pt").mkdir()  # root may read the files of all users, but no folder
    with pytest.raises(UserError, match=r"000002\.pt: Is a directory; make it readable, or move it away"):
        checkpoint.latest(tmp_path)


def test_a_checkpoint_whose_index_points_before_it_is_passed_over(tmp_path: Path) -> None:
    for generation in (1, 2):
        checkpoint.save(tmp_path, snapshot(generation, 10), {}, keep=3)
    newest = tmp_path / "000002.pt"
    whole = newest.read_bytes()
    newest.write_bytes(whole[:-50] + b"\xff\xff" + whole[-48:])  # where the index begins: a file cannot be read there
    found, complaints = checkpoint.latest(tmp_path) or pytest.fail("no checkpoint")
    assert (found.progress.generation, len(complaints)) == (1, 1)


def test_games_in_flight_come_back_as_they_were(tmp_path: Path) -> None:
    game = {"komi": 9.5, "shares": [0.1 + 0.2, 1 / 3], "conceded": None, "full": True, "generator": "{}"}
    pool = {"seed": [1, 7], "games": [game]}
    pools: dict = {(7, 0): pool, (7, 1): checkpoint.compress(pool)}  # the second as workers send it
    checkpoint.save(tmp_path, replace(snapshot(1, 10), pools=pools), {}, keep=3)
    found, _ = checkpoint.latest(tmp_path) or pytest.fail("no checkpoint")
    assert found.pools == {(7, 0): pool, (7, 1): pool}


@pytest.mark.parametrize("reason", ["can't allocate memory", "not enough memory"])
def test_a_lack_of_memory_is_no_damage(reason: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def full(*arguments: object, **named: object) -> None:
        raise RuntimeError(f"[enforce fail at alloc_cpu.cpp:127] err == 0. DefaultCPUAllocator: {reason}: you tried to")

    for generation in (1, 2):
        checkpoint.save(tmp_path, snapshot(generation, 10), {}, keep=3)
    monkeypatch.setattr(torch, "load", full)
    with pytest.raises(MemoryError, match=reason):
        checkpoint.latest(tmp_path)


def test_nothing_in_a_checkpoint_is_executed(tmp_path: Path) -> None:
    checkpoint.save(tmp_path, snapshot(1, 10), {}, keep=3)
    saved = torch.load(tmp_path / "000001.pt", weights_only=True)
    harmful = torch.frombuffer(bytearray(zlib.compress(b"cos\nsystem\n(Vtrue\ntR.")), dtype=torch.uint8)
    for number, harm in ((2, {"pools": harmful}), (3, {"learner": tmp_path})):  # to load a path calls its class
        torch.save(saved | harm, tmp_path / f"00000{number}.pt")
    found, complaints = checkpoint.latest(tmp_path) or pytest.fail("no checkpoint")
    assert found.progress.generation == 1
    assert "000003.pt" in complaints[0] and "000002.pt" in complaints[1]


@pytest.mark.parametrize(
    ("code", "remedy"),
    [(errno.ENOSPC, "make room"), (errno.EIO, "repair the disk"), (errno.EACCES, "is whole: allow gozero to write")],
)
def test_a_failing_disk_is_a_storage_error_and_other_errors_are_not(code: int, remedy: str, tmp_path: Path) -> None:
    with pytest.raises(StorageError, match=f"{os.strerror(code)}.*{remedy}"), storage.writing(tmp_path):
        raise OSError(code, os.strerror(code))
    with pytest.raises(StorageError, match=r"events\.out"), storage.writing(tmp_path):
        raise OSError(code, os.strerror(code), b"events.out")  # TensorBoard's names are bytes
    with pytest.raises(StorageError, match=r"cannot write \S+copied\.gzr"), storage.writing(tmp_path):
        raise OSError(code, os.strerror(code), "original.gzr", None, "copied.gzr")
    with pytest.raises(RuntimeError, match="shapes"), storage.writing(tmp_path):
        raise RuntimeError("shapes do not fit")


def test_what_a_checkpoint_counts_on_is_durable(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    synced: set[int] = set()
    monkeypatch.setattr(os, "fsync", lambda descriptor: synced.add(os.fstat(descriptor).st_ino))
    shards(tmp_path, {1: 100})
    assert storage.length(storage.shard(tmp_path, 1)) == 100
    checkpoint.save(tmp_path / "saved", snapshot(1, 10), {}, keep=3)
    places = (storage.shard(tmp_path, 1), tmp_path / "saved", tmp_path / "saved/000001.pt")
    assert synced == {place.stat().st_ino for place in places}


def test_the_newest_checkpoint_stays_where_a_later_one_is_damaged(tmp_path: Path) -> None:
    for generation in (7, 8):
        checkpoint.save(tmp_path, snapshot(generation, 10), {}, keep=3)
    (tmp_path / "000010.pt").write_bytes(b"damaged")
    checkpoint.save(tmp_path, snapshot(9, 10), {}, keep=0)
    assert sorted(path.name for path in tmp_path.iterdir()) == ["000009.pt", "000010.pt"]


def test_copies_beside_the_checkpoints_are_the_users(tmp_path: Path) -> None:
    mine = ("000002_old.pt", "best-so-far.pt", "²".zfill(6) + ".pt")
    checkpoint.save(tmp_path, snapshot(2, 10), {}, keep=0)
    for name in mine:
        shutil.copy(tmp_path / "000002.pt", tmp_path / name)
    for generation in (999_999, 1_000_000):
        checkpoint.save(tmp_path, snapshot(generation, 10), {}, keep=0)
    assert sorted(path.name for path in tmp_path.iterdir()) == sorted([*mine, "1000000.pt"])
    found = checkpoint.latest(tmp_path)
    assert found is not None and found[0].progress.generation == 1_000_000 and not found[1]
    (tmp_path / "1000000.pt").unlink()
    assert checkpoint.latest(tmp_path) is None and not storage.holds_run(tmp_path)


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="needs a file that is always full")
def test_files_that_could_not_be_written_are_closed_in_silence(tmp_path: Path) -> None:
    """Their buffers hold what is lost; the error of the write is the one to show."""
    writer = records.Writer(tmp_path / "000001.gzr", {})
    watch = monitor.Monitor(tmp_path, config.LoopSettings(network="b2c16", monitor=MonitorSettings(report_every=0)))
    with Path("/dev/full").open("ab") as shard, Path("/dev/full").open("a") as log:
        writer._file, watch._log = shard, log
        with pytest.raises(OSError, match="No space left on device"):
            writer.append(random_record(5, 1))
        with pytest.raises(StorageError, match="No space left on device"):
            watch.match({"gate/share": 0.5})
        writer.close()
        watch.close(lambda: False)
        assert shard.closed and log.closed


@pytest.mark.parametrize("owner, name", [(records.Writer, "append"), (torch, "save")])
def test_a_full_disk_ends_the_run_in_one_line_and_it_goes_on_when_there_is_room(
    owner: object, name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    real, calls = getattr(owner, name), 0

    def failing(*arguments: object, **named: object) -> object:
        nonlocal calls
        calls += 1
        if calls == 6:
            raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))
        return real(*arguments, **named)

    monkeypatch.setattr(monitor, "Monitor", crashes.Watch)
    folder = tmp_path / "run"
    config = tmp_path / "tiny.toml"
    config.write_text(
        TINY.read_text().replace("generations = 3", "generations = 2\ncheckpoint_rows = 40").replace("= 120", "= 60")
    )
    command = ["--config", str(config), "--run", str(folder), "--threads", "1"]
    monkeypatch.setattr(owner, name, failing)
    assert train.main(command) == 1
    last = capsys.readouterr().err.splitlines()[-1]
    assert "No space left on device" in last
    assert str(folder) in last
    monkeypatch.setattr(owner, name, real)
    assert train.main(command) == 0
    log = [json.loads(line)["run/generation"] for line in (folder / "log.jsonl").read_text().splitlines()]
    assert log == [1, 2]
    assert sum(records.read(path).corrupt for path in (folder / "records").iterdir()) == 0


def test_records_behind_the_checkpoint_are_cut(tmp_path: Path) -> None:
    shards(tmp_path, {1: 100, 2: 300, 3: 50})
    (line,) = storage.rewind(tmp_path, 2, 120)
    assert "230 bytes" in line
    assert [path.stat().st_size for path in sorted((tmp_path / "records").glob("*.gzr"))] == [100, 120]
    assert (tmp_path / "records" / "000003.gzr.cut").stat().st_size == 50
    assert storage.rewind(tmp_path, 2, 120) == []
    assert storage.rewind(tmp_path, 4, 0) == []


def test_a_checkpoint_that_could_not_be_read_does_not_come_back(tmp_path: Path) -> None:
    """Its run has gone on from the one before it."""
    shards(tmp_path, {2: 120})
    (tmp_path / "checkpoints").mkdir()
    for generation in (1, 2, 3):
        (tmp_path / "checkpoints" / f"{generation:06d}.pt").touch()
    assert storage.rewind(tmp_path, 2, 120) == []
    assert sorted(path.name for path in (tmp_path / "checkpoints").iterdir()) == [
        "000001.pt", "000002.pt", "000003.pt.cut",
    ]  # fmt: skip


def test_lines_of_the_log_that_nobody_can_read_stay_for_the_reader_to_name(tmp_path: Path) -> None:
    unread = b'{"run/generation": 1, "run\n\xff\xfe\n{}\n' + b"[" * 9000 + b"\n"
    (tmp_path / "log.jsonl").write_bytes(unread + b'{"run/generation": 2}\n{"run/generation": 3}\n')
    storage.clean(tmp_path, 3, 0)
    assert (tmp_path / "log.jsonl").read_bytes() == unread + b'{"run/generation": 2}\n'
    log = history.read(tmp_path)
    assert [report["run/generation"] for report in log.reports] == [2]
    assert f"line 1 of {tmp_path / 'log.jsonl'} is left out" in log.complaint


def test_the_log_holds_no_generation_and_no_match_twice(tmp_path: Path) -> None:
    lines = [json.dumps(line) for line in ({"run/generation": 1}, {"gate/steps": 20}, {"run/generation": 2})]
    void = [json.dumps(line) for line in ({"run/generation": 3}, {"gate/steps": 21})]
    (tmp_path / "log.jsonl").write_text("\n".join(lines + void) + '\n{"run/gener')
    (tmp_path / "checkpoints").mkdir()
    for left in ("weights.pt123.tmp", "checkpoints/000002.pt123.tmp"):
        (tmp_path / left).write_bytes(b"half")
    storage.clean(tmp_path, 3, 20)
    assert (tmp_path / "log.jsonl").read_text().splitlines() == lines
    assert sorted(path.name for path in tmp_path.rglob("*")) == ["checkpoints", "log.jsonl"]


def test_old_shards_go_when_records_grow_too_large(tmp_path: Path) -> None:
    shards(tmp_path, dict.fromkeys(range(1, 8), 1_000_000))
    assert storage.retire(tmp_path, 5, 0) == []
    assert storage.retire(tmp_path, 5, 7) == []
    (line,) = storage.retire(tmp_path, 5, 5)
    assert "removed 2 old shards" in line
    storage.retire(tmp_path, 5, 1)
    assert [path.name for path in sorted((tmp_path / "records").glob("*.gzr"))] == [
        "000005.gzr",
        "000006.gzr",
        "000007.gzr",
    ]


def test_a_run_keeps_the_shards_that_its_window_needs(tmp_path: Path) -> None:
    run = session.prepare(crashes.settings(), tmp_path / "run")
    run.trainer.replay.total = 1000
    run.trainer.shard_rows = dict.fromkeys(range(1, 21), 50)
    window = window_rows(run.trainer.replay.total, run.settings.replay)
    assert run.trainer.needed_from(20) == 20 - -(-window // 50) - run.settings.keep


def test_a_run_that_was_kept_small_goes_on(tmp_path: Path) -> None:
    """As in weights/resume: counters and networks, no optimiser, no games in flight, nothing about the shard."""
    wanted, folder = crashes.settings(), tmp_path / "run"
    state = session.prepare(wanted, tmp_path / "other").trainer.learner.state_dict()
    games = [random_record(5, seed) for seed in range(6)]
    for generation, some in ((1, games[:4]), (2, games[4:])):  # generation 2 was cut off in its self-play
        write_shard(storage.shard(folder, generation), some)
    rows = sum(game.rows for game in games[:4])
    progress = {
        "generation": 2, "learning": False, "games": 4, "rows": rows, "evaluations": 9, "hours": 0.5,
        "steps_backlog": 0.5,
    }  # fmt: skip
    (folder / "checkpoints").mkdir()
    learner = {"net": state["net"], "ema": state["ema"], "steps": 7}
    pools = torch.frombuffer(bytearray(checkpoint.compress({})), dtype=torch.uint8)
    content = {"progress": progress, "learner": learner, "pools": pools, "settings": {}}
    torch.save(content, folder / "checkpoints/000002.pt")
    run = session.prepare(wanted, folder)
    assert run.progress.rows == run.trainer.replay.total == rows
    assert run.trainer.learner.steps == run.progress.handed_steps == 7
    assert len(run.actor.games) == 2, "games of the generation under way are kept"


def test_a_folder_that_is_removed_meanwhile_is_no_error(tmp_path: Path) -> None:
    with storage.alone(tmp_path / "run"):
        shutil.rmtree(tmp_path / "run")
    assert not (tmp_path / "run").exists()


def test_a_file_system_without_locks_is_said_and_used(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    def refuse(*arguments: object) -> None:
        raise OSError(errno.ENOLCK, "No locks available")

    monkeypatch.setattr("fcntl.flock", refuse)
    with storage.alone(tmp_path / "run"):
        (tmp_path / "run/kept").touch()
    assert (tmp_path / "run/kept").exists() and "no locks" in capsys.readouterr().err
