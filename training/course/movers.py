"""Who moves in the games of the course: by a value network's full-width search, or by a policy network.

A mover answers for many positions at once, of either colour. The search to depth n is plain minimax over all
candidates; a game that is over counts as it ended, and the value network of the colour that moved last judges the
others.
"""

from __future__ import annotations

from typing import Protocol

import numpy as np

from gozero.games.game import TO_PLAY
from training.course.expansion import Expander
from training.course.networks import Networks, by_colour, expected_results

NEVER = -1e9  # a logit
MOST_CHILDREN = 1 << 16  # positions after a move that are in memory at once: about 50 MB for the largest of the games


class Mover(Protocol):
    def choose(self, states: np.ndarray) -> np.ndarray:
        """An action int64 [n] for each of states int32 [n, S], n >= 1, that are not over."""


class ValueMover:
    """`val`: the best candidate by a full-width search `depth` plies deep over the value networks."""

    def __init__(self, expander: Expander, networks: Networks, depth: int = 1) -> None:
        self._expander, self._networks, self._depth = expander, networks, depth

    def choose(self, states: np.ndarray) -> np.ndarray:
        return self.values(states).argmax(axis=1)

    def values(self, states: np.ndarray) -> np.ndarray:
        """The value float32 [n, A] of each candidate of states int32 [n, S] for the side to move, -inf of others."""
        return self._search(states, self._depth)

    def _search(self, states: np.ndarray, depth: int) -> np.ndarray:
        most = max(1, MOST_CHILDREN // self._expander.game.actions)
        if len(states) > most:
            parts = (states[start : start + most] for start in range(0, len(states), most))
            return np.concatenate([self._search(part, depth) for part in parts])
        values = np.full((len(states), self._expander.game.actions), -np.inf, np.float32)
        children = self._expander.children(states)
        movers, results, going_on = states[children.parents, TO_PLAY], children.results, np.isnan(children.results)
        if depth > 1 and going_on.any():
            below, later = children.states[going_on], self._search(children.states[going_on], depth - 1)
            signs = np.where(below[:, TO_PLAY] == movers[going_on], 1.0, -1.0)
            results[going_on] = signs * later.max(axis=1)
        if depth == 1 and going_on.any():
            shape = self._expander.game.shape
            results[going_on] = expected_results(self._networks, children.boards[going_on], movers[going_on], shape)
        values[children.parents, children.actions] = results
        return values


class PolicyMover:
    """`pol`: a candidate drawn by the policy network's probabilities, or, `greedy`, its most probable one."""

    def __init__(self, expander: Expander, networks: Networks, seed: int | None = None) -> None:
        """Draw with this seed; None: greedy."""
        self._expander, self._networks = expander, networks
        self._random = None if seed is None else np.random.default_rng(seed)

    def choose(self, states: np.ndarray) -> np.ndarray:
        logits = self.logits(states)
        if self._random is not None:
            logits = logits + self._random.gumbel(size=logits.shape)
        return logits.argmax(axis=1)

    def logits(self, states: np.ndarray) -> np.ndarray:
        """float32 [n, A] of states int32 [n, S]: `NEVER` or less for what is no candidate, 0 for a pass that is one."""
        game = self._expander.game
        boards, logits = self._expander.boards(states), np.zeros((len(states), game.actions), np.float32)
        logits[:, : game.points] = by_colour(self._networks, boards, states[:, TO_PLAY], game.shape, game.points)
        return np.where(self._expander.masks(states), logits, np.float32(NEVER))
