"""A cache of evaluations: a position that was evaluated before is not evaluated again.

A cache hit returns exactly what the network would: the key is all that the network sees of a position, its boards, side
to move, komi and the past that is among its planes. Two orders of the same moves are two positions.

The least recently used evaluations are dropped. Analyses of successive positions of a game, moves that were taken back
and new searches find hits; within one tree the same position hardly comes twice.
"""

from __future__ import annotations

from collections import OrderedDict

import numpy as np

from gozero.evaluators.base import Evaluation, Evaluator, preferred_batch
from gozero.games.game import Game
from gozero.nets import packing

KEY_BYTES = 250  # of Python's, for each key beside its own length


class CachedEvaluator:
    """An `Evaluator` that asks another one only for positions it does not know.

    Args:
        evaluator: the other one.
        memory: bytes that the evaluations may take.

    Attributes:
        evaluator: the other one.
    """

    def __init__(self, evaluator: Evaluator, memory: int) -> None:
        self.evaluator = evaluator
        self._memory = memory
        self.forget()

    @property
    def game(self) -> Game:
        """The game whose states it takes."""
        return self.evaluator.game

    @property
    def preferred_batch(self) -> int:
        """That of the other one."""
        return preferred_batch(self.evaluator)

    def forget(self) -> None:
        """Drop all evaluations and give their memory back."""
        self._places: OrderedDict[bytes, int] = OrderedDict()  # by position, those asked for last at the end
        self._cached: Evaluation | None = None  # of as many positions as there is room for

    def evaluate(self, states: np.ndarray) -> Evaluation:
        """Evaluate states int32 [n, S]; `known` says which were found. See `Evaluator`."""
        if self._cached is None:
            self._cached = self._empty()
        if len(states) > len(self._cached.value):
            return self.evaluator.evaluate(states)
        keys = packing.keys(self.game, states)
        known = np.array([key in self._places for key in keys])
        for n in np.flatnonzero(known):
            self._places.move_to_end(keys[n])  # its last use is now
        fresh = {key: n for n, key in enumerate(keys) if not known[n]}  # a position that comes twice is asked for once
        if fresh:
            answers = self.evaluator.evaluate(states[list(fresh.values())])
            places = [self._place(key) for key in fresh]
            for cached, new in zip(self._cached, answers, strict=True):
                if cached is not None:
                    cached[places] = new
        return self._cached.of([self._places[key] for key in keys])._replace(known=known)

    def _empty(self) -> Evaluation:
        """Arrays for as many evaluations as the memory holds, or fewer where the system has less."""
        start = self.game.new_states(1)
        one = self.evaluator.evaluate(start)
        size = sum(field.nbytes for field in one if field is not None) + len(packing.keys(self.game, start)[0])
        room = self._memory // (size + KEY_BYTES)
        while True:
            try:
                return Evaluation._make(
                    None if field is None else np.empty((room, *field.shape[1:]), field.dtype) for field in one
                )
            except MemoryError:
                room //= 2

    def _place(self, key: bytes) -> int:
        """A place for another position: where all are taken, that of the one whose last use is the longest ago."""
        assert self._cached is not None
        free = len(self._places)
        self._places[key] = free if free < len(self._cached.value) else self._places.popitem(last=False)[1]
        return self._places[key]
