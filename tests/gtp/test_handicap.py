"""Handicap stones by GTP: fixed, free, set, and what is refused."""

import pytest

from gozero.games import coords
from tests.gtp.engine import Engine

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
        assert engine.ask("showboard").startswith("O to play")
        assert engine.refuse("undo") == "cannot undo"


@pytest.mark.parametrize(
    ("size", "argument", "reason"),
    [
        (13, "1", "invalid handicap: 1; expected 2 or more"),
        (13, "10", "invalid handicap: 13x13 has fixed handicaps of 2 to 9"),
        (13, "-2", "invalid handicap: -2; expected 2 or more"),
        (13, "x", "syntax error: 'x' is not a whole number"),
        (13, "", "syntax error: expected the number of stones"),
        (7, "5", "invalid handicap: 7x7 has fixed handicaps of 2 to 4"),
        (8, "5", "invalid handicap: 8x8 has fixed handicaps of 2 to 4"),
        (5, "2", "invalid handicap: 5x5 has no fixed handicap"),
        (6, "2", "invalid handicap: 6x6 has no fixed handicap"),
    ],
)
def test_impossible_fixed_handicap(engine: Engine, size: int, argument: str, reason: str) -> None:
    engine.ask(f"boardsize {size}")
    assert engine.refuse(f"fixed_handicap {argument}") == reason


@pytest.mark.parametrize(("size", "stones", "placed"), [(13, 20, 9), (8, 5, 4), (5, 4, 2), (6, 2, 2)])
def test_free_handicap_has_as_many_stones_as_there_are_fixed_points(
    engine: Engine, size: int, stones: int, placed: int
) -> None:
    engine.ask(f"boardsize {size}")
    assert len(set(engine.ask(f"place_free_handicap {stones}").split())) == placed


def test_set_free_handicap(engine: Engine) -> None:
    engine.ask("komi 0.5")
    assert engine.ask("set_free_handicap A1 c3 D4") == ""
    assert engine.ask("showboard").count("X") == 3
    assert engine.ask("final_score") == "B+77.5"  # 81 points, komi 0.5, and 3 for the stones under chinese rules
    engine.ask_all("genmove w", "undo")
    assert engine.refuse("undo") == "cannot undo"
    engine.ask("clear_board")
    assert engine.ask("final_score") == "W+0.5"


@pytest.mark.parametrize(
    ("arguments", "reason"),
    [
        ("", "handicap: expected two vertices or more"),
        ("D4", "handicap: expected two vertices or more"),
        ("D4 D4", "handicap: a vertex is named twice"),
        ("D4 pass", "coordinate: 'pass'"),
        ("D4 E10", "color or coordinate: 'E10'"),
        ("D4 Z1", "color or coordinate: 'Z1'"),
    ],
)
def test_impossible_free_handicap_leaves_the_board_empty(engine: Engine, arguments: str, reason: str) -> None:
    assert engine.refuse(f"set_free_handicap {arguments}") == f"invalid {reason}"
    assert "X" not in engine.ask("showboard")[1:]


def test_a_handicap_that_fills_the_board_is_refused(engine: Engine) -> None:
    vertices = " ".join(coords.vertex(point, 9) for point in range(81))
    assert engine.refuse(f"set_free_handicap {vertices}").startswith("invalid handicap")


@pytest.mark.parametrize("command", ["fixed_handicap 2", "place_free_handicap 2", "set_free_handicap A1 B2"])
def test_handicap_needs_an_empty_board(engine: Engine, command: str) -> None:
    engine.ask("play w E5")
    assert engine.refuse(command) == "board not empty"
