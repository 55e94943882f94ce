"""Tic-tac-toe: three in a row on 3x3. The state row and the kernels are those of a free game of gozero.games.lines."""

from __future__ import annotations

from gozero.games.game import Game, check_size
from gozero.games.lines import free_game

SIZE = 3


def make(size: int = SIZE) -> Game:
    """Tic-tac-toe; ValueError for any size but 3."""
    check_size(size, "tic-tac-toe", SIZE, SIZE)
    return free_game("tictactoe", SIZE, least=SIZE, most=SIZE)
