"""Errors of the user, not of the program: front ends print their message; any other exception is reported as a bug."""

from __future__ import annotations

from typing import Any


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


def shown(value: Any) -> str:
    """What somebody gave as shown in an error: as Python writes it, shortened."""
    text = repr(value)
    return text if len(text) <= 60 else f"{text[:57]}..."
