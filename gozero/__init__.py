"""The engine: games, networks, search and the player. It knows no GTP (package `gtp`) and no training (package
`training`).

docs/map.md shows the flow and where to begin, docs/python.md the interface for programs of your own: the names of
`__all__`. They are imported when they are first used, so that a program that needs one module loads only that one.
"""

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from gozero.games import make
    from gozero.games.colours import BLACK, WHITE
    from gozero.games.position import Position
    from gozero.play.interface import Engine
    from gozero.play.searcher import Limits

__version__ = "0.1.0"
__all__ = ["BLACK", "WHITE", "Engine", "Limits", "Position", "make"]

_HOMES = {
    "BLACK": "gozero.games.colours",
    "WHITE": "gozero.games.colours",
    "Engine": "gozero.play.interface",
    "Limits": "gozero.play.searcher",
    "Position": "gozero.games.position",
    "make": "gozero.games",
}


def __getattr__(name: str) -> Any:
    if name in _HOMES:
        return getattr(import_module(_HOMES[name]), name)
    raise AttributeError(f"module 'gozero' has no attribute {name!r}")
