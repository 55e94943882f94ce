"""The strategies as evaluators and players: in searches, matches, on the terminal and over GTP."""

import io
import re
import sys
from pathlib import Path

import numpy as np
import pytest

from gozero import games
from gozero.games.position import Position
from gozero.search.root import SearchRequest
from gozero.search.search import Search
from gozero.search.settings import SearchSettings
from gozero.system.errors import UserError
from gtp.client import GtpEngine
from tests.training.refusals import Refused, one_line
from training.commands import course as course_command
from training.course.strategies import Strategy, open_strategy, parse
from training.matches.match import play_match
from training.matches.players import Conditions, open_player

TICTACTOE = games.make("tictactoe")


@pytest.fixture(scope="module")
def course(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with two generations and supervised policies of tic-tac-toe that have hardly learned."""
    run = tmp_path_factory.mktemp("course")
    sizes = ["--games", "100", "--test-games", "10", "--passes", "1"]
    common = ["--game", "tictactoe", "--run", str(run)]
    assert course_command.generations([*common, "--first-games", "100", "--duel-games", "2", *sizes]) == 0
    assert course_command.imitate([*common, *sizes]) == 0
    return run


@pytest.mark.parametrize(
    ("text", "wanted", "name"),
    [
        ("a/b:val", Strategy(Path("a/b"), "val", "", 1), "b val, depth 1"),
        ("a/b:val@0:3", Strategy(Path("a/b"), "val", "0", 3), "b val@0, depth 3"),
        ("C:/runs:pol", Strategy(Path("C:/runs"), "pol", "", 1), "runs pol"),
        ("x:pol@supervised", Strategy(Path("x"), "pol", "supervised", 1), "x pol@supervised"),
        ("x:val_and_pol:1", Strategy(Path("x"), "val_and_pol", "", 1), "x val_and_pol, 1 visit"),
        (
            "x:val_and_pol@reinforced:400", Strategy(Path("x"), "val_and_pol", "reinforced", 400),
            "x val_and_pol@reinforced, 400 visits",
        ),
        ("x:val_and_pol", Strategy(Path("x"), "val_and_pol", "", 100), "x val_and_pol, 100 visits"),
    ],
)  # fmt: skip
def test_descriptions_are_understood_and_have_names_for_tables(text: str, wanted: Strategy, name: str) -> None:
    assert (parse(text), parse(text).name) == (wanted, name)


@pytest.mark.parametrize(
    "text",
    [
        "", "val", "x:", "x:best", "x:val:0", "x:pol:3", "x:val@new", "x:pol@1", ":val", f"x:val:{'9' * 5000}",
        f"x:val@{'1' * 5000}",
    ],
)  # fmt: skip
def test_other_descriptions_are_one_line(text: str) -> None:
    with one_line(UserError, "expected"):
        parse(text)


@pytest.mark.parametrize("text", ["val", "val@0:2", "pol"])
def test_one_visit_plays_what_the_strategy_likes_best(course: Path, text: str) -> None:
    evaluator = open_strategy(parse(f"{course}:{text}"), TICTACTOE)
    search = Search(TICTACTOE, evaluator, SearchSettings(max_nodes=2))
    position = Position(TICTACTOE)
    for action in (4, 1, 3):
        search.begin(0, SearchRequest(position.state, position.history_row(0), 1))
        search.run()
        assert search.result().best == evaluator.evaluate(position.state[None]).logits[0].argmax()
        position.play(action)


def test_val_and_pol_finds_a_win_and_a_defence(course: Path) -> None:
    evaluator = open_strategy(parse(f"{course}:val_and_pol"), TICTACTOE)
    search = Search(TICTACTOE, evaluator, SearchSettings(max_nodes=301))
    for text in ("3 X X .\n 2 O O .\n 1 . . .", "3 O O .\n 2 . X .\n 1 . . X"):
        state = TICTACTOE.from_text(f"X to play\n {text}\n   A B C")
        search.begin(0, SearchRequest(state, np.zeros(12, np.uint64), 300))
        search.run()
        assert search.result().best == 2


def test_strategies_play_matches_without_faults(course: Path) -> None:
    conditions = Conditions(TICTACTOE, 0.0, parallel=4)
    for text in ("val@0", "pol", "val_and_pol:20"):
        players = open_player(f"course:{course}:val:2", conditions), open_player(f"course:{course}:{text}", conditions)
        records = list(play_match(players, TICTACTOE, games=8, opening_moves=2, parallel=4))
        assert len(records) == 8 and all(record.ended == "game end" and not record.detail for record in records)


@pytest.mark.parametrize(
    ("text", "game", "said"),
    [
        ("course:{run}:best", "tictactoe", "is no player of the course"),
        ("course:{run}/none:val", "tictactoe", "gozero course generations"),
        ("course:{run}:val@5", "tictactoe", "no value networks of generation 5"),
        ("course:{run}:pol@reinforced", "tictactoe", "policy-reinforced.pt"),
        ("course:{run}:val", "connect4", "no game 'connect4'"),
        ("course:{run}:val", "othello", "plays tictactoe, not othello"),
    ],
)
def test_a_player_that_cannot_be_opened_is_one_line(course: Path, text: str, game: str, said: str) -> None:
    with one_line(UserError, said):
        open_player(text.format(run=course), Conditions(games.make(game), 0.0))


def test_another_board_is_refused(course: Path) -> None:
    with pytest.raises(UserError, match="on 9x9, not on 11x11"):
        open_player(f"course:{course}:val", Conditions(games.make("gomoku", size=11), 0.0))


def test_a_person_plays_it_on_the_terminal(
    course: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(sys, "stdin", io.StringIO("b2\nhint\nquit\n"))
    assert course_command.play([f"{course}:val", "--game", "tictactoe", "--seed", "1"]) == 0
    out = capsys.readouterr().out
    assert "val, depth 1" in out and "White " in out and "Your chance is" in out
    board = out[re.search(r"^\d+\.\d\d s", out, re.MULTILINE).end() :].splitlines()[1:4]
    cells = [line.split()[1:] for line in board]
    assert cells[1][1] == "X" and all(0 <= int(cell) <= 100 for row in cells for cell in row if cell != "X")


@pytest.mark.parametrize("text", ["val:2", "pol", "val_and_pol"])
def test_candidates_have_values_and_the_best_is_what_it_plays(course: Path, text: str) -> None:
    evaluator, position = open_strategy(parse(f"{course}:{text}"), TICTACTOE), Position(TICTACTOE)
    position.play(4)
    values = evaluator.of_points(position.state)
    assert (np.isfinite(values) == position.legal()[:9]).all() and 0 <= np.nanmin(values) <= np.nanmax(values) <= 1
    if text != "val_and_pol":
        assert np.nanargmax(values) == evaluator.evaluate(position.state[None]).logits[0].argmax()
    assert (text == "pol") == np.isclose(np.nansum(values), 1)


def test_bad_strategies_are_one_line(course: Path, refused: Refused) -> None:
    assert refused(course_command.play, [f"{course}:vol", "--game", "tictactoe"])


def test_it_serves_gtp(course: Path) -> None:
    command = f"{sys.executable} -m gozero course play {course}:val_and_pol:30 --game tictactoe --gtp"
    engine = GtpEngine(command, timeout=300)
    try:
        assert engine.send("name") == "gozero"
        engine.send("play b b2")
        assert engine.send("genmove w") in {f"{column}{row}" for column in "ABC" for row in "123"} - {"B2"}
        assert "boardsize" in engine.send("list_commands")
    finally:
        engine.close()
