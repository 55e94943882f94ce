"""What every command of gozero shares: its parser, its exit code, and one line about what is wrong.

`run_command` is for commands that print results, `exit_after` for those that serve a protocol on standard output.
Nothing heavy is imported, so that a wrong argument is answered at once.
"""

from __future__ import annotations

import argparse
import math
import os
import re
import signal
import sys
import threading
import traceback
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import Field
from pathlib import Path
from typing import Any, NoReturn, Protocol, TypeVar

from gozero.system.errors import UserError
from gozero.system.options import SettingsError, check, entries, is_plain, kind_of, parse, path_of, read_toml
from gozero.system.output import (
    Log,
    ProtocolOutput,
    UnwritableError,
    discard_results,
    open_log,
    open_results,
    open_streams,
    secure_streams,
    tell,
)

SUCCESS, FAILED, BAD_INPUT, INTERRUPTED = 0, 1, 2, 130  # exit codes; 1: it failed under way
MOST_SEED = 2**63 - 1
STOPPING = ("SIGINT", "SIGTERM", "SIGHUP")  # Ctrl-C, a request from outside, a terminal that is closed
EXTRAS = {"torch": "train", "tqdm": "train", "fsspec": "train", "ray": "distributed", "aiohttp": "web"}  # of setup.cfg

Table = TypeVar("Table")
_NUMBER = re.compile(r"argument (\S+): invalid (int|float) value: (.*)")


# Arguments


class Parser(argparse.ArgumentParser):
    """A command line. A wrong option is one line on stderr and exit code 2."""

    def parse_args(self, *arguments: Any, **options: Any) -> Any:
        """As argparse does it; where a shell asks for completions, they are its answer and the process ends."""
        if "_ARGCOMPLETE" in os.environ:
            import argcomplete

            argcomplete.autocomplete(self)
        return super().parse_args(*arguments, **options)

    def error(self, message: str) -> NoReturn:
        """End the process; the line says where the options are listed."""
        wanted = {"int": "a whole number", "float": "a number"}
        message = _NUMBER.sub(lambda found: f"{found[1]} {found[3]}: expected {wanted[found[2]]}", message)
        self.exit(BAD_INPUT, f"{self.prog}: {message}; see {self.prog} --help\n")

    def print_help(self, file: Any = None) -> None:
        """Print the help; ends the process if that cannot be done."""
        code = printing(self.prog, lambda: super(Parser, self).print_help(file))
        if code:
            self.exit(code)


def finite(text: str) -> float:
    """The type of an option that is a number, in ASCII digits; `nan`, `inf` and 1_0 are refused."""
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


def from_arguments(
    table: type[Table], arguments: Sequence[str] | None, *, prog: str, version: str, description: str, epilog: str
) -> Table:
    """The settings for a command line: its options win over those of --config FILE, these over the defaults.

    SystemExit for --help, --version and an unknown option; SettingsError for a value that is wrong.

    Args:
        table: a dataclass whose fields are made by `options.option`.
        arguments: those after the command's name; None: the process's own.
        prog: the command's name.
        version: what --version says.
        description: the first line of --help.
        epilog: the last ones.
    """
    parser = Parser(
        prog=prog,
        description=description,
        epilog=epilog,
        formatter_class=argparse.RawDescriptionHelpFormatter,
        argument_default=argparse.SUPPRESS,
        allow_abbrev=False,
    )
    for entry in entries(table):
        _add(parser, entry)
    parser.add_argument("--config", metavar="FILE", help="TOML file with these options as keys, without the dashes")
    parser.add_argument("--version", action="version", version=f"{prog} {version}")
    given = vars(parser.parse_args(arguments))
    path = given.pop("config", None)
    values = (read_config(table, path) if path else {}) | given
    return table(**values)


def read_config(table: type[Any], path: str) -> dict[str, Any]:
    """The checked values of a TOML file whose keys are the options without their dashes in front."""
    full_path = path_of(path)
    known = {entry.name: entry for entry in entries(table)}
    values = {}
    for key, value in read_toml(full_path).items():
        name = key.replace("-", "_")
        if name not in known:
            raise SettingsError(f"{full_path}: unknown key {key!r}; expected one of {', '.join(known)}")
        values[name] = check(known[name], value, f"{full_path}: {key}")
    return values


def _add(parser: argparse.ArgumentParser, entry: Field[Any]) -> None:
    flag, text = f"--{entry.name.replace('_', '-')}", entry.metadata["help"]
    if kind_of(entry) is bool:
        parser.add_argument(flag, dest=entry.name, action="store_true", help=text)
    else:
        metavar = entry.metadata["metavar"]
        parser.add_argument(
            flag, dest=entry.name, type=lambda given: parse(entry, given, flag), metavar=metavar, help=text
        )


# Commands that print results


def run_command(
    program: str, command: Callable[[], int | None], unusable: tuple[type[Exception], ...] = (), interrupted: str = ""
) -> int:
    """Run a command and return its exit code; one that returns None has succeeded.

    An error of the user (a UserError, a file that cannot be used, an optional package that is missing, or one of
    `unusable`) is one line and BAD_INPUT. Ctrl-C is one line and INTERRUPTED; the line ends with `interrupted`, or with
    the argument of the KeyboardInterrupt. The other signals that end a command do the same, unless the command handles
    them itself (`stop_on_signals`). Any other exception is a bug, and leaves with its traceback.
    """
    with _interruptible():
        return printing(program, lambda: _guarded(program, command, (UserError, *unusable), interrupted))


def printing(program: str, command: Callable[[], int | None]) -> int:
    """Run a command that prints results, and return its exit code.

    Standard output that cannot be written is one line and BAD_INPUT. If its reader has gone (`| head`) or it was closed
    from the start, the rest is dropped, and the code is SUCCESS, or the command's own.
    """
    open_streams()
    open_results()
    try:
        try:
            return command() or SUCCESS
        finally:
            sys.stdout.flush()
    except UnwritableError as error:
        discard_results()
        tell(program, str(error))
        return BAD_INPUT
    except BrokenPipeError:
        discard_results()
        return SUCCESS


def _guarded(
    program: str, command: Callable[[], int | None], errors: tuple[type[Exception], ...], interrupted: str
) -> int | None:
    """`run_command`, but for standard output."""
    try:
        return command()
    except BrokenPipeError:  # of standard output
        raise
    except OSError as error:
        file = f"cannot use {error.filename}: " if error.filename else ""
        say(f"{program}: {file}{error.strerror or error}")
        return BAD_INPUT
    except errors as error:
        say(f"{program}: {error}")
        return BAD_INPUT
    except ModuleNotFoundError as error:
        if error.name not in EXTRAS:
            raise
        say(f"{program}: this needs {error.name}, which is not installed; run: pip install 'gozero[{EXTRAS[error.name]}]'")
        return BAD_INPUT
    except KeyboardInterrupt as error:
        result = _argument(error) or interrupted
        fresh = "\n" if sys.stderr.isatty() else ""  # the terminal has shown ^C on the line of the prompt
        say(f"{fresh}{program}: interrupted" + (f"; {result}" if result else ""))
        return INTERRUPTED


def _argument(error: BaseException | None) -> str:
    """The argument of a KeyboardInterrupt, or of the one during whose handling it came: users press Ctrl-C twice."""
    while error is not None:
        if isinstance(error, KeyboardInterrupt) and error.args:
            return str(error.args[0])
        error = error.__context__
    return ""


@contextmanager
def _interruptible() -> Iterator[None]:
    """Let a request to end, or a terminal that is closed, be a KeyboardInterrupt, so that a command can save its work."""

    def interrupt(number: int, frame: object) -> NoReturn:
        raise KeyboardInterrupt

    deadly = [
        number for number in _stopping() if number != signal.SIGINT and signal.getsignal(number) == signal.SIG_DFL
    ]
    if threading.current_thread() is not threading.main_thread():
        deadly = []  # only the main thread may handle signals
    for number in deadly:
        signal.signal(number, interrupt)
    try:
        yield
    finally:
        for number in deadly:
            signal.signal(number, signal.SIG_DFL)


def _stopping() -> list[int]:
    return [getattr(signal, name) for name in STOPPING if hasattr(signal, name)]  # Windows has no SIGHUP


def stop_on_signals(doing: str = "finishing the step under way and saving") -> Callable[[], bool]:
    """A function that says whether SIGINT, SIGTERM or SIGHUP has come; a second one ends the process at once. `doing`
    tells the user what is done before the end. A signal that the process ignores, as under `nohup`, stays ignored.
    """
    received: list[int] = []
    handled = [
        number for number in _stopping() if number == signal.SIGINT or signal.getsignal(number) != signal.SIG_IGN
    ]

    def note(number: int, frame: object) -> None:
        received.append(number)
        for each in handled:
            signal.signal(each, signal.SIG_DFL)
        say(f"stopping: {doing}; once more to leave at once")

    for number in handled:
        signal.signal(number, note)
    return lambda: bool(received)


def say(text: str) -> None:
    """Print a line for the person at the terminal. If nobody reads it any more, or its file is full, work goes on."""
    try:
        print(text, file=sys.stderr, flush=True)
    except BrokenPipeError:
        sys.stderr = Path(os.devnull).open("w", encoding="utf-8")  # noqa: SIM115 - as long as the process lives
    except OSError:
        pass


def progress_bar(total: int, what: str, unit: str) -> Any:
    """A progress bar with `update(n)` and `close()`; silent if stderr is no terminal."""
    from tqdm import tqdm

    return tqdm(total=total, desc=what, unit=unit, leave=False, dynamic_ncols=True, disable=not sys.stderr.isatty())


# Commands that serve a protocol


class Logged(Protocol):
    """Settings that name a log."""

    @property
    def log(self) -> str | None: ...


S = TypeVar("S", bound=Logged)


def exit_after(
    read_settings: Callable[[], S],
    serve: Callable[[S, Log | None], int],
    say: Callable[[str], None],
    useless: type[Exception] = UserError,
) -> NoReturn:
    """End the process with the exit code of `serve`.

    UserError, UnwritableError and ``useless`` are reported to the user and the log and end the process with BAD_INPUT; a
    bug goes into the log and is raised. Threads that still load, search or wait for a line are not joined.
    """
    talk, log = secure_streams(), None
    try:
        settings = read_settings()
        log = open_log(settings.log)
        code = serve(settings, log)
    except (UserError, UnwritableError, useless) as error:
        say(str(error))
        if log is not None:
            log.say(str(error))
        code = BAD_INPUT
    except KeyboardInterrupt:
        code = INTERRUPTED
    except BrokenPipeError:  # the client has gone
        code = SUCCESS
    except Exception as error:
        if log is not None:
            log.say("".join(traceback.format_exception(error)))
        raise
    talk.drain()
    os._exit(code)


def leave_when_unread(output: ProtocolOutput) -> None:
    """From now on end the process, whatever it is doing, when the client has closed its end and answers cannot be
    read.
    """

    def leave() -> None:
        output.wait_until_unread()
        os._exit(SUCCESS)

    threading.Thread(target=leave, name="leaver", daemon=True).start()
