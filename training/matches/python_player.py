"""A player that is a function in a Python file: a strategy of one's own, in this process.

The function gets the `gozero.games.position.Position` in which its side is to move, a copy of its own, and returns the
number of an action or a GTP vertex such as "C3". What it returns is judged by the referee; what it raises loses the
game, and the line of the file is named.
"""

from __future__ import annotations

import importlib.util
import sys
import traceback
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from gozero.games.position import Position
from gozero.system.errors import UserError
from training.matches.interface import Fault, MatchPlayer, PlayerError, Turn, said


def file_of(argument: str) -> Path:
    """The file that `FILE:FUNCTION` names, with or without its `.py`."""
    path = Path(argument.rpartition(":")[0])
    return path if path.suffix == ".py" else path.parent / f"{path.name}.py"


class PythonPlayer(MatchPlayer):
    """`python:FILE:FUNCTION`. PlayerError if the file cannot be run or has no such function."""

    def __init__(self, argument: str) -> None:
        path = file_of(argument)
        self.name, self._file = f"{path.stem}:{argument.rpartition(':')[2]}", str(path.absolute())
        self._choose = _function(path, argument.rpartition(":")[2])

    def choose(self, turns: Sequence[Turn]) -> list[int | Fault]:
        return [self._move(turn.position) for turn in turns]

    def _move(self, position: Position) -> int | Fault:
        try:
            answer = self._choose(position.copy())
        except (Exception, SystemExit) as error:
            raise UserError(_located(error, self._file)) from error
        if isinstance(answer, str):
            try:
                return position.game.action(answer)
            except ValueError:
                return self._nonsense(answer)
        is_number = isinstance(answer, (int, np.integer)) and not isinstance(answer, bool)
        return int(answer) if is_number else self._nonsense(answer)

    def _nonsense(self, answer: object) -> Fault:
        text = " ".join(repr(answer).split())
        return Fault("failure", f"{self.name} returned {text[:80]}: expected an action's number or a vertex such as C3")


def _located(error: BaseException, file: str) -> str:
    """What was raised, and from which line of the file."""
    frames = traceback.extract_tb(error.__traceback__)
    lines = [f"line {frame.lineno}: " for frame in frames if frame.filename == file]
    return f"{''.join(lines[-1:])}{said(error)}"


def _function(path: Path, name: str) -> Callable[[Position], Any]:
    """The function of that name, after the file has been run; the modules beside it can be imported."""
    if not path.is_file():
        raise PlayerError(f"there is no file {path}")
    if (folder := str(path.resolve().parent)) not in sys.path:
        sys.path.append(folder)
    spec = importlib.util.spec_from_file_location(f"gozero_player_{path.stem}", path)
    assert spec is not None and spec.loader is not None
    module = sys.modules[spec.name] = importlib.util.module_from_spec(spec)  # dataclasses look for it there
    try:
        spec.loader.exec_module(module)
    except (Exception, SystemExit) as error:  # noqa: BLE001 - whatever it raises, it makes no player
        raise PlayerError(f"cannot run {path}: {_located(error, str(path.absolute()))}") from None
    found = getattr(module, name, None)
    if not callable(found):
        raise PlayerError(f"{path} has no function {name}")
    return found
