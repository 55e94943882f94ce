"""Pictures as PNG bytes: curves, boards, filters. The only module that imports matplotlib, and only when it draws.

A heat is a number a point: shares of a policy or counts (white to red), or ownership (blue the other side's, red the
mover's).
"""

from __future__ import annotations

import io
import os
import sys
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from gozero.games.coords import LETTERS
from gozero.system.errors import PlotError

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

DPI = 80
PANEL = (4.2, 2.9)  # inches
BOARD = 2.9
COLUMNS = 3
SIDES_CELL, SIDES_HEAD = 0.11, 0.25  # inches: a weight of a filter in `sides`, and the title above
SIDES_WIDTH, SIDES_DPI = 96, 100  # weights side by side
COLOURS = ("tab:blue", "tab:orange", "tab:green", "tab:red", "tab:purple", "tab:brown", "tab:pink", "tab:gray")


@dataclass(frozen=True)
class Curve:
    """y over x; `low` and `high` are the ends of its intervals; a `guide` is dotted and grey: what to compare with."""

    label: str
    x: Sequence[float]
    y: Sequence[float]
    low: Sequence[float] = ()
    high: Sequence[float] = ()
    guide: bool = False


@dataclass(frozen=True)
class Panel:
    """Curves on the same axes."""

    title: str
    curves: Sequence[Curve]
    across: str = ""  # what x is
    logarithmic: bool = False  # the x axis


@dataclass(frozen=True)
class BoardPicture:
    """A position uint8 [rows, cols] (0 empty, 1 Black, 2 White) with a heat float [rows, cols] under it; `signed`: from
    -1 to 1.
    """

    title: str
    stones: np.ndarray
    heat: np.ndarray
    signed: bool = False
    numbers: bool = False  # write the heat, as a count, on the points


@dataclass(frozen=True)
class Filters:
    """A first layer, float [C, planes, h, w], with the planes of its rows: (name, (red plane, blue plane)) and (name,
    grey plane).
    """

    title: str
    weights: np.ndarray
    pairs: Sequence[tuple[str, tuple[int, int]]]
    singles: Sequence[tuple[str, int]] = ()


def curves(panels: Sequence[Panel]) -> bytes:
    """Panels side by side."""
    rows = -(-len(panels) // COLUMNS)
    with _figure(PANEL[0] * min(COLUMNS, len(panels)), PANEL[1] * rows) as figure:
        for place, panel in enumerate(panels, 1):
            _panel(figure.add_subplot(rows, min(COLUMNS, len(panels)), place), panel)
        return _png(figure)


def boards(pictures: Sequence[BoardPicture], columns: int = 4) -> bytes:
    """Boards side by side, each 2.9 inches wide and high."""
    columns = min(columns, len(pictures))
    rows = -(-len(pictures) // columns)
    with _figure(BOARD * columns, BOARD * rows) as figure:
        for place, picture in enumerate(pictures, 1):
            _board(figure.add_subplot(rows, columns, place), picture)
        return _png(figure)


def sides(layer: Filters) -> bytes:
    """A first layer by the sides whose stones it answers to: a column a filter, a row a pair or a single plane.

    A pair's red is its first plane's weight and blue its second's, so a filter that answers to both is purple there; a
    single plane is grey. Black is a weight of zero or below; each filter has its own scale.
    """
    parts = _strips(layer)
    heights = [SIDES_CELL * image.shape[0] + SIDES_HEAD for image, *_ in parts]
    with _figure(SIDES_CELL * max(image.shape[1] for image, *_ in parts) + 1.8, sum(heights)) as figure:
        axes = np.atleast_1d(figure.subplots(len(parts), 1, height_ratios=heights))
        for place, (image, rows, step, title) in zip(axes, parts, strict=True):
            place.imshow(image, interpolation="nearest")
            place.set_yticks([step * row + (step - 2) / 2 for row in range(len(rows))], rows, fontsize=7)
            place.set_xticks([])
            place.tick_params(length=0)
            place.set_frame_on(False)
            place.set_title(title, fontsize=8, loc="left")
            place.set_anchor("W")
        return _png(figure, SIDES_DPI)


def _strips(layer: Filters) -> list[tuple[np.ndarray, list[str], int, str]]:
    """(picture float [h, w, 3], names of its rows, their height, title) of each strip of a layer's filters."""
    weights = layer.weights.astype(np.float64)
    strong = np.clip(weights / np.maximum(weights.max(axis=(1, 2, 3), keepdims=True), 1e-12), 0, 1)
    red_blue = [np.stack([strong[:, a], 0 * strong[:, a], strong[:, b]], axis=-1) for _, (a, b) in layer.pairs]
    grey = [np.repeat(strong[:, plane, :, :, None], 3, axis=-1) for _, plane in layer.singles]
    tiles = np.stack([*red_blue, *grey])  # [rows, C, h, w, 3]
    rows, count, height, width, _ = tiles.shape
    across = min(max(SIDES_WIDTH // (width + 1), 1), count)
    framed = np.pad(tiles, ((0, 0), (0, -count % across), (0, 1), (0, 1), (0, 0)), constant_values=1.0)
    names = [name for name, _ in (*layer.pairs, *layer.singles)]
    parts = []
    for start in range(0, count, across):
        part = framed[:, start : start + across].transpose(0, 2, 1, 3, 4)
        title = layer.title if start == 0 else ""
        parts.append((part.reshape(rows * (height + 1), -1, 3), names, height + 1, title))
    return parts


def _panel(axes: Axes, panel: Panel) -> None:
    from matplotlib.ticker import MaxNLocator

    for number, curve in enumerate(panel.curves):
        marker = "." if len(curve.x) < 30 else ""
        style: dict[str, Any] = {"color": COLOURS[number % len(COLOURS)], "linewidth": 1.3, "marker": marker}
        if curve.guide:
            style = {"color": "0.5", "linewidth": 1, "linestyle": ":"}
        if len(curve.low):
            bars = np.abs(np.array([curve.low, curve.high]) - np.array(curve.y))
            axes.errorbar(curve.x, curve.y, bars, capsize=2, label=curve.label, **style)
        else:
            axes.plot(curve.x, curve.y, label=curve.label, **style)
    axes.set_title(panel.title, fontsize=9)
    axes.set_xlabel(panel.across, fontsize=8)
    if panel.logarithmic:
        axes.set_xscale("log")
    elif panel.across == "generation":
        axes.xaxis.set_major_locator(MaxNLocator("auto", integer=True))
    axes.tick_params(labelsize=7)
    axes.grid(alpha=0.25)
    axes.legend(loc="best", fontsize=7, framealpha=0.6)  # a default place is warned of if it takes a second


def _board(axes: Axes, picture: BoardPicture) -> None:
    height, width = picture.stones.shape
    colours, limits = ("bwr", (-1, 1)) if picture.signed else ("Reds", (0, max(float(picture.heat.max()), 1e-9) * 1.3))
    axes.imshow(picture.heat, cmap=colours, vmin=limits[0], vmax=limits[1], interpolation="nearest")
    axes.hlines(range(height), 0, width - 1, color="0.6", linewidth=0.5, zorder=1)
    axes.vlines(range(width), 0, height - 1, color="0.6", linewidth=0.5, zorder=1)
    area = (BOARD * 72 * 0.62 / max(height, width)) ** 2
    for colour, face in ((1, "black"), (2, "white")):
        rows, columns = np.nonzero(picture.stones == colour)
        axes.scatter(columns, rows, s=area, c=face, edgecolors="black", linewidths=0.6, zorder=2)
    if picture.numbers:
        for row, column in zip(*np.nonzero(picture.heat), strict=True):
            axes.text(column, row, f"{picture.heat[row, column]:.0f}", ha="center", va="center", fontsize=6, zorder=3)
    axes.set_title(picture.title, fontsize=7)
    axes.set_xticks(range(width), LETTERS[:width], fontsize=5)
    axes.set_yticks(range(height), [str(height - row) for row in range(height)], fontsize=5)
    axes.tick_params(length=0)


@contextmanager
def _figure(width: float, height: float) -> Iterator[Figure]:
    """An empty figure in inches, drawn by Agg: no window, no display; in matplotlib's own style, since the user's may need
    what is not there, such as LaTeX.
    """
    if "matplotlib" not in sys.modules:  # it refuses to be imported where a backend, as of a notebook, is not installed
        os.environ["MPLBACKEND"] = "agg"
    try:
        from matplotlib.backends.backend_agg import FigureCanvasAgg
        from matplotlib.figure import Figure
        from matplotlib.style import context
    except ImportError:
        raise PlotError("matplotlib is not installed; run: pip install 'gozero[train]'") from None
    with context("default"):
        figure = Figure(figsize=(width, height), dpi=DPI, layout="constrained")
        FigureCanvasAgg(figure)
        yield figure


def _png(figure: Figure, dpi: int = DPI) -> bytes:
    buffer = io.BytesIO()
    figure.savefig(buffer, format="png", dpi=dpi, bbox_inches="tight")  # a narrow figure's labels may be wider than it
    return buffer.getvalue()
