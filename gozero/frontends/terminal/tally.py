"""The tally: games of people against the engine, counted by game, board, weights, and visits or level.

Vocabulary.
  key     what the games of one count have in common; see `Key`. Two files of one name that differ are two keys.
  counts  {"won", "drawn", "lost"} as the person sees it, for each colour of the person.

A small JSON file in the user's data folder. Programs that write at once take turns, and the file is replaced whole. One
that cannot be read is renamed, never written over. Which games count is decided by `gozero.frontends.terminal.play`.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from filelock import FileLock, Timeout

from gozero.games.colours import COLOUR_WORDS
from gozero.system import files
from gozero.system.errors import TallyError

FORMAT = "gozero tally 1"
RESULTS = ("won", "drawn", "lost")
SIDES = tuple(COLOUR_WORDS.values())
PATIENCE = 10.0  # seconds to wait for another program that is writing
HEADING = ("game", "board", "weights", "strength", "games", "won", "drawn", "lost", "score", "as Black", "as White")


@dataclass(frozen=True)
class Key:
    """What the games of one count have in common."""

    game: str
    board: str  # such as 13x13
    weights: str  # the file's name; "random playouts" where there was none
    sha256: str  # of that file, its first 8 digits; empty where there was none
    strength: str  # "400 visits" or "level 3"


@dataclass
class TallyEntry:
    """A key and its counts: {side: {result: games}}."""

    key: Key
    counts: dict[str, dict[str, int]]

    def total(self, result: str, sides: Sequence[str] = SIDES) -> int:
        return sum(self.counts[side][result] for side in sides)

    def score(self, sides: Sequence[str] = SIDES) -> float | None:
        """The person's share of the points, a draw counting half; None without a game."""
        won, drawn, lost = (self.total(result, sides) for result in RESULTS)
        games = won + drawn + lost
        return (won + drawn / 2) / games if games else None


def path() -> Path:
    """Where the tally is. TallyError where the system names no home folder."""
    try:
        return files.user_data() / "tally.json"
    except OSError as error:
        raise TallyError(f"there is no place for the tally: {error.strerror or error}") from None


def read(file: Path) -> list[TallyEntry]:
    """The entries in their order; none where there is no file. TallyError where it cannot be read."""
    try:
        content = json.loads(file.read_bytes())
    except FileNotFoundError:
        return []
    except OSError as error:
        raise TallyError(f"cannot read the tally {file}: {(error.strerror or str(error)).lower()}") from None
    except (ValueError, RecursionError):
        raise _DamageError(file) from None
    if isinstance(content, dict) and content.get("format") not in (None, FORMAT):
        raise TallyError(f"the tally {file} was written by another version of gozero ({content['format']!r})")
    try:
        return [_entry(each) for each in content["entries"]]
    except (TypeError, KeyError, ValueError, AttributeError):
        raise _DamageError(file) from None


class _DamageError(TallyError):
    def __init__(self, file: Path) -> None:
        super().__init__(f"the tally {file} is damaged; rename or remove it to begin a new one")


def _entry(values: dict[str, Any]) -> TallyEntry:
    key = Key(**{name: values[name] for name in Key.__dataclass_fields__})
    counts = {side: {result: values[side][result] for result in RESULTS} for side in SIDES}
    if not all(isinstance(value, str) for value in asdict(key).values()):
        raise ValueError("a key is no text")
    if not all(type(games) is int and games >= 0 for side in counts.values() for games in side.values()):
        raise ValueError("a count is no number")
    return TallyEntry(key, counts)


def add(file: Path, key: Key, side: str, result: str) -> tuple[TallyEntry, Path | None]:
    """Count one game of the person with a colour ("black" or "white").

    Returns:
        The entry as it now is, and where a damaged tally was moved, or None.

    Raises:
        TallyError: it cannot be written, or was written by another version; nothing has changed.
    """
    try:
        file.parent.mkdir(parents=True, exist_ok=True)
        with FileLock(file.with_suffix(".lock"), timeout=PATIENCE):
            moved = None
            try:
                entries = read(file)
            except _DamageError:
                entries, moved = [], _set_aside(file)
            entry = next((each for each in entries if each.key == key), None)
            if entry is None:
                entry = TallyEntry(key, {side: dict.fromkeys(RESULTS, 0) for side in SIDES})
                entries.append(entry)
            entry.counts[side][result] += 1
            files.replace(file, _bytes(entries))
            return entry, moved
    except Timeout:
        raise TallyError(f"the tally {file} is in use by another program") from None
    except OSError as error:
        raise TallyError(f"cannot write the tally {file}: {(error.strerror or str(error)).lower()}") from None


def _set_aside(file: Path) -> Path:
    """Rename a damaged tally to the first free name and return that."""
    number = 1
    while (target := file.with_name(f"{file.stem}.damaged-{number}{file.suffix}")).exists():
        number += 1
    return file.rename(target)


def _bytes(entries: Sequence[TallyEntry]) -> bytes:
    content = {"format": FORMAT, "entries": [asdict(entry.key) | entry.counts for entry in entries]}
    return (json.dumps(content, indent=1) + "\n").encode()


def table(entries: Sequence[TallyEntry]) -> str:
    """The entries as aligned text, a line each below a heading."""
    rows = [HEADING, *(_row(entry) for entry in entries)]
    widths = [max(len(row[column]) for row in rows) for column in range(len(HEADING))]
    return "\n".join(
        "  ".join(
            text.ljust(width) if column < 4 else text.rjust(width)
            for column, (text, width) in enumerate(zip(row, widths, strict=True))
        ).rstrip()
        for row in rows
    )


def _row(entry: TallyEntry) -> tuple[str, ...]:
    key = entry.key
    counts = [entry.total(result) for result in RESULTS]
    scores = (entry.score(), *(entry.score([side]) for side in SIDES))
    weights = f"{key.weights} ({key.sha256})" if key.sha256 else key.weights
    shares = ("-" if score is None else f"{100 * score:.0f} %" for score in scores)
    return (key.game, key.board, weights, key.strength, str(sum(counts)), *map(str, counts), *shares)
