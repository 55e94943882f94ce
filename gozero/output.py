"""Standard output that belongs to a protocol: nothing else of this process can reach it.

`Output.take_over()` points file descriptor 1 at stderr and keeps the client's end for itself, so that no library's print comes between
two answers. A *log* keeps what passed on both sides, and what else is worth a line. Neither knows a protocol.
"""

from __future__ import annotations

import os
import select
import sys
import threading
from datetime import datetime
from typing import TextIO

from gozero.options import SettingsError, path_of

_CONTROL = {**dict.fromkeys((*range(32), 127), "\N{REPLACEMENT CHARACTER}"), ord("\t"): " "}


class Log:
    """A file in which every line has its time and a mark: `<` what came, `>` what went, `-` what there is to say besides.

    A line is in the file as soon as it is written, so that it can be read after a crash. Where the disk fails the log ends, nothing else.
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
        """Neither: facts, and what was thought."""
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


class Output:
    """The client's end of standard output, written unbuffered: every answer leaves whole and at once.

    ``Output.take_over()`` points file descriptor 1 at stderr first, so that no library's print can reach the client.
    """

    def __init__(self, descriptor: int, log: Log | None = None) -> None:
        self._descriptor = descriptor
        self._log = log

    @classmethod
    def take_over(cls, log: Log | None = None) -> Output:
        sys.stdout.flush()
        descriptor = os.dup(1)
        try:
            os.dup2(2, 1)
        except OSError:  # started without a stderr
            os.dup2(os.open(os.devnull, os.O_WRONLY), 1)
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
        if self._log:
            self._log.went(answer)
        data = answer.encode("utf-8", "surrogateescape")
        while data:
            data = data[os.write(self._descriptor, data) :]


def tell(program: str, text: str) -> None:
    """One line from this program to its user, on stderr."""
    sys.stderr.write(f"{program}: {text}\n")
    sys.stderr.flush()


def open_log(name: str | None) -> Log | None:
    """The log in a file of that name, opened for appending; None: no log. SettingsError where it cannot be opened."""
    if name is None:
        return None
    path = path_of(name)
    try:
        return Log(path.open("a", buffering=1, encoding="utf-8", errors="surrogateescape"))
    except OSError as error:
        raise SettingsError(f"cannot write the log {path}: {(error.strerror or 'unwritable').lower()}") from None
