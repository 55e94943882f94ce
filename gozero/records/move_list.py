"""A game as a list of moves: the record of games that SGF is not written for.

    # connect4 7x6
    black D1
    white D2

The first line names the game and its board, further ones that begin with `#` are remarks; a move is a colour and a
vertex.
"""

from __future__ import annotations

from collections.abc import Iterable

from gozero.games.colours import COLOUR_WORDS
from gozero.games.game import Game


def written(game: Game, moves: Iterable[tuple[int, int]], *remarks: str) -> str:
    """The text of a game's moves, (colour, action), with remarks of a line each behind the first line."""
    head = [f"# {text}" for text in (f"{game.name} {game.dimensions}", *remarks)]
    lines = [f"{COLOUR_WORDS[colour]} {game.vertex(action)}" for colour, action in moves]
    return "\n".join([*head, *lines, ""])
