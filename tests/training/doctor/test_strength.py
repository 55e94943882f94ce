"""Strength: games against opponents that do not change, within their time, and never in the way of stopping."""

from __future__ import annotations

import json
import sys
from dataclasses import replace
from pathlib import Path

import pytest

from gozero import games
from gozero.nets import weights
from gozero.system.options import SettingsError
from training.commands import train
from training.doctor import strength
from training.doctor.strength import Strength
from training.run import session
from training.run.run import Run
from training.settings import presets
from training.settings.config import LoopSettings, MonitorSettings

pytestmark = pytest.mark.usefixtures("one_thread")

TINY = presets.path_of("tiny")


def run_of(folder: Path, **watched: object) -> Run:
    """A run of the tiny preset that has worked for an hour, on 5x5."""
    chosen = MonitorSettings(strength_every=2, strength_games=4, strength_visits=4, **watched)
    run = session.prepare(replace(presets.load(TINY), monitor=chosen), folder)
    run.progress.hours = 1.0
    return run


def labels(folder: Path) -> Path:
    """A yardstick of one position on 5x5."""
    label = {
        "moves": ["C3"],
        "best": "C2",
        "shares": {"C2": 1.0},
        "winrate": 0.3,
        "score": -2.0,
        "ownership": [0.0] * 25,
    }
    path = folder / "labels.jsonl"
    path.write_text(json.dumps(label))
    return path


def test_games_against_rollouts_and_earlier_weights(tmp_path: Path) -> None:
    run = run_of(tmp_path)
    strong = Strength(tmp_path, run.settings)
    assert strong.measure(run, 1, [], lambda: False) == {}  # not due
    first = strong.measure(run, 2, [], lambda: False)
    assert first["strength/uct_games"] == 4
    assert first["strength/uct_rollouts"] == strength.FIRST_ROLLOUTS
    assert 0 <= first["strength/uct_low"] <= first["strength/uct_score"] <= first["strength/uct_high"] <= 1
    assert "strength/frozen_score" not in first
    assert first["strength/size"] == 5
    second = strong.measure(run, 4, [first | {"strength/uct_up": 1.0}], lambda: False)
    assert second["strength/uct_rollouts"] == 2 * strength.FIRST_ROLLOUTS
    assert second["strength/frozen_generation"] == 2
    assert second["strength/frozen_games"] == 4
    frozen = sorted((tmp_path / "frozen").iterdir())
    assert [path.name for path in frozen] == ["000002.pt", "000004.pt"]
    assert weights.load(frozen[0]).provenance == {
        "run": tmp_path.name,
        "generation": 2,
        "evaluations": run.progress.evaluations,
    }


def test_games_that_are_cut_after_a_few_moves_are_measured_too(tmp_path: Path) -> None:
    run = run_of(tmp_path)
    shortest = replace(run.settings, selfplay=replace(run.settings.selfplay, max_length=0.1))
    assert Strength(tmp_path, shortest).measure(run, 2, [], lambda: False)["strength/uct_games"] == 4


def test_distance_to_perfect_play_in_a_solved_game(tmp_path: Path) -> None:
    chosen = MonitorSettings(strength_every=2, strength_games=2, strength_visits=16)
    settings = replace(presets.load(presets.path_of("ttt")), network="b2c4", monitor=chosen)
    run = session.prepare(settings, tmp_path)
    run.progress.hours = 1.0
    strong = Strength(tmp_path, settings)
    found = strong.measure(run, 2, [], lambda: False)
    for name in ("policy", "search"):
        assert 0 <= found[f"perfect/{name}_low"] < found[f"perfect/{name}_share"] < found[f"perfect/{name}_high"] <= 1
    assert found["perfect/policy_high"] - found["perfect/policy_low"] < 0.25  # 100 positions
    assert found["perfect/search_share"] > found["perfect/policy_share"]  # of a network that knows nothing
    assert (
        strong.measure(run, 4, [], lambda: False)["strength/frozen_games"] == 2
    )  # against the weights of generation 2
    again = strong.measure(run, 4, [], lambda: False)
    assert {name: again[name] for name in found if name.startswith("perfect/")} == {
        name: value for name, value in found.items() if name.startswith("perfect/")
    }


def test_a_missing_solver_is_said_once_and_stops_nothing(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(sys.modules, "bitbully", None)
    strong = Strength(tmp_path, LoopSettings())
    assert strong._judged(games.make("connect4")) == strong._judged(games.make("connect4")) == []
    said = "the distance to perfect play is not measured: the perfect player of connect4 needs bitbully; run: pip install bitbully\n"
    assert capsys.readouterr().err == said
    assert strong._judged(games.make("go", size=5)) == []
    assert capsys.readouterr().err == ""


def test_old_weights_are_removed(tmp_path: Path) -> None:
    run = run_of(tmp_path)
    strong = Strength(tmp_path, run.settings)
    for generation in range(1, 8):
        strong._freeze(run, generation)
    assert [int(path.stem) for path in sorted((tmp_path / "frozen").iterdir())] == [4, 5, 6, 7]


def test_copies_beside_old_weights_are_the_users(tmp_path: Path) -> None:
    run = run_of(tmp_path)
    strong = Strength(tmp_path, run.settings)
    strong._freeze(run, 1)
    copy = (tmp_path / "frozen" / "000001.pt").rename(tmp_path / "frozen" / "000001-copy.pt")
    for generation in range(2, 8):
        strong._freeze(run, generation)
    assert copy.exists()
    assert strong.measure(run, 8, [], lambda: False)["strength/frozen_generation"] == 4


def test_time_is_bounded(tmp_path: Path) -> None:
    run = run_of(tmp_path)
    strong = Strength(tmp_path, run.settings)
    assert (
        strong.measure(run, 2, [{"strength/seconds": 0.04 * 3600}], lambda: False) == {}
    )  # not enough saved up for another
    run.progress.hours = 1e-9
    found = strong.measure(run, 2, [], lambda: False)
    assert "strength/uct_score" not in found  # given up
    assert found["strength/seconds"] < 30


def test_stopping_gives_the_games_up(tmp_path: Path) -> None:
    run = run_of(tmp_path)
    asked = iter(range(1000))
    found = Strength(tmp_path, run.settings).measure(run, 2, [], lambda: next(asked) >= 3)
    assert "strength/uct_score" not in found
    assert not (tmp_path / "frozen").exists()
    assert next(asked) < 10  # left within a few moves


def test_agreement_with_a_yardstick(tmp_path: Path) -> None:
    run = run_of(tmp_path / "run", yardstick=str(labels(tmp_path)))
    found = Strength(tmp_path / "run", run.settings).measure(run, 2, [], lambda: False)
    assert {
        "yardstick/top1",
        "yardstick/log_share",
        "yardstick/winrate_error",
        "yardstick/ownership_error",
    } <= found.keys()
    with pytest.raises(SettingsError, match=r"monitor\.yardstick: cannot read"):
        Strength(tmp_path, LoopSettings(monitor=MonitorSettings(yardstick=str(tmp_path / "nothing.jsonl"))))


@pytest.mark.parametrize(
    ("changes", "words"),
    [
        (["game=nogo"], "is for runs of Go, and this one plays nogo; leave it out"),
        (
            ["network=mlp2x16", "stage.1.sizes={4=1}", "stage.2.sizes={4=1}"],
            "on 5x5, and network mlp2x16 plays on 4x4 only",
        ),
    ],
)
def test_a_yardstick_that_the_network_cannot_be_asked_about_stops_a_run_before_it_begins(
    changes: list[str], words: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    given = [argument for change in changes for argument in ("--set", change)]
    command = ["--preset", "tiny", "--simulator", "numba", "--yardstick", str(labels(tmp_path)), *given]
    command += ["--set", "generations=1", "--set", "generation_rows=40", "--run", str(tmp_path / "run")]
    for look in (["--dry-run"], []):
        assert train.main([*command, *look]) == 2
        said = capsys.readouterr().err.splitlines()
        assert said[-1].startswith("gozero train: monitor.yardstick: ") and words in said[-1]
        assert not any("Traceback" in line for line in said)
    assert not (tmp_path / "run" / "log.jsonl").exists(), "nothing was played"


def test_the_yardstick_is_for_all_games_with_the_rules_of_go(tmp_path: Path) -> None:
    chosen = MonitorSettings(yardstick=str(labels(tmp_path)))
    Strength(tmp_path, LoopSettings(monitor=chosen))
    Strength(tmp_path, replace(presets.load(presets.path_of("tiny")), game="simple_go", monitor=chosen))
