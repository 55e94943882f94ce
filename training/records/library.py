"""The games in run folders and shards: finding them, naming them, choosing among them, checking them.

A path is a run folder, its folder records/, or a shard (`.gzr`, which may be left out); a game's name is
`runs/go13/000012:7`: the path as given, the shard, and the place among its readable games. Damaged records are counted.
"""

from __future__ import annotations

import os
from collections.abc import Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from gozero import games
from gozero.games import symmetry
from gozero.games.game import Game
from gozero.system.console import say
from gozero.system.errors import UserError
from training.records import records, scoring
from training.records.records import Record
from training.records.rows import CorruptRecordError, check
from training.settings.config import LoopSettings, SelfPlaySettings

SUFFIX = ".gzr"


@dataclass(frozen=True)
class Entry:
    name: str
    shard: Path
    number: int  # from 1 among the readable games of its shard
    record: Record
    settings: dict[str, Any]  # of the run that wrote it

    @property
    def result(self) -> str:
        """The result as in SGF: B+3.5, W+0.5, or 0 for a draw; B+ in games without points."""
        return scoring.counted_result(self.game(), self.record.score)

    @property
    def rules(self) -> str:
        """The rule set; shards whose settings are lost were most likely written under the default."""
        return str(self.settings.get("rules") or games.usual(str(self.settings.get("game", scoring.GO)), "rules") or "")

    def game(self) -> Game:
        """The game it was played under. UserError where the settings name none."""
        selfplay = self.settings.get("selfplay")
        longest = selfplay.get("max_length") if isinstance(selfplay, dict) else None
        name = str(self.settings.get("game", LoopSettings().game))
        try:
            return scoring.make(name, self.record.size, self.rules, float(longest or SelfPlaySettings().max_length))
        except (ValueError, TypeError, OverflowError) as error:
            raise UserError(f"{self.name}: {error}") from None


class Library:
    """The games under some paths, read one shard at a time."""

    def __init__(self, paths: Sequence[str]) -> None:
        """UserError for a path without shards."""
        self.shards = [item for path in paths for item in shards_of(path)]
        self.corrupt = self.bytes = 0  # frames that the shards read so far had to skip; length of these shards
        self.damaged: list[Path] = []  # the shards with such a frame

    def complain(self) -> None:
        """Say on stderr which damaged records were skipped so far."""
        complain(self.corrupt, self.damaged)

    def entries(self) -> Iterator[Entry]:
        """Yield all games, in the order of paths, shards and records."""
        for shard, label in self.shards:
            content = read(shard)
            self.bytes += shard.stat().st_size
            self.corrupt += content.corrupt
            self.damaged += [shard] if content.corrupt else []
            for number, record in enumerate(content.records, 1):
                yield Entry(f"{label}:{number}", shard, number, record, content.settings)


def find(name: str) -> Entry:
    """Return the entry of that name. UserError, which says what there is, where there is none."""
    path, _, number = name.rpartition(":")
    if not path or not number.isdecimal():
        raise UserError(
            f"{name!r} names no game: expected SHARD:NUMBER as `list` prints it, such as runs/go13/000012:7"
        )
    found = Library([path])
    if len(found.shards) != 1:
        first = found.shards[0][1]
        raise UserError(f"{path} holds {len(found.shards)} shards: name one of them, such as {first}:{number}")
    entries = {str(entry.number): entry for entry in found.entries()}
    if number not in entries:
        raise UserError(f"{path} has no game {number}: it holds {len(entries)}, counted from 1")
    return entries[number]


def complain(corrupt: int, damaged: Sequence[Path]) -> None:
    """Say on stderr how many damaged records these shards have, if any."""
    if corrupt:
        say(f"skipped {corrupt} damaged record(s) in {', '.join(map(str, damaged))}")


def read(shard: Path) -> records.Shard:
    """The content of a shard. UserError if it cannot be read."""
    try:
        return records.read(shard)
    except OSError as error:
        raise UserError(f"cannot read {shard}: {error.strerror}") from None


def shards_of(path: str) -> list[tuple[Path, str]]:
    """The shards that a path means, each with the label under which `find` finds it again."""
    place = Path(path)
    if place.is_file():
        return [(place, str(place.with_suffix("")) if place.suffix == SUFFIX else path)]
    for folder in (place / "records", place):
        if found := sorted(folder.glob(f"*{SUFFIX}")):
            return [(shard, str(place / shard.stem)) for shard in found]
    for folder in (place.parent, place.parent / "records"):
        shard = folder / (place.name + SUFFIX)  # no with_name: `.` and `/` have no name
        if shard.is_file():
            return [(shard, path)]
    for folder in (place, place / "records"):
        with suppress(FileNotFoundError, NotADirectoryError):
            os.scandir(folder).close()  # an error where it may not be read: glob would find nothing
    empty = "holds no shards (*.gzr), and neither does its folder records"
    reason = empty if place.is_dir() else "no such folder or shard"
    raise UserError(f"{place.absolute()}: {reason}")


def fault(entry: Entry) -> str:
    """Why the learner would refuse this game, in one line; empty for a sound one. Plays the whole game again."""
    try:
        check(entry.record, entry.game())
    except (CorruptRecordError, UserError) as error:
        return str(error)
    return ""


def opening(record: Record, game: Game, moves: int) -> str:
    """The first moves as vertices, turned or mirrored so that games that differ by a symmetry of the game have the same
    text; one that exchanges the colours makes another game, in which White begins.
    """
    first = record.moves[:moves].tolist()
    kept = [k for k in game.symmetries if not k & symmetry.COLOURS_EXCHANGED]
    turned = [[symmetry.apply_action(action, game.shape, k, game.directions) for action in first] for k in kept]
    return " ".join(game.vertex(action) for action in min(turned))
