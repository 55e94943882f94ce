"""The journal of a tournament: one line of JSON for each finished game, on the disk before the next one is counted; and
each game as a file of its own, made from it.

The first line, and each line that a changed field adds, holds the facts of the field (`Field.facts`). What a killed
process left of an unfinished line is cut off when the journal is opened again. A field that contradicts the journal is
refused; more games and more entrants do not contradict it.
"""

from __future__ import annotations

import contextlib
import json
import os
from collections import Counter
from collections.abc import Iterable, Iterator
from dataclasses import asdict
from pathlib import Path
from typing import Any, Self

from gozero.games.game import Game
from gozero.records import move_list, sgf
from gozero.system import files
from gozero.system.options import SettingsError
from training.matches.match import Fixture, MatchGame, fixture
from training.matches.tournament.field import Field
from training.storage import storage

NAME, GAMES = "journal.jsonl", "games"
COUNTS = ("games", "entrants", "pairs")  # facts that may grow; of the pairs that met before, some may be left out
Moves = tuple[tuple[int, int], ...]


def game_of(values: dict[str, Any], game: Game) -> MatchGame:
    """A game of the journal. ValueError or TypeError for values that are none, or moves that the board has not."""
    pairs = {name: tuple(value) for name, value in values.items() if isinstance(value, list)}
    read = MatchGame(**values | pairs)
    if [type(name) for name in (*read.pair, read.winner, read.index)] != [str, str, str, int]:
        raise TypeError(f"pair = {read.pair!r}, index = {read.index!r}")
    if any(len(pair) != 2 for pair in (read.claims, read.seconds, read.answers, read.longest, read.replaced)):
        raise ValueError("a number or a claim of one of the pair is missing")
    numbers = (*read.seconds, *read.answers, *read.longest, *read.replaced)
    texts = (read.result, read.ended, read.detail, *(claim for claim in read.claims if claim is not None))
    if not all(isinstance(number, int | float) for number in numbers) or {type(text) for text in texts} != {str}:
        raise TypeError("a number or a text of the game is of another type")
    moves_of(read, game)
    return read


def moves_of(played: MatchGame, game: Game) -> Moves:
    """(colour, action) of each move. ValueError for a word that is neither a colour nor a vertex of the board."""
    words = played.moves.split()
    if unknown := sorted(set(words[::2]) - sgf.COLOURS_OF_SGF.keys()):
        raise ValueError(f"a move of {unknown[0]!r}, which is no colour")
    actions = (game.action(word) for word in words[1::2])
    return tuple(zip((sgf.COLOURS_OF_SGF[word] for word in words[::2]), actions, strict=True))


class Journal:
    """The journal in a folder, open for writing; a context manager."""

    def __init__(self, folder: Path, field: Field) -> None:
        """Read what is there. SettingsError if it cannot be read or written, or contradicts the field."""
        self.path, self.field = folder / NAME, field
        try:
            self._file = self.path.open("a+b")
        except OSError as error:
            raise SettingsError(f"cannot write {self.path}: {error.strerror}") from None
        try:
            self._file.seek(0)
            data = self._file.read()
            before, self.games = _checked(data, field, self.path)
            self._file.truncate(_whole(data))
            if before != field.facts:
                self._write({"field": field.facts})
        except BaseException:
            self.__exit__()
            raise

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        with contextlib.suppress(OSError):  # of what could not be written, which has been said already
            self._file.close()

    def add(self, game: MatchGame) -> None:
        """Write a game; it is on the disk when this returns."""
        self._write({"game": asdict(game)})
        self.games.append(game)

    def _write(self, line: dict[str, Any]) -> None:
        try:
            self._file.write(json.dumps(line).encode() + b"\n")
            self._file.flush()
            os.fsync(self._file.fileno())
        except OSError as error:
            raise SettingsError(
                f"cannot write {self.path}: {error.strerror}; the games before are safe: {storage.REPAIR}, then give the "
                "same command again"
            ) from None


def played(folder: Path, field: Field) -> list[MatchGame]:
    """The games of the journal in a folder, if there is one; nothing is written. SettingsError as in `Journal`."""
    path = folder / NAME
    return _checked(path.read_bytes(), field, path)[1] if path.is_file() else []


def open_fixtures(field: Field, games: Iterable[MatchGame]) -> Iterator[Fixture]:
    """The field's fixtures that are not among these games: two games of one opening, each pairing in turn."""
    done = {(game.pair, game.index) for game in games}
    for start in range(0, field.games, 2):
        for pair in field.pairings:
            for index in (start, start + 1):
                if (pair, index) not in done:
                    yield fixture(pair, index, field.seed)


def missing(field: Field, games: Iterable[MatchGame]) -> dict[tuple[str, str], int]:
    """How many games of each of the field's pairings are not among these."""
    found = Counter(game.pair for game in games)
    return {pair: field.games - found[pair] for pair in field.pairings}


def _whole(data: bytes) -> int:
    """Where the last whole line ends."""
    return data.rfind(b"\n") + 1


def _checked(data: bytes, field: Field, path: Path) -> tuple[dict[str, Any], list[MatchGame]]:
    """(the newest facts, the games) of a journal that does not contradict the field."""
    facts, games = dict[str, Any](), dict[tuple[tuple[str, str], int], MatchGame]()
    board = field.make_game()
    for number, line in enumerate(data[: _whole(data)].splitlines(), 1):
        try:
            entry = files.from_json(line)
            if "field" in entry:
                facts = dict(entry["field"], entrants=dict(entry["field"]["entrants"].items()))
            else:
                try:
                    game = game_of(entry["game"], board)
                except ValueError:  # perhaps of a move that only the journal's board has
                    _check(facts or field.facts, field.facts, [], path)
                    raise
                games[game.pair, game.index] = game
        except (ValueError, KeyError, TypeError, AttributeError) as error:
            raise SettingsError(
                f"{path}, line {number} is no line of a journal ({error}): remove that line, or give another --out"
            ) from None
    if games:
        _check(facts, field.facts, list(games.values()), path)
    return facts, list(games.values())


def _check(before: dict[str, Any], now: dict[str, Any], games: list[MatchGame], path: Path) -> None:
    """SettingsError if games that were played do not belong to the field."""
    first = ("game", "kind", "rules", "size")  # others, such as komi, follow from these where the field does not say
    names = sorted((before.keys() | now.keys()) - set(COUNTS), key=lambda name: (name not in first, name))
    facts = [(name, before.get(name, "not there"), now.get(name, "not there")) for name in names]
    entrants = [facts.get("entrants", {}) for facts in (before, now)]
    for name in sorted({name for game in games for name in game.pair}):
        was, is_now = (each.get(name, other) for each, other in zip(entrants, ("unknown", "missing"), strict=True))
        facts.append((f"entrant {name!r}", was, is_now))
    for name, was, is_now in facts:
        if was != is_now:
            raise _contradiction(path, f"{name} = {was}", f"{name} = {is_now}")
    if (most := max((game.index for game in games), default=-1) + 1) > now["games"]:
        raise _contradiction(path, f"{most} games of a pairing, both colours counted", f"games = {now['games']}")


def _contradiction(path: Path, was: str, is_now: str) -> SettingsError:
    return SettingsError(
        f"the field contradicts {path}: played with {was}, now {is_now}; put it back, or give another --out"
    )


def file_name(played: MatchGame, field: Field) -> str:
    """Of the game's file in the folder `games`."""
    entrants = field.file_names
    ending = "sgf" if field.game in sgf.GAME_NUMBERS else "txt"
    return f"{entrants[played.pair[0]]}~{entrants[played.pair[1]]}-{played.index + 1:04}.{ending}"


def write_game(played: MatchGame, field: Field, game: Game, folder: Path) -> None:
    """Save a game as a file; one of its name, which a journal that was removed may have left, goes. StorageError."""
    path, moves = folder / GAMES / file_name(played, field), moves_of(played, game)
    fault = f"{played.ended}: {played.detail}" if played.detail else ""
    if path.suffix == ".sgf":
        record = sgf.GameRecord(
            game.size,
            moves,
            komi=field.komi if field.game == "go" else None,
            result=played.result,
            rules=field.rules,
            black_name=played.black,
            white_name=played.white,
            comments=((len(moves), fault),) if fault else (),
            game=field.game,
        )
        content = sgf.serialise(record)
    else:
        end = f"{played.result}, {fault or played.ended}"
        names = f"black: {played.black}", f"white: {played.white}"
        content = move_list.written(game, moves, *names, end).encode()
    with storage.writing(path.parent):
        path.parent.mkdir(parents=True, exist_ok=True)
        with files.replacing(path) as file:
            file.write(content)
