"""One line on stderr that says how far a tournament has come and how long it will still take."""

from __future__ import annotations

import contextlib
import sys
import time
from collections.abc import Callable
from typing import TextIO

EVERY = 60.0  # seconds between two lines where stderr is no terminal


class ProgressLine:
    """Rewrites its line on a terminal; elsewhere it writes a new one each minute. Where that cannot be, it is silent."""

    def __init__(
        self, done: int, total: int, stream: TextIO | None = None, now: Callable[[], float] = time.monotonic
    ) -> None:
        self._stream = stream or sys.stderr
        self._is_terminal = self._stream.isatty()
        self._now, self._start = now, now()
        self._before, self._done, self._total = done, done, total
        self._written = self._start

    def add(self, left: int) -> None:
        """A game has ended; `left` are still to be played."""
        self._done += 1
        self._total = self._done + left
        if self._is_terminal:
            self._write(f"\r\x1b[K{self.line(left)}")
        elif self._now() - self._written >= EVERY:
            self._written = self._now()
            self._write(f"{self.line(left)}\n")

    def line(self, left: int) -> str:
        """`340 of 1,000 games, 12 min left`."""
        rate = (self._now() - self._start) / max(1, self._done - self._before)
        return f"{self._done:,} of {self._total:,} games, {duration(rate * left)} left"

    def say(self, text: str) -> None:
        """A line of its own, above the progress."""
        self._write(f"\r\x1b[K{text}\n" if self._is_terminal else f"{text}\n")

    def close(self) -> None:
        """Take the line away."""
        if self._is_terminal:
            self._write("\r\x1b[K")

    def _write(self, text: str) -> None:
        with contextlib.suppress(OSError):  # nobody reads it any more, or its file is full: the games go on
            self._stream.write(text)
            self._stream.flush()


def duration(seconds: float) -> str:
    """`40 s`, `12 min`, `3.5 h`."""
    if seconds < 100:
        return f"{seconds:.0f} s"
    return f"{seconds / 60:.0f} min" if seconds < 100 * 60 else f"{seconds / 3600:.1f} h"
