"""The commands of a cluster, where there is none: one line, and exit code 2."""

import json
import socket
import sys
from pathlib import Path

import pytest

from gozero.system.options import SettingsError
from tests.training.refusals import Refused
from training.commands import train
from training.commands import worker as worker_command

pytest.importorskip("ray", reason="Ray is not installed: pip install 'gozero[distributed]'")
NOBODY = "127.0.0.1:1"


def run(folder: Path, *options: str) -> list[str]:
    return ["--preset", "tiny", "--simulator", "numba", "--run", str(folder / "run"), *options]


@pytest.mark.parametrize(
    "address, why",
    [
        (NOBODY, "no cluster answers there"),
        ("nowhere", "expected HOST:PORT, such as 10.0.0.5:6379, or auto"),
        ("host:99999", "expected HOST:PORT"),
    ],
)
@pytest.mark.parametrize("look", [[], ["--dry-run"]])
def test_an_address_without_a_cluster(
    look: list[str], address: str, why: str, tmp_path: Path, refused: Refused
) -> None:
    line = refused(train.main, run(tmp_path, "--address", address, *look))
    assert line.startswith(f"gozero train: --address {address}: ") and why in line
    assert not (tmp_path / "run").exists()


@pytest.mark.parametrize(
    "options, offered",
    [
        ([], {"cpus": 8, "gozero_worker": 8}),
        (["--threads", "3"], {"cpus": 6, "gozero_worker": 2}),
        (["--gpus", "2"], {"cpus": 8, "gozero_gpu_worker": 2}),
        (["--gpus", "1", "--workers", "3"], {"cpus": 8, "gozero_worker": 3, "gozero_gpu_worker": 1}),
        (["--gpus", "0", "--workers", "0"], None),
        (["--gpus", "-1"], None),
        (["--gpus", "1", "--workers", "-1"], None),
        (["--memory", "79"], None),
    ],
)
def test_what_a_machine_offers(
    options: list[str], offered: dict[str, int] | None, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(worker_command, "available_threads", lambda: 8)
    chosen = worker_command.parser().parse_args(["--address", NOBODY, *options])
    if offered is None:
        with pytest.raises(SettingsError, match="give at least 1 worker, 1 thread and 80 MB"):
            worker_command.start_command(chosen)
        return
    words = dict(word.split("=", 1) for word in worker_command.start_command(chosen) if "=" in word)
    assert {"cpus": int(words["--num-cpus"])} | json.loads(words["--resources"]) == offered


def test_auto_does_not_look_for_a_cluster_that_nobody_has_noted(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, refused: Refused
) -> None:
    monkeypatch.delenv("RAY_ADDRESS", raising=False)
    monkeypatch.setattr("tempfile.gettempdir", lambda: str(tmp_path))
    said = refused(train.main, run(tmp_path, "--address", "auto"))
    assert "--address auto: no cluster is known on this machine" in said


def test_a_node_that_ends_at_once_does_not_try_for_ever() -> None:
    from training.cluster import connection

    with socket.create_server(("127.0.0.1", 0)) as head:
        address = f"127.0.0.1:{head.getsockname()[1]}"
        with pytest.raises(SettingsError, match="no node can join from here"):
            connection.serve(address, [sys.executable, "-c", "raise SystemExit(1)"])


def test_a_machine_s_workers_have_no_cluster_to_join(refused: Refused) -> None:
    asked = ["--address", NOBODY]
    assert "no cluster answers there" in refused(worker_command.main, asked)
    assert "--threads 0" in refused(worker_command.main, [*asked, "--workers", "2", "--threads", "0"])
