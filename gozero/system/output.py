"""Standard output that belongs to a protocol, a log of what passed on both sides, and streams that cannot stop the
process.

`ProtocolOutput.take_over()` is for programs that speak a protocol, `open_results()` for those that print results.
`secure_streams()` makes the process independent of whether stderr is read, full or closed.
"""

from __future__ import annotations

import atexit
import io
import os
import queue
import select
import sys
import threading
from contextlib import suppress
from datetime import datetime
from typing import Any, TextIO, cast

from gozero.system import files
from gozero.system.options import SettingsError, path_of

MOST_WAITING = 1_000  # pieces of text that wait for a stderr that is not read
LAST_WORDS = 0.3  # seconds that a process waits at its end until stderr has taken the pending text

_CONTROL = {**dict.fromkeys((*range(32), 127), "\N{REPLACEMENT CHARACTER}"), ord("\t"): " "}


class Log:
    """A file in which every line has its time and a mark: `<` received, `>` sent, `-` anything else. If the disk fails,
    only the log ends.
    """

    def __init__(self, file: TextIO) -> None:
        self._file: TextIO | None = file

    def came(self, text: str) -> None:
        """From the client."""
        self._write("<", text)

    def went(self, text: str) -> None:
        """To the client."""
        self._write(">", text)

    def say(self, text: str) -> None:
        """Anything else, such as facts and searches."""
        self._write("-", text)

    def _write(self, mark: str, text: str) -> None:
        """All lines of the text that are not blank."""
        time = datetime.now().isoformat(" ", "milliseconds")
        lines = (line.rstrip().translate(_CONTROL) for line in text.split("\n"))
        try:
            if self._file is not None:
                self._file.write("".join(f"{time} {mark} {line}\n" for line in lines if line))
        except OSError as error:
            self._file = None
            sys.stderr.write(f"the log ends here: {(error.strerror or 'unwritable').lower()}\n")


class UnwritableError(BrokenPipeError):
    """The client cannot be answered although it has not gone: standard output is closed, or a disk is full."""


class Stderr(io.TextIOBase):
    """A stream to a file descriptor that never blocks its writers: a thread writes the text. While the other end does
    not read, up to ``MOST_WAITING`` pieces wait for it; later ones are dropped.
    """

    encoding, errors = "utf-8", "backslashreplace"  # a file name may hold bytes that are no text

    def __init__(self, descriptor: int) -> None:
        self._descriptor = descriptor
        self._pieces: queue.SimpleQueue[str | threading.Event] = queue.SimpleQueue()
        threading.Thread(target=self._pass_on, name="stderr", daemon=True).start()

    def write(self, text: str) -> int:
        if self._pieces.qsize() < MOST_WAITING:
            self._pieces.put(text)
        return len(text)

    def drain(self, seconds: float = LAST_WORDS) -> None:
        """Return when everything is written, or after this many seconds."""
        written = threading.Event()
        self._pieces.put(written)
        written.wait(seconds)

    def fileno(self) -> int:
        return self._descriptor

    def isatty(self) -> bool:
        return os.isatty(self._descriptor)

    def writable(self) -> bool:
        return True

    def _pass_on(self) -> None:
        while True:
            piece = self._pieces.get()
            if isinstance(piece, threading.Event):
                piece.set()
                continue
            with suppress(OSError):  # full, or its reader has gone
                write_all(self._descriptor, piece.encode(self.encoding, self.errors))


def open_streams() -> None:
    """Open the null device for standard streams that are closed (`>&-`), before any file takes their descriptors."""
    for descriptor in (0, 1, 2):
        try:
            os.fstat(descriptor)
        except OSError:
            os.set_inheritable(os.open(os.devnull, os.O_RDWR), True)  # the lowest free descriptor: this one
    if sys.stdin is None:
        sys.stdin = open(0, encoding="utf-8", closefd=False)  # noqa: SIM115 - for as long as the process lives
    if sys.stdout is None:
        sys.stdout = open(1, "w", encoding="utf-8", closefd=False)  # noqa: SIM115
    if sys.stderr is None:
        sys.stderr = open(2, "w", encoding="utf-8", closefd=False)  # noqa: SIM115


class _Results(io.FileIO):
    """A descriptor with errors of its own: BrokenPipeError if the reader has gone, else UnwritableError."""

    def write(self, data: Any) -> int:
        try:
            return super().write(data)
        except OSError as error:
            raise unanswerable(error) from None


def open_results() -> None:
    """Let the standard output of a program that prints results fail as `_Results` does; after `open_streams`."""
    stream = sys.stdout
    if stream is sys.__stdout__ and isinstance(stream, io.TextIOWrapper):
        stream.flush()
        sys.stdout = io.TextIOWrapper(
            io.BufferedWriter(_Results(stream.fileno(), "w", closefd=False)),
            encoding=stream.encoding,
            errors=stream.errors,
            line_buffering=stream.line_buffering,
            write_through=stream.write_through,
        )


def discard_results() -> None:
    """Drop what is printed from now on, and what Python would write at the end of the process."""
    with suppress(OSError):  # no descriptor behind it
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())


def secure_streams() -> Stderr:
    """`open_streams`, and make ``sys.stderr`` a `Stderr`, which is returned; pending text is written at the exit."""
    open_streams()
    talk = Stderr(2)
    sys.stderr = cast(TextIO, talk)
    atexit.register(talk.drain)
    return talk


def unanswerable(error: OSError) -> BrokenPipeError:
    """The exception for a failed write to standard output, as `_Results` raises it."""
    if isinstance(error, ConnectionError):
        return BrokenPipeError(*error.args)
    return UnwritableError(f"cannot write to standard output: {(error.strerror or 'unwritable').lower()}")


def write_all(descriptor: int, data: bytes) -> None:
    """Write all of it, however much is taken at once. OSError if it cannot be written."""
    while data:
        try:
            data = data[os.write(descriptor, data) :]
        except BlockingIOError:  # another process that shares it has made it non-blocking
            select.select([], [descriptor], [])


class ProtocolOutput:
    """The client's end of standard output, written unbuffered: every answer is sent whole and at once."""

    def __init__(self, descriptor: int, log: Log | None = None) -> None:
        self._descriptor = descriptor
        self._log = log

    @classmethod
    def take_over(cls, log: Log | None = None) -> ProtocolOutput:
        """Take over standard output, after `secure_streams`, and point file descriptor 1 at stderr, so that no
        library's print reaches the client. UnwritableError if it is closed.
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
            self._log.came(line)

    def wait_until_unread(self) -> None:
        """Return when the client has closed its end; never where the system cannot tell."""
        if hasattr(select, "poll"):
            watched = select.poll()
            watched.register(self._descriptor, 0)
            watched.poll()
        else:
            threading.Event().wait()

    def write(self, answer: str) -> None:
        """Send it. Errors as `_Results`."""
        if self._log:
            self._log.went(answer)
        try:
            write_all(self._descriptor, answer.encode("utf-8", "surrogateescape"))
        except OSError as error:
            raise unanswerable(error) from None


def tell(program: str, text: str) -> None:
    """One line from this program to its user, on stderr."""
    sys.stderr.write(f"{program}: {text}\n")
    sys.stderr.flush()


def open_log(name: str | None) -> Log | None:
    """The log in a file of that name, opened for appending; None: no log. SettingsError if it cannot be opened."""
    if name is None:
        return None
    path = path_of(name)
    try:
        return Log(open(path, "a", buffering=1, encoding="utf-8", errors="surrogateescape", opener=files.opened))
    except (OSError, ValueError) as error:  # the latter for a name with a null character
        why = (error.strerror if isinstance(error, OSError) else str(error)) or "unwritable"
        raise SettingsError(f"cannot write the log {str(path)!r}: {why.lower()}") from None
