"""Opens a weights file as an evaluator: chooses the backend and imports it only then.

The interface is `gozero.evaluators.base`; self-play makes its evaluator of a network by itself
(`training.actor.leaves`).
"""

from __future__ import annotations

import shutil
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING

from gozero.errors import ChoiceError
from gozero.evaluators.backends import BACKENDS, PRECISIONS, PrecisionError, check_choice
from gozero.evaluators.base import Evaluator
from gozero.weights import find

if TYPE_CHECKING:
    from gozero.games.game import Game


def open_evaluator(
    path: Path | str, game: Game, *, backend: str = "auto", threads: int | None = None, precision: str = "auto"
) -> Evaluator:
    """An evaluator from a weights file.

    Args:
        path: the file's name, see `weights.find`.
        game: the game whose states come.
        backend: "torch", "openvino", or "auto": torch where there is an NVIDIA GPU, else OpenVINO where it is
            installed, else torch.
        threads: CPU threads; None for what the process may use.
        precision: "f32", "bf16", "int8" (OpenVINO alone), or "auto": the fastest that the device computes in.

    Raises:
        WeightsError: the file is missing or damaged, or made for another game or board.
        ValueError: an unknown backend or precision, or a backend that is not installed; PrecisionError: a precision
            that it does not have.
    """
    check_choice("backend", backend, BACKENDS)
    check_choice("precision", precision, PRECISIONS)
    file = find(path)
    chosen = _automatic_backend(precision) if backend == "auto" else backend
    if find_spec(chosen) is None:
        extra = "'gozero[train]', or 'gozero[cuda]' for an NVIDIA card" if chosen == "torch" else "openvino"
        raise ChoiceError(f"backend {chosen} is not installed; run: pip install {extra}")
    if chosen == "torch":
        if precision == "int8":
            raise PrecisionError(
                "precision int8 needs the backend openvino, which is not used here; use auto, bf16 or f32"
            )
        return _torch_evaluator(file, game, threads, precision)
    from gozero.evaluators.openvino_evaluator import OpenVINOEvaluator

    return OpenVINOEvaluator.open(file, game, threads=threads, precision=precision)


def _torch_evaluator(file: Path, game: Game, threads: int | None, precision: str) -> Evaluator:
    """On a GPU, where there is one, by captured graphs if they serve the game."""
    import torch

    from gozero.evaluators import cuda_evaluator, torch_evaluator

    if torch.cuda.is_available() and cuda_evaluator.serves(game):
        return cuda_evaluator.CudaEvaluator.open(file, game, precision=precision)
    return torch_evaluator.TorchEvaluator.open(file, game, threads=threads, precision=precision)


def carry_graph(path: Path) -> None:
    """Put its inference graph into a weights file where OpenVINO is installed, so that playing with it needs no torch."""
    if find_spec("openvino") is not None:
        from gozero.evaluators import graphs

        graphs.embed(path, with_ranges=False)


def _automatic_backend(precision: str) -> str:
    """torch for an NVIDIA GPU that torch can use, unless int8 is asked for; otherwise the fastest CPU backend that is
    installed.
    """
    if find_spec("openvino") is None:
        return "torch"
    # asking torch itself would cost a second of start-up on every machine
    if precision == "int8" or shutil.which("nvidia-smi") is None or find_spec("torch") is None:
        return "openvino"
    import torch

    return "torch" if torch.cuda.is_available() else "openvino"
