"""Opens a weights file as an evaluator: chooses the backend and imports it only then."""

from __future__ import annotations

import shutil
import threading
from collections.abc import Sequence
from dataclasses import dataclass, field
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING

from gozero.evaluators.base import BACKENDS, PRECISIONS, check_choice, preferred_batch
from gozero.nets.locations import find
from gozero.nets.weights import WeightsError
from gozero.system.errors import ChoiceError

if TYPE_CHECKING:
    from gozero.evaluators.base import Evaluator
    from gozero.evaluators.graphs import StoredGraph
    from gozero.games.game import Game
    from gozero.nets.weights import Weights


def open_evaluator(
    path: Path | str, game: Game, *, backend: str = "auto", threads: int | None = None, precision: str = "auto"
) -> Evaluator:
    """An evaluator from a weights file; see `Evaluators`."""
    return Evaluators(Path(path), backend, threads, precision).open(game)


@dataclass
class Evaluators:
    """The evaluators of one weights file, each opened once, by the thread that asks first. The file is read once: a
    training may put another into its place while an engine runs.
    """

    path: Path  # see `locations.find`
    backend: str = "auto"  # "torch", "openvino", or "auto": torch if there is an NVIDIA GPU, else OpenVINO if installed
    threads: int | None = None  # of the CPU; None for what the process may use
    precision: str = "auto"  # "f32", "bf16", "int8" (OpenVINO alone), or "auto": the fastest that the device has
    cache: int = 0  # bytes for cached evaluations: half of them for the first board opened, a quarter for the next, ...
    _opened: dict[int, Evaluator] = field(default_factory=dict, init=False, repr=False)
    _read: StoredGraph | Weights | None = field(default=None, init=False, repr=False)
    _game: str = field(default="", init=False, repr=False)  # that the file was read for
    _lock: threading.Lock = field(default_factory=threading.Lock, init=False, repr=False)

    def open(self, game: Game) -> Evaluator:
        """The evaluator for the board of ``game``, ready to answer at once. WeightsError if the file is missing or
        damaged, or made for another game or board; ChoiceError for a backend or precision that is not known or had
        here.
        """
        from gozero.evaluators.cache import CachedEvaluator

        with self._lock:
            if game.size not in self._opened:
                evaluator = self._open(game)
                for doubling in range(preferred_batch(evaluator).bit_length()):
                    evaluator.evaluate(game.new_states(1 << doubling))  # the first of each size is the slowest
                if self.cache:
                    evaluator = CachedEvaluator(evaluator, self.cache >> (1 + len(self._opened)))
                self._opened[game.size] = evaluator
            return self._opened[game.size]

    def forget(self) -> None:
        """Drop the cached evaluations."""
        from gozero.evaluators.cache import CachedEvaluator

        for evaluator in self._opened.values():
            if isinstance(evaluator, CachedEvaluator):
                evaluator.forget()

    def _open(self, game: Game) -> Evaluator:
        check_choice("backend", self.backend, BACKENDS)
        check_choice("precision", self.precision, PRECISIONS)
        if self._read is None:
            self.path, self._game = find(self.path), game.name
        elif game.name != self._game:
            raise WeightsError(self.path, f"it plays {self._game}, not {game.name}")
        chosen = _automatic_backend(self.precision) if self.backend == "auto" else self.backend
        if find_spec(chosen) is None:
            extra = "'gozero[train]', or 'gozero[cuda]' for an NVIDIA card" if chosen == "torch" else "openvino"
            raise ChoiceError(f"backend {chosen} is not installed; run: pip install {extra}")
        if chosen == "torch":
            return self._open_torch(game)
        from gozero.evaluators import graphs
        from gozero.evaluators.openvino_evaluator import OpenVINOEvaluator

        read = self._read = self._read or graphs.load(self.path, game.name)
        assert isinstance(read, graphs.StoredGraph)
        self._check_board(read.header.network, read.header.board, game)
        return OpenVINOEvaluator(read.graph, game, threads=self.threads, precision=self.precision, ranges=read.ranges)

    def _open_torch(self, game: Game) -> Evaluator:
        """On a GPU by captured graphs, if they serve the game."""
        if self.precision == "int8":
            raise ChoiceError("precision int8 needs the backend openvino, not torch; use auto, bf16 or f32")
        import torch

        from gozero.evaluators import cuda_evaluator, torch_evaluator
        from gozero.nets import weights

        read = self._read = self._read or weights.load(self.path, game.name)
        assert isinstance(read, weights.Weights)
        self._check_board(read.config.name, read.config.board, game)
        if torch.cuda.is_available() and cuda_evaluator.serves(game):
            capacities, precision = cuda_evaluator.PLAYERS, self.precision
            net = read.network()
            return cuda_evaluator.CudaEvaluator(net, game, ownership=True, capacities=capacities, precision=precision)
        return torch_evaluator.TorchEvaluator(read.network(), game, threads=self.threads, precision=self.precision)

    def _check_board(self, network: str, board: Sequence[int] | None, game: Game) -> None:
        """WeightsError if a network bound to a `board` (rows, cols) is asked to play on another one."""
        if board is not None and game.shape != tuple(board):
            raise WeightsError(self.path, f"network {network} plays {board[1]}x{board[0]} only, not {game.dimensions}")


def carry_graph(path: Path) -> None:
    """Put its inference graph into a weights file if OpenVINO is installed, so that playing needs no torch."""
    if find_spec("openvino") is not None:
        from gozero.evaluators import graphs

        graphs.embed(path, with_ranges=False)  # a run saves often, and each board takes a second


def _automatic_backend(precision: str) -> str:
    """torch if it can use an NVIDIA GPU and int8 is not asked for, else the fastest CPU backend that is installed."""
    if find_spec("openvino") is None:
        return "torch"
    # asking torch itself would cost a second of start-up on every machine
    if precision == "int8" or shutil.which("nvidia-smi") is None or find_spec("torch") is None:
        return "openvino"
    import torch

    return "torch" if torch.cuda.is_available() else "openvino"
