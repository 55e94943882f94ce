"""`gozero tournament FIELD.toml`: any number of players against each other, over all cores.

    gozero tournament field.toml --dry-run
    gozero tournament field.toml
    gozero tournament s1 --games 10
    gozero tournament --list-presets

A field names the entrants and the conditions; docs/tournaments.md lists its keys. What comes out lies in the folder of
--out: tournament.html, results.csv, results.json, games/ and journal.jsonl. The same command continues a tournament
that was stopped, however that happened. The table goes to stdout, progress and complaints to stderr. Exit code: 0; 1
when a game was lost by a fault, a player named another winner than the referee, or an entrant could not start; 2 when
the request makes no sense; 130 after Ctrl-C.
"""

from __future__ import annotations

import argparse
from collections.abc import Sequence
from pathlib import Path

from gozero.system.console import SUCCESS, Parser
from gozero.system.options import SettingsError
from training.matches.options import OUT

FOLDER = Path(__file__).resolve().parent.parent / "matches" / "tournament"  # of the tournaments that come with gozero


def main(arguments: Sequence[str] | None = None) -> int:
    parser = Parser(prog="gozero tournament", description=__doc__)
    add = parser.add_argument
    add("field", nargs="?", metavar="FIELD", help="a TOML file, or the name of a preset")
    add("--out", type=Path, metavar="DIR", help=f"folder (default {OUT}/NAME OF THE FIELD)")
    add("--games", type=int, metavar="N", help="of each pairing, in place of the field's")
    add("--processes", type=int, metavar="N", help="in place of the field's")
    add("--dry-run", action="store_true", help="only see whether all entrants start, and how long it will take")
    add("--list-presets", action="store_true", help="what is there to be played by name")
    return parser.run(_run, arguments)


def _run(options: argparse.Namespace) -> int:
    if options.list_presets:
        print("\n".join(_listed()))
        return SUCCESS
    if options.field is None:
        raise SettingsError("give a FIELD.toml or a preset; --list-presets names the presets")
    paths = _found(options.field)
    from training.matches.tournament import runner

    return runner.play_all(options, paths)


def _listed() -> list[str]:
    """Each preset with the first line of its file, or the fields it stands for."""
    lines = []
    for name, paths in _presets().items():
        about = paths[0].read_text(encoding="utf-8").splitlines()[0].lstrip("# ")
        lines.append(f"{name:18} {about if len(paths) == 1 else ', '.join(path.stem for path in paths)}")
    return lines


def _presets() -> dict[str, list[Path]]:
    """Each preset with its fields: NAME.toml, or for `release` all files release-*.toml."""
    files = sorted(FOLDER.glob("*.toml"))
    return {path.stem: [path] for path in files} | {"release": sorted(FOLDER.glob("release-*.toml"))}


def _found(name: str) -> list[Path]:
    """The files of a preset, or the one file that is named; SettingsError if there is neither."""
    if name in _presets():
        return _presets()[name]
    if not Path(name).is_file():
        raise SettingsError(f"no tournament {name!r}: give a TOML file or one of the presets {', '.join(_presets())}")
    return [Path(name)]
