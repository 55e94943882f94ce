"""What the course's stages share: their folder and their progress."""

from __future__ import annotations

import argparse
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

import torch

from gozero.system.console import progress_bar, say
from training.course.folder import CourseFolder
from training.storage.storage import alone

LINE_SECONDS = 20.0  # between two lines of progress where there is no terminal


def run(work: Callable[[CourseFolder, argparse.Namespace], None], options: argparse.Namespace, path: Path) -> None:
    """Do a stage's work, alone in its folder."""
    torch.set_num_threads(options.threads)
    with alone(path):
        work(CourseFolder.of(path, options.game), options)


@contextmanager
def progress(total: int, what: str, unit: str) -> Iterator[Callable[[int, str], None]]:
    """A function that is told of finished units, with a word about them: a bar, or lines where there is no terminal."""
    bar, began = progress_bar(total, what, unit), time.monotonic()
    done, last = 0, began

    def tell(count: int, note: str = "") -> None:
        nonlocal done, last
        done += count
        if note:
            bar.set_postfix_str(note, refresh=False)
        bar.update(count)
        if not sys.stderr.isatty() and time.monotonic() - last > LINE_SECONDS:
            last = time.monotonic()
            say(f"{what}: {done:,} of {total:,} {unit}" + f", {note}" * bool(note))

    try:
        yield tell
    finally:
        bar.close()


@contextmanager
def stage(what: str) -> Iterator[None]:
    """Says that a stage begins, and how long it took."""
    say(f"{what} ...")
    wall, processor = time.monotonic(), time.process_time()
    yield
    say(f"{what}: {time.monotonic() - wall:.0f} s, of them {time.process_time() - processor:.0f} s of computing")
