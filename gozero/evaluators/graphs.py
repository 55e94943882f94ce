"""Inference graphs: a network in OpenVINO's form, for any batch and any board that it plays. A weights file carries its
graph (`embed`), with the ranges that int8 needs, so that playing needs no torch; else torch makes it at each start.
"""

from __future__ import annotations

import errno
import hashlib
import json
import tempfile
import threading
import warnings
from collections.abc import Mapping
from dataclasses import dataclass
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING, Any

from gozero import games
from gozero.evaluators import quantise
from gozero.evaluators.openvino_core import core, openvino
from gozero.nets import attachments, weights
from gozero.nets.attachments import GRAPH
from gozero.system.files import from_json
from gozero.system.machine import available_threads

if TYPE_CHECKING:
    from torch import nn

    from gozero.games.game import Game

OUTPUTS = ("policy", "value", "score", "ownership")  # of a graph, in this order; a network without the last two has two
ANY_BOARD = (13, 13)  # to trace a network that plays every board

_TRACES: dict[str, Any] = {}  # torch's traces of networks, by structure; see `convert`
_TRACING = threading.Lock()  # a trace has one network's weights at a time


@dataclass(frozen=True)
class StoredGraph:
    """The graph of a weights file with what is known of it."""

    graph: Any
    header: weights.Header
    embedded_ranges: Mapping[str, Mapping[str, float]]  # by the board's dimensions

    def ranges(self, game: Game, threads: int) -> Mapping[str, float]:
        """The range of each layer for int8 on the game's board: embedded, or measured."""
        embedded = self.embedded_ranges.get(game.dimensions)
        if embedded is not None and embedded.keys() == quantise.layers(self.graph).keys():
            return embedded
        return quantise.ranges(self.graph, game, threads)


def load(path: Path, game: str) -> StoredGraph:
    """The graph of a weights file, stored or made by torch. WeightsError if there is none for this game."""
    header = weights.header(path)
    if header.game != game:
        raise weights.WeightsError(path, f"it plays {header.game}, not {game}")
    weights.check_features(path, game, header.features)
    graph, ranges = _embedded(path) or (_converted(path, game), {})
    return StoredGraph(graph, header, ranges)


def embed(path: Path, *, with_ranges: bool = True) -> None:
    """Put its inference graph into a weights file, whole or not at all, with the ranges for int8 on the boards that it
    was trained on, which take a second each. Needs torch. WeightsError for a damaged file, OSError as `open`.
    """
    file = weights.load(path, game=None)
    graph = convert(file.network())
    ranges: dict[str, dict[str, float]] = {}
    if with_ranges and quantise.width(graph) >= quantise.LEAST_CHANNELS:
        for size in file.trained_sizes or ([file.size] if file.size else []):
            game = games.make(file.game, size=size)
            ranges[game.dimensions] = quantise.ranges(graph, game, available_threads())
    with tempfile.TemporaryDirectory() as name:
        try:
            openvino.save_model(graph, Path(name) / "graph.xml", compress_to_fp16=False)
        except RuntimeError:  # all that it says is "iostream error"
            raise OSError(errno.ENOSPC, "the inference graph does not fit there, it seems", name) from None
        content = {part: (Path(name) / part).read_bytes() for part in GRAPH[:2]}
    description = {"ranges": ranges, "sha256": _digest(content)}
    try:
        attachments.write(path, {**content, GRAPH[2]: json.dumps(description).encode()})
    except attachments.DAMAGE as error:  # in what torch does not look at
        raise weights.WeightsError(path, f"the file is damaged ({error})") from None


def _digest(content: Mapping[str, bytes]) -> str:
    """sha256 over the two files of a graph."""
    return hashlib.sha256(b"".join(content[part] for part in GRAPH[:2])).hexdigest()


def _embedded(path: Path) -> tuple[Any, Any] | None:
    """The graph in a weights file, and its ranges; None if there is none."""
    try:
        content = attachments.read(path, GRAPH)
        if content is None:
            return None
        description = from_json(content[GRAPH[2]])
        ranges = description["ranges"]
        known = all(isinstance(value, float) for layers in ranges.values() for value in layers.values())
        if not known or description["sha256"] != _digest(content):
            raise ValueError
        return core().read_model(content[GRAPH[0]], content[GRAPH[1]]), ranges
    except (ValueError, KeyError, TypeError, AttributeError, RuntimeError):
        reason = f"its inference graph is damaged; `gozero graph {path}` makes it anew from the tensors"
        raise weights.WeightsError(path, reason) from None


def _converted(path: Path, game: str) -> Any:
    """The graph of a weights file, made by torch."""
    if find_spec("torch") is None:
        reason = "it carries no inference graph, and PyTorch, which would make one, is not installed; run: pip install"
        raise weights.WeightsError(path, f"{reason} 'gozero[train]', then: gozero graph {path}")
    return convert(weights.load(path, game).network())


def convert(net: nn.Module) -> Any:
    """The graph of a network, batch norm folded, open in batch and board. Torch never frees a trace, a megabyte each:
    so one network of each structure is traced, and then given the weights of the one to convert.
    """
    import torch

    from gozero.nets import inference, model

    wanted = inference.Traceable(net).eval()
    assert isinstance(net, model.Network)
    example = net.example(2, net.config.board or ANY_BOARD)
    with _TRACING, torch.no_grad(), warnings.catch_warnings():
        # torch prefers torch.export, 4 s for the same graph; it warns of tracing in kinds that differ by version
        warnings.simplefilter("ignore")
        structure = f"{net.config} {wanted!r}"  # what the configuration says is part of a trace, not of its tensors
        if structure not in _TRACES:
            _TRACES[structure] = torch.jit.trace(wanted, example, check_trace=False)
        trace = _TRACES[structure]
        trace.load_state_dict(wanted.state_dict())
        graph = openvino.convert_model(trace, example_input=example, share_weights=False)
    for output, name in zip(graph.outputs, OUTPUTS, strict=False):
        output.get_tensor().set_names({name})
    inputs = zip(graph.inputs, example, strict=True)
    graph.reshape({node: [-1, array.shape[1], -1, -1][: array.dim()] for node, array in inputs})
    return graph
