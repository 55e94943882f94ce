"""From a search's result to the move that is played."""

from __future__ import annotations

import numpy as np

from gozero.search.search import RootResult
from gozero.search.tree import WIN


def choose(result: RootResult, temperature: float, rng: np.random.Generator, *, undrawn: int | None = None) -> int:
    """The action to play.

    Args:
        result: of a finished or stopped search.
        temperature: 0 for the result's best action, without chance; otherwise an action is drawn with probability
            proportional to visits ** (1 / temperature) (AlphaGo Zero plays its first 30 moves with 1), or to the
            prior's power where no action has a visit; but a win that is proven is played at once, and what is proven to
            lose only where nothing else has a visit.
        rng: draws one number where temperature > 0.
        undrawn: an action that is played where it is the best, but never drawn in another's place: the pass.
    """
    weights = result.visits if result.visits.any() else result.prior
    if temperature == 0 or result.best == undrawn or not weights.any():
        return result.best
    if result.refuted is not None:
        weights = np.where(result.refuted, 0, weights)
        if result.bound[result.best] == WIN or not weights.any():
            return result.best
    if undrawn is not None:
        weights = np.where(np.arange(len(weights)) == undrawn, 0, weights)
    return draw(weights, temperature, rng)


def draw(weights: np.ndarray, temperature: float, rng: np.random.Generator) -> int:
    """An action drawn with probability proportional to weights [A], one above 0, to the power of 1 / temperature; at 0
    the heaviest.
    """
    if temperature < 0:
        raise ValueError(f"temperature {temperature}: expected 0 or above")
    if temperature == 0:
        return int(weights.argmax())
    powers = (weights / weights.max()) ** (1.0 / temperature)
    return int(rng.choice(len(powers), p=powers / powers.sum()))
