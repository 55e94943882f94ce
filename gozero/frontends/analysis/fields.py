"""The fields of a client's JSON object, each checked when it is read. No field of any protocol is known here."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, NamedTuple

from gozero.system.errors import shown
from gozero.system.options import number_of

_REQUIRED = object()


class QueryError(Exception):
    """A field cannot be used; the message says why."""

    def __init__(self, field: str, message: str) -> None:
        super().__init__(message)
        self.field = field


class Kind(NamedTuple):
    """What a field may be: in words, and a function that reads a JSON value; None: it is something else."""

    expected: str
    read: Callable[[Any], Any]


def _number(value: Any) -> float | None:
    """A finite number, also as text; None for anything else."""
    if isinstance(value, bool) or not isinstance(value, int | float | str):
        return None
    try:
        return number_of(str(value))
    except ValueError:
        return None


def number(low: float, high: float) -> Kind:
    def read(value: Any) -> float | None:
        found = _number(value)
        return found if found is not None and low <= found <= high else None

    return Kind(f"a number from {low:,g} to {high:,g}", read)


def whole(low: int, high: int) -> Kind:
    def read(value: Any) -> int | None:
        found = _number(value)
        return int(found) if found is not None and found == int(found) and low <= found <= high else None

    return Kind(f"a whole number from {low:,} to {high:,}", read)


def choice(choices: Mapping[str, Any]) -> Kind:
    """What a word stands for; letter case and underscores do not matter."""
    return Kind(
        f"one of {', '.join(choices)}",
        lambda value: choices.get(value.lower().replace("_", "")) if isinstance(value, str) else None,
    )


def of_type(kind: type, expected: str) -> Kind:
    return Kind(expected, lambda value: value if isinstance(value, kind) else None)


TEXT, FLAG, OBJECT = of_type(str, "a text"), of_type(bool, "true or false"), of_type(dict, "an object")
NUMBERS = of_type(list, "a list of whole numbers")


class Fields:
    """The values of a JSON object, each checked when it is taken; `unused` are the names of the others.

    With `blame`, errors name that field instead of the value's own.
    """

    def __init__(self, values: Mapping[str, Any], blame: str | None = None) -> None:
        self._values, self._blame = values, blame
        self._taken: set[str] = set()

    def __contains__(self, name: str) -> bool:
        return name in self._values

    @property
    def unused(self) -> list[str]:
        return [name for name in self._values if name not in self._taken]

    def error(self, name: str, message: str) -> QueryError:
        return QueryError(self._blame or name, f"{name}: {message}" if self._blame else message)

    def take(self, name: str, kind: Kind, default: Any = _REQUIRED) -> Any:
        """A field's value. QueryError if it is of another kind, or missing and without a default."""
        if name not in self._values:
            if default is _REQUIRED:
                raise self.error(name, f"missing: expected {kind.expected}")
            return default
        self._taken.add(name)
        value = kind.read(self._values[name])
        if value is None:
            raise self.error(name, f"expected {kind.expected}, not {shown(self._values[name])}")
        return value

    def numbers(self, name: str) -> list[int]:
        """A list of whole numbers."""
        items = self.take(name, NUMBERS)
        found = [_number(item) for item in items]
        for item, value in zip(items, found, strict=True):
            if value is None or value % 1:
                raise self.error(name, f"expected whole numbers, not {shown(item)}")
        return [int(value) for value in found if value is not None]
