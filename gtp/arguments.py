"""Reading the arguments of GTP commands: colours and numbers, each with the error that clients expect."""

from __future__ import annotations

from gozero.games.colours import COLOURS
from gozero.system import options
from gtp.protocol import GtpError

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
