"""Decides when the search for a move can stop early, to save time for other moves.

The leader is the move that would be played now. A search is settled when no rival can be expected to overtake it, and
then ends before its target; it is undecided while the leader is doubtful, and then goes on beyond the target until the
deadline. All times are seconds on the clock of time.monotonic.
"""

from __future__ import annotations

import numpy as np

from gozero.search.search import RootResult

CATCH_UP = 0.75
"""By what share of the simulations to come a rival may gain on the leader (Lc0's smart pruning factor is 1.33, the
inverse).
"""
FIRST_LOOK = 0.1
"""Share of the time to the target that is searched in any case, so that there is something to judge by."""
NOTABLE = 0.25
"""A move with so large a share of the most visits is tried well enough for its value to count."""
SMALL_SHARE = 0.3
"""Where no move has a larger share of all visits, the leader is doubtful."""


def is_settled(result: RootResult, simulations: float) -> bool:
    """Whether no rival can be expected to overtake the leader within this many more simulations; never where the leader
    has a better bound than the most visited move, which may yet come back.
    """
    rivals = np.delete(result.visits, result.best)
    return bool(result.visits[result.best] - rivals.max() > CATCH_UP * simulations)


def is_undecided(result: RootResult) -> bool:
    """Whether a move that is tried well has a better value than the leader, or the visits are spread over many moves."""
    tried = result.visits >= max(1, NOTABLE * result.visits.max())
    return bool(result.q[tried].max(initial=-1.0) > result.q[result.best]) or bool(
        result.visits.max() < SMALL_SHARE * result.visits.sum()
    )


class StopRule:
    """Whether one search should end, asked again and again while it runs.

    Args:
        target: when a search that is neither settled nor undecided ends.
    """

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
