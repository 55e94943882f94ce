"""What a person chooses for a game in the terminal, checked before anything heavy is imported."""

from __future__ import annotations

import math
from dataclasses import dataclass

from gozero.play import engine
from gozero.play.levels import level
from gozero.system.errors import ChoiceError


@dataclass(frozen=True)
class PlaySettings:
    """What the person chose; None: the game's own, or the engine's choice.

    ChoiceError for a game that does not exist, and for values that no game has.
    """

    game: str
    size: int | None = None  # points a side, or columns
    weights: str | None = None
    visits: int | None = None  # simulations of the engine's moves and of hints
    level: int | None = None  # in place of visits: see gozero.play.levels
    colour: str = "black"
    seed: int | None = None  # None: no two games are alike
    rules: str | None = None
    komi: float | None = None
    saved: bool = True  # whether the result is written to the file of results

    def __post_init__(self) -> None:
        engine.check_choices(self.game, self.size, self.rules)
        if self.visits is not None and self.visits < 1:
            raise ChoiceError(f"--visits {self.visits}: expected 1 or more")
        if self.level is not None:
            level(self.level)
            if self.visits is not None:
                raise ChoiceError(
                    f"--level {self.level} and --visits {self.visits}: a level has its own visits, give one"
                )
        if self.seed is not None and self.seed < 0:
            raise ChoiceError(f"--seed {self.seed}: expected 0 or more")
        if self.komi is not None and not math.isfinite(self.komi):
            raise ChoiceError(f"--komi {self.komi}: expected a finite number")
