"""The settings of `gozero-gtp`: one table for the command line, the configuration file and the checks on both.

A value on the command line wins over the configuration file, which wins over the default. This module opens no weights and
imports nothing heavy, so that `--help`, `--version` and a wrong value are answered at once.
"""

from __future__ import annotations

import argparse
import math
import tomllib
from dataclasses import Field, dataclass, field, fields
from typing import Any

from gozero.weights import WEIGHTS
from gtp.arguments import path_of

DEFAULT_GAME = "go"
MAX_SIZE = 19
BACKENDS = ("auto", "torch", "openvino")

HELP_EPILOG = """\
With neither --visits nor --time, and no clock from the controller, a move takes at most 400 visits or 5 seconds.

Sabaki:  Engines > Show Engines Sidebar > Attach Engine > Manage Engines > Add.  Path: the full path of gozero-gtp
         (`command -v gozero-gtp`; in this source tree .venv/bin/gozero-gtp).  Arguments: --visits 400
GoGui:   Program > New Program.  Command: /full/path/to/gozero-gtp --visits 400
         Other games: add --game NAME; the same command under Game > Rules makes GoGui keep to the game's rules.
CGOS:    the command line is split at blanks: no blanks in paths.  Give --log FILE to keep a record.
By hand: type `genmove b`, `showboard`, `list_commands`; docs/gtp.md describes every command.
"""


class SettingsError(Exception):
    """A setting cannot be used; the message is one line."""


def option(default: Any, help: str, *, low: float = -math.inf, high: float = math.inf, choices: tuple[str, ...] = ()) -> Any:
    """A dataclass field with what the command line and the checks need to know of it; low and high are inclusive."""
    return field(default=default, metadata={"help": help, "low": low, "high": high, "choices": choices})


@dataclass(frozen=True)
class Settings:
    """What the user may choose; None: the program chooses."""

    game: str | None = option(
        None, f"{', '.join(WEIGHTS)} (default: the one that --weights plays, else {DEFAULT_GAME})", choices=tuple(WEIGHTS)
    )
    weights: str | None = option(
        None,
        "weights file; looked for in the working directory, beside the executable, among the shipped ones (default: the game's, "
        f"{', '.join(WEIGHTS.values())})",
    )
    visits: int | None = option(None, "simulations per move", low=1, high=100_000_000)
    analysis_visits: int | None = option(
        None, "simulations after which an analysis rests until the controller ends it (default: it goes on)", low=1, high=100_000_000
    )
    time: float | None = option(None, "seconds per move", low=0.01, high=1e6)
    threads: int | None = option(None, "CPU threads (default: as many cores as this process may use)", low=1, high=1024)
    seed: int | None = option(None, "whole number; with --visits the same seed plays the same game", low=0, high=2**63 - 1)
    size: int | None = option(
        None, "board size, in Go 5 to 19, until the controller sends another (default: that of the weights)", low=2, high=MAX_SIZE
    )
    komi: float | None = option(None, "komi of Go until the controller sends one (default 7.5)", low=-1000, high=1000)
    rules: str | None = option(
        None, "rule set, such as chinese, tromp-taylor or aga in Go, freestyle or exact in gomoku (default: the first)"
    )
    no_resign: bool = option(False, "never resign")
    resign_threshold: float = option(
        -0.9, "resign when the expected result stays below this for several moves, -1 (certain loss) to 0 (default -0.9)", low=-1, high=0
    )
    backend: str = option("auto", f"what evaluates the network: {', '.join(BACKENDS)} (default auto)", choices=BACKENDS)
    log: str | None = option(None, "append all that passes over GTP to this file")


def from_arguments(arguments: list[str], version: str) -> Settings:
    """The settings for a command line. SystemExit for --help and --version; SettingsError for anything wrong."""
    given = vars(_parser(version).parse_args(arguments))
    path = given.pop("config", None)
    values = (read_config(path) if path else {}) | given
    return Settings(**values)


def read_config(path: str) -> dict[str, Any]:
    """The checked values of a TOML file whose keys are the options without their dashes in front."""
    full_path = path_of(path)
    try:
        table = tomllib.loads(full_path.read_text("utf-8"))
    except OSError as error:
        raise SettingsError(f"cannot read {full_path}: {(error.strerror or 'unreadable').lower()}") from None
    except (tomllib.TOMLDecodeError, UnicodeDecodeError) as error:
        raise SettingsError(f"{full_path} is not a TOML file: {error}") from None
    known = {entry.name: entry for entry in fields(Settings)}
    values = {}
    for key, value in table.items():
        name = key.replace("-", "_")
        if name not in known:
            raise SettingsError(f"{full_path}: unknown key {key!r}; expected one of {', '.join(known)}")
        values[name] = check(known[name], value, f"{full_path}: {key}")
    return values


def check(entry: Field[Any], value: Any, where: str) -> Any:
    """``value`` as the type of the setting. SettingsError if it has another type, is out of range or not among the choices."""
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


_KIND_NAMES = {int: "a whole number", float: "a number", str: "text", bool: "true or false"}


def _kind(entry: Field[Any]) -> type:
    return {"int": int, "float": float, "str": str, "bool": bool}[str(entry.type).removesuffix(" | None")]


class _Parser(argparse.ArgumentParser):
    """Wrong arguments become one line, as everywhere else."""

    def error(self, message: str) -> Any:
        raise SettingsError(f"{message}; see gozero-gtp --help")


def _parser(version: str) -> argparse.ArgumentParser:
    parser = _Parser(
        prog="gozero-gtp",
        description="Plays Go and other games over the Go Text Protocol (GTP 2) on standard input and output.",
        epilog=HELP_EPILOG,
        formatter_class=argparse.RawDescriptionHelpFormatter,
        argument_default=argparse.SUPPRESS,
        allow_abbrev=False,
    )
    for entry in fields(Settings):
        flag = f"--{entry.name.replace('_', '-')}"
        if _kind(entry) is bool:
            parser.add_argument(flag, dest=entry.name, action="store_true", help=entry.metadata["help"])
        else:
            parser.add_argument(flag, dest=entry.name, type=_converter(entry, flag), metavar=_metavar(entry), help=entry.metadata["help"])
    parser.add_argument("--config", metavar="FILE", help="TOML file with these options as keys (visits = 100)")
    parser.add_argument("--version", action="version", version=f"gozero-gtp {version}")
    return parser


def _metavar(entry: Field[Any]) -> str:
    if entry.name in ("weights", "log"):
        return "FILE"
    return {"time": "SECONDS", "game": "NAME", "rules": "NAME", "backend": "NAME"}.get(entry.name, "N")


def _converter(entry: Field[Any], flag: str) -> Any:
    def convert(text: str) -> Any:
        kind = _kind(entry)
        try:
            value = kind(text)
        except ValueError:
            value = text
        return check(entry, value, flag)

    return convert
