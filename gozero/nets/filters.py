"""The first layer of a network as it stands in its file, and as a picture: red for one side's stones, blue for the other's.

A filter is the weights of one channel of the first convolution, float32 [planes, k, k], or of one unit of a perceptron's
first layer, float32 [planes, rows, cols]. A pair is two planes that show the same of both sides: stones now, stones so
many plies ago, moves. Where a network sees colours, red is the first player (Black); where it sees the side to move, red
is that side. Other planes, such as whose turn it is, are single.

Three kinds of files: weights of `gozero.nets.model`, of its course networks (`gozero.nets.course_nets`), and the networks that
the stages of `training.course` leave, which are dicts with a list `networks` of one or two state dicts.
"""

from __future__ import annotations

import pickle
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from gozero import plots
from gozero.nets import course_nets, weights
from gozero.nets.features import layout
from gozero.nets.model import NetConfig
from gozero.nets.weights import WeightsError
from gozero.system import files
from gozero.system.errors import ChoiceError

if TYPE_CHECKING:
    from torch import Tensor

OWN, OTHER = "own ", "other's "  # how the names of a pair's planes begin in features.py
MOVERS = ("the side to move", "the other side")
PLAYERS = ("the first player", "the second player")
MOST, LEAST = 4608, 32  # weights of one plane that are drawn, 512 filters of 3x3; filters that are drawn in any case


@dataclass(frozen=True)
class FirstLayer:
    """The filters of one network.

    Attributes:
        filters: float32 [C, planes, k, k], or [C, planes, rows, cols].
        sides: who is red, and who is blue.
        pairs: {what is shown: (red plane, blue plane)}.
        singles: {what is shown: plane}.
        network: which of the file's networks it is; empty where the file has one.
    """

    filters: np.ndarray
    sides: tuple[str, str]
    pairs: dict[str, tuple[int, int]]
    singles: dict[str, int]
    network: str = ""


def draw(file: Path, out: Path) -> str:
    """Write a PNG of the first layer's filters and return a line that says what is on it.

    Raises:
        WeightsError: the file holds no network that is known.
        ChoiceError: `out` is no name of a PNG file, or cannot be written.
        PlotError: matplotlib is missing.
    """
    if out.suffix.lower() != ".png":
        raise ChoiceError(f"--filters {out}: expected a name that ends with .png")
    layers = first_layers(file)
    picture = plots.sides(
        [
            plots.Filters(
                _title(layer), layer.filters[: _drawn(layer)], tuple(layer.pairs.items()), tuple(layer.singles.items())
            )
            for layer in layers
        ]
    )
    target = files.full(out)
    try:
        files.replace(target, picture)
    except OSError as error:
        raise ChoiceError(f"cannot write the picture {target}: {(error.strerror or str(error)).lower()}") from None
    return f"{target}: " + "; ".join(_title(layer) for layer in layers)


def first_layers(file: Path) -> list[FirstLayer]:
    """The first layer of each network in a file: one, or Black's and White's. WeightsError where it holds none."""
    try:
        found = weights.load(file, game=None)
    except WeightsError:
        networks = _course_networks(file)
        if networks is None:
            raise
        return _course_layers(file, networks)
    return [_layer(found.config, found.game, found.state_dict)]


def _course_networks(file: Path) -> list[Any] | None:
    """The state dicts in a file of the course; None where it is another file."""
    import torch

    try:
        content = torch.load(file, map_location="cpu", weights_only=True)
    except (
        RuntimeError,
        EOFError,
        KeyError,
        ValueError,
        OSError,
        AttributeError,
        IndexError,
        TypeError,
        pickle.PickleError,
    ):
        return None
    known = isinstance(content, dict) and content.get("kind") in ("value", "policy")
    return content["networks"] if known and isinstance(content.get("networks"), list) else None


def _drawn(layer: FirstLayer) -> int:
    """How many filters are drawn at most: a picture has its limits."""
    return max(MOST // (layer.filters.shape[2] * layer.filters.shape[3]), LEAST)


def _title(layer: FirstLayer) -> str:
    """What the picture says of a layer."""
    count, _, height, width = layer.filters.shape
    shown = f"{count} filters" if count <= _drawn(layer) else f"the first {_drawn(layer)} of {count:,} filters"
    whose = f"{layer.network}: " if layer.network else ""
    return f"{whose}{shown} of {width}x{height}, red {layer.sides[0]}, blue {layer.sides[1]}"


def _layer(config: NetConfig, game: str, tensors: dict[str, Tensor]) -> FirstLayer:
    """The first layer of a network of `gozero.nets.model`."""
    if config.kind in course_nets.BODIES:
        name = {"s0mlp": "hidden", "s0vgg": "first.conv", "s0senet": "first"}[config.kind]
        filters = _filters(tensors[f"body.{name}.weight"], course_nets.COLOURS, config.board)
        return FirstLayer(filters, PLAYERS, {"stones": (0, 1)}, {"second player's turn": 2})
    shown = layout(game, config.features)
    names = (*shown.planes, *shown.tactics)
    first = tensors["layers.0.weight" if config.kind == "mlp" else "stem.conv.weight"]
    pairs = {
        name.removeprefix(OWN): (plane, names.index(OTHER + name.removeprefix(OWN)))
        for plane, name in enumerate(names)
        if name.startswith(OWN)
    }
    singles = {name: plane for plane, name in enumerate(names) if not name.startswith((OWN, OTHER))}
    return FirstLayer(_filters(first, len(names), config.board), MOVERS, pairs, singles)


def _filters(weight: Tensor, planes: int, board: tuple[int, int] | None) -> np.ndarray:
    """A convolution's weights as they are; a linear layer's [units, inputs] over the board, without its numbers."""
    if weight.ndim == 4:
        return np.asarray(weight.numpy())
    assert board is not None  # a perceptron plays on one board
    rows, columns = board
    return np.asarray(weight[:, : planes * rows * columns].reshape(-1, planes, rows, columns).numpy())


def _course_filters(weight: Tensor) -> np.ndarray:
    """A convolution's weights [C, 3, k, k], as float32. ValueError where they are of another shape."""
    if weight.ndim != 4 or weight.shape[1] != 3 or not weight.numel():
        raise ValueError(f"a first layer of shape {list(weight.shape)}")
    return np.asarray(weight.detach().float().numpy())


def _course_layers(file: Path, networks: list[Any]) -> list[FirstLayer]:
    """The first layers of the course's networks, whose planes are black, white and no stone."""
    whose = ("",) if len(networks) == 1 else ("Black's network", "White's network")
    try:
        return [
            FirstLayer(_course_filters(each["layers.0.weight"]), PLAYERS, {"stones": (0, 1)}, {"no stone": 2}, name)
            for name, each in zip(whose, networks, strict=True)
        ]
    except (KeyError, TypeError, AttributeError, AssertionError, ValueError):
        raise WeightsError(file, "its networks are not those of the course") from None
