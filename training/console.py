"""What training's commands say at the terminal, on standard error, and how they are told to stop."""

from __future__ import annotations

import signal
import sys
from collections.abc import Callable
from typing import Any


def say(text: str) -> None:
    """Print a line for the person at the terminal."""
    print(text, file=sys.stderr, flush=True)


def progress_bar(total: int, what: str, unit: str) -> Any:
    """A progress bar with `update(n)` and `close()`; silent where stderr is no terminal."""
    from tqdm import tqdm

    return tqdm(total=total, desc=what, unit=unit, leave=False, dynamic_ncols=True, disable=not sys.stderr.isatty())


def stop_on_signals(doing: str = "finishing the step under way and saving") -> Callable[[], bool]:
    """A function that says whether SIGINT or SIGTERM has come; a second signal ends the process at once. `doing` tells
    the user what is done before the end.
    """
    received: list[int] = []

    def note(number: int, frame: object) -> None:
        received.append(number)
        for each in (signal.SIGINT, signal.SIGTERM):
            signal.signal(each, signal.SIG_DFL)
        say(f"stopping: {doing}; once more to leave at once")

    for number in (signal.SIGINT, signal.SIGTERM):
        signal.signal(number, note)
    return lambda: bool(received)
