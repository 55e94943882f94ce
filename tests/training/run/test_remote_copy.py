"""`--storage`: a run that moves to another folder, as it would to another machine, by its store."""

from collections.abc import Callable
from pathlib import Path

import pytest
import torch

from tests.training import crashes
from tests.training.storage.brittle import break_after
from training.commands import start, train
from training.doctor import monitor
from training.run.run import Run
from training.settings import presets
from training.storage import checkpoint
from training.storage.mirror import Mirror, Uploader

ONE = ("--set", "generations=1")


class Watch(crashes.Watch):
    """Stops the run after a generation."""

    last = 99

    def __init__(self, *arguments: object) -> None:
        super().__init__(*arguments)  # type: ignore[arg-type]
        self.told = 0
        Watch.newest = self

    def generation(self, report: dict[str, float], run: Run, stop: Callable[[], bool]) -> None:
        super().generation(report, run, stop)
        self.told += 1


@pytest.fixture
def command(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """The command line of a run of two generations, less its folder."""
    monkeypatch.setattr(monitor, "Monitor", Watch)
    monkeypatch.setattr(start, "stop_on_signals", lambda: lambda: Watch.newest.told >= Watch.last)
    config = tmp_path / "tiny.toml"
    text = presets.path_of("tiny").read_text()
    config.write_text(text.replace("generations = 3", "generations = 2").replace("= 120", "= 60"))
    return ["--config", str(config), "--threads", "1", "--run"]


def weights(folder: Path) -> dict[str, torch.Tensor]:
    snapshot, _ = checkpoint.latest(folder / "checkpoints") or pytest.fail("no checkpoint")
    return snapshot.learner["net"]


def test_a_run_that_moves_ends_with_the_weights_of_one_that_stays(
    command: list[str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    home, woken, wake = ["--storage", f"file://{tmp_path}/store"], list[Uploader](), Uploader.wake
    monkeypatch.setattr(Uploader, "wake", lambda self: (woken.append(self), wake(self))[1])
    assert train.main([*command, str(tmp_path / "whole")]) == 0
    monkeypatch.setattr(Watch, "last", 1)
    assert train.main([*command, str(tmp_path / "first"), *home]) == 0
    assert f"file://{tmp_path}/store holds the run: 1 generation, " in capsys.readouterr().err
    assert len(woken) > 2, "each checkpoint is copied"
    monkeypatch.setattr(Watch, "last", 99)
    assert train.main([*command, str(tmp_path / "second"), *home]) == 0
    said = capsys.readouterr().err
    assert f"it is fetched and continues in {tmp_path}/second" in said
    assert "the run has reached its limit, generations = 2" in said
    stayed, moved = weights(tmp_path / "whole"), weights(tmp_path / "second")
    assert all(torch.equal(stayed[name], moved[name]) for name in stayed)
    lines = (tmp_path / "second/log.jsonl").read_text().splitlines()
    assert len(lines) == 2, "the log came along"


def test_a_broken_store_ends_no_run_but_is_told(
    command: list[str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    url, push = f"brittle://{tmp_path}/store", Mirror.push

    def broken(self: Mirror) -> bool:
        break_after(0)
        return push(self)

    with monkeypatch.context() as patch:
        patch.setattr(Mirror, "push", broken)
        assert train.main([*command, str(tmp_path / "run"), "--storage", url, *ONE]) == 1
    said = capsys.readouterr().err
    assert "the run has reached its limit, generations = 1" in said
    assert said.splitlines()[-1] == f"cannot write to {url}: the line is dead; the same command tries again"
    assert train.main([*command, str(tmp_path / "run"), "--storage", url, *ONE]) == 0
    assert f"{url} holds the run: 1 generation, " in capsys.readouterr().err


def test_a_run_of_another_network_is_not_fetched(
    command: list[str], tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    home = ["--storage", f"file://{tmp_path}/store", *ONE]
    assert train.main([*command, str(tmp_path / "run"), *home, "--dry-run"]) == 0
    assert f"storage    file://{tmp_path}/store holds nothing yet: ok" in capsys.readouterr().out
    assert not (tmp_path / "store").exists()
    assert train.main([*command, str(tmp_path / "run"), *home]) == 0
    before = (tmp_path / "store/manifest.json").read_bytes()
    capsys.readouterr()
    for look in ([], ["--dry-run"]):
        assert train.main([*command, str(tmp_path / "new"), *home, "--set", "network=b1c8", *look]) == 2
        assert f"gozero train: file://{tmp_path}/store holds a run of network" in capsys.readouterr().err
    assert train.main([*command, str(tmp_path / "new"), *home, "--dry-run"]) == 0
    said = capsys.readouterr()
    assert f"storage    file://{tmp_path}/store holds a run (1 generation, " in said.out
    assert "is fetched" not in said.err
    assert not (tmp_path / "new").exists()
    assert (tmp_path / "store/manifest.json").read_bytes() == before
