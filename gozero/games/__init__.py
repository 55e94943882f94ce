"""The games, by name. Importing this package compiles nothing: a game's kernels are loaded when it is made."""

from __future__ import annotations

from importlib import import_module
from inspect import signature
from typing import TYPE_CHECKING, Any

from gozero.system.errors import ChoiceError

if TYPE_CHECKING:
    from gozero.games.game import Game

GAMES = {
    "breakthrough": "gozero.games.breakthrough",
    "connect4": "gozero.games.connect4",
    "course_go": "gozero.games.go.course_go",
    "go": "gozero.games.go.go",
    "gomoku": "gozero.games.gomoku",
    "hex": "gozero.games.hex",
    "nogo": "gozero.games.nogo",
    "othello": "gozero.games.othello",
    "simple_go": "gozero.games.go.simple_go",
    "tictactoe": "gozero.games.tictactoe",
}
# whose states are those of gozero.games.go.go: they have Go's features, commands and records
GO_FAMILY = ("go", "simple_go")
MOST_KOMI = 1000  # points, either way, that a front end, a match or a tournament takes
COUNTED_GAMES = ("course_go", "othello")  # others that are won by a number of points; the rest are just won
FALLING_GAMES = ("connect4",)  # in which a piece falls to the lowest free point of a column, so that a column is a move
TURNED_GAMES = ("othello",)  # whose players draw row 1 at the top: the page draws the rows in the other order
# played in the squares of a board, not where its lines cross
GAMES_ON_SQUARES = ("breakthrough", "connect4", "othello", "tictactoe")


def make(name: str, **settings: Any) -> Game:
    """The game of that name with the settings of its module's `make` (Go: size, rules, komi, ...); None: its own.
    ValueError for an unknown name or setting, or one outside its range.
    """
    module, given = _module(name), {key: value for key, value in settings.items() if value is not None}
    for key in given.keys() - signature(module.make).parameters.keys():
        raise ChoiceError(f"{name} has no setting {key!r}")
    game: Game = module.make(**given)
    return game


def usual(name: str, setting: str) -> Any:
    """What a game takes if a setting such as its size or rules is not given; None if it has none."""
    parameter = signature(_module(name).make).parameters.get(setting)
    return None if parameter is None or parameter.default is parameter.empty else parameter.default


def _module(name: str) -> Any:
    if name not in GAMES:
        raise ChoiceError(f"unknown game {name!r}: expected one of {', '.join(GAMES)}")
    return import_module(GAMES[name])
