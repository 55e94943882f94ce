"""Evaluation with OpenVINO, the fastest way to run a network on a CPU.

A graph (`gozero.evaluators.graphs`) is compiled for one board size and any batch, which is as fast as a fixed one.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from gozero.evaluators import graphs, quantise
from gozero.evaluators.base import PRECISIONS, Evaluation, check_choice
from gozero.evaluators.openvino_core import compiled, tactics
from gozero.nets import features
from gozero.system.errors import ChoiceError
from gozero.system.machine import available_threads, float_precision, is_fast_in_int8

if TYPE_CHECKING:
    from torch import nn

    from gozero.games.game import Game


def check_precision(precision: str) -> None:
    """ChoiceError for a precision that there is not, or in which this processor does not compute."""
    check_choice("precision", precision, PRECISIONS)
    if precision == "bf16" and float_precision() != "bf16":
        raise ChoiceError("precision bf16 needs a processor with AVX-512 bf16 or AMX; use auto or f32")


class OpenVINOEvaluator:
    """Evaluates the states of one game on the CPU (an `AsynchronousEvaluator`)."""

    label = "OpenVINO"  # for users

    def __init__(
        self, graph: Any, game: Game, *, threads: int | None, precision: str = "auto",
        ranges: Callable[[Game, int], Mapping[str, float]] | None = None, batches: int = 1,
    ) -> None:  # fmt: skip
        """Compile a graph of `graphs.convert` for the game's board.

        The CPU threads (None: what the process may use) are shared out among the `batches` evaluated at once.
        `precision` is "f32", "bf16", "int8", or "auto": int8 if the processor is fast in it and the network wide enough
        to gain, else the faster one; ChoiceError if it is not computed in here. `ranges` gives the ranges for int8, as
        `StoredGraph.ranges`; None: they are measured.
        """
        check_precision(precision)
        self.game = game
        self.threads = threads or available_threads()
        self._wanted, self._batches = precision, batches
        self._compile(graph, ranges)

    @staticmethod
    def from_module(
        net: nn.Module, game: Game, *, threads: int | None = None, precision: str = "auto", batches: int = 1
    ) -> OpenVINOEvaluator:
        """An evaluator with the present weights of a torch network, in whatever mode it is; touches no file."""
        return OpenVINOEvaluator(graphs.convert(net), game, threads=threads, precision=precision, batches=batches)

    def refresh(self, net: nn.Module) -> None:
        """Evaluate with the present weights of `net` from now on: 0.2 s for ten blocks, in int8 twice that."""
        self._compile(graphs.convert(net))

    def evaluate(self, states: np.ndarray) -> Evaluation:
        """Evaluate states int32 [n, S]; see `Evaluator`."""
        self.game.check_states(states)
        return self.infer(*features.encode(self.game, states, self._features))

    def infer(self, *inputs: np.ndarray) -> Evaluation:
        """Evaluate encoded positions, see `features.encode`."""
        request, free = self._request()
        request.infer(list(inputs), share_inputs=True)
        return _outputs(request, free)

    def submit(self, states: np.ndarray) -> Started:
        """Begin to evaluate states int32 [n, S]; see `AsynchronousEvaluator`. `batches` are worked on at a time."""
        self.game.check_states(states)
        request, free = self._request()
        started = Started(features.encode(self.game, states, self._features), free, request)
        started.request.start_async(list(started.inputs), share_inputs=True)
        return started

    def _request(self) -> tuple[Any, deque[Any]]:
        """An idle request, and the queue of its compilation, to which it is returned."""
        try:
            return self._free.popleft(), self._free
        except IndexError:
            return self._compiled.create_infer_request(), self._free

    def _compile(self, graph: Any, ranges: Callable[[Game, int], Mapping[str, float]] | None = None) -> None:
        self._features = features.version_of(tactics(graph))
        self.precision = float_precision() if self._wanted in ("auto", "int8") else self._wanted
        board, floating = self.game.shape, self.precision
        if self._is_int8(graph):
            known = ranges(self.game, self.threads) if ranges else quantise.ranges(graph, self.game, self.threads)
            graph = quantise.quantised(graph, known)
            self.precision = "int8"
        else:
            graph = graph.clone()  # compiling gives it a board
        self._compiled = compiled(graph, board, self.threads, floating, self._batches)
        self._free: deque[Any] = deque()  # idle requests of this compilation

    def _is_int8(self, graph: Any) -> bool:
        """Whether the trunk is to compute in int8: if that was asked for and there are such layers, or is faster."""
        if self._wanted == "auto":
            return is_fast_in_int8() and quantise.width(graph) >= quantise.LEAST_CHANNELS
        return self._wanted == "int8" and quantise.width(graph) > 0


class Started(NamedTuple):
    """An inference that has been started (a `Pending`). It keeps its inputs, which OpenVINO reads where they are."""

    inputs: tuple[np.ndarray, ...]
    free: deque[Any]
    request: Any  # the last field is released first, and then waits for the inference

    def result(self) -> Evaluation:
        """Wait for it and copy its outputs."""
        self.request.wait()
        return _outputs(self.request, self.free)


def _outputs(request: Any, free: deque[Any]) -> Evaluation:
    """Copy the results of a finished request; it is then free for another batch."""
    evaluation = Evaluation(*(output.data.copy() for output in request.output_tensors))
    free.append(request)
    return evaluation
