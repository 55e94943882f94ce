"""Decides when the search for a move can stop early, to save time for other moves. Times are of time.monotonic.

The leader is the move that would be played now. A search is settled when no rival can be expected to overtake it, and
then ends before its target; it is undecided while the leader is doubtful, and then goes on until the deadline.
"""

from __future__ import annotations

import numpy as np

from gozero.search.result import RootResult

# share of the simulations to come by which a rival may gain on the leader (Lc0's smart pruning factor 1.33, inverted)
CATCH_UP = 0.75
FIRST_LOOK = 0.1  # share of the time to the target that is searched in any case, to have something to judge by
NOTABLE = 0.25  # share of the most visits from which a move's value counts
SMALL_SHARE = 0.3  # of all visits: if no move has a larger one, the leader is doubtful


def is_settled(result: RootResult, simulations: float) -> bool:
    """Whether no rival can be expected to overtake the leader, the most visited move, in this many simulations."""
    rivals = np.delete(result.visits, result.best)
    return bool(result.visits[result.best] - rivals.max() > CATCH_UP * simulations)


def is_undecided(result: RootResult) -> bool:
    """Whether a well tried move has a better value than the leader, or the visits are spread widely."""
    most = result.visits.max()
    better = result.q[result.visits >= max(1, NOTABLE * most)].max(initial=-1.0) > result.q[result.best]
    return bool(better or most < SMALL_SHARE * result.visits.sum())


class StopRule:
    """Whether one search should end; `target` is when one that is neither settled nor undecided ends."""

    def __init__(self, target: float) -> None:
        self._target = target
        self._first: tuple[float, int] | None = None  # when it was asked first, and the visits there were then

    def is_met(self, result: RootResult, now: float) -> bool:
        """Whether the search should end, with what it has found by `now`."""
        if now >= self._target:
            return not is_undecided(result)
        if self._first is None:
            self._first = now, result.root_visits
        begun, visits = self._first
        if now - begun <= FIRST_LOOK * (self._target - begun):
            return False
        rate = (result.root_visits - visits) / (now - begun)
        return is_settled(result, rate * (self._target - now))
