"""A run on a cluster: it is the run of one machine, also if workers die."""

import json
import os
import signal
import subprocess
import sys
import threading
from contextlib import closing
from dataclasses import replace
from pathlib import Path

import pytest

from gozero.system.console import stop_on_signals
from tests import ROOT
from tests.training import crashes
from tests.training.cluster.conftest import PATIENCE, Cluster
from tests.training.run.test_resume import check_same
from training.doctor.monitor import Monitor
from training.records import records
from training.run import session
from training.settings.config import LoopSettings
from training.storage import checkpoint, storage

SETTINGS = crashes.settings(
    generations=2,
    generation_rows=150,
    checkpoint_rows=75,
    simulator="numba",
    selfplay={"games": 4, "slots": 2},
    gate={"games": 4, "visits": 2, "opening_moves": 2, "share": 0.0},
    monitor={"report_every": 0, "strength_every": 0},
    stage=[
        {"rows": 150, "sizes": {"4": 0.4, "5": 0.6}, "evaluator": "rollouts", "full_visits": 1200, "cheap_visits": 800},
        {"rows": 1, "sizes": {"5": 1.0}, "full_visits": 96, "cheap_visits": 64},
    ],
)


QUICK = replace(  # long enough for two workers, too short to kill one
    SETTINGS,
    generation_rows=60,
    checkpoint_rows=30,
    stage=tuple(replace(stage, rows=min(stage.rows, 60), full_visits=32, cheap_visits=16) for stage in SETTINGS.stage),
)


def on_cluster(
    folder: Path, cluster: Cluster, settings: LoopSettings = SETTINGS, chosen: frozenset[str] | None = None
) -> int:
    """Run it there, and return the exit code."""
    import ray

    from training.cluster import connection

    connection.connect(cluster.address)
    try:
        return train(folder, settings, chosen)
    finally:
        ray.shutdown()


def train(folder: Path, settings: LoopSettings, chosen: frozenset[str] | None = None) -> int:
    """The same in a process that has joined the cluster."""
    from training.cluster.pool import ClusterBackend, ClusterPool

    stop = stop_on_signals()
    with storage.alone(folder, PATIENCE):
        begun = session.as_begun(settings, folder, chosen)
        with closing(ClusterPool(begun)) as pool:
            run = session.prepare(begun, folder, backend=ClusterBackend(pool))
            return session.train(run, Monitor(folder, begun), "gozero train", stop)


@pytest.fixture(scope="module")
def whole(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The run on one machine, which nobody disturbs."""
    return on_one_machine(tmp_path_factory.mktemp("whole"), SETTINGS)


def on_one_machine(folder: Path, settings: LoopSettings) -> Path:
    """The run in a folder."""
    assert session.train(session.prepare(settings, folder), Monitor(folder, settings), "test", lambda: False) == 0
    return folder


def games(folder: Path, generation: int) -> int:
    """The games in a shard."""
    path = storage.shard(folder, generation)
    return len(records.read(path).records) if path.exists() else 0


def test_a_cluster_s_run_is_that_of_one_machine(
    cluster: Cluster, tmp_path: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    folder = tmp_path / "cluster"
    assert on_cluster(folder, cluster, QUICK) == 0
    heard = capfd.readouterr().err
    check_same(on_one_machine(tmp_path / "whole", QUICK), folder)
    assert "the run has reached its limit, generations = 2" in heard
    assert "2 workers, idle" in heard
    report = json.loads((folder / "log.jsonl").read_text().splitlines()[-1])
    assert report["cluster/worker1"] > 0 and report["cluster/worker2"] > 0, "both had something to do"
    assert report["cluster/staleness"] == 0


@pytest.mark.slow
def test_so_is_one_that_learns_while_it_plays(cluster: Cluster, tmp_path: Path) -> None:
    settings = replace(QUICK, mode="semi-asynchronous")
    assert on_cluster(tmp_path / "run", cluster, settings) == 0
    check_same(on_one_machine(tmp_path / "whole", settings), tmp_path / "run")


@pytest.mark.slow
def test_if_a_worker_is_killed_the_run_ends_as_it_would_have(
    cluster: Cluster, whole: Path, tmp_path: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    killer = cluster.kill("ray::Worker.work", lambda: games(tmp_path, 1) > 0)
    assert on_cluster(tmp_path, cluster) == 0
    killer.join()
    assert "its task goes to another worker" in capfd.readouterr().err
    check_same(whole, tmp_path)


@pytest.mark.slow
def test_workers_have_the_network_with_which_the_run_began(
    cluster: Cluster, tmp_path: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    """Also where the preset has got another since."""
    on_one_machine(tmp_path, replace(QUICK, generations=1))
    assert on_cluster(tmp_path, cluster, replace(QUICK, features=2), chosen=frozenset()) == 0
    assert "continues with features = 1, as it began" in capfd.readouterr().err


@pytest.mark.slow
def test_a_command_that_was_killed_goes_on_from_the_newest_checkpoint(
    cluster: Cluster, whole: Path, tmp_path: Path
) -> None:
    folder, code = tmp_path / "run", "from tests.training.cluster import test_cluster as t; t.as_command()"
    environment = os.environ | {"GOZERO_TEST": json.dumps([str(folder), cluster.address])}
    with subprocess.Popen([sys.executable, "-c", code], cwd=ROOT, env=environment) as command:
        pause = threading.Event()
        while command.poll() is None and not games(folder, 1):
            pause.wait(0.05)
        command.kill()
        assert command.wait(PATIENCE) == -signal.SIGKILL
    assert on_cluster(folder, cluster) == 0
    check_same(whole, folder)


@pytest.mark.slow
def test_a_machine_s_workers_play_games_of_the_asynchronous_mode_and_leave(
    cluster: Cluster, tmp_path: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    settings = replace(SETTINGS, mode="asynchronous", swap_steps=5, generations=3)
    options = ["--address", cluster.address, "--workers", "2", "--memory", "80"]
    command = [sys.executable, "-m", "gozero", "worker", *options]
    with subprocess.Popen(command, cwd=ROOT, stderr=subprocess.PIPE, text=True) as node:
        assert on_cluster(tmp_path, cluster, settings) == 0
        node.terminate()
        assert node.stderr is not None
        said = node.stderr.read()
        assert node.wait(PATIENCE) == 0, said
    assert "joining" in said and "letting the workers go" in said
    assert "4 workers, idle" in capfd.readouterr().err
    snapshot, _ = checkpoint.latest(tmp_path / "checkpoints") or pytest.fail("no checkpoint")
    shards = [records.read(storage.shard(tmp_path, generation)) for generation in (1, 2, 3)]
    played = [tuple(record.moves.tolist()) for shard in shards for record in shard.records]
    assert len(set(played)) == len(played) == snapshot.progress.games, "every game is kept once"
    assert sum(shard.corrupt for shard in shards) == 0


def as_command() -> None:
    """The command of a test above."""

    class Address:
        address = json.loads(os.environ["GOZERO_TEST"])[1]

    sys.exit(on_cluster(Path(json.loads(os.environ["GOZERO_TEST"])[0]), Address()))  # type: ignore[arg-type]
