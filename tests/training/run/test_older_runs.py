"""Runs that were begun by an earlier version, whose settings lack what later ones name."""

import json
from pathlib import Path

import pytest

from training.commands import train

pytestmark = pytest.mark.usefixtures("one_thread")


def test_an_older_run_of_a_preset_goes_on_with_its_network(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """s4 had batch renormalisation and a value of three outputs before it had what its author says."""
    folder = tmp_path / "run"
    small = [
        "network=b1c8",
        "generation_rows=24",
        "selfplay.games=4",
        "stage.1.full_visits=4",
        "learner.batch=8",
        "gate.games=0",
    ]
    common = [part for assignment in (*small, "monitor.strength_every=0") for part in ("--set", assignment)]
    common += ["--preset", "s4", "--run", str(folder), "--threads", "1"]
    older = ["--set", "norm=renorm", "--set", "value_head=wdl"]
    assert train.main([*common, *older, "--set", "generations=1"]) == 0
    saved = json.loads((folder / "settings.json").read_text())
    del saved["norm"], saved["value_head"]
    (folder / "settings.json").write_text(json.dumps(saved))
    capsys.readouterr()
    assert train.main([*common, "--set", "generations=2"]) == 0
    said = capsys.readouterr().err
    assert "continues with norm = 'renorm', as it began; new runs have 'batch'" in said
    assert "continues with value_head = 'wdl'" in said
    assert train.main([*common, "--set", "generations=3", "--set", "norm=batch"]) == 2
    assert "holds a run of norm 'renorm', not 'batch'" in capsys.readouterr().err


def test_an_older_run_whose_file_names_parts_that_its_network_never_had_goes_on(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    folder = tmp_path / "run"
    small = ["generation_games=2", "selfplay.games=2", "stage.1.full_visits=4", "learner.generation_steps=1"]
    common = [part for assignment in (*small, "monitor.strength_every=0") for part in ("--set", assignment)]
    common += ["--preset", "s0", "--run", str(folder), "--threads", "1"]
    assert train.main([*common, "--set", "generations=1"]) == 0
    saved = json.loads((folder / "settings.json").read_text())
    assert (saved["norm"], saved["value_head"]) == ("none", "scalar")
    (folder / "settings.json").write_text(json.dumps(saved | {"norm": "renorm", "value_head": "wdl"}))
    capsys.readouterr()
    assert train.main([*common, "--set", "generations=2"]) == 0
    assert not {"norm", "value_head"} & set(capsys.readouterr().err.split("settings changed")[1].split("\n")[0].split())
