"""Finds out how many CPU threads are fastest, by trying them on the work itself at its start and again during it.

A step of the learner consists of thousands of short parts, and threads wait for each other at the end of each. Next
to another busy process one thread is often without a core, and all wait: two threads on two cores were up to twenty
times slower than one. The load of a machine changes, so trials are repeated: at once when a step takes far longer than
usual, otherwise as often as `SHARE` allows. A trial is a few steps with each number of threads; it ends with the
first kind (a board size) that has had them all.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Hashable, Iterable, Iterator
from contextlib import contextmanager

# pieces of a trial with each number of threads; the faster one counts, because the first may have to set things up
RUNS = 2
TOO_SLOW = 3.0  # times the best so far: then one piece is enough
SLOW = 2.0  # times the usual, from which on fewer threads are tried
SHARE = 0.05  # of the time, at most, that trials may cost beyond what the same pieces would have taken
SHORTEST = 30.0  # seconds between two trials


class Pace:
    """The number of threads to use now.

    Args:
        wanted: 0 for as many as help; else that many, always.
        most: threads that there are.
        on_change: called with the new number at each change.
        clock: seconds.

    Attributes:
        threads: the best number by the last trial.
    """

    def __init__(
        self,
        wanted: int,
        most: int,
        on_change: Callable[[int], None] = lambda threads: None,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        self.threads = wanted or most
        self._counts = [self.threads] if wanted else _halves(most)
        self._on_change, self._clock = on_change, clock
        self._due = 0.0 if len(self._counts) > 1 else float("inf")  # when, by the clock, the next trial may begin
        self._tried: list[int] = []  # numbers of threads that the trial under way compares; empty: there is none
        self._times: dict[Hashable, dict[int, list[float]]] = {}  # kind -> threads -> seconds of the trial's pieces
        self._usual: dict[Hashable, float] = {}  # kind -> seconds of a piece with the present threads

    @property
    def is_settled(self) -> bool:
        """Whether no trial is under way or due."""
        return not self._tried and self._clock() < self._due

    @contextmanager
    def piece(self, kind: Hashable) -> Iterator[int]:
        """Context manager around a piece of this kind; gives the number of threads to use.

        A failed piece is not counted.
        """
        if not self._tried and not self.is_settled:
            self._tried, self._times = self._counts, {}
        count = self._next(kind) or self.threads
        began = self._clock()
        yield count
        seconds = self._clock() - began
        if self._tried:
            self._note(kind, count, seconds)
        else:
            self._compare(kind, seconds)

    def _next(self, kind: Hashable) -> int | None:
        """The number of threads to try next with this kind; None if there is none."""
        times = self._times.get(kind, {})
        best = min(map(min, times.values()), default=float("inf"))
        for count in self._tried:
            found = times.get(count, [])
            if len(found) < RUNS and min(found, default=0.0) <= TOO_SLOW * best:
                return count
        return None

    def _note(self, kind: Hashable, count: int, seconds: float) -> None:
        """Count a piece of the trial, and end the trial if no other of its kind is needed."""
        self._times.setdefault(kind, {}).setdefault(count, []).append(seconds)
        if self._next(kind) is None:
            self._decide(kind)

    def _decide(self, kind: Hashable) -> None:
        """End the trial: use what was fastest for this kind until `SHARE` allows the next trial."""
        before, all_times = self.threads, self._times
        self.threads = min(all_times[kind], key=lambda count: min(all_times[kind][count]))
        cost = sum(_excess(times.values()) for times in all_times.values())
        self._due = self._clock() + max(SHORTEST, cost / SHARE)
        self._usual = {kind: min(all_times[kind][self.threads])}
        self._tried, self._times = [], {}
        if self.threads != before:
            self._on_change(self.threads)

    def _compare(self, kind: Hashable, seconds: float) -> None:
        """Compare a piece outside trials with the usual time; if it took far longer, try fewer threads."""
        usual = self._usual.setdefault(kind, seconds)
        self._usual[kind] = min(usual, seconds)
        fewer = [count for count in self._counts if count < self.threads]
        if fewer and seconds > SLOW * usual:
            self._tried, self._times = [*fewer, self.threads], {kind: {self.threads: [seconds] * RUNS}}


def _halves(most: int) -> list[int]:
    """1 … most, each twice the one before; `most` itself is among them."""
    counts = [most]
    while counts[0] > 1:
        counts.insert(0, counts[0] // 2)
    return counts


def _excess(times: Iterable[list[float]]) -> float:
    """Seconds lost compared with all pieces at the speed of the fastest."""
    pieces = [seconds for found in times for seconds in found]
    return sum(pieces) - min(pieces) * len(pieces)
