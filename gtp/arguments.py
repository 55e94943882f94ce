"""Reading the arguments of GTP commands: colours, numbers and vertices, each with the error that clients expect."""

from __future__ import annotations

from gozero.games import coords
from gozero.games.colours import COLOURS
from gozero.system import options
from gtp.protocol import Command, GtpError

LARGEST_NUMBER = 1e9
"""Whole numbers beyond this are cut to it; no size, time or count is larger."""


def colour_of(text: str) -> int:
    """BLACK or WHITE for ``b``, ``black``, ``w``, ``white`` in any case."""
    if text.lower() not in COLOURS:
        raise GtpError(f"invalid color: {repr(text) if text else 'missing'}; expected b, black, w or white")
    return COLOURS[text.lower()]


def number_of(text: str) -> float:
    """A finite number."""
    try:
        return options.number_of(text)
    except ValueError:
        raise GtpError(f"syntax error: {text!r} is not a number") from None


def whole_number_of(text: str) -> int:
    """A whole number, cut to ± ``LARGEST_NUMBER``."""
    digits = text.lstrip("+-")
    if not (digits.isascii() and digits.isdigit()) or len(text) - len(digits) > 1:
        raise GtpError(f"syntax error: {text!r} is not a whole number")
    value = float(text)  # never fails, however long the number is
    return int(min(max(value, -LARGEST_NUMBER), LARGEST_NUMBER))


def komi_of(command: Command) -> float:
    """The argument of ``komi``: any finite number."""
    if len(command.arguments) != 1:
        raise GtpError("syntax error: expected komi NUMBER")
    return number_of(command.arguments[0])


def vertex_of(text: str, cols: int, rows: int) -> int:
    """The action that a vertex names; ``pass`` too, ``resign`` not."""
    resignation = coords.resign_action(cols, rows)
    try:
        action = coords.parse_vertex(text, cols, rows)
    except ValueError:
        action = resignation
    if action == resignation:
        raise GtpError(f"invalid color or coordinate: {text!r}")
    return action


def point_of(text: str, cols: int, rows: int) -> int:
    """The action of a point."""
    action = vertex_of(text, cols, rows)
    if action == coords.pass_action(cols, rows):
        raise GtpError(f"invalid coordinate: {text!r}")
    return action
