"""From a search's result to the move that is played."""

from __future__ import annotations

import numpy as np

from gozero.search.search import RootResult


def choose(result: RootResult, temperature: float, rng: np.random.Generator) -> int:
    """The action to play.

    Args:
        result: of a finished or stopped search.
        temperature: 0 for the result's best action, without chance; otherwise an action is drawn with probability
            proportional to visits ** (1 / temperature) (AlphaGo Zero plays its first 30 moves with 1).
        rng: draws one number where temperature > 0.
    """
    if temperature < 0:
        raise ValueError(f"temperature {temperature}: expected 0 or above")
    most = result.visits.max()
    if temperature == 0 or most == 0:
        return result.best
    weights = (result.visits / most) ** (1.0 / temperature)
    return int(rng.choice(len(weights), p=weights / weights.sum()))
