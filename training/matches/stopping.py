"""An evaluator and a player that check before each step whether to stop, so that a game can end at once.

A move of many games takes seconds. The caller catches `Stopped` around the whole match, and decides what to do with the
finished games.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np

from gozero.evaluators.base import Evaluation, Evaluator
from training.matches.interface import Fault, MatchPlayer, Turn


class Stopped(Exception):  # noqa: N818 - not an error: the games are given up
    """The run was told to stop, or the time is up."""


class StoppableEvaluator:
    """An evaluator that asks before each batch whether to stop."""

    def __init__(self, evaluator: Evaluator, stop: Callable[[], bool]) -> None:
        self.game, self._evaluator, self._stop = evaluator.game, evaluator, stop

    def evaluate(self, states: np.ndarray) -> Evaluation:
        """Evaluate the states; Stopped once `stop()` is true."""
        if self._stop():
            raise Stopped
        return self._evaluator.evaluate(states)


class StoppablePlayer:
    """A player that looks at whether to stop before each of its moves; Stopped once `stop()` is true."""

    def __init__(self, player: MatchPlayer, stop: Callable[[], bool]) -> None:
        self.name, self._player, self._stop = player.name, player, stop

    def begin(self, slot: int, *, seed: int) -> Fault | None:
        return self._player.begin(slot, seed=seed)

    def choose(self, turns: Sequence[Turn]) -> Sequence[int | Fault]:
        if self._stop():
            raise Stopped
        return self._player.choose(turns)

    def final_score(self, turn: Turn) -> str | None:
        return self._player.final_score(turn)

    def close(self) -> None:
        self._player.close()
