"""The command `gozero match`: a tournament of two with a list of its games."""

from __future__ import annotations

import csv
import shutil
from pathlib import Path

import pytest
from sgfmill.sgf import Sgf_game

from gozero import games
from gozero.games.position import Position
from gozero.nets import model, weights
from tests.training.matches.tournament.journals import journal
from tests.training.refusals import Refused
from training.commands import match as command
from training.matches.arena import game_line
from training.matches.match import MatchGame

pytestmark = pytest.mark.usefixtures("forked_workers")


def rows_of(path: Path) -> list[dict[str, str]]:
    return list(csv.DictReader(path.open(encoding="utf-8")))


def test_games_are_listed_and_saved_and_the_same_command_plays_none_again(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    table = tmp_path / "games.csv"
    table.symlink_to(tmp_path / "elsewhere.csv")
    match = ["random", "random", "--size", "5", "--games", "4", "--seed", "3", "--processes", "1"]
    match += ["--csv", str(table), "--out", str(tmp_path / "out")]
    assert command.main(match) == 0
    assert table.is_symlink()
    output = capsys.readouterr().out
    assert output.count(" is Black ") == 4 and "A scored " in output and "ended: two passes 4" in output
    rows, played = rows_of(table), journal(tmp_path / "out")
    assert [row["game"] for row in rows] == ["1", "2", "3", "4"]
    assert [row["black"] for row in rows] == ["random", "random (B)"] * 2
    assert {row["moves"] for row in rows} == {game["moves"] for game in played}
    game = Sgf_game.from_bytes((tmp_path / "out" / "games" / "random~random-B-0002.sgf").read_bytes())
    assert (game.get_size(), game.get_komi(), game.get_root().get("RE")) == (5, 7.5, rows[1]["result"])
    assert command.main(match) == 0
    assert " is Black " not in capsys.readouterr().out
    assert (journal(tmp_path / "out"), rows_of(table)) == (played, rows)


def test_a_game_without_points_has_its_own_size_and_results(tmp_path: Path) -> None:
    table, game = tmp_path / "games.csv", games.make("connect4")
    match = ["uct:4", "random", "--game", "connect4", "--games", "4", "--opening-moves", "5", "--processes", "1"]
    assert command.main([*match, "--csv", str(table)]) == 0
    for row in rows_of(table):
        position = Position(game)
        for vertex in row["moves"].split()[1::2]:
            position.play(game.action(vertex))
        assert position.is_over
        assert row["result"] == ("0" if not row["winner"] else "B+" if row["winner"] == row["black"] else "W+")


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="needs a file that is always full")
def test_games_whose_list_cannot_be_saved_can_be_taken_up(capsys: pytest.CaptureFixture[str]) -> None:
    match = ["random", "random", "--game", "tictactoe", "--games", "2", "--processes", "1"]
    assert command.main([*match, "--csv", "/dev/full"]) == 2
    line = capsys.readouterr().err.splitlines()[-1]
    assert line.startswith("gozero match: cannot write /dev/full: No space left on device; ")
    advice = line.partition("give the same command again with ")[2].split()
    assert command.main([*match, *advice]) == 0
    shutil.rmtree(advice[1])
    said = capsys.readouterr()
    assert "; 0 of 2 games to play in " in said.err and "A scored " in said.out


@pytest.mark.parametrize(
    ("claims", "agreed"),
    [
        ((None, None), True), (("W+7.5", "W+3"), True), (("B+1.5", None), False), (("W+7.5", "cannot score"), False),
        ((None, "0"), False),
    ],
)  # fmt: skip
def test_players_must_name_the_referees_winner(claims: tuple[str | None, str | None], agreed: bool) -> None:
    game = MatchGame(("a", "b"), 0, "b", "W+7.5", "two passes", "", "B pass W pass", claims)
    assert game.agreed is agreed
    assert ("do not name the referee's winner" in game_line(game, ("a", "b"))) is not agreed


@pytest.mark.parametrize(
    ("chosen", "board"),
    [([], "go 5x5"), (["--game", "go"], "go 5x5"), (["--size", "6"], "go 6x6"), (["--game", "hex"], "it plays go, not hex")],
)
def test_game_and_board_are_those_of_the_first_weights(
    chosen: list[str], board: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    file, net = tmp_path / "net.pt", model.config("b1c8")
    weights.save(file, model.build(net, seed=1), net, size=5)
    code = command.main(["random", f"weights:{file}:1", "--games", "2", "--dry-run", *chosen])
    assert code == ("not" in board)
    assert board in capsys.readouterr().out


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["random", "nonsense"], "no player is called 'nonsense'"),
        (["random", "random", "--size", "1"], "size"),
        (["random", "random", "--rules", "martian"], "martian"),
        (["random", "random", "--komi", "1e9"], "komi = 1000000000.0 is out of range"),
        (["random", "random", "--processes", "-1"], "processes = -1 is out of range"),
        (["random", "random", "--answer-seconds", "0"], "answer_seconds = 0.0 is out of range"),
        (["random", "random", "--csv", "/nowhere/x.csv"], "/nowhere/x.csv"),
        (["random", "weights:/nowhere/x.pt:10"], "/nowhere/x.pt"),
        (["random", "random", "--game", "tictactoe", "--size", "3", "--opening-moves", "9"], "9 random plies end nearly every game"),
    ],
)
def test_a_bad_request_is_one_clear_line(arguments: list[str], message: str, refused: Refused) -> None:
    assert message in refused(command.main, ["--size", "5", *arguments])
