"""Shared by the commands of training: messages on standard error, exit codes, and how they are stopped."""

from __future__ import annotations

import argparse
import math
import os
import signal
import sys
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, NoReturn

from gozero.system.command_line import in_words
from gozero.system.errors import ChoiceError
from gozero.system.exits import FAILURE, INTERRUPTED, SUCCESS, printing
from gozero.system.options import is_plain

MOST_SEED = 2**63 - 1
STOPPING = ("SIGINT", "SIGTERM", "SIGHUP")  # Ctrl-C, a request from outside, a terminal that is closed


def say(text: str) -> None:
    """Print a line for the person at the terminal. Where nobody reads it any more, or its file is full, work goes on."""
    try:
        print(text, file=sys.stderr, flush=True)
    except BrokenPipeError:
        sys.stderr = Path(os.devnull).open("w", encoding="utf-8")  # noqa: SIM115 - as long as the process lives
    except OSError:
        pass


class Parser(argparse.ArgumentParser):
    """The command line of `python -m training.NAME`. A wrong option is one line on stderr and exit code 2."""

    def error(self, message: str) -> NoReturn:
        """End the process; the line names the command and where its options are listed."""
        command = self.prog.removeprefix("python -m ").split()[0]
        self.exit(FAILURE, f"{command}: {in_words(message)}; see {self.prog} --help\n")

    def print_help(self, file: Any = None) -> None:
        """Print the help; ends the process where that cannot be done."""
        code = printing(self.prog.removeprefix("python -m ").split()[0], lambda: self._print_help(file))
        if code:
            self.exit(code)

    def _print_help(self, file: Any) -> int:
        super().print_help(file)
        return SUCCESS


def _argument(error: BaseException | None) -> str:
    """The argument of a KeyboardInterrupt, or of the one during whose handling it came: users press Ctrl-C twice."""
    while error is not None:
        if isinstance(error, KeyboardInterrupt) and error.args:
            return str(error.args[0])
        error = error.__context__
    return ""


def finite(text: str) -> float:
    """The type of an option that is a number; `nan` and `inf` are refused like words, and so are 1_0 and digits that are
    not ASCII.
    """
    number = float(text)
    if not (math.isfinite(number) and is_plain(text)):
        raise ValueError(text)
    return number


finite.__name__ = "number"  # argparse names the type in its message


def whole(least: int) -> Callable[[str], int]:
    """The type of an option that is a whole number from `least` on."""

    def read(text: str) -> int:
        if not (text.isascii() and text.isdigit() and int(text) >= least):
            raise argparse.ArgumentTypeError(f"{text!r} is no whole number from {least} on")
        return int(text)

    read.__name__ = "whole number"  # of more digits than Python reads
    return read


positive = whole(1)


def seed(text: str) -> int:
    """The type of an option that is a seed."""
    number = whole(0)(text)
    if number > MOST_SEED:
        raise argparse.ArgumentTypeError(f"{text!r} is too large: a seed is at most {MOST_SEED}")
    return number


def run_command(
    program: str, command: Callable[[], int], unusable: tuple[type[Exception], ...] = (), interrupted: str = ""
) -> int:
    """Run a command and return its exit code.

    An error of the user (a ChoiceError, a file that cannot be used, or one of `unusable`) is one line and code 2,
    Ctrl-C one line and code 130, which says what was kept: `interrupted`, or the argument of the KeyboardInterrupt. The
    other signals that end a command do the same, unless the command listens to them itself (`stop_on_signals`).
    Any other exception is a bug, and leaves with its traceback. Standard output is as `gozero.system.exits.printing` has it.
    """
    with _interruptible():
        return printing(program, lambda: _guarded(program, command, unusable, interrupted))


@contextmanager
def _interruptible() -> Iterator[None]:
    """Let a request to end, or a terminal that is closed, be a KeyboardInterrupt, so that a command keeps what it has."""

    def interrupt(number: int, frame: object) -> NoReturn:
        raise KeyboardInterrupt

    deadly = [
        number for number in _stopping() if number != signal.SIGINT and signal.getsignal(number) == signal.SIG_DFL
    ]
    if threading.current_thread() is not threading.main_thread():
        deadly = []  # only the main thread may listen
    for number in deadly:
        signal.signal(number, interrupt)
    try:
        yield
    finally:
        for number in deadly:
            signal.signal(number, signal.SIG_DFL)


def _stopping() -> list[int]:
    return [getattr(signal, name) for name in STOPPING if hasattr(signal, name)]  # Windows has no SIGHUP


def _guarded(program: str, command: Callable[[], int], unusable: tuple[type[Exception], ...], interrupted: str) -> int:
    """`run_command`, but for standard output."""
    errors: tuple[type[Exception], ...] = (ChoiceError, *unusable)
    try:
        return command()
    except BrokenPipeError:  # of standard output
        raise
    except OSError as error:
        file = f"cannot use {error.filename}: " if error.filename else ""
        say(f"{program}: {file}{error.strerror or error}")
        return FAILURE
    except errors as error:
        say(f"{program}: {error}")
        return FAILURE
    except KeyboardInterrupt as error:
        kept = _argument(error) or interrupted
        say(f"{program}: interrupted" + (f"; {kept}" if kept else ""))
        return INTERRUPTED


def progress_bar(total: int, what: str, unit: str) -> Any:
    """A progress bar with `update(n)` and `close()`; silent where stderr is no terminal."""
    from tqdm import tqdm

    return tqdm(total=total, desc=what, unit=unit, leave=False, dynamic_ncols=True, disable=not sys.stderr.isatty())


def stop_on_signals(doing: str = "finishing the step under way and saving") -> Callable[[], bool]:
    """A function that says whether SIGINT, SIGTERM or SIGHUP has come; a second one ends the process at once. `doing`
    tells the user what is done before the end. What the process ignores, as under `nohup`, it goes on ignoring.
    """
    received: list[int] = []
    heard = [number for number in _stopping() if number == signal.SIGINT or signal.getsignal(number) != signal.SIG_IGN]

    def note(number: int, frame: object) -> None:
        received.append(number)
        for each in heard:
            signal.signal(each, signal.SIG_DFL)
        say(f"stopping: {doing}; once more to leave at once")

    for number in heard:
        signal.signal(number, note)
    return lambda: bool(received)
