"""Plain values as compressed bytes, and back: numbers, text, lists and dictionaries, nothing that can be executed.

They are a pickle, because torch or JSON would handle each of the millions of numbers of the games in flight in Python.
"""

from __future__ import annotations

import io
import pickle
import zlib
from typing import Any


def pack(value: Any) -> bytes:
    """A fifth of its pickle, for games in flight."""
    return zlib.compress(pickle.dumps(value), level=1)


def unpack(content: bytes) -> Any:
    """The inverse of `pack`.

    Raises:
        zlib.error, pickle.UnpicklingError, EOFError: it is damaged, or holds what is no plain value.
    """
    return _PlainUnpickler(io.BytesIO(zlib.decompress(content))).load()


class _PlainUnpickler(pickle.Unpickler):
    """Refuses what needs an import, so that nothing is executed."""

    def find_class(self, module: str, name: str) -> Any:
        raise pickle.UnpicklingError(f"{module}.{name} is no plain value")
