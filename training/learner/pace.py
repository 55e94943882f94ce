"""Finds out how many CPU threads are fastest, by trying them on the work itself at its start and again during it.

A step of the learner consists of thousands of short parts, and threads wait for each other at the end of each. Next
to another busy process one thread is often without a core, and all wait: two threads on two cores were up to twenty
times slower than one. The load of a machine changes, so trials are repeated as often as `SHARE` allows. A trial is a
few steps with each number of threads; it ends with the first kind (a board size) that has had them all.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Hashable, Iterator
from contextlib import contextmanager

# pieces of a trial with each number of threads; the faster one counts, because the first may have to set things up
RUNS = 2
TOO_SLOW = 3.0  # times the best so far: then one piece is enough
SHARE = 0.05  # of the time, at most, that trials may take
SHORTEST = 30.0  # seconds between two trials


class Pace:
    """The number of threads to use now."""

    def __init__(self, wanted: int, most: int, clock: Callable[[], float] = time.monotonic) -> None:
        """`wanted`: 0 for as many of the `most` that there are as help; else that many, always. `clock`: in seconds."""
        self.threads = wanted or most  # the best number by the last trial
        # all of them, half as many, and so on to one, the fewest first
        halves = [most >> times for times in reversed(range(most.bit_length()))]
        self._counts = [self.threads] if wanted else halves
        self._clock = clock
        self._next_trial = 0.0 if len(self._counts) > 1 else float("inf")  # by the clock
        self._times: dict[Hashable, dict[int, list[float]]] = {}  # of the trial: kind -> threads -> seconds of pieces

    @property
    def is_settled(self) -> bool:
        """Whether no trial is under way or due."""
        return self._clock() < self._next_trial

    @contextmanager
    def piece(self, kind: Hashable) -> Iterator[int]:
        """The number of threads to use for a piece of this kind inside. A failed piece is not counted."""
        if self.is_settled:
            yield self.threads
            return
        times = self._times.setdefault(kind, {})
        count, began = self._to_try(times) or self.threads, self._clock()
        yield count
        times.setdefault(count, []).append(self._clock() - began)
        if self._to_try(times) is None:
            self._decide(times)

    def _to_try(self, times: dict[int, list[float]]) -> int | None:
        """The number of threads to try next, after these times; None if there is none."""
        best = min(map(min, times.values()), default=float("inf"))
        for count in self._counts:
            found = times.get(count, [])
            if len(found) < RUNS and min(found, default=0.0) <= TOO_SLOW * best:
                return count
        return None

    def _decide(self, times: dict[int, list[float]]) -> None:
        """End the trial: use what was fastest until `SHARE` allows the next trial."""
        self.threads = min(times, key=lambda count: min(times[count]))
        spent = sum(seconds for each in self._times.values() for found in each.values() for seconds in found)
        self._next_trial, self._times = self._clock() + max(SHORTEST, spent / SHARE), {}
