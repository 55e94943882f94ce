"""Makes a run's settings from a preset's name or a file, and from overrides of the command line.

An override is `KEY=VALUE`: the key dotted as in TOML, stages numbered from 1; the value as TOML writes it, text also
without quotes: `learner.batch=64`, `stage.1.sizes={5=1}`, `network=b6c64`.
"""

from __future__ import annotations

import tomllib
from collections.abc import Sequence
from copy import deepcopy
from pathlib import Path
from typing import Any

from gozero import games
from gozero.system.options import SettingsError, from_values, read_toml
from training.settings.config import LoopSettings

FOLDER = Path(__file__).resolve().parent


def names() -> list[str]:
    return sorted(path.stem for path in FOLDER.glob("[!_]*.toml"))


def path_of(name: str) -> Path:
    """A preset's file; SettingsError lists the presets for any other name."""
    if name not in names():
        raise SettingsError(
            f"no preset is called {name!r}; there are {', '.join(names())}; for a file of your own use --config "
            "FILE.toml"
        )
    return FOLDER / f"{name}.toml"


def table() -> str:
    """Each preset with the first line of its file, aligned, one a line."""
    width = max(len(name) for name in names())
    lines = []
    for name in names():
        with path_of(name).open(encoding="utf-8") as file:
            lines.append(f"{name:{width}}  {file.readline().lstrip('# ').rstrip()}")
    return "\n".join(lines)


def load(path: Path, where: str = "", overrides: Sequence[str] = (), top: dict[str, Any] | None = None) -> LoopSettings:
    """The settings of a TOML file with overrides, then with the values of `top` where these are not None, over it.

    A file with `base = NAME` begins with the tables of that file of this folder, and so on. SettingsError for a file
    that cannot be read, a malformed override, an unknown key or a value out of range; it begins with `where`, or says
    that the command line has the value.
    """
    values = read_toml(path)
    while "base" in values:
        base = read_toml(FOLDER / f"{Path(str(values.pop('base'))).name}.toml")
        for name, value in base.items():
            own = values.setdefault(name, value)
            if isinstance(own, dict) and isinstance(value, dict):
                values[name] = value | own
    of_file, place = deepcopy(values), where or str(path)
    for assignment in overrides:  # the game first: the stages of the file become such as it has
        if assignment.partition("=")[0].strip() == "game":
            override(values, assignment)
            _fit(values)
    for assignment in overrides:
        override(values, assignment)
    values |= {name: value for name, value in (top or {}).items() if value is not None}
    try:
        return from_values(LoopSettings, values, place)
    except SettingsError as error:
        if str(error) == _fault(of_file, place):
            raise
        return from_values(LoopSettings, values, "the command line")


def _fault(values: dict[str, Any], where: str) -> str:
    """What is wrong with plain values; empty if nothing is."""
    try:
        from_values(LoopSettings, values, where)
    except SettingsError as error:
        return str(error)
    return ""


def _fit(values: dict[str, Any]) -> None:
    """For another game than the file's: each stage keeps those of its board sizes that the game has, or gets the game's
    usual size, and the input features are at most the newest that it has. An unknown game is judged elsewhere.
    """
    game, stages = values["game"], values.get("stage")
    if not isinstance(game, str) or game not in games.GAMES or not isinstance(stages, list):
        return
    from gozero.nets.features import layouts  # heavy

    if isinstance(values.get("features"), int):
        values["features"] = min(values["features"], len(layouts(game)))
    for stage in stages:
        sizes = stage.get("sizes") if isinstance(stage, dict) else None
        if isinstance(sizes, dict):
            fitting = {size: share for size, share in sizes.items() if _has_size(game, str(size))}
            stage["sizes"] = fitting or {str(games.usual(game, "size")): 1.0}


def _has_size(game: str, size: str) -> bool:
    """Whether the game has a board of that size; what is no size is left to the check of the settings."""
    try:
        return not size.isdecimal() or bool(games.make(game, size=int(size)))
    except ValueError:
        return False


def override(values: dict[str, Any], assignment: str) -> None:
    """Apply `KEY=VALUE` to a configuration's plain values, in place; SettingsError where no such key can exist."""
    key, equals, text = assignment.partition("=")
    *path, last = key.strip().split(".")
    if not equals or not last:
        raise SettingsError(f"--set {assignment}: expected KEY=VALUE, such as learner.batch=64 or stage.1.rows=5000")
    node: Any = values
    for part in path:
        node = _entry(node, part, assignment)
    if not isinstance(node, dict):
        raise SettingsError(
            f"--set {assignment}: {'.'.join(path)} holds no settings; stages are stage.1, stage.2 and so on"
        )
    node[last] = _value(text.strip())


def _entry(node: Any, part: str, assignment: str) -> Any:
    """One step of a dotted key: a table's entry, made if missing, or a stage by its number."""
    if isinstance(node, dict):
        return node.setdefault(part, {})
    if isinstance(node, list) and part.isdecimal() and 1 <= int(part) <= len(node):
        return node[int(part) - 1]
    many = f"there are {len(node)} stages" if isinstance(node, list) else "it is a single value"
    raise SettingsError(f"--set {assignment}: no {part!r} there: {many}")


def _value(text: str) -> Any:
    """The value that TOML reads; other text as it is."""
    try:
        return tomllib.loads(f"value = {text}")["value"]
    except (ValueError, RecursionError):
        return text
