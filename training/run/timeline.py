"""When each part of a run was working, for the report: self-play, learner, gate, monitor, or "held", which is self-play
that waits for the learner. Used from several threads at once.
"""

from __future__ import annotations

import threading
import time
from collections import defaultdict
from collections.abc import Iterator, Mapping
from contextlib import contextmanager

REPORTED = ("selfplay", "learner", "gate", "held")
WHOLE = "whole"  # beside the parts: the time in all


class Timeline:
    """Seconds of work of a run's parts since the last report; `spent` is what an earlier session spent since then."""

    def __init__(self, spent: Mapping[str, float] | None = None) -> None:
        self._spent = defaultdict[str, float](float, spent or {})
        self._lock = threading.Lock()
        self._begun = {WHOLE: time.monotonic()}  # of the parts at work now

    @contextmanager
    def during(self, part: str, within: str | None = None) -> Iterator[None]:
        """Count the time inside as work of `part`, and not of the part `within` which it may lie."""
        with self._lock:
            self._settle()
            outer = self._begun.pop(within, None) if within else None
            self._begun[part] = time.monotonic()
        try:
            yield
        finally:
            with self._lock:
                self._settle()
                del self._begun[part]
                if within and outer is not None:
                    self._begun[within] = time.monotonic()

    def _settle(self) -> None:
        """Count what is under way up to now."""
        now = time.monotonic()
        for part, begun in self._begun.items():
            self._spent[part] += now - begun
        self._begun = dict.fromkeys(self._begun, now)

    def spent(self) -> dict[str, float]:
        """Seconds of work of each `REPORTED` part since the last report, and of the `WHOLE`; work under way counts."""
        with self._lock:
            self._settle()
            return {part: self._spent[part] for part in (*REPORTED, WHOLE)}

    def report(self) -> dict[str, float]:
        """Seconds of work of each `REPORTED` part since the last report, and their share of that time.

        Work that is under way counts up to now, and from now on in the next report.
        """
        spent = self.spent()
        with self._lock:
            for part, seconds in spent.items():
                self._spent[part] -= seconds
        found: dict[str, float] = {}
        for part in REPORTED:
            share = min(1.0, spent[part] / max(1e-9, spent[WHOLE]))
            found |= {f"speed/{part}_seconds": spent[part], f"speed/{part}_busy": share}
        return found
