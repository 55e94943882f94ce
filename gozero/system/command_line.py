"""Command lines: the options of a command from its arguments and its configuration file, by a table of `gozero.system.options`.

A value on the command line wins over the configuration file, which wins over the default.
"""

from __future__ import annotations

import argparse
import re
from dataclasses import Field
from typing import Any, TypeVar

from gozero.system.options import SettingsError, check, entries, kind_of, parse, path_of, read_toml

Table = TypeVar("Table")


_NUMBER = re.compile(r"argument (\S+): invalid (int|float) value: (.*)")


def in_words(message: str) -> str:
    """A message of argparse's without the names of Python's types."""
    wanted = {"int": "a whole number", "float": "a number"}
    return _NUMBER.sub(lambda found: f"{found[1]} {found[3]}: expected {wanted[found[2]]}", message)


class LineParser(argparse.ArgumentParser):
    """Wrong arguments become one line, a SettingsError, without the usage in front."""

    def error(self, message: str) -> Any:
        raise SettingsError(f"{in_words(message)}; see {self.prog} --help")


def from_arguments(
    table: type[Table], arguments: list[str], *, prog: str, version: str, description: str, epilog: str
) -> Table:
    """The settings for a command line. SystemExit for --help and --version; SettingsError for anything wrong.

    Args:
        table: a dataclass whose fields are made by `options.option`.
        arguments: those after the command's name.
        prog: the command's name.
        version: what --version says.
        description: the first line of --help.
        epilog: the last ones.
    """
    parser = LineParser(
        prog=prog,
        description=description,
        epilog=epilog,
        formatter_class=argparse.RawDescriptionHelpFormatter,
        argument_default=argparse.SUPPRESS,
        allow_abbrev=False,
    )
    for entry in entries(table):
        _add(parser, entry)
    parser.add_argument("--config", metavar="FILE", help="TOML file with these options as keys, without the dashes")
    parser.add_argument("--version", action="version", version=f"{prog} {version}")
    given = vars(parser.parse_args(arguments))
    path = given.pop("config", None)
    values = (read_config(table, path) if path else {}) | given
    return table(**values)


def read_config(table: type[Any], path: str) -> dict[str, Any]:
    """The checked values of a TOML file whose keys are the options without their dashes in front."""
    full_path = path_of(path)
    known = {entry.name: entry for entry in entries(table)}
    values = {}
    for key, value in read_toml(full_path).items():
        name = key.replace("-", "_")
        if name not in known:
            raise SettingsError(f"{full_path}: unknown key {key!r}; expected one of {', '.join(known)}")
        values[name] = check(known[name], value, f"{full_path}: {key}")
    return values


def _add(parser: argparse.ArgumentParser, entry: Field[Any]) -> None:
    flag, text = f"--{entry.name.replace('_', '-')}", entry.metadata["help"]
    if kind_of(entry) is bool:
        parser.add_argument(flag, dest=entry.name, action="store_true", help=text)
    else:
        metavar = entry.metadata["metavar"]
        parser.add_argument(flag, dest=entry.name, type=_converter(entry, flag), metavar=metavar, help=text)


def _converter(entry: Field[Any], flag: str) -> Any:
    def convert(text: str) -> Any:
        return parse(entry, text, flag)

    return convert
