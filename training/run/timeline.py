"""When each part of a run was working: its spans, for the report and for tests of what overlaps.

Vocabulary.
  part  selfplay, learner, gate or monitor.
  span  (part, begin, end) in seconds of `time.monotonic`; spans of one part do not overlap, those of different parts
        may.

Used from several threads at once; it keeps the spans since the last `report` only.
"""

from __future__ import annotations

import time
from collections.abc import Iterator
from contextlib import contextmanager
from typing import NamedTuple


class Span(NamedTuple):
    """A stretch of work of one part, seconds."""

    part: str
    begin: float
    end: float


class Timeline:
    """The spans of a run's parts."""

    def __init__(self) -> None:
        self.spans: list[Span] = []
        self._since = time.monotonic()

    @contextmanager
    def during(self, part: str) -> Iterator[None]:
        """Count the time inside as work of `part`."""
        begin = time.monotonic()
        try:
            yield
        finally:
            self.spans.append(Span(part, begin, time.monotonic()))

    def report(self) -> dict[str, float]:
        """Seconds of work of self-play and learner since the last report, and their share of that time."""
        now, spans, self.spans = time.monotonic(), self.spans, []
        elapsed = max(1e-9, now - self._since)
        self._since = now
        found: dict[str, float] = {}
        for part in ("selfplay", "learner"):
            seconds = sum(span.end - span.begin for span in spans if span.part == part)
            found |= {f"speed/{part}_seconds": seconds, f"speed/{part}_busy": min(1.0, seconds / elapsed)}
        return found
