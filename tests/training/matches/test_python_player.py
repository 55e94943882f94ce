"""A function in a Python file as a player: it plays, and what is no move or no player is said in one line."""

from __future__ import annotations

from pathlib import Path

import pytest

from gozero import games
from gozero.games.position import Position
from gozero.system.errors import UserError
from tests.training.refusals import one_line
from training.matches.players import Conditions, Fault, PlayerError, Turn, open_player

GAME = games.make("tictactoe")
CONDITIONS = Conditions(GAME, 0.0)
STRATEGY = """
from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from beside import LAST

@dataclass
class Thought:
    move: int

def last(position):
    return np.flatnonzero(position.legal())[LAST]

def corner(position):
    return "A1"

def nothing(position):
    return None

def broken(position):
    return position.play(1), position.play(1)
"""


@pytest.fixture
def strategy(tmp_path: Path) -> Path:
    """A Python file with functions that are players, without its `.py`."""
    (tmp_path / "beside.py").write_text("LAST = -1")
    (tmp_path / "position.py").write_text(STRATEGY)  # as a file of the engine's is called
    return tmp_path / "position"


def test_a_function_in_a_python_file_plays(strategy: Path) -> None:
    one, corner = (open_player(f"python:{strategy}:{name}", CONDITIONS) for name in ("last", "corner"))
    turn = Turn(0, Position(GAME))
    assert list(one.choose([turn, turn])) == [GAME.action("C1")] * 2 and one.name == "position:last"
    assert list(corner.choose([turn])) == [GAME.action("A1")] and not turn.position.moves


def test_a_function_that_returns_no_move_or_fails_is_at_fault(strategy: Path) -> None:
    nothing = open_player(f"python:{strategy}.py:nothing", CONDITIONS)
    (fault,) = nothing.choose([Turn(0, Position(GAME))])
    assert isinstance(fault, Fault) and "None" in fault.text
    line = STRATEGY.splitlines().index("    return position.play(1), position.play(1)") + 1
    with one_line(UserError, f"line {line}: IllegalMove"):  # which a tournament's worker makes a fault of
        open_player(f"python:{strategy}:broken", CONDITIONS).choose([Turn(0, Position(GAME))])


@pytest.mark.parametrize(
    ("text", "said"),
    [("\n1 / 0", "mine.py: line 2: ZeroDivision"), ("def choose(:", "(mine.py, line 1)"), ("choose = 3", "mine.py has no")],
)
def test_a_file_that_makes_no_player_is_one_line(
    text: str, said: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "mine.py").write_text(text)
    monkeypatch.chdir(tmp_path)
    with one_line(PlayerError, said):
        open_player("python:mine.py:choose", CONDITIONS)
