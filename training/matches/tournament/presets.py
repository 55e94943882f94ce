"""The tournaments that come with gozero, NAME.toml beside this file; `release` stands for all files release-*.toml."""

from __future__ import annotations

from pathlib import Path

from gozero.system.options import SettingsError

FOLDER = Path(__file__).resolve().parent
OUT = Path("tournaments")  # where results go, unless the user names another folder


def presets() -> dict[str, list[Path]]:
    """Each preset's name with its fields."""
    files = sorted(FOLDER.glob("*.toml"))
    found = {path.stem: [path] for path in files}
    for group in sorted({path.stem.partition("-")[0] for path in files if "-" in path.stem}):
        found.setdefault(group, [path for path in files if path.stem.startswith(f"{group}-")])
    return found


def find(name: str) -> list[Path]:
    """The files of a preset, or the one file that is named; SettingsError if there is neither."""
    if name in presets():
        return presets()[name]
    if not Path(name).is_file():
        raise SettingsError(f"no tournament {name!r}: give a TOML file or one of the presets {', '.join(presets())}")
    return [Path(name)]
