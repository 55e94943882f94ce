"""Handicap stones by GTP: fixed, free, set, and what is refused."""

import pytest

from gozero.games import coords
from tests.gtp.engine import Engine


@pytest.fixture
def engine() -> Engine:
    return Engine()


def board(engine: Engine) -> str:
    return engine.ask("showboard")


FIXED = {
    (13, 2): "D4 K10",
    (13, 3): "D4 K10 D10",
    (13, 4): "D4 K10 D10 K4",
    (13, 5): "D4 K10 D10 K4 G7",
    (13, 6): "D4 K10 D10 K4 D7 K7",
    (13, 7): "D4 K10 D10 K4 D7 K7 G7",
    (13, 8): "D4 K10 D10 K4 D7 K7 G4 G10",
    (13, 9): "D4 K10 D10 K4 D7 K7 G4 G10 G7",
    (9, 2): "C3 G7",
    (9, 9): "C3 G7 C7 G3 C5 G5 E3 E7 E5",
    (19, 4): "D4 Q16 D16 Q4",
    (7, 4): "C3 E5 C5 E3",
    (12, 4): "C3 K10 C10 K3",
}


@pytest.mark.parametrize(("size", "stones"), FIXED)
def test_fixed_handicap(engine: Engine, size: int, stones: int) -> None:
    for command in ("fixed_handicap", "place_free_handicap"):
        engine.ask(f"boardsize {size}")
        assert engine.ask(f"{command} {stones}") == FIXED[size, stones]
        assert board(engine).startswith("O to play")
        assert engine.refuse("undo") == "cannot undo"


@pytest.mark.parametrize(
    ("size", "argument"),
    [(13, "1"), (13, "10"), (13, "-2"), (13, "x"), (13, ""), (7, "5"), (8, "5"), (5, "2"), (6, "2")],
)
def test_impossible_fixed_handicap(engine: Engine, size: int, argument: str) -> None:
    engine.ask(f"boardsize {size}")
    assert engine.refuse(f"fixed_handicap {argument}").startswith(("invalid handicap", "syntax error"))


@pytest.mark.parametrize(("size", "stones", "placed"), [(13, 20, 9), (8, 5, 4), (5, 4, 2), (6, 2, 2)])
def test_free_handicap_has_as_many_stones_as_there_are_fixed_points(
    engine: Engine, size: int, stones: int, placed: int
) -> None:
    engine.ask(f"boardsize {size}")
    assert len(set(engine.ask(f"place_free_handicap {stones}").split())) == placed


def test_set_free_handicap(engine: Engine) -> None:
    engine.ask("komi 0.5")
    assert engine.ask("set_free_handicap A1 c3 D4") == ""
    assert board(engine).count("X") == 3
    assert engine.ask("final_score") == "B+77.5"  # 81 points, komi 0.5, and 3 for the stones under chinese rules
    engine.ask_all("genmove w", "undo")
    assert engine.refuse("undo") == "cannot undo"
    engine.ask("clear_board")
    assert engine.ask("final_score") == "W+0.5"


@pytest.mark.parametrize("arguments", ["", "D4", "D4 D4", "D4 pass", "D4 E10", "D4 Z1"])
def test_impossible_free_handicap_leaves_the_board_empty(engine: Engine, arguments: str) -> None:
    assert engine.refuse(f"set_free_handicap {arguments}").startswith("invalid")
    assert "X" not in board(engine)[1:]


def test_a_handicap_that_fills_the_board_is_refused(engine: Engine) -> None:
    vertices = " ".join(coords.vertex(point, 9) for point in range(81))
    assert engine.refuse(f"set_free_handicap {vertices}").startswith("invalid handicap")


@pytest.mark.parametrize("command", ["fixed_handicap 2", "place_free_handicap 2", "set_free_handicap A1 B2"])
def test_handicap_needs_an_empty_board(engine: Engine, command: str) -> None:
    engine.ask("play w E5")
    assert engine.refuse(command) == "board not empty"
