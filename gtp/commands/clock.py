"""The commands that set the clocks: time_settings, kgs-time_settings, kata-time_settings, time_left.

All figures are seconds.
"""

from __future__ import annotations

import math
import time
from collections.abc import Callable, Mapping
from typing import Any

from gozero.play.time_controls import Absolute, Clock, Fischer, TimeControl, TimeLeft, byoyomi, canadian
from gtp.protocol import Command, GtpError
from gtp.session import Commands, Session, colour_of, number_of

Kind = tuple[tuple[str, ...], Callable[..., TimeControl | None]]
"""A kind of time settings: its arguments, and the terms that it makes."""
KGS_KINDS: dict[str, Kind] = {
    "none": ((), lambda: None),
    "absolute": (("MAIN",), Absolute),
    "byoyomi": (("MAIN", "PERIOD", "PERIODS"), byoyomi),
    "canadian": (("MAIN", "PERIOD", "STONES"), canadian),
}
KATA_KINDS: dict[str, Kind] = {
    **KGS_KINDS,
    "fischer": (("MAIN", "INCREMENT"), Fischer),
    "fischer-capped": (("MAIN", "INCREMENT", "CAP", "LONGEST"), Fischer),
}
COUNTS = ("PERIODS", "STONES")
OPTIONAL = ("CAP", "LONGEST")
"""Arguments for which a negative number means no limit."""


def time_settings(session: Session, command: Command) -> None:
    """Main time, then Canadian overtime."""
    names, make = KGS_KINDS["canadian"]
    session.clock = Clock(make(*_values("time_settings", names, _words(command), "; 0 5 1 is 5 seconds a move")))


def time_left(session: Session, command: Command) -> None:
    """The third argument is what is left of the overtime: stones, or periods of byo-yomi; 0 in main time."""
    words = _words(command)
    if len(words) != 3:
        raise GtpError("syntax error: expected time_left COLOUR SECONDS STONES")
    colour = colour_of(words[0])
    seconds, count = (number_of(word) for word in words[1:])
    session.clock.set_left(colour, TimeLeft(seconds, max(0, int(count))))


def _set_kind(session: Session, command: Command, kinds: Mapping[str, Kind]) -> None:
    kind, *words = _words(command) or [""]
    if kind.lower() not in kinds:
        raise GtpError(f"syntax error: {kind!r} is no kind of time settings; expected one of {', '.join(kinds)}")
    names, make = kinds[kind.lower()]
    session.clock = Clock(make(*_values(f"{command.name} {kind.lower()}", names, words)))


def _words(command: Command) -> list[str]:
    """The arguments. A semicolon is refused: some programs separate commands with it, and users copy them."""
    if ";" in command.text:
        raise GtpError(f"syntax error: {command.text!r}: leave the ';' out; each command stands on a line of its own")
    return command.arguments


def _values(usage: str, names: tuple[str, ...], words: list[str], hint: str = "") -> list[Any]:
    """The numbers given for these names: seconds as float, counts as int. GtpError for invalid ones."""
    if len(words) != len(names):
        raise GtpError(f"syntax error: expected {' '.join((usage, *names))}, times in seconds{hint}")
    return [_value(name, number_of(word)) for name, word in zip(names, words, strict=True)]


def _value(name: str, number: float) -> float | int:
    if name in OPTIONAL:
        return math.inf if number < 0 else number
    if number < 0:
        raise GtpError("syntax error: times and stones cannot be negative")
    if name in COUNTS and number != int(number):
        raise GtpError(f"syntax error: {number:g}: expected a whole number of {name.lower()}")
    return int(number) if name in COUNTS else number


COMMANDS: Commands = {
    "time_settings": time_settings,
    "kgs-time_settings": lambda session, command: _set_kind(session, command, KGS_KINDS),
    "kata-time_settings": lambda session, command: _set_kind(session, command, KATA_KINDS),
    "kata-list_time_settings": lambda session, command: " ".join(KATA_KINDS),
    "time_left": time_left,
    **dict.fromkeys(("cputime", "gomill-cpu_time"), lambda session, command: f"{time.process_time():.3f}"),
}
