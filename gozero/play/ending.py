"""How a game ends, as far as a player must judge it: the moves to choose from, the first pass, when to resign.

`RuleEnding` leaves all of it to the rules; `gozero.play.go_ending` judges Go.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Protocol

import numpy as np

from gozero.games.position import Position
from gozero.play.game_tree import Limits
from gozero.play.report import Observer
from gozero.search.search import RootResult


class Ending(Protocol):
    """What a player asks when it chooses a move. The answers may take a part of the limits."""

    def sensible(
        self, root: Position, limits: Limits, should_stop: Callable[[], bool], *, friendly: bool
    ) -> np.ndarray:
        """The actions to choose from, bool [A]; ``friendly`` as in `PlayerSettings.friendly_pass`."""

    def revised(
        self, root: Position, action: int, result: RootResult, limits: Limits, should_stop: Callable[[], bool]
    ) -> int:
        """The action to play where a search's result suggests ``action``."""

    def forced_observer(
        self, root: Position, action: int, observer: Observer, limits: Limits, should_stop: Callable[[], bool]
    ) -> Observer:
        """The observer to use where ``action`` is all there is to choose."""

    def resignation(self, colour: int, threshold: float, earliest: float) -> tuple[float, float]:
        """(expected result below which ``colour`` resigns, ply before which it does not), from the usual ones."""

    def forget(self) -> None:
        """Drop what was searched."""


class RuleEnding:
    """The rules say when the game is over, and nothing else ends it."""

    def sensible(
        self, root: Position, limits: Limits, should_stop: Callable[[], bool], *, friendly: bool
    ) -> np.ndarray:
        return root.legal()

    def revised(
        self, root: Position, action: int, result: RootResult, limits: Limits, should_stop: Callable[[], bool]
    ) -> int:
        return action

    def forced_observer(
        self, root: Position, action: int, observer: Observer, limits: Limits, should_stop: Callable[[], bool]
    ) -> Observer:
        return observer

    def resignation(self, colour: int, threshold: float, earliest: float) -> tuple[float, float]:
        return threshold, earliest

    def forget(self) -> None:
        """Nothing is kept."""
