"""Twenty levels of strength, weakest first: the visits of a move, and the temperature of its choice (`search.result`).

One visit is the network's policy without a search: moves are drawn by their probabilities, and a temperature above 1
flattens these. So one set of weights covers everything from nearly random moves to full strength.
"""

from __future__ import annotations

from dataclasses import dataclass

from gozero.system.errors import ChoiceError


@dataclass(frozen=True)
class Level:
    """How moves are chosen at one level."""

    visits: int  # of the root, as everywhere
    temperature: float  # 0: always the best move, but for the opening's variety

    @property
    def resigns(self) -> bool:
        """Not if moves are random to the end: such a level may still win, and its users want to finish the game."""
        return self.temperature == 0


# level 1 first
DRAWN = (6.0, 3.8, 3.0, 2.35, 1.8, 1.45, 1.27, 1.13, 1.0, 0.85, 0.65, 0.55, 0.45)  # temperatures without a search
SEARCHED = (1, 8, 20, 50, 125, 320, 800)  # visits, with temperature 0
LEVELS = (*(Level(1, temperature) for temperature in DRAWN), *(Level(visits, 0.0) for visits in SEARCHED))
"""Elo between neighbours is about the same on 9x9, as the tournament `benchmarks/levels.toml` measures
it: see docs/levels.md.
"""
WEAKEST, STRONGEST = 1, len(LEVELS)


def level(number: int) -> Level:
    """The level of that number, `WEAKEST` to `STRONGEST`."""
    if not WEAKEST <= number <= STRONGEST:
        raise ChoiceError(f"level {number}: expected {WEAKEST} to {STRONGEST}")
    return LEVELS[number - 1]
