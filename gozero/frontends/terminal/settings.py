"""The options of `gozero play`."""

from __future__ import annotations

from dataclasses import dataclass

from gozero.games import GAMES, MOST_KOMI
from gozero.games.go.handicap import FEWEST_STONES, MOST_STONES
from gozero.play.levels import STRONGEST, WEAKEST
from gozero.system.console import MOST_SEED
from gozero.system.options import option


@dataclass(frozen=True)
class PlaySettings:
    """What the person chose; None: the game's own, or the engine's choice."""

    game: str | None = option(None, f"name of the game: {', '.join(GAMES)}", metavar="game")
    size: int | None = option(None, "points a side, or columns (default: that of the weights, or the game's own)")
    weights: str | None = option(
        None, "weights file (default: the game's, if there is one; else random playouts)", metavar="FILE"
    )
    visits: int | None = option(
        None, "visits of a move, or a hint (default: 400, or 2000 with random playouts)", low=1, high=100_000_000
    )
    level: int | None = option(
        None, "1 (for beginners) to 20 (800 visits), in place of visits; needs weights", low=WEAKEST, high=STRONGEST
    )
    colour: str = option("black", "yours; Black begins (default: black)", choices=("black", "white"), metavar="COLOUR")
    seed: int | None = option(None, "whole number; the same seed plays the same game", low=0, high=MOST_SEED)
    rules: str | None = option(None, "rule set (default: the game's own)", metavar="NAME")
    komi: float | None = option(
        None, "points for White in go (default: 7.5, by Japanese rules 6.5)", low=-MOST_KOMI, high=MOST_KOMI
    )
    handicap: int | None = option(
        None, "Black's stones in go, 2 to 9; komi is then 0.5 if not given", low=FEWEST_STONES, high=MOST_STONES
    )
