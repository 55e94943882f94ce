"""Twenty levels of strength, weakest first. A weak one draws its moves from those that a person would think of, by the
network's probabilities, and takes another if a look ahead says that the move loses too much; a strong one searches.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from gozero.system.errors import ChoiceError

if TYPE_CHECKING:
    from gozero.play.player import PlayerSettings


@dataclass(frozen=True)
class Level:
    """How moves are chosen at one level; the fields beside `visits` are those of `gozero.play.player.PlayerSettings`."""

    visits: int  # of the root, as everywhere; 1: the network without a search
    temperature: float = 0.0
    top_p: float = 1.0
    most_loss: float = math.inf

    def settings(self, usual: PlayerSettings) -> PlayerSettings:
        """The settings of a player at this level, as ``usual`` beside it. Each move has a search of its own."""
        # a level that draws moves to the end may still win, and its users want to finish the game
        resign = usual.resign and self.temperature == 0
        return replace(
            usual, resign=resign, temperature=self.temperature, top_p=self.top_p, most_loss=self.most_loss,
            keeps_search=False,
        )  # fmt: skip


# level 1 first: temperature, top_p and most_loss without a search, then visits with the best move
DRAWN = (
    (5.0, 0.9999, 7.0), (4.5, 0.9998, 7.0), (4.0, 0.9997, 7.0), (3.6, 0.9995, 7.0), (3.2, 0.9993, 7.0),
    (2.6, 0.998, 7.0), (2.35, 0.995, 6.8), (2.1, 0.99, 6.5), (1.8, 0.98, 6.0), (1.6, 0.965, 5.0), (1.45, 0.95, 4.0),
    (1.05, 0.92, 2.6), (0.45, 0.85, 1.0),
)  # fmt: skip
SEARCHED = (1, 8, 20, 50, 125, 320, 800)
LEVELS = (*(Level(1, *drawn) for drawn in DRAWN), *(Level(visits) for visits in SEARCHED))
"""How Elo grows with them on 9x9 is what the tournament `benchmarks/levels.toml` measures: see docs/levels.md."""
WEAKEST, STRONGEST = 1, len(LEVELS)


def level(number: int) -> Level:
    """The level of that number, `WEAKEST` to `STRONGEST`."""
    if not WEAKEST <= number <= STRONGEST:
        raise ChoiceError(f"level {number}: expected {WEAKEST} to {STRONGEST}")
    return LEVELS[number - 1]
