"""Gomoku (Omok): five in a row on 5x5 to 15x15, a free game of gozero.games.lines. By the rules `freestyle` five or
more win, by `exact` a run of six or more wins nothing; there are no bans and openings that help White.
"""

from __future__ import annotations

from gozero.games.game import Game, check_size
from gozero.games.lines import free_game
from gozero.system.errors import ChoiceError

MIN_SIZE, MAX_SIZE = 5, 15
FIVE = 5
LONGEST_LINE = {"freestyle": MAX_SIZE, "exact": FIVE}


def make(size: int = 9, rules: str = "freestyle") -> Game:
    """Gomoku on a size x size board, size 5 to 15, by the rules `freestyle` or `exact`."""
    check_size(size, "gomoku", MIN_SIZE, MAX_SIZE)
    if rules not in LONGEST_LINE:
        raise ChoiceError(f"unknown rules {rules!r}: expected one of {', '.join(LONGEST_LINE)}")
    return free_game("gomoku", size, least=FIVE, most=LONGEST_LINE[rules])
