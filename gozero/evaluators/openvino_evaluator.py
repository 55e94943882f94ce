"""Evaluation with OpenVINO, the fastest way to run a network on a CPU.

Vocabulary.
  graph    the folded network in OpenVINO's form (`openvino.Model`), for any batch and any board that the network plays.
  cache    the user's folder of converted graphs, one subfolder each, named after the sha256 of the weights file. From
           the second start on a graph is read from there: torch, which takes a second to import, is not needed. The
           ranges that int8 needs (`gozero.evaluators.quantise`) lie beside it, a file for each board.

A graph is compiled for one board size and any batch: with the batch left open OpenVINO is as fast as with a fixed one
(within 2 % from batch 8 on), a batch it has not seen costs it some milliseconds, once, and nothing needs padding.
Several engines may share the cache; a folder that cannot be written is no error. This module does no training.
"""

from __future__ import annotations

import contextlib
import hashlib
import json
import os
import shutil
import tempfile
import threading
import warnings
from collections import deque
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from gozero import caches, features, weights
from gozero.evaluators import quantise
from gozero.evaluators.backends import PRECISIONS, PrecisionError, check_board, check_choice
from gozero.evaluators.base import Evaluation, check_states
from gozero.evaluators.openvino_core import compiled, core, float_precision, openvino
from gozero.machine import computes_int8
from gozero.threads import available_threads

if TYPE_CHECKING:
    from torch import nn

    from gozero.games.game import Game

OUTPUTS = ("policy", "value", "score", "ownership")  # of a graph, in this order; a network without the last two has two
ANY_BOARD = (13, 13)  # to trace a network that plays every board
KEPT_GRAPHS = 32  # in the cache; the longest unused go first

_TRACES: dict[str, Any] = {}  # torch's traces of networks, by structure; see `convert`
_TRACING = threading.Lock()  # a trace has one network's weights at a time


@dataclass(frozen=True)
class Manifest:
    """What must be known of a converted network besides its graph; a JSON file beside it."""

    network: str
    board: tuple[int, int] | None  # rows and columns, where the network is bound to one board
    game: str
    feature_version: int


class OpenVINOEvaluator:
    """Evaluates the states of one game on the CPU (an `Evaluator`)."""

    def __init__(
        self,
        graph: Any,
        game: Game,
        *,
        threads: int | None = None,
        precision: str = "auto",
        ranges_file: Path | None = None,
    ) -> None:
        """Compile `graph` for the game's board; `open` and `from_module` make the graph.

        precision: "f32", "bf16", "int8", or "auto": int8 where the processor has units for it and the network is wide
        enough to gain by it, else bf16 where the processor computes in that. PrecisionError for int8 on a processor
        without such units. ranges_file: keeps what int8 needs to know of this graph on this board, so that it is found
        out once.
        """
        check_choice("precision", precision, PRECISIONS)
        if precision == "int8" and computes_int8() is False:  # sums of products would overflow
            raise PrecisionError(
                "precision int8 needs a processor with VNNI or AMX, which this one has not; use auto, bf16 or f32"
            )
        self.game = game
        self.threads = threads or available_threads()
        self._wanted = precision
        self._compile(graph, ranges_file)

    @staticmethod
    def open(path: Path, game: Game, *, threads: int | None = None, precision: str = "auto") -> OpenVINOEvaluator:
        """An evaluator from a weights file; WeightsError if it cannot serve this game and board."""
        graph, manifest = load_graph(path, game.name)
        check_board(path, manifest.network, manifest.board, game)
        ranges_file = _folder(path) / f"ranges-{game.dimensions}.json"
        return OpenVINOEvaluator(graph, game, threads=threads, precision=precision, ranges_file=ranges_file)

    @staticmethod
    def from_module(
        net: nn.Module, game: Game, *, threads: int | None = None, precision: str = "auto"
    ) -> OpenVINOEvaluator:
        """An evaluator with the present weights of a torch network, in whatever mode it is; touches no file."""
        return OpenVINOEvaluator(convert(net), game, threads=threads, precision=precision)

    def refresh(self, net: nn.Module) -> None:
        """Evaluate with the present weights of `net` from now on (0.2 s for ten blocks, as much again for its ranges in
        int8).
        """
        self._compile(convert(net))

    def evaluate(self, states: np.ndarray) -> Evaluation:
        """Evaluate states int32 [n, S]; see `Evaluator`."""
        check_states(self.game, states)
        return self.infer(*features.encode(self.game, states, self._features))

    def infer(self, *inputs: np.ndarray) -> Evaluation:
        """Evaluate encoded positions, see `features.encode`."""
        request, free = self._request()
        request.infer(list(inputs), share_inputs=True)
        return _outputs(request, free)

    def submit(self, states: np.ndarray) -> Started:
        """Begin to evaluate states int32 [n, S]; see `AsynchronousEvaluator`. OpenVINO's threads work on one batch
        after the other.
        """
        check_states(self.game, states)
        return Started(*self._request(), features.encode(self.game, states, self._features))

    def _request(self) -> tuple[Any, deque[Any]]:
        """A request that nobody waits for, and the queue that it goes back to: that of its own compilation."""
        try:
            return self._free.popleft(), self._free
        except IndexError:
            return self._compiled.create_infer_request(), self._free

    def _compile(self, graph: Any, ranges_file: Path | None = None) -> None:
        self._features = features.version_of(len(graph.inputs))
        self.precision = float_precision() if self._wanted in ("auto", "int8") else self._wanted
        board, floating = self.game.shape, self.precision
        if self._is_int8(graph):
            graph = quantise.quantised(graph, self._ranges(graph, ranges_file))
            self.precision = "int8"
        self._compiled = compiled(graph, board, self.threads, floating)
        self._free: deque[Any] = deque()  # requests of this compilation that nobody waits for

    def _ranges(self, graph: Any, file: Path | None) -> dict[str, float]:
        """The ranges of the graph's layers: those of the file, else found out and written there as far as it can be."""
        if file is not None:
            with contextlib.suppress(OSError, ValueError, AttributeError):  # not there yet, or damaged
                kept: dict[str, float] = json.loads(file.read_text())
                if kept.keys() == quantise.layers(graph).keys() and all(
                    isinstance(value, float) for value in kept.values()
                ):
                    return kept
        found = quantise.ranges(graph, self.game, self.threads)
        if file is not None:
            with contextlib.suppress(OSError):
                new = file.with_suffix(f".{os.getpid()}")
                new.write_text(json.dumps(found))
                new.replace(file)
        return found

    def _is_int8(self, graph: Any) -> bool:
        """Whether the trunk is to compute in int8: where that was asked for, or is faster; never where the network has
        no such layer.
        """
        if self._wanted == "auto":
            return computes_int8() is True and quantise.width(graph) >= quantise.LEAST_CHANNELS
        return self._wanted == "int8" and quantise.width(graph) > 0


class Started:
    """An inference that has been started (a `Pending`). It keeps its inputs, which OpenVINO reads where they are."""

    def __init__(self, request: Any, free: deque[Any], inputs: tuple[np.ndarray, ...]) -> None:
        self._request, self._free, self._inputs = request, free, inputs
        request.start_async(list(inputs), share_inputs=True)

    def result(self) -> Evaluation:
        """Wait for it and copy its outputs."""
        self._request.wait()
        return _outputs(self._request, self._free)


def _outputs(request: Any, free: deque[Any]) -> Evaluation:
    """Copy what a finished request found; the request is then free for another batch."""
    evaluation = Evaluation(*(output.data.copy() for output in request.output_tensors))
    free.append(request)
    return evaluation


def convert(net: nn.Module) -> Any:
    """The graph of a network of `gozero.nets`, batch norm folded, open in batch and board.

    Torch keeps every trace for ever, a megabyte each, and a training run converts its network thousands of times: so
    one network of each structure is traced, and then given the weights of whichever is to be converted.
    """
    import torch

    from gozero import nets

    class Traced(torch.nn.Module):
        """The network with the outputs that an evaluation has, in the order of OUTPUTS."""

        def __init__(self) -> None:
            super().__init__()
            self.net = nets.fold(net).cpu()

        def forward(
            self, planes: torch.Tensor, globals: torch.Tensor, tactics: torch.Tensor | None = None
        ) -> tuple[torch.Tensor, ...]:
            output: nets.Output = self.net(planes, globals) if tactics is None else self.net(planes, globals, tactics)
            if output.score is None or output.ownership is None:
                return output.policy, output.value
            return output.policy, output.value, output.score, (output.ownership / 2).tanh()  # a logit's expected sign

    wanted = Traced().eval()
    assert isinstance(net, nets.Network)
    example = net.example(2, net.config.board or ANY_BOARD)
    with _TRACING, torch.no_grad(), warnings.catch_warnings():
        warnings.simplefilter(
            "ignore", DeprecationWarning
        )  # torch prefers torch.export, which takes 4 s for the same graph
        structure = f"{net.config.tactics} {wanted!r}"
        if structure not in _TRACES:
            _TRACES[structure] = torch.jit.trace(wanted, example, check_trace=False)
        trace = _TRACES[structure]
        trace.load_state_dict(wanted.state_dict())
        graph = openvino.convert_model(trace, example_input=example, share_weights=False)
    for output, name in zip(graph.outputs, OUTPUTS, strict=False):
        output.get_tensor().set_names({name})
    graph.reshape(
        {node: [-1, array.shape[1], -1, -1][: array.dim()] for node, array in zip(graph.inputs, example, strict=True)}
    )
    return graph


def load_graph(path: Path, game: str) -> tuple[Any, Manifest]:
    """The graph of a weights file, from the cache where it is there, else converted and put there."""
    folder = _folder(path)
    try:
        manifest = Manifest(**json.loads((folder / "manifest.json").read_text()))
        graph = core().read_model(folder / "graph.xml")
        folder.touch()
        folder.parent.touch()
    except (OSError, RuntimeError, ValueError, TypeError):  # not there yet, or damaged
        graph, manifest = _convert_file(path, game)
        with contextlib.suppress(OSError):
            _store(folder, graph, manifest)
    if manifest.game != game:
        raise weights.WeightsError(path, f"it plays {manifest.game}, not {game}")
    weights.check_features(path, game, manifest.feature_version)
    return graph, manifest


def _folder(path: Path) -> Path:
    """The folder of the cache for a weights file."""
    return caches.user_cache() / f"openvino-{_converter_hash()}" / weights.file_hash(path)


def _converter_hash() -> str:
    """Twelve hex digits over all that decides what a graph looks like: OpenVINO's version and the sources of networks
    and graphs.
    """
    digest = hashlib.sha256(openvino.__version__.encode())
    package = Path(__file__).parents[1]
    for source in (Path(__file__), Path(quantise.__file__), package / "nets.py", package / "blocks.py"):
        digest.update(source.read_bytes())
    return digest.hexdigest()[:12]


def _convert_file(path: Path, game: str) -> tuple[Any, Manifest]:
    file = weights.load(path, game)
    return convert(file.network()), Manifest(file.config.name, file.config.board, file.game, file.feature_version)


def _store(folder: Path, graph: Any, manifest: Manifest) -> None:
    """Put a graph into the cache as a whole folder at once, so that no other process ever sees half of it."""
    folder.parent.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(dir=folder.parent, prefix="new-") as name:
        new = Path(name) / "graph"
        new.mkdir()
        openvino.save_model(graph, new / "graph.xml", compress_to_fp16=False)
        (new / "manifest.json").write_text(json.dumps(asdict(manifest)))
        shutil.rmtree(folder, ignore_errors=True)  # what is there could not be read
        new.rename(folder)
    caches.forget(folder.parent, "*", KEPT_GRAPHS)
    caches.forget(folder.parent.parent, "openvino-*", caches.KEPT_VERSIONS)
