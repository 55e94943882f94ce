"""What every command of gozero shares: its parser, its exit code, and one line about what is wrong.

`run_command` is for commands that print results, `run_server` for those that serve a protocol on standard output.
Nothing heavy is imported, so that a wrong argument is answered at once.
"""

from __future__ import annotations

import argparse
import difflib
import os
import re
import signal
import sys
import threading
import traceback
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, suppress
from typing import Any, NoReturn, TypeVar

from gozero import __version__
from gozero.system import files
from gozero.system.errors import UserError, lack_of_memory
from gozero.system.options import entries, kind_of, parse, read_toml, values_of
from gozero.system.streams import CONTROL, Log, UnwritableError, discard_stdout, open_log, open_streams

SUCCESS, FAILED, BAD_INPUT, INTERRUPTED = 0, 1, 2, 130  # exit codes; 1: it failed under way
MOST_SEED = 2**63 - 1
# Ctrl-C, a request from outside, a terminal that is closed; Windows lacks the last
STOPPING = [getattr(signal, name) for name in ("SIGINT", "SIGTERM", "SIGHUP") if hasattr(signal, name)]
EXTRAS = {"torch": "train", "tqdm": "train", "fsspec": "train", "ray": "distributed", "aiohttp": "web"}
EXTRAS |= {"onnx": "onnx", "onnxruntime": "onnx"}  # packages, and their extra in setup.cfg

Command = Callable[[], int | None]
Table = TypeVar("Table")


# Arguments


class Parser(argparse.ArgumentParser):
    """A command line, whose descriptions keep their lines. A wrong option is one line on stderr and exit code 2."""

    def __init__(self, **options: Any) -> None:
        super().__init__(**{"formatter_class": argparse.RawDescriptionHelpFormatter, **options})

    def parse_args(self, *arguments: Any, **options: Any) -> Any:
        """As argparse does it; if a shell asks for completions, they are its answer and the process ends."""
        if "_ARGCOMPLETE" in os.environ:
            import argcomplete

            argcomplete.autocomplete(self)
        return super().parse_args(*arguments, **options)

    def run(self, work: Callable[[Any], int | None], arguments: Sequence[str] | None) -> int:
        """Run `work` with the parsed arguments (None: the process's) as `run_command` does. Returns the exit code."""
        options = self.parse_args(arguments)
        return run_command(self.prog, lambda: work(options))

    def _print_message(self, message: str, file: Any = None) -> None:
        """Print help or a version; argparse would drop what cannot be written, and succeed."""
        if code := printing(self.prog, lambda: print(message, end="", file=file)):
            sys.exit(code)

    def error(self, message: str) -> NoReturn:
        """End the process; the line says where the options are listed."""
        mistyped = re.search("unrecognized arguments: (--[^ =]+)", message)
        near = difflib.get_close_matches(mistyped[1], self._option_string_actions, n=1) if mistyped else []
        hint = f"did you mean {near[0]}? " if near else ""
        self.exit(BAD_INPUT, f"{self.prog}: {message}; {hint}see {self.prog} --help\n")


def whole(least: int, most: int = 10**9) -> Callable[[str], int]:
    """The type of an option that is a whole number from `least` to `most`."""

    def read(text: str) -> int:
        if not (text.isascii() and text.isdigit() and least <= int(text) <= most):
            raise argparse.ArgumentTypeError(f"{text!r} is not a whole number from {least} to {most:,}")
        return int(text)

    read.__name__ = "whole number"  # of more digits than Python reads
    return read


positive, seed = whole(1), whole(0, MOST_SEED)


def from_arguments(
    table: type[Table],
    arguments: Sequence[str] | None,
    prog: str,
    description: str,
    epilog: str = "",
    positional: str = "",
) -> Table:
    """The settings for a command line: its options win over those of --config FILE, these over the defaults.

    SystemExit for --help, --version and an unknown option; SettingsError for a value that is wrong.
    `table` is a dataclass whose fields are made by `options.option`; `positional` is one of text that is given without
    a flag. Arguments are those after the command's name, None: the process's own.
    """
    parser = Parser(
        prog=prog, description=description, epilog=epilog, argument_default=argparse.SUPPRESS, allow_abbrev=False,
    )  # fmt: skip
    for entry in entries(table):
        flag, about = f"--{entry.name.replace('_', '-')}", entry.metadata
        if entry.name == positional:
            parser.add_argument(positional, nargs="?", help=about["help"])
            continue
        reading: dict[str, Any] = {"action": "store_true"}
        if kind_of(entry) is not bool:
            reading = {"type": lambda text, e=entry, f=flag: parse(e, text, f), "metavar": about["metavar"]}
        parser.add_argument(flag, dest=entry.name, help=about["help"], **reading)
    parser.add_argument("--config", metavar="FILE", help="TOML file with these options as keys, without the dashes")
    parser.add_argument("--version", action="version", version=f"{prog} {__version__}")
    given = vars(parser.parse_args(arguments))
    if path := given.pop("config", None):
        found = {key.replace("-", "_"): value for key, value in read_toml(files.full(path)).items()}
        given = values_of(table, found, str(files.full(path))) | given
    return table(**given)


# Commands that print results


def run_command(
    program: str, command: Command, unusable: tuple[type[Exception], ...] = (), interrupted: str = ""
) -> int:
    """Run a command and return its exit code; one that returns None has succeeded.

    An error of the user (a UserError, a file that cannot be used, an optional package that is missing, or one of
    `unusable`) is one line and BAD_INPUT, a lack of memory one and FAILED. Ctrl-C is one line and INTERRUPTED; the line
    ends with `interrupted`, or with the argument of the KeyboardInterrupt. The other signals that end a command do the
    same, unless the command handles them itself (`stop_on_signals`). Any other exception is a bug, and leaves with its
    traceback.
    """
    expected: tuple[type[Exception], ...] = (UserError, *unusable)

    def guarded() -> int | None:
        try:
            return command()
        except expected as error:
            say(f"{program}: {error}")
        except ModuleNotFoundError as error:
            if error.name not in EXTRAS:
                raise
            extra = EXTRAS[error.name]
            say(f"{program}: this needs {error.name}, which is not installed; run: pip install 'gozero[{extra}]'")
        except (MemoryError, RuntimeError) as error:
            if (said := lack_of_memory(error)) is None:
                raise
            say(f"{program}: {said}")
            return FAILED
        except KeyboardInterrupt as error:
            result = str(error) or interrupted
            fresh = "\n" if sys.stderr.isatty() else ""  # the terminal has shown ^C on the line of the prompt
            say(f"{fresh}{program}: interrupted" + (f"; {result}" if result else ""))
            return INTERRUPTED
        return BAD_INPUT

    with _interruptible():
        return printing(program, guarded)


def printing(program: str, command: Command) -> int:
    """Run a command that prints results, and return its exit code.

    A file that cannot be used, standard output included, is one line and BAD_INPUT. If the reader of standard output
    has gone (`| head`), the rest is dropped, and the code is SUCCESS; if it was closed from the start, the command's.
    """
    open_streams()
    try:
        try:
            return command() or SUCCESS
        finally:
            sys.stdout.flush()
    except BrokenPipeError:
        discard_stdout()
        return SUCCESS
    except OSError as error:
        with suppress(OSError):
            sys.stdout.flush()
        discard_stdout()
        file = f"cannot use {error.filename}: " if error.filename else ""
        say(f"{program}: {file}{error.strerror or error}")
        return BAD_INPUT


@contextmanager
def _interruptible() -> Iterator[None]:
    """Let a request to end, or a closed terminal, be a KeyboardInterrupt, so that a command can save its work."""

    def interrupt(number: int, frame: object) -> NoReturn:
        raise KeyboardInterrupt

    deadly = []
    if threading.current_thread() is threading.main_thread():  # only this one may handle signals
        deadly = [each for each in STOPPING if signal.getsignal(each) == signal.SIG_DFL]
    for number in deadly:
        signal.signal(number, interrupt)
    try:
        yield
    finally:
        for number in deadly:
            signal.signal(number, signal.SIG_DFL)


def stop_on_signals(doing: str = "finishing the step under way and saving") -> Callable[[], bool]:
    """A function that says whether SIGINT, SIGTERM or SIGHUP has come; a second one ends the process at once. `doing`
    says what is done before the end. A signal that the process ignores, as under `nohup`, stays ignored.
    """
    received: list[int] = []
    handled = [each for each in STOPPING if each == signal.SIGINT or signal.getsignal(each) != signal.SIG_IGN]

    def note(number: int, frame: object) -> None:
        received.append(number)
        for each in handled:
            signal.signal(each, signal.SIG_DFL)
        say(f"stopping: {doing}; press Ctrl-C again to leave at once")

    for number in handled:
        signal.signal(number, note)
    return lambda: bool(received)


def say(text: str) -> None:
    """Print a line for the person at the terminal, without the control characters that a file may put there. If nobody
    reads it any more, or its file is full, work goes on.
    """
    lines = (each.translate(CONTROL) for each in text.split("\n"))
    with suppress(OSError):
        print("\n".join(lines), file=sys.stderr, flush=True)


def report_bug(program: str, error: Exception, where: str = "", log: Log | None = None) -> None:
    """Say, also in the log, what a user should report after an internal error that does not end the program."""
    trace = "".join(traceback.format_exception(error)).rstrip()
    warn(program, f"internal error{where}; please report this:\n{trace}", log)


def progress_bar(total: int, what: str, unit: str) -> Any:
    """A progress bar with `update(n)` and `close()`; silent if stderr is no terminal."""
    from tqdm import tqdm

    return tqdm(total=total, desc=what, unit=unit, leave=False, dynamic_ncols=True, disable=not sys.stderr.isatty())


# Commands that serve a protocol


def run_server(program: str, read_settings: Callable[[], Any], serve: Callable[[Any, Log | None], int]) -> NoReturn:
    """End the process with the exit code of `serve(settings, log)`; the settings have a field `log`, a path or None.

    UserError and UnwritableError are reported to the user and the log and end the process with BAD_INPUT; a bug goes
    into the log and is raised. Threads that still load, search or wait for a line are not joined.
    """
    open_streams()
    log = None
    try:
        settings = read_settings()
        log = open_log(settings.log)
        code = serve(settings, log)
    except (UserError, UnwritableError) as error:
        warn(program, str(error), log)
        code = BAD_INPUT
    except KeyboardInterrupt:
        code = INTERRUPTED
    except BrokenPipeError:  # the client has gone
        code = SUCCESS
    except Exception as error:
        if log is not None:
            log.say("".join(traceback.format_exception(error)))
        raise
    os._exit(code)


def warn(program: str, text: str, log: Log | None) -> None:
    """One line to the user and the log."""
    say(f"{program}: {text}")
    if log is not None:
        log.say(text)
