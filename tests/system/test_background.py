"""Kernels that run as Python until they are compiled."""

import subprocess
import sys
from types import SimpleNamespace
from typing import Any

import numba
import numpy as np
import pytest
from numba import types

from gozero import games
from gozero.games.go import go
from gozero.nets.locations import find
from gozero.nets.weights import header
from gozero.system.jit import Compilation, Kernel, collecting, kernel
from gtp.loading import Loader
from gtp.settings import GtpSettings

HELPER: Any = None
REFUSE = """
import sys
from gozero.system import jit
from numba.core.dispatcher import Dispatcher

def refuse(self, signature):
    raise AssertionError(f"{self.py_func} is compiled")

Dispatcher.compile = refuse
jit.Compilation._compile = lambda self: None
jit.Compilation.wait = lambda self, seconds=None: False
"""
"""A process in which nothing can be compiled."""
BOARDS = """
from gozero.games import GAMES
with jit.collecting():
    from gozero.play.player import make_game
    for name in GAMES:
        sizes = {"othello": 8, "tictactoe": 3, "simple_go": 5, "course_go": 5}
        game = make_game(name, range(20), size=sizes.get(name, 7), rules=None, komi=None)
        for colour in (1, 2):
            game.play(colour, int(game.legal(colour).nonzero()[0][-2]))
        game.undo()
        print(name, game.stones().sum(), game.legal(2).any(), game.position.is_over)
"""


def kernels() -> tuple[list[Kernel], Any]:
    """Two deferred kernels, of which the second calls the first, and the second."""
    with collecting() as found:

        @kernel()
        def double(value):  # type: ignore[no-untyped-def]
            return 2 * value

        globals()["HELPER"] = double  # kernels find each other in their module

        @kernel(types.int64(types.int64))
        def doubled_and_one(value):  # type: ignore[no-untyped-def]
            return HELPER(value) + 1

    return found, doubled_and_one


def test_a_deferred_kernel_answers_before_and_after_it_is_compiled() -> None:
    found, function = kernels()
    assert [each.py_func.__name__ for each in found] == ["double", "doubled_and_one"]
    assert isinstance(function, Kernel)
    assert function(20) == 41
    assert function._run is function.py_func, "it is Python as long as nobody compiles it"
    assert Compilation(found).wait()
    assert isinstance(function._run, numba.core.dispatcher.Dispatcher)
    assert function(20) == 41
    assert found[0]._run is found[0].py_func, (
        "a helper called from Python would be compiled for its arguments, at the caller's cost"
    )


def test_kernels_are_compiled_at_once_elsewhere() -> None:
    @kernel(types.int64(types.int64))
    def one(value):  # type: ignore[no-untyped-def]
        return value

    assert one.signatures


def test_whoever_waits_is_told_of_an_error() -> None:
    def fail(function: Any) -> Any:
        raise ArithmeticError("no compiler")

    with pytest.raises(ArithmeticError, match="no compiler"):
        Compilation([Kernel(len, fail, is_helper=False)]).wait()


def test_a_board_can_be_asked_before_anything_is_compiled() -> None:
    lines = [
        "boardsize 9", "play b C4", "play w C3", "is_legal b A1", "all_legal b", "showboard", "list_stones w", "undo",
    ]  # fmt: skip
    lines += ["move_history", "list_stones b", "quit"]
    command = [sys.executable, "-c", REFUSE + "from gtp.__main__ import main\nmain(sys.argv[1:])"]
    done = subprocess.run(command, input="\n".join(lines), capture_output=True, text=True, timeout=120)
    answers = done.stdout.split("\n\n")
    assert done.returncode == 0, done.stderr
    assert len(answers) == len(lines) + 1, done.stdout + done.stderr
    assert all(answer.startswith("=") for answer in answers[:-1]), done.stdout + done.stderr
    assert "Warning" not in done.stderr


def test_every_game_can_be_played_before_anything_is_compiled() -> None:
    done = subprocess.run([sys.executable, "-c", REFUSE + BOARDS], capture_output=True, text=True, timeout=120)
    assert done.returncode == 0 and "Warning" not in done.stderr, done.stderr
    found = {line.split()[0]: line.split()[1:] for line in done.stdout.splitlines()}
    stones = {"othello": "6", "breakthrough": "42"}  # the sum of their colours
    assert found == {name: [stones.get(name, "1"), "True", "False"] for name in games.GAMES}


def test_kernels_are_compiled_before_a_network_is_opened(monkeypatch: pytest.MonkeyPatch) -> None:
    """To open one is to encode positions, with kernels that are handed others as compiled functions."""
    path = find("best.pt")
    loader, done = Loader(GtpSettings(), path, header(path)), []
    monkeypatch.setattr(loader, "_compilation", SimpleNamespace(wait=lambda: done.append("compiled")))
    monkeypatch.setattr(loader._evaluators, "open", lambda game: done.append("opened"))
    loader.evaluator(games.make("go", size=9))
    assert done == ["compiled", "opened"]


def test_points_are_counted_alike_before_they_are_compiled() -> None:
    """In Python a sum of int8 wraps at 127."""
    assert go._area.py_func(np.ones(361, np.int8)) == 361
