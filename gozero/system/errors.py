"""Errors of the user, not of the program: front ends print their message; any other exception is reported as a bug."""

from __future__ import annotations

import re
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

_NO_MEMORY = re.compile(r"((?:can't allocate|not enough) memory.*)|out of memory\W*(.*)")


class UserError(Exception):
    """An error that the user can mend: commands print its one line and end with exit code 2."""


class ChoiceError(UserError, ValueError):
    """Something that was asked for does not exist: a game, board size, rules, network, backend or setting. One line
    says what does.
    """


class InputError(ValueError):
    """What was typed in a game cannot be done; nothing has changed. One line says why."""


class SetUpError(ValueError):
    """Stones that cannot be set up like this; the message is one line."""


class PlotError(UserError):
    """No picture can be drawn, because matplotlib is missing; one line that says what to do."""


def lack_of_memory(error: BaseException) -> str | None:
    """The words "out of memory", and what an error says of it; None for other errors. PyTorch raises a RuntimeError."""
    found = _NO_MEMORY.search(str(error)) if isinstance(error, (MemoryError, RuntimeError)) else None
    if found is None and not isinstance(error, MemoryError):
        return None
    return f"out of memory; {found[1] or found[2] if found else error}".rstrip("; ")


@contextmanager
def lack_of_memory_told() -> Iterator[None]:
    """A MemoryError where PyTorch finds no room, which is no fault of what it reads."""
    try:
        yield
    except RuntimeError as error:
        if lack_of_memory(error) is None:
            raise
        raise MemoryError(str(error)) from None


def shown(value: Any) -> str:
    """What somebody gave as shown in an error: as Python writes it, shortened."""
    text = repr(value)
    return text if len(text) <= 60 else f"{text[:57]}..."
