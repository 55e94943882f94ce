"""The games, by name. Importing this package compiles nothing: a game's kernels are loaded when it is made."""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from gozero.games.game import Game

GAMES = {
    "go": "gozero.games.go",
    "othello": "gozero.games.othello",
    "simple_go": "gozero.games.simple_go",
}


def make(name: str, **settings: Any) -> Game:
    """The game of that name; settings are those of the `make` of its module (for Go: size, rules, komi, ...).

    Raises:
        ValueError: an unknown name, or a setting outside its range.
    """
    if name not in GAMES:
        raise ValueError(f"unknown game {name!r}: expected one of {', '.join(GAMES)}")
    game: Game = import_module(GAMES[name]).make(**settings)
    return game
