"""Settings that differ from board size to board size."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from gozero.system.options import Reader, SettingsError, expected

SMALLEST, LARGEST = 2, 19


def by_size(what: str, allowed: Callable[[float], bool], kind: type = float) -> Reader:
    """Reads {board size: number} from a table of TOML, whose keys are text; `what` says which numbers are `allowed`."""

    def read(given: Any, where: str) -> dict[int, Any]:
        values: dict[Any, Any] = expected(given, dict, where)
        for size, value in values.items():
            if not str(size).isdecimal() or not SMALLEST <= int(size) <= LARGEST:
                raise SettingsError(f"{where}: board size {size!r} is out of range: {SMALLEST} to {LARGEST}")
            if type(value) not in (int, kind) or not allowed(value):
                raise SettingsError(f"{where}: {value!r} on size {size}: expected {what}")
        return {int(size): kind(value) for size, value in values.items()}

    return read
