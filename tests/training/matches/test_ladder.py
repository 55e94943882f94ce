"""The ladder: its table, means, controls and files, on games of seconds."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

from tests import ROOT
from tests.training.matches.tournament.journals import journal
from tests.training.matches.tournament.test_tournament import ENGINE
from tests.training.refusals import Refused
from training.commands import ladder as command
from training.matches import ladder
from training.matches.tournament import runner

pytestmark = pytest.mark.usefixtures("forked_workers")
TINY = ["--game", "tictactoe", "--sims", "2", "20", "--games", "3", "--visits", "8", "--processes", "1"]


def tables_of(printed: str) -> dict[str, list[dict[str, str]]]:
    """The rows of each climber; a perfect player's have no visits."""
    found = {}
    blocks = [block.splitlines() for block in printed.split("\n\n") if "simulations  games" in block]
    for climber, heads, *lines in blocks:
        columns = heads.split()[::-1]
        found[climber] = [dict(zip(columns, line.split()[::-1], strict=False)) for line in lines]
    return found


def test_the_controls_climb_and_the_perfect_player_leads(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    picture = tmp_path / "ladder.png"
    files = ["--plot", str(picture), "--out", str(tmp_path / "out")]
    assert command.main([*TINY, *files]) == 0
    printed = capsys.readouterr().out
    tables = tables_of(printed)
    assert {climber: [row["simulations"] for row in rows] for climber, rows in tables.items()} == {
        "uct:8": ["2", "20"],
        "perfect": ["2", "20"],
    }
    rows = [*tables["uct:8"], *tables["perfect"]]
    assert all(int(row["wins"]) + int(row["draws"]) + int(row["losses"]) == int(row["games"]) == 6 for row in rows)
    assert all(float(row["low"]) <= float(row["score"]) <= float(row["high"]) for row in rows)
    assert all((row["losses"], row.get("visits")) == ("0", None) for row in tables["perfect"])
    mean = sum(float(row["score"]) for row in tables["uct:8"]) / 2
    assert f"uct:8: {mean:.3f} (95 % interval" in printed and "times the perfect player's" in printed
    assert picture.read_bytes().startswith(b"\x89PNG")


def test_a_ladder_that_was_stopped_before_its_first_game_has_no_table(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(runner, "stop_on_signals", lambda doing: lambda: True)
    command.main(TINY)
    printed = capsys.readouterr().out
    assert "24 games left" in printed and not {"nan", "mean", "score"} & set(printed.split())


def test_several_networks_climb_against_either_kind_of_rollouts(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    files = [str(ROOT / "weights" / name) for name in ("ttt.pt", "ttt-mlp.pt")]
    arguments = ["--weights", *files, "--rollouts", "puct-rollout", "--out", str(tmp_path)]
    assert command.main([*TINY, *arguments]) == 0
    climbers = [*(f"weights:{file}:8" for file in files), "puct-rollout:8", "perfect"]
    assert list(tables_of(capsys.readouterr().out)) == climbers
    names = {name for game in journal(tmp_path) for name in game["pair"]}
    assert names == {*map(ladder.climber_name, climbers), "puct-rollout:2", "puct-rollout:20"}


def test_any_gtp_engine_is_an_opponent_and_games_that_are_the_same_are_said(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(ladder, "_climbers", lambda options: ["uct:4", "fixed"])
    where = ["--opponent", f"{sys.executable} -S {ENGINE} sound {{sims}}", "--processes", "1"]
    assert command.main(["--game", "tictactoe", "--games", "2", "--sims", "100", "300", *where]) == 0
    printed = capsys.readouterr().out
    found = {climber: [row["simulations"] for row in rows] for climber, rows in tables_of(printed).items()}
    assert found == {"uct:4": ["100", "300"], "fixed": ["100", "300"]}
    assert "played only 2 different games of 4" in printed and "the perfect player's" not in printed


def test_the_game_is_that_of_the_weights(capsys: pytest.CaptureFixture[str]) -> None:
    options = ["--weights", "ttt.pt", "--sims", "2", "--games", "1", "--visits", "1", "--no-controls", "--dry-run"]
    assert command.main(options) == 0 and "tictactoe 3x3" in capsys.readouterr().out


def test_a_game_without_a_perfect_player_says_so(capsys: pytest.CaptureFixture[str]) -> None:
    options = ["--game", "simple_go", "--sims", "2", "--games", "1", "--visits", "2", "--dry-run"]
    assert command.main(options) == 0
    captured = capsys.readouterr()
    assert "there is no perfect player of simple_go" in captured.err
    assert "perfect" not in captured.out and "2 games left of 2" in captured.out


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["--weights", "ttt.pt", "/nowhere/x.pt"], "/nowhere/x.pt"),
        (["--no-controls"], "there is no player to measure: give --weights"),
        (["--opponent", "engine"], "does not say where its simulations go: write {sims} there"),
        (["--sims", "10", "999999999"], "999999999 visits a move are too many"),
        (["--visits", "8", "9", "8"], "have the name 'uct:8 (climber)'"),
        (["--opening-moves", "-1"], "opening_moves = -1 is out of range"),
        (["--plot", "/"], "/: Is a directory"),
        (["--size", "4"], "board size 4"),
    ],
)
def test_a_bad_request_is_one_clear_line(arguments: list[str], message: str, refused: Refused) -> None:
    assert message in refused(command.main, [*TINY, *arguments])


def test_the_networks_of_several_runs_have_different_names_in_the_plot() -> None:
    names = (
        "weights:runs/mlp/weights.pt:50", "weights:runs/vgg/weights.pt:50", "weights:ttt.pt:8", "uct:50", "perfect",
    )  # fmt: skip
    assert [ladder.label(name) for name in names] == ["mlp, 50", "vgg, 50", "ttt.pt, 8", "uct:50", "perfect"]
