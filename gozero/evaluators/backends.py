"""The names of the backends and of the precisions, with the checks that evaluators make when they are opened.

A precision is the number type of the network's trunk: f32, bf16, or int8 in its 3x3 convolutions (OpenVINO;
`gozero.evaluators.quantise`); results are always float32. Nothing heavy is imported here.
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from gozero.nets.weights import WeightsError
from gozero.system.errors import ChoiceError

if TYPE_CHECKING:
    from gozero.games.game import Game

BACKENDS = ("auto", "torch", "openvino")
PRECISIONS = ("auto", "f32", "bf16", "int8")
FLOATING = ("auto", "f32", "bf16")  # what backends other than OpenVINO compute in
GPU_BATCH = 64  # positions that a GPU evaluates in little more time than one; an estimate, not measured on a GPU


class PrecisionError(ChoiceError):
    """A precision that this backend or processor does not compute in; one line that says what to use instead."""


def check_choice(name: str, value: str, choices: tuple[str, ...]) -> None:
    """ValueError unless `value` is one of `choices`."""
    if value not in choices:
        raise ChoiceError(f"unknown {name} {value!r}; use one of: {', '.join(choices)}")


def check_board(path: Path, network: str, board: Sequence[int] | None, game: Game) -> None:
    """WeightsError if a network bound to a `board` (rows, cols) is asked to play on another one."""
    if board is not None and game.shape != tuple(board):
        raise WeightsError(path, f"network {network} plays {board[1]}x{board[0]} only, not {game.dimensions}")
