"""When each part of a run was working, for the report: self-play, learner, gate, monitor, or "held", which is self-play
that waits for the learner. Used from several threads at once.
"""

from __future__ import annotations

import threading
import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from typing import NamedTuple

REPORTED = ("selfplay", "learner", "gate", "held")
WHOLE = "whole"  # beside the parts: the time in all


class Span(NamedTuple):
    """A period of work of one part, in seconds."""

    part: str
    begin: float
    end: float


class Timeline:
    """The spans of a run's parts; `spent` is what an earlier session spent since the last report."""

    def __init__(self, spent: Mapping[str, float] | None = None) -> None:
        self._before = dict(spent or {})
        self._lock = threading.Lock()
        self._spans: list[Span] = []
        self._begun: dict[str, float] = {}  # of the parts at work now
        self._since = time.monotonic()

    @contextmanager
    def during(self, part: str, within: str | None = None) -> Iterator[None]:
        """Count the time inside as work of `part`, and not of the part `within` which it may lie."""
        with self._lock:
            self._begun[part] = time.monotonic()
            is_within = within in self._begun
            if within is not None and is_within:
                self._end(within)
        try:
            yield
        finally:
            with self._lock:
                self._end(part)
                if within is not None and is_within:
                    self._begun[within] = time.monotonic()

    def _end(self, part: str) -> None:
        self._spans.append(Span(part, self._begun.pop(part), time.monotonic()))

    def spent(self) -> dict[str, float]:
        """Seconds of work of each `REPORTED` part since the last report, and of the `WHOLE`; work under way counts."""
        with self._lock:
            return self._sums(time.monotonic())

    def _sums(self, now: float) -> dict[str, float]:
        spans = [*self._spans, *(Span(part, begin, now) for part, begin in self._begun.items())]
        sums = {part: sum(span.end - span.begin for span in spans if span.part == part) for part in REPORTED}
        return {part: self._before.get(part, 0.0) + new for part, new in {**sums, WHOLE: now - self._since}.items()}

    def report(self) -> dict[str, float]:
        """Seconds of work of each `REPORTED` part since the last report, and their share of that time.

        Work that is under way counts up to now, and from now on in the next report.
        """
        with self._lock:
            now = time.monotonic()
            spent = self._sums(now)
            self._before, self._spans, self._since = {}, [], now
            self._begun = dict.fromkeys(self._begun, now)
        found: dict[str, float] = {}
        for part in REPORTED:
            share = min(1.0, spent[part] / max(1e-9, spent[WHOLE]))
            found |= {f"speed/{part}_seconds": spent[part], f"speed/{part}_busy": share}
        return found
