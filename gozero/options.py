"""The options of a command: one dataclass is the table for its command line, its configuration file and the checks on
both.

A value on the command line wins over the configuration file, which wins over the default. This module imports nothing
heavy, so that `--help`, `--version` and a wrong value are answered at once; it knows no option of any command.
"""

from __future__ import annotations

import argparse
import math
import os
import tomllib
from contextlib import suppress
from dataclasses import Field, field, fields
from pathlib import Path
from typing import Any, TypeVar

Table = TypeVar("Table")


class SettingsError(Exception):
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
    """A dataclass field with what the command line and the checks need to know of it; low and high are inclusive."""
    return field(
        default=default, metadata={"help": help, "low": low, "high": high, "choices": choices, "metavar": metavar}
    )


def from_arguments(
    table: type[Table], arguments: list[str], *, prog: str, version: str, description: str, epilog: str
) -> Table:
    """The settings for a command line. SystemExit for --help and --version; SettingsError for anything wrong.

    Args:
        table: a dataclass whose fields are made by `option`.
        arguments: those after the command's name.
        prog: the command's name.
        version: what --version says.
        description: the first line of --help.
        epilog: the last ones.
    """
    parser = _Parser(
        prog=prog,
        description=description,
        epilog=epilog,
        formatter_class=argparse.RawDescriptionHelpFormatter,
        argument_default=argparse.SUPPRESS,
        allow_abbrev=False,
    )
    for entry in _fields(table):
        _add(parser, entry)
    parser.add_argument("--config", metavar="FILE", help="TOML file with these options as keys (visits = 100)")
    parser.add_argument("--version", action="version", version=f"{prog} {version}")
    given = vars(parser.parse_args(arguments))
    path = given.pop("config", None)
    values = (read_config(table, path) if path else {}) | given
    return table(**values)


def read_config(table: type[Any], path: str) -> dict[str, Any]:
    """The checked values of a TOML file whose keys are the options without their dashes in front."""
    full_path = path_of(path)
    try:
        content = tomllib.loads(full_path.read_text("utf-8"))
    except OSError as error:
        raise SettingsError(f"cannot read {full_path}: {(error.strerror or 'unreadable').lower()}") from None
    except (tomllib.TOMLDecodeError, UnicodeDecodeError) as error:
        raise SettingsError(f"{full_path} is not a TOML file: {error}") from None
    known = {entry.name: entry for entry in _fields(table)}
    values = {}
    for key, value in content.items():
        name = key.replace("-", "_")
        if name not in known:
            raise SettingsError(f"{full_path}: unknown key {key!r}; expected one of {', '.join(known)}")
        values[name] = check(known[name], value, f"{full_path}: {key}")
    return values


def check(entry: Field[Any], value: Any, where: str) -> Any:
    """``value`` as the type of the setting. SettingsError if it has another type, is out of range or not among the
    choices.
    """
    kind = _kind(entry)
    if kind is float and type(value) is int:
        value = float(value)
    if type(value) is not kind:
        raise SettingsError(f"{where} = {value!r}: expected {_KIND_NAMES[kind]}")
    low, high, choices = entry.metadata["low"], entry.metadata["high"], entry.metadata["choices"]
    if choices and value not in choices:
        raise SettingsError(f"{where} = {value!r}: expected one of {', '.join(choices)}")
    if kind in (int, float) and not low <= value <= high:
        raise SettingsError(f"{where} = {value}: expected {low:,} to {high:,}")
    return value


def entry(table: type[Any], name: str) -> Field[Any]:
    """The table's option of that name."""
    return next(found for found in _fields(table) if found.name == name)


def parse(entry: Field[Any], text: str, where: str) -> Any:
    """The setting's value that a text means; errors as `check`."""
    kind = _kind(entry)
    value: Any = text
    if kind is bool:
        value = _BOOLEANS.get(text.lower(), text)
    else:
        with suppress(ValueError):
            value = kind(text)
    return check(entry, value, where)


def path_of(text: str) -> Path:
    """An absolute path, with ~ for a home folder; a ~ that means nobody's stays as it is."""
    return Path(os.path.abspath(os.path.expanduser(text)))  # noqa: PTH100, PTH111 - pathlib raises where there is no such user


_BOOLEANS = {"0": False, "1": True, "false": False, "true": True}
_KIND_NAMES = {int: "a whole number", float: "a number", str: "text", bool: "true or false"}


def _fields(table: type[Any]) -> tuple[Field[Any], ...]:
    return fields(table)


def _kind(entry: Field[Any]) -> type:
    return {"int": int, "float": float, "str": str, "bool": bool}[str(entry.type).removesuffix(" | None")]


class _Parser(argparse.ArgumentParser):
    """Wrong arguments become one line, as everywhere else."""

    def error(self, message: str) -> Any:
        raise SettingsError(f"{message}; see {self.prog} --help")


def _add(parser: argparse.ArgumentParser, entry: Field[Any]) -> None:
    flag = f"--{entry.name.replace('_', '-')}"
    if _kind(entry) is bool:
        parser.add_argument(flag, dest=entry.name, action="store_true", help=entry.metadata["help"])
    else:
        parser.add_argument(
            flag,
            dest=entry.name,
            type=_converter(entry, flag),
            metavar=entry.metadata["metavar"],
            help=entry.metadata["help"],
        )


def _converter(entry: Field[Any], flag: str) -> Any:
    def convert(text: str) -> Any:
        return parse(entry, text, flag)

    return convert
