"""The first layer of a network as it stands in its file, and as a picture: red for one side's stones, blue for the
other's.

A filter is the weights of one channel or unit, float32 [planes, k, k] or [planes, rows, cols]. A pair is two planes
that show the same of both sides. Red is the first player (Black) if the network sees colours, else the side to move.
"""

from __future__ import annotations

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
    layer, target = first_layer(weights.load(file, game=None)), files.full(out)
    files.write(target, plots.sides(layer))
    return f"{target}: {layer.title}"


def first_layer(file: weights.Weights) -> plots.Filters:
    """The first layer of a file's network, or as much of it as is drawn."""
    config = file.config
    first = next(tensor for tensor in file.state_dict.values() if tensor.ndim in (2, 4))
    if config.kind in course_nets.BODIES:
        names, pairs, singles = PLAYERS, [("stones", (0, 1))], [("second player's turn", 2)]
        filters = _filters(first, course_nets.COLOURS, config.board)
    else:
        shown = layout(file.game, config.features)
        planes, names = (*shown.planes, *shown.tactics), MOVERS
        both = [plane.removeprefix(OWN) for plane in planes if plane.startswith(OWN)]
        pairs = [(what, (planes.index(OWN + what), planes.index(OTHER + what))) for what in both]
        singles = [(name, plane) for plane, name in enumerate(planes) if not name.startswith((OWN, OTHER))]
        filters = _filters(first, len(planes), config.board)
    count, _, height, width = filters.shape
    most = max(MOST // (height * width), LEAST)  # a picture has its limits
    drawn = f"{count} filters" if count <= most else f"the first {most} of {count:,} filters"
    title = f"{drawn} of {width}x{height}, red {names[0]}, blue {names[1]}"
    return plots.Filters(title, filters[:most], pairs, singles)


def _filters(weight: Tensor, planes: int, board: tuple[int, int] | None) -> np.ndarray:
    """A convolution's weights as they are; a linear layer's [units, inputs] over the board, without its numbers."""
    if weight.ndim == 4:
        return np.asarray(weight.numpy())
    assert board is not None  # a perceptron plays on one board
    rows, columns = board
    return np.asarray(weight[:, : planes * rows * columns].reshape(-1, planes, rows, columns).numpy())
