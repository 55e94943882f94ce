"""The first layer of a network as it stands in its file, and as a picture: red for one side's stones, blue for the
other's.

A filter is the weights of one channel or unit, float32 [planes, k, k] or [planes, rows, cols]. A pair is two planes
that show the same of both sides. Red is the first player (Black) if the network sees colours, else the side to move.
"""

from __future__ import annotations

from dataclasses import replace
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


def draw(file: Path, out: Path) -> str:
    """Write a PNG of the first layer's filters and return a line that says what is on it. WeightsError for a file of no
    known network, ChoiceError if `out` is no PNG, OSError if it cannot be written, PlotError if matplotlib is missing.
    """
    if out.suffix.lower() != ".png":
        raise ChoiceError(f"--filters {out}: expected a name that ends with .png")
    loaded, target = weights.load(file, game=None), files.full(out)
    files.write(target, picture(loaded))
    return f"{target}: {first_layer(loaded).title}"


def picture(file: weights.Weights) -> bytes:
    """The first layer as PNG. PlotError if matplotlib is missing."""
    layer = first_layer(file)
    return plots.sides(replace(layer, weights=layer.weights[: _drawn(layer.weights)]))


def _drawn(filters: np.ndarray) -> int:
    """How many filters are drawn at most: a picture has its limits."""
    return max(MOST // (filters.shape[2] * filters.shape[3]), LEAST)


def _title(filters: np.ndarray, sides: tuple[str, str]) -> str:
    """What the picture says of the filters; the sides are those in red and in blue."""
    count, _, height, width = filters.shape
    shown = f"{count} filters" if count <= _drawn(filters) else f"the first {_drawn(filters)} of {count:,} filters"
    return f"{shown} of {width}x{height}, red {sides[0]}, blue {sides[1]}"


def first_layer(file: weights.Weights) -> plots.Filters:
    """The first layer of a file's network."""
    config = file.config
    first = next(tensor for tensor in file.state_dict.values() if tensor.ndim in (2, 4))
    if config.kind in course_nets.BODIES:
        filters = _filters(first, course_nets.COLOURS, config.board)
        return plots.Filters(_title(filters, PLAYERS), filters, [("stones", (0, 1))], [("second player's turn", 2)])
    shown = layout(file.game, config.features)
    names = (*shown.planes, *shown.tactics)
    both = [name.removeprefix(OWN) for name in names if name.startswith(OWN)]
    pairs = [(what, (names.index(OWN + what), names.index(OTHER + what))) for what in both]
    singles = [(name, plane) for plane, name in enumerate(names) if not name.startswith((OWN, OTHER))]
    filters = _filters(first, len(names), config.board)
    return plots.Filters(_title(filters, MOVERS), filters, pairs, singles)


def _filters(weight: Tensor, planes: int, board: tuple[int, int] | None) -> np.ndarray:
    """A convolution's weights as they are; a linear layer's [units, inputs] over the board, without its numbers."""
    if weight.ndim == 4:
        return np.asarray(weight.numpy())
    assert board is not None  # a perceptron plays on one board
    rows, columns = board
    return np.asarray(weight[:, : planes * rows * columns].reshape(-1, planes, rows, columns).numpy())
