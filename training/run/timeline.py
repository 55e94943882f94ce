"""When each part of a run was working: its spans, for the report.

Vocabulary.
  part  selfplay, learner, gate, monitor, or held: self-play that waits for the learner.
  span  (part, begin, end) in seconds of `time.monotonic`; spans of one part do not overlap, those of different parts
        may.

Used from several threads at once; it keeps the spans since the last `report` only.
"""

from __future__ import annotations

import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from typing import NamedTuple

REPORTED = ("selfplay", "learner", "gate", "held")


class Span(NamedTuple):
    """A stretch of work of one part, seconds."""

    part: str
    begin: float
    end: float


class Timeline:
    """The spans of a run's parts."""

    def __init__(self) -> None:
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

    def report(self) -> dict[str, float]:
        """Seconds of work of each `REPORTED` part since the last report, and their share of that time.

        Work that is under way counts up to now, and from now on in the next report.
        """
        with self._lock:
            now, spans, self._spans = time.monotonic(), self._spans, []
            spans += [Span(part, begin, now) for part, begin in self._begun.items()]
            self._begun = dict.fromkeys(self._begun, now)
            elapsed, self._since = max(1e-9, now - self._since), now
        found: dict[str, float] = {}
        for part in REPORTED:
            seconds = sum(span.end - span.begin for span in spans if span.part == part)
            found |= {f"speed/{part}_seconds": seconds, f"speed/{part}_busy": min(1.0, seconds / elapsed)}
        return found
