"""Tic-tac-toe: three in a row on 3x3. The state row and the kernels are those of a free game of gozero.games.lines."""

from __future__ import annotations

from gozero.games.game import Game
from gozero.games.lines import free_game
from gozero.system.errors import ChoiceError

SIZE = 3


def make(size: int = SIZE) -> Game:
    """Tic-tac-toe; ValueError for any size but 3."""
    if size != SIZE:
        raise ChoiceError(f"board size {size} is not supported: tic-tac-toe is played on {SIZE}x{SIZE}")
    return free_game("tictactoe", SIZE, least=SIZE, most=SIZE)
