"""The standard streams of a process: standard error never stops it, and standard output may belong to a protocol, whose
lines go into a log.
"""

from __future__ import annotations

import io
import os
import queue
import select
import sys
import threading
from collections.abc import Callable, Iterator
from contextlib import suppress
from datetime import datetime
from typing import TextIO, TypeVar, cast

from gozero.system import files
from gozero.system.options import SettingsError

Request = TypeVar("Request")
LONGEST_WAIT = 0.3  # seconds that a writer waits for a standard error that is not read
_PIECE = 4096  # bytes that a pipe with any room takes at once
CONTROL = {**dict.fromkeys((*range(32), 127), "\N{REPLACEMENT CHARACTER}"), ord("\t"): " "}


class UnwritableError(BrokenPipeError):
    """The client cannot be answered although it has not gone: standard output is closed, or a disk is full."""


class Log:
    """A file in which every line has its time and a mark: `<` received, `>` sent, `-` anything else. If the disk fails,
    only the log ends.
    """

    def __init__(self, file: TextIO) -> None:
        self._file: TextIO | None = file

    def say(self, text: str, mark: str = "-") -> None:
        """All lines of the text that are not blank."""
        time = datetime.now().isoformat(" ", "milliseconds")
        lines = (line.rstrip().translate(CONTROL) for line in text.split("\n"))
        try:
            if self._file is not None:
                self._file.write("".join(f"{time} {mark} {line}\n" for line in lines if line))
        except OSError as error:
            self._file = None
            sys.stderr.write(f"the log ends here: {reason(error)}\n")


def open_log(name: str | None) -> Log | None:
    """The log in a file of that name, opened for appending; None: no log. SettingsError if it cannot be opened."""
    if name is None:
        return None
    path = files.full(name)
    try:
        return Log(path.open("a", buffering=1, encoding="utf-8", errors="surrogateescape"))
    except (OSError, ValueError) as error:  # the latter for a name with a null character
        raise SettingsError(f"cannot write the log {str(path)!r}: {reason(error)}") from None


class Stderr(io.TextIOBase):
    """Standard error that neither blocks nor fails for long: text is dropped while its other end does not read."""

    encoding, errors = "utf-8", "backslashreplace"  # a file name may hold bytes that are no text

    def __init__(self, descriptor: int) -> None:
        self._descriptor = descriptor
        self._lock = threading.Lock()
        self._seconds = LONGEST_WAIT

    def write(self, text: str) -> int:
        data = text.encode(self.encoding, self.errors)
        with self._lock, suppress(OSError):  # full, or its reader has gone
            while data and self._is_read():
                data = data[os.write(self._descriptor, data[:_PIECE]) :]
        return len(text)

    def fileno(self) -> int:
        return self._descriptor

    def isatty(self) -> bool:
        return os.isatty(self._descriptor)

    def writable(self) -> bool:
        return True

    def _is_read(self) -> bool:
        """Whether it takes text; the first time that it does not costs a wait."""
        if not hasattr(select, "poll"):  # Windows, which cannot tell
            return True
        ready = bool(select.select([], [self._descriptor], [], self._seconds)[1])
        self._seconds = LONGEST_WAIT if ready else 0.0
        return ready


def open_streams() -> None:
    """Make the standard streams usable: the null device for those that are closed (`>&-`), before any file takes their
    descriptors, standard input and output that take any text, and a `Stderr`.
    """
    for descriptor in (0, 1, 2):
        try:
            os.fstat(descriptor)
        except OSError:
            os.set_inheritable(os.open(os.devnull, os.O_RDWR), True)  # the lowest free descriptor: this one
    if sys.stdin is None:
        sys.stdin = open(0, encoding="utf-8", closefd=False)  # noqa: SIM115 - for as long as the process lives
    if sys.stdout is None:
        sys.stdout = open(1, "w", encoding="utf-8", closefd=False)  # noqa: SIM115
    for stream in (sys.stdin, sys.stdout):
        if isinstance(stream, io.TextIOWrapper):  # whatever is typed or printed
            stream.reconfigure(errors="backslashreplace")
    if sys.stderr is sys.__stderr__:
        sys.stderr = cast(TextIO, Stderr(2))


def discard_stdout() -> None:
    """Drop what is printed from now on, and what Python would write at the end of the process."""
    with suppress(OSError):  # no descriptor behind it
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())


def reason(error: Exception) -> str:
    """What an error says; one of the system in lower case, without its number and path."""
    said: str | None = getattr(error, "strerror", None)
    return said.lower() if said else str(error) or "unwritable"


def arriving_lines(descriptor: int) -> Iterator[str]:
    """Yield each line without its newline as soon as it is complete, and at the end any text after the last newline.

    UTF-8; other bytes become surrogates. A byte order mark at the very beginning is left out. Closing the input ends
    the iteration, and so does a terminal that has gone.
    """
    with suppress(OSError):
        os.set_blocking(descriptor, True)  # another process that shares it may have changed that
        with open(descriptor, encoding="utf-8-sig", errors="surrogateescape", newline="\n", closefd=False) as lines:
            for line in lines:
                yield line.removesuffix("\n")


class ProtocolOutput:
    """The client's end of standard output, written unbuffered: every answer is sent whole and at once."""

    def __init__(self, descriptor: int, log: Log | None = None) -> None:
        self._descriptor = descriptor
        self._log = log
        with suppress(OSError):
            os.set_blocking(descriptor, True)  # another process that shares it may have changed that

    @classmethod
    def take_over(cls, log: Log | None) -> ProtocolOutput:
        """Take over standard output, after `open_streams`, and point file descriptor 1 at stderr, so that no library's
        print reaches the client. UnwritableError if it is closed.
        """
        if sys.__stdout__ is None:
            raise UnwritableError("standard output is closed, so that no answer could be read")
        sys.stdout.flush()
        descriptor = os.dup(1)
        os.dup2(2, 1)
        sys.stdout = sys.stderr
        return cls(descriptor, log)

    def note(self, line: str) -> None:
        """Put what the client sent into the log."""
        if self._log:
            self._log.say(line, "<")

    def write(self, answer: str) -> None:
        """Send it. BrokenPipeError if the client has gone, UnwritableError if it cannot be written otherwise."""
        if self._log:
            self._log.say(answer, ">")
        data = answer.encode("utf-8", "surrogateescape")
        try:
            while data:
                data = data[os.write(self._descriptor, data) :]
        except ConnectionError:
            raise
        except OSError as error:
            raise UnwritableError(f"cannot write to standard output: {reason(error)}") from None

    def end_process_when_unread(self) -> None:
        """From now on end the process, whatever it is doing, when the client has closed its end; never where the system
        cannot tell.
        """

        def watch() -> None:
            watched = select.poll()
            watched.register(self._descriptor, 0)
            watched.poll()
            os._exit(0)

        if hasattr(select, "poll"):
            threading.Thread(target=watch, name="leaver", daemon=True).start()


def read_ahead(output: ProtocolOutput, parse: Callable[[str], Request], most: int = 0) -> queue.Queue[Request | None]:
    """The requests on standard input as they come, then None: a thread reads `most` of them ahead (0: all), so that they
    are seen during a search, and logs them. A line that cannot be parsed (ValueError) is their end.
    """
    requests: queue.Queue[Request | None] = queue.Queue(most)

    def read() -> None:
        with suppress(ValueError):
            for line in arriving_lines(0):
                output.note(line)
                requests.put(parse(line))
        requests.put(None)

    threading.Thread(target=read, name="requests", daemon=True).start()
    return requests
