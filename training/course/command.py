"""What the course's commands share: options, progress, one line for bad input, and how a Ctrl-C ends."""

from __future__ import annotations

import argparse
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

import torch

from gozero.system.console import SUCCESS, Parser, progress_bar, run_command, say, seed, whole
from gozero.system.errors import PlotError
from training.course.boards import COURSES
from training.course.folder import CourseError, CourseFolder
from training.storage.storage import BusyError, FolderError, StorageError, alone

UNUSABLE = (CourseError, PlotError, StorageError, FolderError, BusyError)
LINE_SECONDS = 20.0  # between two lines of progress where there is no terminal


def parser(command: str, description: str) -> argparse.ArgumentParser:
    """The options that all stages have."""
    made = Parser(
        prog=f"gozero course {command}",
        description=description,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    made.add_argument("--game", type=str.lower, choices=COURSES, required=True, help="which of the course's games")
    made.add_argument("--run", type=Path, metavar="DIR", help="folder of the course's files (default runs/course-GAME)")
    made.add_argument("--seed", type=seed, default=1, help="fixes games and networks (default 1)")
    made.add_argument(
        "--threads", type=whole(1), default=1, help="threads for the networks; these are small: few help (default 1)"
    )
    return made


def even(text: str) -> int:
    """Reads an even number from 2 on."""
    if (number := whole(2)(text)) % 2:
        raise argparse.ArgumentTypeError(f"{text!r} is no even number")
    return number


def run(command: str, work: Callable[[CourseFolder], None], options: argparse.Namespace) -> int:
    """Do a command's work, alone in its folder. Returns the exit code: 0, 2 after one line about what was wrong, 130
    after Ctrl-C.
    """
    torch.set_num_threads(options.threads)
    path = options.run or Path("runs") / f"course-{options.game}"

    def alone_at_work() -> int:
        with alone(path):
            work(CourseFolder.of(path, options.game))
        return SUCCESS

    kept = f"what was finished is in {path}, and the same command goes on from there"
    return run_command(f"gozero course {command}", alone_at_work, UNUSABLE, kept)


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
