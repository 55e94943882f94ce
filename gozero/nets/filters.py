"""The first layer of a network as it stands in its file, and as a picture: red for one side's stones, blue for the
other's.

A filter is the weights of one channel of the first convolution, float32 [planes, k, k], or of one unit of a
perceptron's first layer, float32 [planes, rows, cols]. A pair is two planes that show the same of both sides: stones
now, stones so many plies ago, moves. Where a network sees colours, red is the first player (Black); where it sees the
side to move, red is that side. Other planes, such as whose turn it is, are single.
"""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from gozero import plots
from gozero.nets import course_nets, weights
from gozero.nets.features import layout
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
    """The filters of one network."""

    filters: np.ndarray  # float32 [C, planes, k, k], or [C, planes, rows, cols]
    sides: tuple[str, str]  # red and blue
    pairs: dict[str, tuple[int, int]]  # {what is shown: (red plane, blue plane)}
    singles: dict[str, int]  # {what is shown: plane}


def draw(file: Path, out: Path) -> str:
    """Write a PNG of the first layer's filters and return a line that says what is on it.

    WeightsError for a file of no known network, ChoiceError if `out` is no name of a PNG file or cannot be written,
    PlotError if matplotlib is missing.
    """
    if out.suffix.lower() != ".png":
        raise ChoiceError(f"--filters {out}: expected a name that ends with .png")
    layer, target = first_layer(weights.load(file, game=None)), files.full(out)
    drawn, title = layer.filters[: _drawn(layer)], _title(layer)
    picture = plots.sides(plots.Filters(title, drawn, tuple(layer.pairs.items()), tuple(layer.singles.items())))
    try:
        files.replace(target, picture)
    except OSError as error:
        raise ChoiceError(f"cannot write the picture {target}: {(error.strerror or str(error)).lower()}") from None
    return f"{target}: {title}"


def _drawn(layer: FirstLayer) -> int:
    """How many filters are drawn at most: a picture has its limits."""
    return max(MOST // (layer.filters.shape[2] * layer.filters.shape[3]), LEAST)


def _title(layer: FirstLayer) -> str:
    """What the picture says of a layer."""
    count, _, height, width = layer.filters.shape
    shown = f"{count} filters" if count <= _drawn(layer) else f"the first {_drawn(layer)} of {count:,} filters"
    return f"{shown} of {width}x{height}, red {layer.sides[0]}, blue {layer.sides[1]}"


def first_layer(file: weights.Weights) -> FirstLayer:
    """The first layer of a file's network."""
    config, tensors = file.config, file.state_dict
    if config.kind in course_nets.BODIES:
        name = {"s0mlp": "hidden", "s0vgg": "first.conv", "s0senet": "first"}[config.kind]
        filters = _filters(tensors[f"body.{name}.weight"], course_nets.COLOURS, config.board)
        return FirstLayer(filters, PLAYERS, {"stones": (0, 1)}, {"second player's turn": 2})
    shown = layout(file.game, config.features)
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
