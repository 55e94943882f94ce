"""What a page asks for when it begins a game, checked."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from gozero.games import GAMES, MOST_KOMI
from gozero.games.colours import BLACK, EMPTY, WHITE
from gozero.games.go.handicap import MOST_STONES
from gozero.play.levels import STRONGEST, WEAKEST
from gozero.system.options import SettingsError, from_values, setting

SIDES = {"black": BLACK, "white": WHITE, "both": EMPTY}
"""Whom the person plays; with `both` the engine plays no move."""


@dataclass(frozen=True)
class Clocks:
    """The time control of both sides: main time, then byo-yomi. All 0: no limit."""

    main: float = setting(0.0, unit="seconds", low=0, high=86_400)
    period: float = setting(0.0, unit="seconds", low=0, high=3600)
    periods: int = setting(0, unit="periods", low=0, high=100)

    @property
    def is_limited(self) -> bool:
        return self.main > 0 or (self.period > 0 and self.periods > 0)


@dataclass(frozen=True)
class Setup:
    """One game. None: the game's own, or that of its weights."""

    game: str = setting("go", unit="name", choices=tuple(GAMES))
    size: int | None = setting(None, unit="points a side", low=2, high=19)
    person: str = setting("black", unit="side", choices=tuple(SIDES))
    level: int = setting(5, unit="level", low=WEAKEST, high=STRONGEST)
    rules: str | None = setting(None, unit="name")
    komi: float | None = setting(None, unit="points", low=-MOST_KOMI, high=MOST_KOMI)
    handicap: int = setting(0, unit="stones", low=0, high=MOST_STONES)
    clock: Clocks = field(default_factory=Clocks)
    engine: str = setting("", unit="name")  # of the weights, as the page shows it; "": the game's own


def setup_of(values: Any, where: str = "new game") -> Setup:
    """The setup of plain values; None counts as not given. SettingsError, which names `where`, for one of no use."""
    if not isinstance(values, Mapping):
        raise SettingsError(f"{where}: expected settings by name")
    return from_values(Setup, {key: value for key, value in values.items() if value is not None}, where)
