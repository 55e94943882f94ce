"""The benchmark of final scores: the games that it takes from lists, and those that it refuses."""

from __future__ import annotations

from pathlib import Path

import pytest

from benchmarks import scoring
from benchmarks.scoring import LISTS, MATCHES, Board
from gozero.system.errors import ChoiceError

ON_NINE = MATCHES / "gnugo1-9-654.csv.gz"


def test_the_games_of_lists_that_ended_by_two_passes() -> None:
    games = scoring.listed_games(LISTS, Board(13, 7.5))
    assert len(games) == 100
    assert {game[-1].split()[1] for game in games} == {"pass"}
    assert len(scoring.listed_games([ON_NINE], Board(9, 7.5))) == 99, "a game of these ended otherwise"


@pytest.mark.parametrize(
    ("path", "board"), [(ON_NINE, Board(13, 7.5)), (LISTS[0], Board(13, 6.5)), (LISTS[0], Board(12, 7.5))]
)
def test_games_of_another_board_are_refused(path: Path, board: Board) -> None:
    with pytest.raises(ChoiceError, match=f"no list of games on {board}"):
        scoring.listed_games([path], board)


@pytest.mark.parametrize(
    ("name", "text"),
    [
        ("a.csv", b"a,b\n1,2\n"),
        ("a.csv", b"\xff\xfe\x00"),
        ("a.csv.gz", b"no archive"),
        ("a.csv", b"moves,ended,result\nB A1,resignation,B+R\n"),
        ("a.csv", b"moves,ended,result\nB pass W,two passes,W+7.5\n"),
    ],
)
def test_what_is_no_list_of_games_is_one_line(name: str, text: bytes, tmp_path: Path) -> None:
    (tmp_path / name).write_bytes(text)
    with pytest.raises(ChoiceError):
        scoring.main(["--games", str(tmp_path / name)])


class Scripted:
    """An engine that answers final_score from a list."""

    def __init__(self, *scores: str) -> None:
        self.scores, self.sent = list(scores), list[str]()

    def send(self, command: str) -> str:
        self.sent.append(command)
        return self.scores.pop(0) if command == "final_score" else ""


def test_winners_and_points_are_compared(capsys: pytest.CaptureFixture[str]) -> None:
    ours, theirs = Scripted("B+2.5", "W+1.5", "B+0.5"), Scripted("B+2.5", "W+3.5", "W+0.5")
    assert scoring.compare(ours, theirs, Board(9, 6.5), [["b D4"]] * 3) == (2, 1)  # type: ignore[arg-type]
    assert theirs.sent[:5] == ["boardsize 9", "clear_board", "komi 6.5", "play b D4", "final_score"]
    assert [line for line in capsys.readouterr().out.splitlines() if line.startswith("game ")] == [
        "game 2: ours W+1.5, GNU Go's W+3.5",
        "game 3: ours B+0.5, GNU Go's W+0.5",
    ]
