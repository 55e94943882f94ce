"""Errors of the user, not of the program: front ends print their message; any other exception is reported as a bug."""


class ChoiceError(ValueError):
    """Something that was asked for is not to be had: a game, board size, rules, network, backend or setting. One line
    says what is.
    """


class InputError(ValueError):
    """What was typed in a game cannot be done; nothing has changed. One line says why."""


class SetUpError(ValueError):
    """Stones that are set up cannot stand like this; the message is one line."""
