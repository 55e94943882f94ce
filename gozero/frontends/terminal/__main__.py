"""The command `gozero play`: a game against the engine in the terminal."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from dataclasses import replace

from gozero.frontends.terminal.settings import PlaySettings
from gozero.games import GAMES
from gozero.nets.locations import find
from gozero.play.engine import check_choices
from gozero.system.console import from_arguments, run_command
from gozero.system.errors import ChoiceError
from gozero.system.options import SettingsError

PROGRAM = "gozero play"


def main(arguments: Sequence[str] | None = None) -> int:
    """Play one game. Returns the exit code."""
    return run_command(PROGRAM, lambda: _run(arguments))


def _run(arguments: Sequence[str] | None) -> None:
    about = "Play against the engine in this terminal."
    settings = from_arguments(PlaySettings, arguments, PROGRAM, about, positional="game")
    if settings.level is not None and settings.visits is not None:
        raise SettingsError("level and visits cannot be chosen together: a level has its own visits, give one")
    if settings.game is None:
        raise ChoiceError(f"give the name of a game: {', '.join(GAMES)}; see {PROGRAM} --help")
    settings = replace(settings, game=settings.game.lower())
    check_choices(settings.game or "", None, settings.rules)
    if settings.weights is not None:
        find(settings.weights)
    from gozero.frontends.terminal import play

    play.play(settings)


if __name__ == "__main__":
    sys.exit(main())
