"""Frozen dataclasses as tables of options and settings, for command lines, TOML files and the checks on both.

An option belongs to a command and has a line of `--help`. A setting belongs to a table in a file, such as a training
run's, and has a unit. Both have a range or a list of choices; tables may be nested. Nothing heavy is imported here.
"""

from __future__ import annotations

import inspect
import math
import sys
import tomllib
from collections.abc import Callable, Mapping
from contextlib import suppress
from dataclasses import MISSING, Field, field, fields, is_dataclass
from pathlib import Path
from typing import Any, TypeVar, get_args, get_origin, get_type_hints

from gozero.system import files
from gozero.system.errors import UserError

Table = TypeVar("Table")
Reader = Callable[[Any, str], Any]  # (a plain value, where it stands) -> the setting's value

REQUIRED = MISSING  # in place of a default
MOST_TOML = 1_000_000  # characters of a file: a device such as /dev/zero has no end


class SettingsError(UserError):
    """A setting cannot be used; the message is one line."""


def option(
    default: Any,
    help: str,
    *,
    low: float = -math.inf,
    high: float = math.inf,
    choices: tuple[str, ...] = (),
    metavar: str = "N",
) -> Any:
    """A field for an option of a command; low and high are inclusive."""
    about = {"help": help, "low": low, "high": high, "choices": choices, "metavar": metavar}
    return field(default=default, metadata=about)


def setting(
    default: Any,
    unit: str,
    low: float = -math.inf,
    high: float = math.inf,
    papers: str = "",
    *,
    choices: tuple[str, ...] = (),
    read: Reader | None = None,
) -> Any:
    """A field for a setting of a file, which has to name it if the default is REQUIRED. `papers` are the values that
    publications use; `read` makes the value from a plain one, for types other than numbers, text and tables.
    """
    about = {"unit": unit, "low": low, "high": high, "choices": choices, "papers": papers, "read": read}
    if isinstance(default, dict):  # each table has a copy of its own
        return field(default_factory=default.copy, metadata=about)
    return field(default=default, metadata=about)


# Tables


def entries(table: type[Any]) -> tuple[Field[Any], ...]:
    """The fields of a table: its own, then those of the tables that it extends."""
    found = fields(table)
    own = inspect.get_annotations(table)
    return tuple(sorted(found, key=lambda entry: entry.name not in own))


def entry(table: type[Any], name: str) -> Field[Any]:
    return next(found for found in entries(table) if found.name == name)


def from_values(table: type[Table], values: Mapping[str, Any], where: str, root: type[Any] | None = None) -> Table:
    """The table with plain values such as those of a TOML file, which may lie within that of `root`. SettingsError as
    `values_of`, and for a missing one.
    """
    found = values_of(table, values, where, root)
    for item in entries(table):
        if item.name not in found and item.default is MISSING and item.default_factory is MISSING:
            raise SettingsError(f"{where}: setting {item.name!r} is missing")
    return table(**found)


def values_of(
    table: type[Any], values: Mapping[str, Any], where: str, root: type[Any] | None = None
) -> dict[str, Any]:
    """Plain values as the table's fields have them. SettingsError, with a line that ``where`` begins, for an unknown
    setting (and where `root` has it), or a value that `check` refuses.
    """
    root = root or table
    known, hints = {entry.name: entry for entry in entries(table)}, get_type_hints(table)
    for key in values:
        if key not in known:
            place = _place(root, key) or f"known here: {', '.join(known)}"
            raise SettingsError(f"{where}: unknown setting {key!r}; {place}")
    return {key: _made(known[key], hints[key], value, f"{where}: {key}", root) for key, value in values.items()}


def _place(root: type[Any], name: str) -> str:
    """Where the tables of a file have a setting of that name, for the user; "" if none has it."""
    places, hints = [], get_type_hints(root)
    for item in entries(root):
        hint = hints[item.name]
        inner = get_args(hint)[0] if get_origin(hint) is tuple else hint
        if not is_dataclass(inner) and item.name == name:
            places.append(f"{name} before the first table")
        elif is_dataclass(inner) and name in {entry.name for entry in entries(inner)}:  # type: ignore[arg-type]
            places.append(f"{item.name}.{name}" if inner is hint else f"{name} in each [[{item.name}]]")
    return f"it is {' or '.join(places)}" if places else ""


def _made(item: Field[Any], hint: Any, value: Any, where: str, root: type[Any]) -> Any:
    """The value of a field, which may be a table or a list of tables."""
    if is_dataclass(hint):
        return from_values(hint, expected(value, dict, where), where, root)  # type: ignore[arg-type]
    if get_origin(hint) is tuple:
        if type(value) is not list:
            raise SettingsError(f"{where} = {value!r}: expected a list of tables, each under [[{item.name}]]")
        if not value:
            raise SettingsError(f"{where} is empty; give at least one")
        table = get_args(hint)[0]
        numbered = ((row, f"{where} {number}") for number, row in enumerate(value, start=1))
        return tuple(from_values(table, expected(row, dict, place), place, root) for row, place in numbered)
    read = item.metadata.get("read")
    return check(item, value, where) if read is None else read(value, where)


# Values


def check(entry: Field[Any], value: Any, where: str) -> Any:
    """``value`` as the type of the field, a choice in lower case. SettingsError if it has another type, is out of range
    or not among the choices.
    """
    kind = kind_of(entry)
    if kind is float and type(value) is int:
        value = float(value) if abs(value) < sys.float_info.max else (math.inf if value > 0 else -math.inf)
    value = expected(value, kind, where)
    low, high, choices = entry.metadata["low"], entry.metadata["high"], entry.metadata["choices"]
    if choices and value.lower() in choices:
        return value.lower()
    if choices and value not in choices:
        verb = "choose" if "unit" in entry.metadata else "expected"
        raise SettingsError(f"{where} = {value!r}: {verb} one of {', '.join(choices)}")
    if kind in (int, float) and not low <= value <= high:
        raise SettingsError(f"{where} = {value}{_range_of(entry)}")
    if kind is int and abs(value) > sys.maxsize:
        raise SettingsError(f"{where} = {value}: expected at most {sys.maxsize}")
    return value


def number_of(text: str) -> float:
    """A finite number in ASCII digits: float() reads 1_0 too, and the digits of any script. ValueError for others."""
    number = float(text)
    if not (_is_plain(text) and math.isfinite(number)):
        raise ValueError(f"{text!r} is no number")
    return number


number_of.__name__ = "number"  # in argparse's messages


def _is_plain(text: str) -> bool:
    """Whether a number has plain digits: int() and float() read 1_0 too, and the digits of any script."""
    return text.isascii() and "_" not in text


def parse(entry: Field[Any], text: str, where: str) -> Any:
    """The field's value that a text means; errors as `check`."""
    kind = kind_of(entry)
    value: Any = text
    if kind is bool:
        value = _BOOLEANS.get(text.lower(), text)
    elif kind is str or _is_plain(text):
        with suppress(ValueError):
            value = kind(text)
    return check(entry, value, where)


def expected(value: Any, kind: type, where: str) -> Any:
    """``value``, or a SettingsError if it is not of this type; a bool is no number."""
    if type(value) is not kind:
        raise SettingsError(f"{where} = {value!r}: expected {_KIND_NAMES[kind]}")
    return value


def kind_of(entry: Field[Any]) -> type:
    """The type of a field that is no table: int, float, str or bool."""
    name = entry.type.__name__ if isinstance(entry.type, type) else str(entry.type)
    return {"int": int, "float": float, "str": str, "bool": bool}[name.removesuffix(" | None")]


def _range_of(entry: Field[Any]) -> str:
    """The end of the line about a number out of range: what is allowed."""
    low, high, unit = entry.metadata["low"], entry.metadata["high"], entry.metadata.get("unit")
    if unit is None:
        return f": expected {low:,} to {high:,}"
    bounds = f"at least {low:,.10g}" if high == math.inf else f"from {low:,.10g} to {high:,.10g}"
    return f" is out of range: {bounds} ({unit})"


_BOOLEANS = {"0": False, "1": True, "false": False, "true": True}
_KIND_NAMES = {
    int: "a whole number",
    float: "a number",
    str: "text",
    bool: "true or false",
    dict: "a table, such as {batch = 64} or {9 = 4}",
}


# Files


def flat(values: Any, prefix: str = "") -> dict[str, Any]:
    """Plain values as {dotted key: value}; the tables of a list are numbered from 1."""
    if isinstance(values, list):
        values = {str(index): entry for index, entry in enumerate(values, start=1)}
    if not isinstance(values, dict):
        return {prefix: values}
    found: dict[str, Any] = {}
    for key, value in values.items():
        found |= flat(value, f"{prefix}.{key}" if prefix else str(key))
    return found


def read_toml(path: Path) -> dict[str, Any]:
    """A TOML file's plain values, unchecked. SettingsError, with the full path, for a file that cannot be read."""
    try:
        with path.open(encoding="utf-8-sig") as file:
            text = file.read(MOST_TOML + 1)
        if len(text) > MOST_TOML:
            raise ValueError(f"it has more than {MOST_TOML:,} characters")
        return tomllib.loads(text)
    except OSError as error:
        raise SettingsError(f"cannot read {files.full(path)}: {(error.strerror or 'unreadable').lower()}") from None
    except (ValueError, RecursionError) as error:  # also of text that is not UTF-8, and a number of 5,000 digits
        raise SettingsError(f"{files.full(path)} is not a TOML file: {error}") from None
