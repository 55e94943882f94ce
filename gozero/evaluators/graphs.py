"""Inference graphs: a network of `gozero.nets.model` in OpenVINO's form, and where one is found without making it again.

Vocabulary.
  graph     the folded network as an `openvino.Model`, for any batch and any board that the network plays.
  embedded  inside the weights file itself (`embed`), with the ranges that int8 needs. Playing with such a file needs no
            torch.
  cache     the user's folder of graphs converted from weights files that carry none, one subfolder each, named after
            the sha256 of the file. Only the first start needs torch, and the second it takes to import.

A graph is looked for in the weights file, then in the cache, and is made where it is in neither. Several engines may
share the cache; a folder that cannot be written is no error. This module evaluates nothing.
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
from collections.abc import Mapping
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

from gozero import games
from gozero.evaluators import quantise
from gozero.evaluators.openvino_core import core, openvino
from gozero.nets import attachments, weights
from gozero.nets.attachments import GRAPH
from gozero.system import caches
from gozero.system.threads import available_threads

if TYPE_CHECKING:
    from torch import nn

    from gozero.games.game import Game

OUTPUTS = ("policy", "value", "score", "ownership")  # of a graph, in this order; a network without the last two has two
ANY_BOARD = (13, 13)  # to trace a network that plays every board
KEPT_GRAPHS = 32  # in the cache; the longest unused go first
SOURCES = ("model", "blocks", "course_nets", "folding")  # of the networks

_TRACES: dict[str, Any] = {}  # torch's traces of networks, by structure; see `convert`
_TRACING = threading.Lock()  # a trace has one network's weights at a time


@dataclass(frozen=True)
class Manifest:
    """What must be known of a network besides its graph."""

    network: str
    board: tuple[int, int] | None  # rows and columns, where the network is bound to one board
    game: str
    feature_version: int

    @staticmethod
    def of(file: weights.Weights) -> Manifest:
        """That of a weights file's network."""
        return Manifest(file.config.name, file.config.board, file.game, file.feature_version)


@dataclass(frozen=True)
class StoredGraph:
    """The graph of a weights file with what is known of it."""

    graph: Any
    manifest: Manifest
    path: Path  # of the weights file
    key: str  # of its folder in the cache: the sha256 of the embedded graph, or of the file as it was read
    embedded_ranges: Mapping[str, Mapping[str, float]] = field(default_factory=dict)  # by the board's dimensions

    def ranges(self, game: Game, threads: int) -> Mapping[str, float]:
        """The range of each layer for int8 on the game's board: embedded, in the cache, or found out and put there."""
        embedded, names = self.embedded_ranges.get(game.dimensions), quantise.layers(self.graph).keys()
        if embedded is not None and embedded.keys() == names:
            return embedded
        folder = _folder(self.key)
        if folder is None:
            return quantise.ranges(self.graph, game, threads)
        file = folder / f"ranges-{game.dimensions}.json"
        with contextlib.suppress(OSError, ValueError, AttributeError):  # not there yet, or damaged
            kept: dict[str, float] = json.loads(file.read_text())
            if kept.keys() == names and all(isinstance(value, float) for value in kept.values()):
                return kept
        found = quantise.ranges(self.graph, game, threads)
        with contextlib.suppress(OSError):
            folder.mkdir(parents=True, exist_ok=True)
            new = file.with_suffix(f".{os.getpid()}")
            new.write_text(json.dumps(found))
            new.replace(file)
        return found


def load(path: Path, game: str) -> StoredGraph:
    """The graph of a weights file: embedded, from the cache, or converted and put into the cache.

    Raises:
        WeightsError: the file is damaged or made for another game, or it has no graph and torch is not installed.
    """
    stored = _embedded(path)
    if stored is None:
        key = weights.file_hash(path)
        stored = _cached(path, key) or _converted(path, key, game)
    if stored.manifest.game != game:
        raise weights.WeightsError(path, f"it plays {stored.manifest.game}, not {game}")
    weights.check_features(path, game, stored.manifest.feature_version)
    return stored


def embed(path: Path, *, with_ranges: bool = True) -> None:
    """Put its inference graph into a weights file. Needs torch.

    The file is replaced whole or not at all; its tensors and what it says of itself stay as they are.

    Args:
        path: the weights file.
        with_ranges: add the ranges for int8 on the boards that it was trained on: a second each to find out, which a
            player's first start on a board saves.

    Raises:
        WeightsError: the file is damaged.
        OSError: its folder cannot be written.
    """
    file = weights.load(path, game=None)
    graph = convert(file.network())
    ranges: dict[str, dict[str, float]] = {}
    if with_ranges and quantise.width(graph) >= quantise.LEAST_CHANNELS:
        for size in file.trained_sizes or ([file.size] if file.size else []):
            game = games.make(file.game, size=size)
            ranges[game.dimensions] = quantise.ranges(graph, game, available_threads())
    with tempfile.TemporaryDirectory() as name:
        openvino.save_model(graph, Path(name) / "graph.xml", compress_to_fp16=False)
        content = {part: (Path(name) / part).read_bytes() for part in GRAPH[:2]}
    description = {"manifest": asdict(Manifest.of(file)), "ranges": ranges, "sha256": _digest(content)}
    attachments.write(path, {**content, GRAPH[2]: json.dumps(description).encode()})


def _digest(content: Mapping[str, bytes]) -> str:
    """sha256 over the two files of a graph."""
    return hashlib.sha256(b"".join(content[part] for part in GRAPH[:2])).hexdigest()


def _embedded(path: Path) -> StoredGraph | None:
    """The graph in a weights file; None where there is none."""
    try:
        content = attachments.read(path, GRAPH)
        if content is None:
            return None
        description = json.loads(content[GRAPH[2]])
        if description["sha256"] != _digest(content):
            raise ValueError
        graph = core().read_model(content[GRAPH[0]], content[GRAPH[1]])
        ranges = description["ranges"]
        if not all(isinstance(value, float) for layers in ranges.values() for value in layers.values()):
            raise ValueError
        return StoredGraph(graph, Manifest(**description["manifest"]), path, description["sha256"], ranges)
    except (attachments.DamageError, ValueError, KeyError, TypeError, AttributeError, RuntimeError):
        raise weights.WeightsError(
            path, f"its inference graph is damaged; `gozero graph {path}` makes it anew from the tensors"
        ) from None


def _cached(path: Path, key: str) -> StoredGraph | None:
    """The graph of a weights file in the cache; None where there is none, or a damaged one."""
    folder = _folder(key)
    if folder is None:
        return None
    try:
        manifest = Manifest(**json.loads((folder / "manifest.json").read_text()))
        graph = core().read_model(folder / "graph.xml")
        folder.touch()
        folder.parent.touch()
    except (OSError, RuntimeError, ValueError, TypeError):
        return None
    return StoredGraph(graph, manifest, path, key)


def _converted(path: Path, key: str, game: str) -> StoredGraph:
    """The graph of a weights file, made by torch and put into the cache."""
    try:
        import torch  # noqa: F401  # what reads the tensors
    except ModuleNotFoundError:
        raise weights.WeightsError(
            path,
            "it carries no inference graph, and PyTorch, which would make one, is not installed; "
            f"run: pip install 'gozero[train]', then: gozero graph {path}",
        ) from None
    file = weights.load(path, game)
    stored = StoredGraph(convert(file.network()), Manifest.of(file), path, key)
    folder = _folder(key)
    if folder is not None:
        with contextlib.suppress(OSError, RuntimeError):  # OpenVINO's, of a full disk
            _store(stored, folder)
    return stored


def convert(net: nn.Module) -> Any:
    """The graph of a network of `gozero.nets.model`, batch norm folded, open in batch and board.

    Torch keeps every trace for ever, a megabyte each, and a training run converts its network thousands of times: so
    one network of each structure is traced, and then given the weights of whichever is to be converted.
    """
    import torch

    from gozero.nets import folding, model

    class Traced(torch.nn.Module):
        """The network with the outputs that an evaluation has, in the order of OUTPUTS."""

        def __init__(self) -> None:
            super().__init__()
            self.net = folding.fold(net).cpu()

        def forward(
            self, planes: torch.Tensor, globals: torch.Tensor, tactics: torch.Tensor | None = None
        ) -> tuple[torch.Tensor, ...]:
            output: model.NetOutput = (
                self.net(planes, globals) if tactics is None else self.net(planes, globals, tactics)
            )
            score, owners = output.score, output.owners
            if score is None or owners is None:
                return output.policy, output.value
            return output.policy, output.value, score, owners

    wanted = Traced().eval()
    assert isinstance(net, model.Network)
    example = net.example(2, net.config.board or ANY_BOARD)
    with _TRACING, torch.no_grad(), warnings.catch_warnings():
        warnings.simplefilter(
            "ignore", DeprecationWarning
        )  # torch prefers torch.export, which takes 4 s for the same graph
        structure = f"{net.config} {wanted!r}"  # what the configuration says is part of a trace, not of its tensors
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


def _folder(key: str) -> Path | None:
    """The folder of the cache for a graph; None where there is no cache."""
    try:
        cache = caches.user_cache()
    except OSError:
        return None
    return cache / f"openvino-{_converter_hash()}" / key


def _converter_hash() -> str:
    """Twelve hex digits over all that decides what a graph looks like: OpenVINO's version and the sources of networks
    and graphs.
    """
    digest = hashlib.sha256(openvino.__version__.encode())
    package = Path(__file__).parents[1]
    for source in (Path(__file__), Path(quantise.__file__), *(package / "nets" / f"{name}.py" for name in SOURCES)):
        digest.update(source.read_bytes())
    return digest.hexdigest()[:12]


def _store(stored: StoredGraph, folder: Path) -> None:
    """Put a graph into the cache as a whole folder at once, so that no other process ever sees half of it."""
    folder.parent.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(dir=folder.parent, prefix="new-") as name:
        new = Path(name) / "graph"
        new.mkdir()
        openvino.save_model(stored.graph, new / "graph.xml", compress_to_fp16=False)
        (new / "manifest.json").write_text(json.dumps(asdict(stored.manifest)))
        shutil.rmtree(folder, ignore_errors=True)  # what is there could not be read
        new.rename(folder)
    caches.forget(folder.parent, "*", KEPT_GRAPHS)
    caches.forget(folder.parent.parent, "openvino-*", caches.KEPT_VERSIONS)
