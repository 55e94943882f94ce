"""Settings that differ from board size to board size."""

from __future__ import annotations

from typing import Any

from gozero.system.options import SettingsError, expected

SMALLEST, LARGEST = 2, 19


def by_size(given: Any, where: str) -> dict[int, Any]:
    """{board size: value} from a table of TOML, whose keys are text; the values are the caller's to check."""
    values: dict[Any, Any] = expected(given, dict, where)
    for size in values:
        if not str(size).isdecimal() or not SMALLEST <= int(size) <= LARGEST:
            raise SettingsError(f"{where}: board size {size!r} is out of range: {SMALLEST} to {LARGEST}")
    return {int(size): value for size, value in values.items()}
