"""The journal of a tournament: one line of JSON for each finished game, on the disk before the next one is counted.

The first line, and each line that a changed field adds, holds the facts of the field (`Field.facts`); the others are
games. What a killed process left of an unfinished line is cut off when the journal is opened again. A field that
contradicts the journal is refused; more games and more entrants do not contradict it.
"""

from __future__ import annotations

import contextlib
import json
import os
from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any, Self

from gozero.games import coords
from gozero.games.game import BLACK, WHITE, Game
from gozero.system.options import SettingsError
from training.matches.tournament.field import Field

NAME = "journal.jsonl"
COUNTS = ("games", "entrants", "pairs")  # facts that may grow; of the pairs that met before, some may be left out
COLOURS = {"B": BLACK, "W": WHITE}
Moves = tuple[tuple[int, int], ...]


@dataclass(frozen=True)
class PlayedGame:
    """A finished game. A pair of entrants stands in the order of the alphabet, whatever the order of the field."""

    pair: tuple[str, str]
    index: int  # 0 ... games - 1 of the pairing; the first of the pair has Black in the even ones
    winner: str  # name; empty for a draw
    result: str  # as in training.matches.match
    ended: str
    detail: str  # of a fault
    moves: str  # `B D4 W pass ...`
    claims: tuple[str | None, str | None]
    seconds: tuple[float, float]  # that each of the pair took for its moves
    answers: tuple[int, int]  # moves that each was asked for
    longest: tuple[float, float]  # seconds of each one's slowest move
    replaced: tuple[int, int]  # moves drawn at random for each, under the course's clock

    @property
    def black(self) -> str:
        return self.pair[self.index % 2]

    @property
    def white(self) -> str:
        return self.pair[1 - self.index % 2]

    @property
    def key(self) -> tuple[str, str, int]:
        """What no two games share."""
        return (*self.pair, self.index)

    @property
    def faulty(self) -> str:
        """Who lost it by a fault; empty: nobody."""
        return next(name for name in self.pair if name != self.winner) if self.detail else ""


def moves_of(played: PlayedGame, game: Game) -> Moves:
    """(colour, action) of each move. ValueError for a word that is neither a colour nor a vertex of the board."""
    words = played.moves.split()
    if not set(words[::2]) <= COLOURS.keys():
        raise ValueError(f"a move of {sorted(set(words[::2]) - COLOURS.keys())[0]!r}, which is no colour")
    actions = (coords.parse_vertex(word, game.cols, game.rows) for word in words[1::2])
    return tuple(zip((COLOURS[word] for word in words[::2]), actions, strict=True))


class Journal:
    """The journal in a folder, open for writing; a context manager."""

    def __init__(self, folder: Path, field: Field) -> None:
        """Read what is there and check it against the field.

        Raises:
            SettingsError: it cannot be read or written, or contradicts the field.
        """
        self.path = folder / NAME
        try:
            self._file = self.path.open("a+b")
        except OSError as error:
            raise SettingsError(f"cannot write {self.path}: {error.strerror}") from None
        try:
            self.games = self._opened(field)
        except BaseException:
            self._close()
            raise

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self._close()

    def _close(self) -> None:
        with contextlib.suppress(OSError):  # of what could not be written, which has been said already
            self._file.close()

    def add(self, game: PlayedGame) -> None:
        """Write a game; it is on the disk when this returns."""
        self._write({"game": asdict(game)})
        self.games.append(game)

    def _opened(self, field: Field) -> list[PlayedGame]:
        self._file.seek(0)
        data = self._file.read()
        before, games = _checked(data, field, self.path)
        if not data.endswith(b"\n"):
            self._file.truncate(_whole(data))
        if before != (facts := field.facts):
            self._write({"field": facts})
        return games

    def _write(self, line: dict[str, Any]) -> None:
        try:
            self._file.write(json.dumps(line, ensure_ascii=False).encode() + b"\n")
            self._file.flush()
            os.fsync(self._file.fileno())
        except OSError as error:
            raise SettingsError(
                f"cannot write {self.path}: {error.strerror}; the games before are safe: make room, then give the same "
                "command again"
            ) from None


def played(folder: Path, field: Field) -> list[PlayedGame]:
    """The games of the journal in a folder, if there is one; nothing is written. SettingsError as in `Journal`."""
    path = folder / NAME
    return _checked(path.read_bytes(), field, path)[1] if path.is_file() else []


def missing(field: Field, games: Iterable[PlayedGame]) -> dict[tuple[int, int], int]:
    """How many games of each of the field's pairings are not among these."""
    found, names = Counter(game.pair for game in games), field.names
    return {pairing: field.games - found[sorted_pair(names, pairing)] for pairing in field.pairings}


def sorted_pair(names: Sequence[str], pairing: tuple[int, int]) -> tuple[str, str]:
    """The names of a pairing, of those of the field, in the order of the alphabet, as games have them."""
    first, second = sorted(names[place] for place in pairing)
    return first, second


def _whole(data: bytes) -> int:
    """Where the last whole line ends."""
    return data.rfind(b"\n") + 1


def _checked(data: bytes, field: Field, path: Path) -> tuple[dict[str, Any] | None, list[PlayedGame]]:
    """(the newest facts, the games) of a journal that does not contradict the field."""
    facts, games = _read(data[: _whole(data)], path)
    if games and facts is None:
        raise SettingsError(f"{path} does not begin with the field's facts: give another --out")
    if facts is not None and games:
        _check(facts, field.facts, games, path)
        _check_moves(games, field.make_game(), path)
    return facts, games


def _read(data: bytes, path: Path) -> tuple[dict[str, Any] | None, list[PlayedGame]]:
    """(the newest facts, the games) of whole lines."""
    facts, games = None, {}
    for number, line in enumerate(data.splitlines(), 1):
        try:
            entry = json.loads(line)
            if "field" in entry:
                facts = _facts(entry["field"])
            else:
                game = _game(entry["game"])
                games[game.key] = game
        except (ValueError, KeyError, TypeError, AttributeError) as error:
            raise SettingsError(
                f"{path}, line {number} is no line of a journal ({error}): remove that line, or give another --out"
            ) from None
    return facts, list(games.values())


def _facts(values: dict[str, Any]) -> dict[str, Any]:
    if not isinstance(values["entrants"], dict):
        raise TypeError("the entrants are no table")
    return dict(values)


def _game(values: dict[str, Any]) -> PlayedGame:
    pairs = {name: tuple(value) for name, value in values.items() if isinstance(value, list)}
    game = PlayedGame(**values | pairs)
    for name, annotation in PlayedGame.__annotations__.items():
        value, kind = getattr(game, name), str if annotation == "str" else int if annotation == "int" else tuple
        if not isinstance(value, kind) or (isinstance(value, tuple) and len(value) != 2):
            raise TypeError(f"{name} = {value!r}")
    if not all(isinstance(name, str) for name in game.pair):
        raise TypeError(f"pair = {game.pair!r}")
    return game


def _check(before: dict[str, Any], now: dict[str, Any], games: list[PlayedGame], path: Path) -> None:
    """SettingsError where games that were played do not belong to the field."""
    for name in sorted((before.keys() | now.keys()) - set(COUNTS), key=lambda name: (name != "kind", name)):
        if before.get(name) != now.get(name):
            was, is_now = (f"{name} = {given[name]}" if name in given else f"no {name}" for given in (before, now))
            raise _contradiction(path, was, is_now)
    for name in sorted({name for game in games for name in game.pair}):
        was, is_now = before["entrants"].get(name), now["entrants"].get(name)
        if was != is_now:
            raise _contradiction(path, f"entrant {name!r} = {was}", "it is missing" if is_now is None else f"{is_now}")
    most = max(game.index for game in games) + 1
    if most > now["games"]:
        raise _contradiction(path, f"{most} games of a pairing, both colours counted", f"games = {now['games']}")


def _check_moves(games: list[PlayedGame], board: Game, path: Path) -> None:
    """SettingsError for moves off the board."""
    for game in games:
        try:
            moves_of(game, board)
        except ValueError as error:
            raise SettingsError(
                f"{path}: game {game.index + 1} of {game.pair[0]!r} and {game.pair[1]!r} has moves that cannot be "
                f"({error}): remove its line, or give another --out"
            ) from None


def _contradiction(path: Path, was: str, is_now: str) -> SettingsError:
    return SettingsError(
        f"the field contradicts {path}: played with {was}, now {is_now}; put it back, or give another --out"
    )
