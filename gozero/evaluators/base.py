"""The evaluator interface: states in, what a network (or a rollout) thinks of them out.

Vocabulary.
  evaluator   knows one game and answers for any number of its states at once; the search needs nothing else of a network.
  backend     the library that computes: torch (CPU, CUDA) or OpenVINO (CPU).
  precision   the number type of the network's trunk: f32, bf16 where the processor computes in it, or int8 in its 3x3 convolutions
              (OpenVINO; `gozero.evaluators.quantise`); results are always float32.
  pending     an evaluation that was asked for and is awaited later, so that a search can do something else in between.

This module opens weights files as evaluators; it computes nothing and imports the backends only when they are asked for.
"""

from __future__ import annotations

import shutil
from collections.abc import Callable, Sequence
from functools import partial
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple, Protocol, runtime_checkable

import numpy as np

from gozero.errors import ChoiceError
from gozero.weights import WeightsError, find

if TYPE_CHECKING:
    from gozero.games.game import Game

BACKENDS = ("auto", "torch", "openvino")
PRECISIONS = ("auto", "f32", "bf16", "int8")
FLOATING = ("auto", "f32", "bf16")  # what backends other than OpenVINO compute in


class PrecisionError(ChoiceError):
    """A precision that this backend or processor does not compute in; one line that says what to use instead."""


class Evaluation(NamedTuple):
    """What an evaluator says of n states, each from the view of its side to move; the arrays belong to the caller."""

    logits: np.ndarray  # float32 [n, A]: policy logits of all actions, also of illegal ones
    value: np.ndarray  # float32 [n]: expected result, -1..1
    score: np.ndarray | None = None  # float32 [n]: expected final lead in points, komi included
    ownership: np.ndarray | None = None  # float32 [n, P]: expected owner of each point, -1..1, + for the side to move


class Evaluator(Protocol):
    """Anything that can evaluate the states of one game. One thread at a time may call it."""

    @property
    def game(self) -> Game:
        """The game whose states it takes."""

    def evaluate(self, states: np.ndarray) -> Evaluation:
        """Evaluate states int32 [n, S], n ≥ 1, which are left unchanged."""


class Pending(Protocol):
    """An evaluation under way."""

    def result(self) -> Evaluation:
        """Wait for it and hand it out; to be called once."""


@runtime_checkable
class AsynchronousEvaluator(Evaluator, Protocol):
    """An evaluator that works while its caller does something else. Several threads may call it, and any number may be pending."""

    def submit(self, states: np.ndarray) -> Pending:
        """Begin to evaluate states int32 [n, S], n ≥ 1, which must stay as they are until the result has been taken."""


class Deferred:
    """The evaluation of an evaluator that knows no other way than to compute when it is asked (a `Pending`)."""

    def __init__(self, evaluator: Evaluator, states: np.ndarray) -> None:
        self._evaluator, self._states = evaluator, states

    def result(self) -> Evaluation:
        """Compute it now."""
        return self._evaluator.evaluate(self._states)


def submitter(evaluator: Evaluator) -> Callable[[np.ndarray], Pending]:
    """How to ask any evaluator for states int32 [n, S], n ≥ 1, which must stay as they are until the result has been taken."""
    return evaluator.submit if isinstance(evaluator, AsynchronousEvaluator) else partial(Deferred, evaluator)


def open_evaluator(
    path: Path | str, game: Game, *, backend: str = "auto", threads: int | None = None, precision: str = "auto"
) -> Evaluator:
    """An evaluator from a weights file.

    Args:
        path: the file's name, see `weights.find`.
        game: the game whose states come.
        backend: "torch", "openvino", or "auto": torch where there is an NVIDIA GPU, else OpenVINO where it is installed, else torch.
        threads: CPU threads; None for what the process may use.
        precision: "f32", "bf16", "int8" (OpenVINO alone), or "auto": the fastest that the device computes in.

    Raises:
        WeightsError: the file is missing or damaged, or made for another game or board.
        ValueError: an unknown backend or precision, or a backend that is not installed; PrecisionError: a precision that it does not have.
    """
    check_choice("backend", backend, BACKENDS)
    check_choice("precision", precision, PRECISIONS)
    file = find(path)
    chosen = _automatic_backend(precision) if backend == "auto" else backend
    if chosen == "torch":
        if precision == "int8":
            raise PrecisionError("precision int8 needs the backend openvino, which is not used here; use auto, bf16 or f32")
        from gozero.evaluators.torch_evaluator import TorchEvaluator

        return TorchEvaluator.open(file, game, threads=threads, precision=precision)
    if find_spec("openvino") is None:
        raise ChoiceError("backend openvino is not installed; run: pip install 'gozero[cpu]'")
    from gozero.evaluators.openvino_evaluator import OpenVINOEvaluator

    return OpenVINOEvaluator.open(file, game, threads=threads, precision=precision)


def check_choice(name: str, value: str, choices: tuple[str, ...]) -> None:
    """ValueError unless `value` is one of `choices`."""
    if value not in choices:
        raise ChoiceError(f"unknown {name} {value!r}; use one of: {', '.join(choices)}")


def check_board(path: Path, network: str, board: Sequence[int] | None, game: Game) -> None:
    """WeightsError if a network bound to a `board` (rows, cols) is asked to play on another one."""
    if board is not None and game.shape != tuple(board):
        raise WeightsError(path, f"network {network} plays {board[1]}x{board[0]} only, not {game.dimensions}")


def check_states(game: Game, states: np.ndarray) -> None:
    """ValueError unless `states` is int32 [n, S] of this game with n ≥ 1."""
    if states.dtype != np.int32 or states.ndim != 2 or states.shape[1] != game.state_ints or len(states) == 0:
        raise ValueError(f"states must be int32 [n, {game.state_ints}] with n >= 1, not {states.dtype} {list(states.shape)}")


def _automatic_backend(precision: str) -> str:
    """torch for an NVIDIA GPU that torch can use, unless int8 is asked for; otherwise the fastest CPU backend that is installed."""
    if find_spec("openvino") is None:
        return "torch"
    if precision == "int8" or shutil.which("nvidia-smi") is None:  # asking torch itself would cost a second of start-up on every machine
        return "openvino"
    import torch

    return "torch" if torch.cuda.is_available() else "openvino"
