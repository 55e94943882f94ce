"""Shared by the commands of training: messages on standard error, exit codes, and how they are stopped."""

from __future__ import annotations

import argparse
import math
import os
import signal
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any, NoReturn

from gozero.errors import ChoiceError
from gozero.exits import FAILURE, INTERRUPTED, SUCCESS


def say(text: str) -> None:
    """Print a line for the person at the terminal."""
    print(text, file=sys.stderr, flush=True)


def open_streams() -> None:
    """Give a process that was started without stdout or stderr (`>&-`) one that goes nowhere."""
    for number in range(3):
        try:
            os.fstat(number)
        except OSError:  # else the next file that is opened would be written to as this stream
            nowhere = os.open(os.devnull, os.O_RDWR)
            if nowhere != number:
                os.dup2(nowhere, number)
                os.close(nowhere)
            os.set_inheritable(number, True)
    if sys.stdout is None:
        sys.stdout = Path(os.devnull).open("w", encoding="utf-8")  # noqa: SIM115 - open until the process ends
    if sys.stderr is None:
        sys.stderr = Path(os.devnull).open("w", encoding="utf-8")  # noqa: SIM115


class Parser(argparse.ArgumentParser):
    """The command line of `python -m training.NAME`. A wrong option is one line on stderr and exit code 2."""

    def error(self, message: str) -> NoReturn:
        """End the process; the line names the command and where its options are listed."""
        command = self.prog.removeprefix("python -m ").split()[0]
        self.exit(FAILURE, f"{command}: {message}; see {self.prog} --help\n")


def _argument(error: BaseException | None) -> str:
    """The argument of a KeyboardInterrupt, or of the one during whose handling it came: users press Ctrl-C twice."""
    while error is not None:
        if isinstance(error, KeyboardInterrupt) and error.args:
            return str(error.args[0])
        error = error.__context__
    return ""


def finite(text: str) -> float:
    """The type of an option that is a number; `nan` and `inf` are refused like words."""
    number = float(text)
    if not math.isfinite(number):
        raise ValueError(text)
    return number


finite.__name__ = "number"  # argparse names the type in its message


def run_command(
    program: str, command: Callable[[], int], unusable: tuple[type[Exception], ...] = (), interrupted: str = ""
) -> int:
    """Run a command and return its exit code.

    An error of the user (a ChoiceError, a file that cannot be used, or one of `unusable`) is one line and code 2,
    Ctrl-C one line and code 130, which says what was kept: `interrupted`, or the argument of the KeyboardInterrupt.
    Any other exception is a bug, and leaves with its traceback.
    """
    open_streams()
    errors: tuple[type[Exception], ...] = (ChoiceError, *unusable)
    try:
        code = command()
        if sys.stdout is not None:  # closed from the start
            sys.stdout.flush()
        return code
    except BrokenPipeError:  # `| head`: the reader has seen enough; nothing more may be written, not even at exit
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return SUCCESS
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
