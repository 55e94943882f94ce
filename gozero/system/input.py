"""Reads the lines of a client's input as they arrive, without interpreting them."""

from __future__ import annotations

import codecs
import os
import select
from collections.abc import Iterator

CHUNK = 1 << 16  # bytes read at once


def arriving_lines(descriptor: int) -> Iterator[str]:
    """Yield each line without its newline as soon as it is complete, and at the end any text after the last newline.

    UTF-8; other bytes become surrogates. A byte order mark at the very beginning is left out. Closing the input ends
    the iteration.
    """
    for number, line in enumerate(_lines(descriptor)):
        yield (line if number else line.removeprefix(codecs.BOM_UTF8)).decode("utf-8", "surrogateescape")


def _lines(descriptor: int) -> Iterator[bytes]:
    rest: list[bytes] = []  # of a line that is not complete
    while chunk := _read(descriptor):
        first, *others = chunk.split(b"\n")
        rest.append(first)
        if others:
            yield b"".join(rest)
            *lines, last = others
            yield from lines
            rest = [last]
    if line := b"".join(rest):
        yield line


def _read(descriptor: int) -> bytes:
    """Wait for input and return it; empty at the end."""
    while True:
        try:
            return os.read(descriptor, CHUNK)
        except BlockingIOError:  # another process that shares it has made it non-blocking
            select.select([descriptor], [], [])
        except OSError:  # the terminal has gone
            return b""
