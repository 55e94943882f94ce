"""The ladder: its table, means, controls, files and complaints, on games of seconds."""

from __future__ import annotations

import csv
import re
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import NoReturn

import pytest

from gozero.games.game import Game
from gozero.nets import locations
from tests import ROOT
from training.commands import ladder as command
from training.matches import ladder, match
from training.matches.match import MatchGame, MatchSettings
from training.matches.players import MatchPlayer

TINY = ["--game", "tictactoe", "--sims", "2", "20", "--games", "3", "--visits", "8"]

ENGINE = """
import sys
free = []
for line in sys.stdin:
    identity, word, *rest = line.split()
    answer = ""
    if word == "play":
        free.remove(rest[1])
    elif word == "genmove":
        answer = free.pop(0)
    elif word == "clear_board":
        free = [column + row for row in "123" for column in "ABC"]
    print("=" + identity, answer + "\\n", flush=True)
    if word == "quit":
        break
"""


def rows_of(path: Path) -> list[dict[str, str]]:
    return list(csv.DictReader(path.open(encoding="utf-8")))


def test_the_controls_climb_and_the_perfect_player_leads(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    table, picture = tmp_path / "ladder.csv", tmp_path / "ladder.png"
    assert command.main([*TINY, "--csv", str(table), "--plot", str(picture)]) == 0
    printed = capsys.readouterr().out
    rows = rows_of(table)
    assert [(row["climber"], row["simulations"]) for row in rows] == [
        ("uct:8", "2"),
        ("uct:8", "20"),
        ("perfect", "2"),
        ("perfect", "20"),
    ]
    assert all(int(row["wins"]) + int(row["draws"]) + int(row["losses"]) == int(row["games"]) == 6 for row in rows)
    assert all(float(row["low"]) <= float(row["score"]) <= float(row["high"]) for row in rows)
    assert all((row["losses"], row["visits"]) == ("0", "") for row in rows if row["climber"] == "perfect")
    mean = sum(float(row["score"]) for row in rows[:2]) / 2
    assert f"uct:8: {mean:.3f} (95 % interval" in printed and "times the perfect player's" in printed
    assert picture.read_bytes().startswith(b"\x89PNG")


def test_several_networks_climb_on_one_plot_against_either_kind_of_rollouts(tmp_path: Path) -> None:
    table, picture = tmp_path / "ladder.csv", tmp_path / "ladder.png"
    folder = ROOT / "weights"
    files = [str(folder / name) for name in ("ttt.pt", "ttt-mlp.pt")]
    arguments = ["--weights", *files, "--rollouts", "puct-rollout", "--csv", str(table), "--plot", str(picture)]
    assert command.main([*TINY, *arguments]) == 0
    rows = rows_of(table)
    climbers = [f"weights:{file}:8" for file in files]
    assert list(dict.fromkeys(row["climber"] for row in rows)) == [*climbers, "puct-rollout:8", "perfect"]
    assert {row["opponent"] for row in rows} == {"puct-rollout:2", "puct-rollout:20"}
    assert picture.read_bytes().startswith(b"\x89PNG")


def test_the_same_seed_gives_the_same_table(tmp_path: Path) -> None:
    tables = [tmp_path / name for name in ("one.csv", "two.csv")]
    for table in tables:
        assert command.main([*TINY, "--csv", str(table)]) == 0
    assert rows_of(tables[0]) == rows_of(tables[1])


def test_any_gtp_engine_is_an_opponent(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    program, table = tmp_path / "engine.py", tmp_path / "ladder.csv"
    program.write_text(ENGINE)
    monkeypatch.setattr(ladder, "_climbers", lambda options: [f"uct:{visits}" for visits in options.visits])
    where = ["--opponent", f"{sys.executable} -S {program} {{sims}}", "--visits", "4", "40", "--csv", str(table)]
    assert command.main(["--game", "tictactoe", "--games", "1", "--sims", "100", "300", *where]) == 0
    matches = [
        (row["climber"], row["visits"], row["simulations"], row["opponent"].split()[-1]) for row in rows_of(table)
    ]
    assert matches == [
        ("uct:4", "4", "100", "100"), ("uct:4", "4", "300", "300"), ("uct:40", "40", "100", "100"), ("uct:40", "40", "300", "300"),
    ]  # fmt: skip
    printed = capsys.readouterr().out
    assert re.findall(r"^ +(\d+) +(\d+) +2 ", printed, re.MULTILINE) == [match[1:3] for match in matches]
    assert "the perfect player's" not in printed


def test_an_interruption_leaves_what_was_played(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    def play_match(
        players: tuple[MatchPlayer, MatchPlayer], game: Game, settings: MatchSettings
    ) -> Iterator[MatchGame]:
        if "20 rollouts" in players[1].name:
            raise KeyboardInterrupt
        return match.play_match(players, game, settings)

    monkeypatch.setattr(ladder, "play_match", play_match)
    table = tmp_path / "ladder.csv"
    assert command.main([*TINY, "--csv", str(table)]) == 130
    assert capsys.readouterr().err == "gozero ladder: interrupted; the matches above are all that were finished\n"
    assert [row["simulations"] for row in rows_of(table)] == ["2"]


def test_the_weights_of_two_runs_are_told_apart(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    shipped = locations.find("ttt.pt").read_bytes()
    files = [tmp_path / name / "weights.pt" for name in ("mlp", "senet")]
    for file in files:
        file.parent.mkdir()
        file.write_bytes(shipped)
    arguments = ["--game", "tictactoe", "--sims", "2", "--games", "1", "--visits", "2", "--no-controls"]
    assert command.main([*arguments, "--weights", *map(str, files)]) == 0
    printed = capsys.readouterr().out.splitlines()
    assert [line for line in printed if "weights.pt, " in line] == [
        "mlp/weights.pt, 2 visits",
        "senet/weights.pt, 2 visits",
    ]


def test_a_game_without_a_perfect_player_says_so(capsys: pytest.CaptureFixture[str]) -> None:
    assert command.main(["--game", "simple_go", "--sims", "2", "--games", "1", "--visits", "2"]) == 0
    captured = capsys.readouterr()
    assert "there is no perfect player of simple_go" in captured.err
    assert "perfect" not in captured.out


def test_games_that_are_the_same_are_said(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    program = tmp_path / "engine.py"
    program.write_text(ENGINE)
    monkeypatch.setattr(ladder, "_climbers", lambda options: ["fixed"])
    where = ["--opponent", f"{sys.executable} -S {program} {{sims}}", "--sims", "100"]
    assert command.main(["--game", "tictactoe", "--games", "3", *where]) == 0
    assert "2 different games of 6 against gtp:" in capsys.readouterr().err


def test_a_bug_is_no_error_of_the_users(monkeypatch: pytest.MonkeyPatch) -> None:
    def broken(*_: object) -> NoReturn:
        raise ValueError("operands could not be broadcast together")

    monkeypatch.setattr(ladder, "play_match", broken)
    with pytest.raises(ValueError, match="broadcast"):
        command.main(TINY)


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["--weights", "/nowhere/x.pt"], "/nowhere/x.pt"),
        (["--no-controls"], "there is no player to measure: give --weights"),
        (["--opponent", "engine"], "does not say where its simulations go: write {sims} there"),
        (["--sims", "0"], "at least 1"),
        (["--sims", "10", "99999999999"], "99999999999 visits a move are too many"),
        (["--games", "0"], "--games 0: expected 1 or more for each opponent and colour"),
        (["--seed", "-1"], "the seed must be from 0 to 9223372036854775807, not -1"),
        (["--visits", "8", "9", "8"], "--visits 8 is given twice: name each once"),
        (["--sims", "2", "2"], "--sims 2 is given twice"),
        (["--opening-moves", "-1"], "opening_moves between 0 and max_moves - 1, not 32, 700 and -1"),
        (["--csv", "/nowhere/x.csv"], "cannot write /nowhere/x.csv: there is no folder /nowhere"),
        (["--plot", "/"], "cannot write /: it is a folder"),
        (["--size", "4"], "board size 4"),
    ],
)
def test_a_bad_request_is_one_clear_line(
    arguments: list[str], message: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert command.main([*TINY, *arguments]) == 2
    complaint = capsys.readouterr().err
    assert message in complaint
    assert complaint.count("\n") == 1


def test_weights_that_cannot_be_used_are_refused_before_the_first_match(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(ladder, "play_match", lambda *_: pytest.fail("a match has begun"))
    assert command.main([*TINY, "--weights", "ttt.pt", "/nowhere/x.pt"]) == 2
    assert "/nowhere/x.pt" in capsys.readouterr().err


def test_the_networks_of_several_runs_have_different_names_in_the_plot() -> None:
    names = (
        "weights:runs/mlp/weights.pt:50",
        "weights:runs/vgg/weights.pt:50",
        "weights:ttt.pt:8",
        "uct:50",
        "perfect",
    )
    assert [ladder._label(name) for name in names] == ["mlp, 50", "vgg, 50", "ttt.pt, 8", "uct:50", "perfect"]
