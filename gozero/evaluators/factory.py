"""Opens a weights file as an evaluator: chooses the backend and imports it only then."""

from __future__ import annotations

import shutil
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING

from gozero.evaluators.backends import BACKENDS, PRECISIONS, PrecisionError, check_choice
from gozero.evaluators.base import Evaluator
from gozero.nets.locations import find
from gozero.nets.weights import WeightsError
from gozero.system.errors import ChoiceError

if TYPE_CHECKING:
    from gozero.evaluators.graphs import StoredGraph
    from gozero.games.game import Game
    from gozero.nets.weights import Weights


def open_evaluator(
    path: Path | str, game: Game, *, backend: str = "auto", threads: int | None = None, precision: str = "auto"
) -> Evaluator:
    """An evaluator from a weights file; the arguments but for `game`, and the errors, are those of `Opener` too.

    Args:
        path: the file's name, see `locations.find`.
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
    return Opener(path, backend=backend, threads=threads, precision=precision).open(game)


class Opener:
    """Opens evaluators of one weights file for one board after the other.

    The file is read once: a training may put another into its place while an engine runs, which would then play with
    two networks.
    """

    def __init__(
        self, path: Path | str, *, backend: str = "auto", threads: int | None = None, precision: str = "auto"
    ) -> None:
        self._path, self._backend, self._threads, self._precision = Path(path), backend, threads, precision
        self._read: StoredGraph | Weights | None = None
        self._game = ""  # which it was read for

    def open(self, game: Game) -> Evaluator:
        """The evaluator for a game and board."""
        check_choice("backend", self._backend, BACKENDS)
        check_choice("precision", self._precision, PRECISIONS)
        if self._read is None:
            self._path, self._game = find(self._path), game.name
        elif game.name != self._game:
            raise WeightsError(self._path, f"it plays {self._game}, not {game.name}")
        chosen = _automatic_backend(self._precision) if self._backend == "auto" else self._backend
        if find_spec(chosen) is None:
            extra = "'gozero[train]', or 'gozero[cuda]' for an NVIDIA card" if chosen == "torch" else "openvino"
            raise ChoiceError(f"backend {chosen} is not installed; run: pip install {extra}")
        if chosen == "torch":
            if self._precision == "int8":
                raise PrecisionError(
                    "precision int8 needs the backend openvino, which is not used here; use auto, bf16 or f32"
                )
            return self._torch(game)
        from gozero.evaluators import graphs
        from gozero.evaluators.openvino_evaluator import OpenVINOEvaluator

        read = self._read = self._read or graphs.load(self._path, game.name)
        assert isinstance(read, graphs.StoredGraph)
        return OpenVINOEvaluator.open(read, game, threads=self._threads, precision=self._precision)

    def _torch(self, game: Game) -> Evaluator:
        """On a GPU, where there is one, by captured graphs if they serve the game."""
        import torch

        from gozero.evaluators import cuda_evaluator, torch_evaluator
        from gozero.nets import weights

        read = self._read = self._read or weights.load(self._path, game.name)
        assert isinstance(read, weights.Weights)
        if torch.cuda.is_available() and cuda_evaluator.serves(game):
            return cuda_evaluator.CudaEvaluator.open(read, game, precision=self._precision)
        return torch_evaluator.TorchEvaluator.open(read, game, threads=self._threads, precision=self._precision)


def carry_graph(path: Path) -> None:
    """Put its inference graph into a weights file where OpenVINO is installed, so that playing with it needs no torch."""
    if find_spec("openvino") is not None:
        from gozero.evaluators import graphs

        graphs.embed(path, with_ranges=False)  # a run saves often, and each board takes a second


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
