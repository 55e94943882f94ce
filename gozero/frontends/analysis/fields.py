"""The fields of a client's JSON object, each checked when it is read.

It knows no field of any protocol: what is expected is said where it is taken.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from typing import Any, TypeVar

from gozero.system.errors import shown

Value = TypeVar("Value")


class QueryError(Exception):
    """A field cannot be used; the message says why."""

    def __init__(self, field: str, message: str) -> None:
        super().__init__(message)
        self.field = field


class Fields:
    """The values of an object by name, each checked when it is taken; `unused` are the others.

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

    def take(self, name: str, expected: str, check: Callable[[Any], Value | None], default: Value) -> Value:
        """A value converted by `check`; QueryError where `check` gives None."""
        return self._checked(name, expected, check) if name in self._values else default

    def required(self, name: str, expected: str, check: Callable[[Any], Value | None]) -> Value:
        """As `take`, of a required field."""
        self.check_present(name, expected)
        return self._checked(name, expected, check)

    def check_present(self, name: str, expected: str) -> None:
        """QueryError where there is no such field."""
        if name not in self._values:
            raise self.error(name, f"missing: expected {expected}")

    def whole(self, name: str, low: int, high: int, default: int) -> int:
        def check(value: Any) -> int | None:
            number = _number(value)
            return int(number) if number is not None and number == int(number) and low <= number <= high else None

        return self.take(name, f"a whole number from {low:,} to {high:,}", check, default)

    def number(self, name: str, low: float, high: float, default: float) -> float:
        def check(value: Any) -> float | None:
            number = _number(value)
            return number if number is not None and low <= number <= high else None

        return self.take(name, f"a number from {low:,g} to {high:,g}", check, default)

    def flag(self, name: str) -> bool:
        return self.take(name, "true or false", lambda value: value if isinstance(value, bool) else None, default=False)

    def choice(self, name: str, choices: Mapping[str, Value], default: Value) -> Value:
        """The value that a word stands for; letter case is ignored."""
        return self.take(
            name,
            f"one of {', '.join(choices)}",
            lambda value: choices.get(value.lower().replace("_", "")) if isinstance(value, str) else None,
            default,
        )

    def object(self, name: str) -> dict[str, Any]:
        """An object; an empty one where there is no such field."""
        return self.take(name, "an object", lambda value: value if isinstance(value, dict) else None, default={})

    def items(self, name: str, expected: str) -> list[Any]:
        """The elements of a list; none where there is no such field."""
        return self.take(name, expected, lambda value: value if isinstance(value, list) else None, default=[])

    def whole_numbers(self, name: str) -> list[int]:
        """The elements of a list of whole numbers; none where there is no such field."""
        numbers = []
        for item in self.items(name, "a list of whole numbers"):
            number = _number(item)
            if number is None or number % 1:
                raise self.error(name, f"expected whole numbers, not {shown(item)}")
            numbers.append(int(number))
        return numbers

    def _checked(self, name: str, expected: str, check: Callable[[Any], Value | None]) -> Value:
        self._taken.add(name)
        value = check(self._values[name])
        if value is None:
            raise self.error(name, f"expected {expected}, not {shown(self._values[name])}")
        return value


def _number(value: Any) -> float | None:
    """A finite number, also where it comes as text; None for anything else."""
    if isinstance(value, bool) or not isinstance(value, int | float | str):
        return None
    try:
        number = float(value)
    except (ValueError, OverflowError):
        return None
    return number if math.isfinite(number) else None
