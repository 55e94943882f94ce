"""Endgame positions as diagrams, most of them 7x7, with what is known or *stated* of their points.

What only a strong network could read is stated by a second diagram of expected owners: x and o are surely Black's and
White's, ? is anybody's. So tests hold the mechanism to account and not the network; benchmarks/scoring.py measures the
two together.
"""

import numpy as np

from gozero.evaluators.base import Evaluation
from gozero.games.game import BLACK, TO_PLAY, WHITE, Game

# Both sides are pass-alive; in Black's territory stands the white stone B1, and D4 is dame.
CERTAIN = """
. O . O . O .
O O O O O O O
O O O O O O O
X X X . X X X
X X X X X X X
X X X X X X X
. O . X . X .
"""

# Black's top is not pass-alive, and the white stones in it could make two eyes if Black let them.
LOST_STONES = """
. . . . . . .
. X O O . X .
. . X X X . .
X X X X X X X
O O O O O O O
O . O O O O O
. O . O . O .
"""
LOST = """
xxxxxxx
xxxxxxx
xxxxxxx
xxxxxxx
ooooooo
ooooooo
ooooooo
"""

# Through D4 and D3 Black could still come into White's side, which touches Black there as it stands.
UNFINISHED = """
. . . . . . .
. . . . . . .
X X X X X X X
X X X . O O O
O O O . O O O
. . . . . . .
. . . . . . .
"""
BORDER_OPEN = """
xxxxxxx
xxxxxxx
xxxxxxx
xxx?ooo
ooo?ooo
ooooooo
ooooooo
"""

# C7 and E7: who fills one of the two liberties that they have left, D7 and D6, is captured on the other.
SEKI_WITHOUT_EYES = """
X X O . X O O
X X O . X O O
X X O X X O O
X X X O O O O
X X X O O O O
X . X O O . O
. X X O O O .
"""

# C9 is White's only eye there and G9 Black's: nobody may fill E9.
SEKI_WITH_EYES = """
X O . O . X . X O
X O O O O X X X O
X X X X X O O O O
X X X X X O O O O
X X X X X O O O O
X X X X X O O O O
X X X X X O O O O
X . X X X O O . O
. X X X X O O O .
"""

# D7 is Black's last stone inside White's corner. White's four have liberties at A8 and B8 besides the three that they
# share with it.
LONE_INSIDE = """
. O O X . . . . . . . . .
. O X X . . . . . . . X X
. O O X . . X . . X . X .
. O X X X . . X . X . X .
X X O O X X X X X X . X .
. . O . O X . . . . X . X
O O . X . O X X X X X X X
O X O O O O O O O O O O O
X X X X X O O O O O O O O
. . . X . X X X O O X O O
. . X . . . . X X X X X O
. . . . . . . . . X X O O
. . . . . . . . . X O O .
"""

# It looks like a seki, but White may fill C7 or B6 and leave Black a bent four in the corner, whenever it likes.
BENT_FOUR = """
O O . X X O .
O . X X O O O
X X X X O O O
O O O O O O O
O O O O O O O
O . O O O O O
O O O O O O O
"""
ALL_WHITE = "ooooooo\n" * 7

# Black has the eye D6 and needs C7 or E7 for another: when White takes one ko, Black takes the other.
DOUBLE_KO = """
O X . X O . O
O O X . X O O
O O X X X O O
O O O O O O O
O O O O O O O
O . O O O . O
. O O O O O O
"""
ALIVE_BY_KO = """
oxxx??o
ooxxxoo
ooxxxoo
ooooooo
ooooooo
ooooooo
ooooooo
"""

# A7 and C7 look like eyes, but White takes A6 by filling A7, and nothing holds the four stones together.
FALSE_EYES = """
. X . X O O O
X O X O O O O
O O O O O O O
O O O O O O O
O O O O O O O
O . O O O . O
O O O . O O O
"""

# The last board of a game: White's fifteen stones around A10 have the eye A9 and no other, and the black group around
# them has two.
ONE_EYE = """
. X X . X X X O O . . O .
X O X X X X O O . O O . O
. O X . . X X O O X O O O
O O O X X X X O X X O X O
. X O O O . X O X . X X X
O O O O O . X O X X X . .
X O O X X X X O O X . X .
X X X O O X X O . O X X .
X X X X O X X X O O O X X
X X X O O O X O O . . O X
X . X O O . O . O . O O O
X X O O . O O . O . O . .
. X X O . . O . O . . O .
"""

# Another: Black's sixty stones have one liberty left, N5. White may capture them whenever it likes.
LARGE_AND_LOST = """
O O O O . O X . O O O O .
. X O O X O O O O X . X O
O O O O O O O . O X X X O
O O X . O X . O X X O O O
. O X X O O O O O O O O O
O X X O . O X X X O . X O
O O O . O . O . O X O O O
O X O O . O O O O X X X X
X X X O O . O X X X X X .
X X X X O O O O O X X X X
X X X X X X X O X X X X X
X X X X X X X X X X X X X
X X X X X X X X X X X X X
"""

_OWNERS = {"x": 0.9, "o": -0.9, "?": 0.0}


def board_of(diagram: str) -> np.ndarray:
    """uint8 [size, size]."""
    return np.array([[".XO".index(point) for point in line.split()] for line in diagram.split("\n") if line], np.uint8)


def owners_of(stated: str) -> np.ndarray:
    """float32 [P], + for Black."""
    return np.array([_OWNERS[point] for line in stated.split() for point in line], np.float32)


def moves_of(diagram: str) -> list[tuple[int, int]]:
    """(colour, action) that put the stones of a diagram on an empty board, in an order in which none is captured."""
    stones = board_of(diagram).reshape(-1)
    return [(colour, int(action)) for colour in (BLACK, WHITE) for action in np.flatnonzero(stones == colour)]


def as_stones_stand(diagram: str) -> str:
    """A statement that every string of a board lives."""
    return "\n".join("".join("?xo"[point] for point in row) for row in board_of(diagram))


class StatedEvaluator:
    """Says of every position that its points will be whose they are stated to be, and that it would like to pass;
    either side may win.

    A ``scored`` one says besides that the side to move leads by 0.3 points.
    """

    def __init__(self, game: Game, stated: str, *, scored: bool = False) -> None:
        self.game = game
        self._owners = owners_of(stated)
        self._scored = scored
        self.evaluated = 0

    def evaluate(self, states: np.ndarray) -> Evaluation:
        count = len(states)
        self.evaluated += count
        sign = np.where(states[:, TO_PLAY] == BLACK, 1, -1).astype(np.float32)
        logits, value = np.zeros((count, self.game.actions), np.float32), np.zeros(count, np.float32)
        logits[:, self.game.pass_action] = 10
        score = np.full(count, 0.3, np.float32) if self._scored else None
        return Evaluation(logits, value, score, ownership=sign[:, None] * self._owners)
