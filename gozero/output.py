"""Standard output that belongs to a protocol: nothing else of this process can reach it.

`Output.take_over()` points file descriptor 1 at stderr and keeps the client's end for itself, so that no library's print comes between
two answers. It knows no protocol.
"""

from __future__ import annotations

import os
import select
import sys
import threading
from typing import TextIO

from gozero.options import SettingsError, path_of


class Output:
    """The client's end of standard output, written unbuffered: every answer leaves whole and at once.

    ``Output.take_over()`` points file descriptor 1 at stderr first, so that no library's print can reach the client.
    """

    def __init__(self, descriptor: int, log: TextIO | None = None) -> None:
        self._descriptor = descriptor
        self._log = log

    @classmethod
    def take_over(cls, log: TextIO | None = None) -> Output:
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
            self._log.write(f"{line.rstrip()}\n")
            self._log.flush()

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
            self._log.write(answer)
            self._log.flush()
        data = answer.encode("utf-8", "surrogateescape")
        while data:
            data = data[os.write(self._descriptor, data) :]


def open_log(name: str | None) -> TextIO | None:
    """The log file, opened for appending."""
    if name is None:
        return None
    path = path_of(name)
    try:
        return path.open("a", encoding="utf-8", errors="surrogateescape")
    except OSError as error:
        raise SettingsError(f"cannot write the log {path}: {(error.strerror or 'unwritable').lower()}") from None
