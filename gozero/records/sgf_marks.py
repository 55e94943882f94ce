"""The marks of SGF on the points of a position: triangle, square, circle, cross and labels.

A mark is the name of its property, such as `TR`; a label is `LB:` and its text. One mark is read of a point, its label
if it has one.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from contextlib import suppress

from gozero.games import coords
from gozero.records.sgf_nodes import SgfNode
from gozero.records.sgf_reading import points_of
from gozero.records.sgf_text import escaped, line

SHAPES = ("TR", "SQ", "CR", "MA")
LABEL = "LB:"


def is_mark(value: object) -> bool:
    """Whether it is a mark."""
    return isinstance(value, str) and (value in SHAPES or value.startswith(LABEL))


def marks_of(nodes: Sequence[SgfNode], size: int) -> dict[int, str]:
    """The marks of nodes that stand for one position, by action; those off the board are left out."""
    found: dict[int, str] = {}
    for node in nodes:
        for name in (*SHAPES, "LB"):
            for value in node.properties.get(name, ()):
                points, text = _value(name, value, size)
                found |= dict.fromkeys(points, f"{LABEL}{text}" if name == "LB" else name)
    return found


def set_marks(nodes: Sequence[SgfNode], marks: Mapping[int, str], size: int) -> None:
    """Let nodes that stand for one position have these marks; what a file says of other points stays as it is."""
    known = marks_of(nodes, size)
    changed = {point for point in known.keys() | marks.keys() if known.get(point) != marks.get(point)}
    for node in nodes:
        for name in (*SHAPES, "LB"):
            if left := [value for old in node.properties.pop(name, ()) for value in _without(name, old, changed, size)]:
                node.properties[name] = left
    for point in sorted(changed & marks.keys()):
        name, colon, text = marks[point].partition(":")
        value = coords.to_sgf(point, size) + colon + escaped(text).replace(":", "\\:")
        nodes[0].properties.setdefault(name, []).append(value)


def _value(name: str, value: str, size: int) -> tuple[set[int], str]:
    """The points of a value, none if they are not on the board, and its text."""
    where, _, text = value.partition(":") if name == "LB" else (value, "", "")
    with suppress(ValueError):
        return points_of(SgfNode({name: [where]}), name, size), line(text)
    return set(), ""


def _without(name: str, value: str, changed: set[int], size: int) -> list[str]:
    """A value without these points; as it was where it has none of them."""
    points, _ = _value(name, value, size)
    return [coords.to_sgf(point, size) for point in sorted(points - changed)] if points & changed else [value]
