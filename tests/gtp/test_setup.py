"""Positions that are set up, and moves that come in one line: all of it is done or nothing."""

import pytest

from gtp.settings import GtpSettings
from tests.gtp.engine import Engine

STONES = "B C3 w E5 black D4 W F6"


@pytest.fixture
def engine() -> Engine:
    engine = Engine()
    engine.ask_all("komi 3.5", "play b G7", "play w C7")
    return engine


def stones(engine: Engine) -> tuple[str, str]:
    """The points of Black's and of White's stones."""
    return engine.ask("list_stones b"), engine.ask("list_stones w")


def state(engine: Engine) -> list[str]:
    return [engine.answer(line) for line in ("showboard", "move_history", "get_komi")]  # of which only Go has a komi


@pytest.mark.parametrize("name", ["play_sequence", "gogui-play_sequence"])
def test_a_sequence(engine: Engine, name: str) -> None:
    engine.ask(f"{name} {STONES} b pass")
    assert stones(engine) == ("G7 D4 C3", "C7 F6 E5")
    assert engine.ask("last_move") == "black pass"
    engine.ask(name)
    engine.ask("gg-undo 5")
    assert stones(engine) == ("G7", "C7")


@pytest.mark.parametrize(
    ("moves", "reason"),
    [
        ("b C3 w C3", "illegal move: C3 is illegal for White"),
        ("b C3 w G7 b D4", "illegal move: G7 is illegal for White"),
        ("b C3 w", "invalid color or coordinate: missing; expected a color and a vertex, such as b B2"),
        ("b C3 w Z9", "invalid color or coordinate: 'Z9'"),
        ("b C3 grey D4", "invalid color: 'grey'; expected b, black, w or white"),
        ("b C3 w resign", "invalid color or coordinate: 'resign'"),
    ],
)
def test_a_sequence_that_breaks_off_changes_nothing(engine: Engine, moves: str, reason: str) -> None:
    before = state(engine)
    assert engine.refuse(f"gogui-play_sequence {moves}") == reason
    assert state(engine) == before


def test_a_sequence_may_be_longer_than_any_line(engine: Engine) -> None:
    engine.ask("clear_board")
    line = "gogui-play_sequence" + " b pass w pass" * 300
    assert len(line) > 2000
    engine.ask(line)
    assert len(engine.ask("move_history").splitlines()) == 600
    assert engine.refuse(f"{line} b A1 w A1") == "illegal move: A1 is illegal for White"
    assert len(engine.ask("move_history").splitlines()) == 600


def test_a_sequence_out_of_turn_is_refused_where_sides_take_turns() -> None:
    engine = Engine(GtpSettings("gomoku", visits=2, seed=1, size=5))
    engine.ask("play_sequence b A1 w B1")
    assert engine.refuse("play_sequence b C1 b D1") == "illegal move: it is White's turn"
    assert engine.ask("last_move") == "white B1"


def test_set_position_takes_the_place_of_the_game(engine: Engine) -> None:
    engine.ask_all("play b D4", "set_position b C3 w E5")
    assert stones(engine) == ("C3", "E5")
    assert engine.ask("showboard").startswith("X to play")
    assert engine.ask("get_komi") == "3.5"
    assert engine.refuse("undo") == "cannot undo"
    engine.ask("set_position")
    assert stones(engine) == ("", "")


def test_gogui_setup_adds_to_the_board(engine: Engine) -> None:
    """GoGui sends it after boardsize and clear_board; `e` takes a stone off."""
    engine.ask(f"gogui-setup {STONES} e G7")
    assert stones(engine) == ("D4 C3", "C7 F6 E5")
    engine.ask("gogui-setup w D4")
    assert stones(engine) == ("C3", "C7 F6 E5 D4")
    assert engine.refuse("undo") == "cannot undo"


def test_the_side_to_move_after_a_set_up(engine: Engine) -> None:
    engine.ask_all("clear_board", "gogui-setup_player w", "gogui-setup b D4")
    assert engine.ask("showboard").startswith("O to play")
    assert stones(engine) == ("D4", "")
    engine.ask_all("play w E5", "gogui-setup_player b")  # it is Black's turn already
    assert engine.ask("last_move") == "white E5"
    assert "invalid color" in engine.refuse("gogui-setup_player")


@pytest.mark.parametrize("name", ["set_position", "gogui-setup"])
@pytest.mark.parametrize(
    ("points", "reason"),
    [
        ("w A1 b A2 b B1", "cannot set up: a chain of the set-up position has no liberty"),
        ("b C3 w D4 b C3", "C3 is named twice"),
        ("b C3 w D4 b c3", "c3 is named twice"),
        ("b C3 w", "syntax error: expected pairs of a colour and a vertex"),
        ("b pass", "invalid coordinate: 'pass'"),
        ("b Z3", "invalid color or coordinate: 'Z3'"),
        ("x C3", "invalid color: 'x'; expected b, black, w or white"),
    ],
)
def test_what_cannot_be_set_up_changes_nothing(engine: Engine, name: str, points: str, reason: str) -> None:
    before = state(engine)
    assert engine.refuse(f"{name} {points}") == reason
    assert state(engine) == before


def test_there_is_no_ko_after_a_set_up(engine: Engine) -> None:
    engine.ask_all("clear_board", "play_sequence b A2 w D2 b B3 w C3 b B1 w C1 b C2 w B2")
    assert engine.refuse("play b C2") == "illegal move"
    engine.ask("gogui-setup")
    engine.ask("play b C2")


def test_other_games_are_set_up_too() -> None:
    engine = Engine(GtpSettings("nogo", visits=4, seed=1, size=5))
    engine.ask_all("set_position b A1 w C3", "gogui-setup_player w", "genmove w")
    assert engine.ask("list_stones b") == "A1"
    before = state(engine)
    assert engine.refuse("set_position w A1 b A2 b B1").startswith("cannot set up: ")
    assert state(engine) == before


def test_stones_of_a_colour(engine: Engine) -> None:
    assert engine.ask("list_stones B") == "G7"
    assert "invalid color" in engine.refuse("list_stones")
    engine.ask("clear_board")
    assert engine.refuse("last_move") == "no previous move known"


def test_stones_that_black_plays_at_first_are_counted_as_handicap(engine: Engine) -> None:
    assert engine.ask("get_handicap") == "0"
    for line in ("play_sequence b D4 b F6 w E5", "fixed_handicap 2"):
        engine.ask_all("clear_board", line)
        assert engine.ask("get_handicap") == "2"
