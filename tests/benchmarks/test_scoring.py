"""The benchmark of final scores: the games that it takes from lists, and those that it refuses."""

from __future__ import annotations

import csv
from pathlib import Path

import pytest

from benchmarks import scoring
from benchmarks.scoring import Board
from gozero.errors import ChoiceError

GAMES = Path(scoring.__file__).parent / "matches"


def test_the_games_of_a_list_that_ended_by_two_passes() -> None:
    games = scoring.listed_games([scoring.MATCH], Board(13, 7.5))
    assert len(games) == 100
    assert games[0][:2] == ["B C9", "W L5"]
    assert {game[-1].split()[1] for game in games} == {"pass"}


@pytest.mark.parametrize(
    ("name", "board"),
    [
        ("gnugo1-9-244.csv", Board(13, 7.5)),
        ("gnugo1-19-244.csv", Board(13, 7.5)),
        ("gnugo1-13-100.csv", Board(13, 6.5)),
        ("gnugo1-13-100.csv", Board(12, 7.5)),
    ],
)
def test_games_of_another_board_are_refused(name: str, board: Board) -> None:
    with pytest.raises(ChoiceError, match=rf"{name}: game 1 is none of {board}: give its --size and --komi$"):
        scoring.listed_games([GAMES / name], board)


def test_games_of_another_board_are_taken_where_it_is_named() -> None:
    assert len(scoring.listed_games([GAMES / "gnugo1-9-244.csv"], Board(9, 7.5))) == 99


@pytest.mark.parametrize(
    ("text", "words"),
    [
        (b"a,b\n1,2\n", "no list of games by training.arena --csv"),
        (b"\xff\xfe\x00", "no list of games by training.arena --csv"),
        (b"moves,ended,result\nB A1,resignation,B+R\n", "ended by two passes"),
        (b"moves,ended,result\nB pass W,two passes,W+7.5\n", "game 1 is none of 13x13"),
    ],
)
def test_what_is_no_list_of_games_is_one_line(text: bytes, words: str, tmp_path: Path) -> None:
    (tmp_path / "list.csv").write_bytes(text)
    with pytest.raises(ChoiceError, match=words):
        scoring.main(["--games", str(tmp_path / "list.csv")])


def test_fresh_games_have_one_board() -> None:
    with pytest.raises(ChoiceError, match="--fresh plays on 13x13, not on 9x9"):
        scoring.main(["--fresh", "--size", "9"])


def test_both_engines_are_told_the_board() -> None:
    sent: list[str] = []

    class Deaf:
        def send(self, command: str) -> str:
            sent.append(command)
            return "0"

    with (GAMES / "gnugo1-9-244.csv").open(newline="") as lines:
        first = next(iter(csv.DictReader(lines)))["moves"].split()[:2]
    scoring.compare(Deaf(), Deaf(), Board(9, 6.5), [" ".join(first)])  # type: ignore[arg-type]
    expected = ["boardsize 9", "clear_board", "komi 6.5", f"play {' '.join(first)}"]
    assert sent == [*expected, *expected, "final_score", "final_score"]
