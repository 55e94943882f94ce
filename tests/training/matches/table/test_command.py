"""Whole small tables: played, killed, continued, widened, and what is said of requests that make no sense."""

from __future__ import annotations

import json
import re
import sys
from argparse import Namespace
from collections import Counter
from pathlib import Path

import pytest

from tests.training.matches.tournament.journals import journal, keys
from tests.training.matches.tournament.test_tournament import ENGINE
from tests.training.refusals import Refused
from training.commands import table as command
from training.matches.table import play, published

pytestmark = pytest.mark.usefixtures("forked_workers")
TOY = ["s2", "--weights", "ttt.pt", "--processes", "1"]  # tic-tac-toe: the game follows the weights


def opponent(*words: object) -> list[str]:
    return ["--opponent", f"{sys.executable} -S {ENGINE} {' '.join(map(str, words))} {{sims}}"]


def test_a_table_is_widened_and_plays_no_game_again(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    out = ["--out", str(tmp_path / "out")]
    assert command.main([*TOY, *opponent("sound"), "--pairs", "policy:1000", "--games", "1", *out]) == 0
    first = journal(tmp_path / "out")
    python = Path(sys.executable).name
    pair = sorted(("ttt.pt, policy", f"{python}, 1,000 simulations"))
    assert keys(first) == Counter((*pair, index) for index in (0, 1))
    assert command.main([*TOY, *opponent("sound"), "--pairs", "50:20k", "400:50k", "--games", "2", *out]) == 0
    games = journal(tmp_path / "out")
    assert games[:2] == first
    assert len(games) == 2 + 8 and max(keys(games).values()) == 1
    printed = capsys.readouterr().out
    rows = [re.split(r"  +", line) for line in printed.splitlines()]
    assert any(row[0] == "here, ttt.pt" and row[1].endswith(" 2/4") and row[2:] == ["not played"] * 2 for row in rows)
    assert any(row[0] == "here, ttt.pt" and row[1].endswith(" 4") and row[2:] == ["not played"] * 3 for row in rows)
    assert "Here tictactoe 3x3 is played: the figures are of different games." in printed
    names = {path.name for path in (tmp_path / "out").iterdir()}
    assert {"tournament.html", "results.csv", "results.json", "games"} <= names


def test_plain_uct_is_the_opponent_where_none_is_named(tmp_path: Path) -> None:
    line = [*TOY, "--pairs", "policy:1000", "--games", "1", "--opening-moves", "1", "--out", str(tmp_path)]
    assert command.main(line) == 0
    assert {name for game in journal(tmp_path) for name in game["pair"]} == {
        "ttt.pt, policy", "plain UCT, 1,000 simulations",
    }  # fmt: skip
    facts = json.loads((tmp_path / "results.json").read_text())["field"]
    assert facts["entrants"]["plain UCT, 1,000 simulations"] == "uct:1000"
    assert facts["entrants"]["ttt.pt, policy"].startswith("weights:ttt.pt:policy (sha256 ")


def test_a_dry_run_counts_and_writes_nothing(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    line = ["s2", "--weights", "ttt.pt", "ttt-mlp.pt", "--pairs", "policy:1000", "50:20k", "--dry-run"]
    line += ["--out", str(tmp_path / "out")]
    assert command.main([*line, *opponent("sound")]) == 0
    lines = capsys.readouterr().out.splitlines()
    assert any(re.fullmatch(r"python\S*, 20,000 simulations: plays, \d\.\d{3} s a move", line) for line in lines)
    assert lines[0].startswith("4 pairs of 17, tictactoe 3x3")
    assert len(lines) == 1 + 6 + 1
    assert lines[-1].startswith("2,000 games left of 2,000 (4 pairings of 500), about ")
    assert not (tmp_path / "out").exists()


def test_a_board_that_was_never_trained_is_said(capsys: pytest.CaptureFixture[str]) -> None:
    for size in (9, 13):
        play._board(Namespace(weights=["nogo9.pt"], game=None, size=size), published.load("s2"))
        assert ("nogo9.pt: board size 13 was never trained" in capsys.readouterr().err) == (size == 13)


@pytest.mark.parametrize(
    ("arguments", "complaint"),
    [
        (["s9", "--weights", "ttt.pt"], "there is no table 's9': expected s2"),
        (["s2"], "the following arguments are required: --weights"),
        (["s2", "--weights", "none.pt"], "cannot use weights"),
        (["s2", "--weights", "ttt.pt", "ttt.pt"], "expected two entrants, each pair once"),
        (["s2", "--weights", "ttt.pt", "nogo9.pt"], "nogo9.pt plays nogo on 2 to 13, and is to play tictactoe on 3"),
        (["s2", "--weights", "ttt.pt", "--game", "nogo"], "it plays tictactoe, not nogo"),
        (["s2", "--weights", "ttt.pt", "--size", "0"], "ttt.pt plays tictactoe on 3, and is to play tictactoe on 0"),
        (["s2", "--weights", "ttt.pt", "--size", "5"], "ttt.pt plays tictactoe on 3, and is to play tictactoe on 5"),
        (["s2", "--weights", "ttt.pt", "--pairs", "50:30k"], "--pairs: the table has no '50:30k': expected some of"),
        (["s2", "--weights", "ttt.pt", "--pairs", "fifty"], "--pairs: the table has no 'fifty'"),
        (["s2", "--weights", "ttt.pt", "--games", "0"], "is not a whole number from 1 to 1,000,000,000"),
        (["s2", "--weights", "ttt.pt", "--processes", "-1"], "processes = -1 is out of range"),
        (["s2", "--weights", "ttt.pt", "--opening-moves", "9"], "9 random plies end nearly every game of tictactoe"),
        (["s2", "--weights", "ttt.pt", "--opponent", "hahanogo"], "does not say where its simulations go: write {sims} there"),
        (["s2", "--weights", "ttt.pt", "--opponent", "haha 'no {sims}"], "is no command line: No closing quotation"),
    ],
)  # fmt: skip
def test_a_bad_request_is_one_line(arguments: list[str], complaint: str, refused: Refused) -> None:
    said = refused(command.main, [*arguments, "--out", "/dev/null/none"])
    assert complaint in said and said.startswith("gozero table: ")
