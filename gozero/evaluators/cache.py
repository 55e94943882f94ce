"""Evaluators that wrap another one: with a cache of evaluations, and with the mean of the ownership.

A cache hit is exactly what the network would say: its key is all that the network sees. The least recently used
evaluations are dropped.
"""

from __future__ import annotations

from collections import OrderedDict

import numpy as np

from gozero.evaluators.base import Evaluation, Evaluator, preferred_batch
from gozero.games.game import BLACK, TO_PLAY
from gozero.games.position import Position
from gozero.nets import features

KEY_BYTES = 250  # of Python's, for each key beside its own length


class CachedEvaluator:
    """An `Evaluator` that asks another one only for positions it does not know; they may take `memory` bytes."""

    def __init__(self, evaluator: Evaluator, memory: int) -> None:
        self.evaluator, self.game = evaluator, evaluator.game
        self.preferred_batch, self._memory = preferred_batch(evaluator), memory
        self.forget()

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
        keys = features.keys(self.game, states)
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
        places = [self._places[key] for key in keys]
        found = Evaluation._make(None if field is None else field[places] for field in self._cached)
        return found._replace(known=known)

    def _empty(self) -> Evaluation:
        """Arrays for as many evaluations as the memory holds, or fewer where the system has less."""
        start = self.game.new_states(1)
        one = self.evaluator.evaluate(start)
        size = sum(field.nbytes for field in one if field is not None) + len(features.keys(self.game, start)[0])
        room = self._memory // (size + KEY_BYTES)
        while True:
            try:
                return Evaluation._make(
                    None if field is None else np.empty((room, *field.shape[1:]), field.dtype) for field in one
                )
            except MemoryError:
                room //= 2

    def _place(self, key: bytes) -> int:
        """A place for another position: if all are taken, that of the least recently used."""
        assert self._cached is not None
        free = len(self._places)
        self._places[key] = free if free < len(self._cached.value) else self._places.popitem(last=False)[1]
        return self._places[key]


class Owners:
    """An evaluator that wraps another and accumulates the mean of its ownership, if its game has any."""

    def __init__(self, evaluator: Evaluator) -> None:
        self._evaluator, self.game = evaluator, evaluator.game
        self.preferred_batch = preferred_batch(evaluator)
        self.knows_score = False  # whether the evaluator gives points: known after its first call
        self.forget()

    def forget(self) -> None:
        """Start a new mean."""
        self._sum = np.zeros(self.game.points, np.float64)  # for Black
        self.count = 0  # positions in the mean
        self.hits: int | None = None  # evaluations that a cache had, since it was set to None

    def evaluate(self, states: np.ndarray) -> Evaluation:
        """The other evaluator's answer for states int32 [n, S]."""
        found = self._evaluator.evaluate(states)
        self.add(states, found)
        return found

    def add(self, states: np.ndarray, found: Evaluation) -> None:
        """Add the ownership of states int32 [n, S] to the mean, and count what was in a cache."""
        self.knows_score = found.score is not None and self.game.score is not None
        if found.ownership is not None and self.game.owner is not None:
            self._sum += np.where(states[:, TO_PLAY] == BLACK, 1.0, -1.0) @ found.ownership
            self.count += len(states)
        if found.known is not None:
            self.hits = (self.hits or 0) + int(found.known.sum())

    def ownership(self, position: Position) -> np.ndarray | None:
        """float32 [P] for the side to move; if nothing was evaluated yet, that of the position itself."""
        if self.count == 0:
            found = self._owners(position.state[None])
            return None if found is None else found[0]
        mean = self._sum / self.count
        return (mean if position.to_play == BLACK else -mean).astype(np.float32)

    def after(self, position: Position, actions: list[int]) -> list[np.ndarray | None]:
        """The ownership after each of these actions, float32 [P] for the side to move before them."""
        children = position.children(actions)
        found = self._owners(np.stack([child.state for child in children])) if children else None
        return [None] * len(actions) if found is None else [-row for row in found]

    def _owners(self, states: np.ndarray) -> np.ndarray | None:
        """float32 [n, P] of states int32 [n, S], not accumulated; None if the game has no ownership."""
        return None if self.game.owner is None else self._evaluator.evaluate(states).ownership
