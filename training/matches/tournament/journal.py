"""The journal of a tournament: one line of JSON for each finished game, on the disk before the next one is counted; and
each game as a file of its own, made from it.

The first line, and each line that a changed field adds, holds the facts of the field (`Field.facts`); the others are
games. What a killed process left of an unfinished line is cut off when the journal is opened again. A field that
contradicts the journal is refused; more games and more entrants do not contradict it.

`games/A~B-0001.sgf` is the first game of entrants A and B; no name in files holds `~`. A game that SGF does not know
(Connect-4, tic-tac-toe) is a text with lines `key: value`, the moves last.
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
from gozero.games.game import Game
from gozero.records import sgf
from gozero.system.options import SettingsError
from training.matches.match import Fixture, MatchGame, agree
from training.matches.tournament.clocks import Spent
from training.matches.tournament.field import Field
from training.storage import storage

NAME, GAMES = "journal.jsonl", "games"
COUNTS = ("games", "entrants", "pairs")  # facts that may grow; of the pairs that met before, some may be left out
LONGEST_DETAIL = 500  # characters that are saved of what an engine answered
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

    @classmethod
    def of(cls, fixture: Fixture, played: MatchGame, spent: tuple[Spent, Spent], game: Game) -> Self:
        """A fixture that was played, with the time that each of the pair spent on it."""
        (a, b), names = spent, fixture.names
        return cls(
            pair=names,
            index=fixture.index,
            winner="" if played.winner is None else names[played.winner],
            result=played.result,
            ended=played.ended,
            detail=_clipped(played.detail) or "",
            moves=played.moves_text(game),
            claims=(_clipped(played.claims[0]), _clipped(played.claims[1])),
            seconds=(round(a.seconds, 4), round(b.seconds, 4)),
            answers=(a.moves, b.moves),
            longest=(round(a.longest, 4), round(b.longest, 4)),
            replaced=(a.replaced, b.replaced),
        )

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

    @property
    def agreed(self) -> bool:
        """See `match.agree`."""
        return agree(self.claims, self.result)


def _clipped(text: str | None) -> str | None:
    """One line that a person can read, whatever an engine wrote."""
    line = " ".join((text or "").split())
    return None if text is None else line if len(line) <= LONGEST_DETAIL else f"{line[:LONGEST_DETAIL]} ..."


def moves_of(played: PlayedGame, game: Game) -> Moves:
    """(colour, action) of each move. ValueError for a word that is neither a colour nor a vertex of the board."""
    words = played.moves.split()
    if unknown := sorted(set(words[::2]) - sgf.COLOURS_OF_SGF.keys()):
        raise ValueError(f"a move of {unknown[0]!r}, which is no colour")
    actions = (coords.parse_vertex(word, game.cols, game.rows) for word in words[1::2])
    return tuple(zip((sgf.COLOURS_OF_SGF[word] for word in words[::2]), actions, strict=True))


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
            self._file.seek(0)
            data = self._file.read()
            before, self.games = _checked(data, field, self.path)
            if not data.endswith(b"\n"):
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

    def add(self, game: PlayedGame) -> None:
        """Write a game; it is on the disk when this returns."""
        self._write({"game": asdict(game)})
        self.games.append(game)

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
    found = Counter(game.pair for game in games)
    return {pairing: field.games - found[sorted_pair(field.names, pairing)] for pairing in field.pairings}


def sorted_pair(names: Sequence[str], pairing: tuple[int, int]) -> tuple[str, str]:
    """The names of a pairing, of those of the field, in the order of the alphabet, as games have them."""
    first, second = sorted(names[place] for place in pairing)
    return first, second


def _whole(data: bytes) -> int:
    """Where the last whole line ends."""
    return data.rfind(b"\n") + 1


def _checked(data: bytes, field: Field, path: Path) -> tuple[dict[str, Any] | None, list[PlayedGame]]:
    """(the newest facts, the games) of a journal that does not contradict the field."""
    facts, games = None, dict[tuple[str, str, int], PlayedGame]()
    board = field.make_game()
    for number, line in enumerate(data[: _whole(data)].splitlines(), 1):
        try:
            entry = json.loads(line)
            if "field" in entry:
                facts = dict(entry["field"], entrants=dict(entry["field"]["entrants"].items()))
            else:
                game = _game(entry["game"], board)
                games[game.key] = game
        except (ValueError, KeyError, TypeError, AttributeError) as error:
            raise SettingsError(
                f"{path}, line {number} is no line of a journal ({error}): remove that line, or give another --out"
            ) from None
    if games and facts is None:
        raise SettingsError(f"{path} does not begin with the field's facts: give another --out")
    if facts is not None and games:
        _check(facts, field.facts, list(games.values()), path)
    return facts, list(games.values())


def _game(values: dict[str, Any], board: Game) -> PlayedGame:
    """A game of the journal; ValueError or TypeError for values that are none, and moves that are not of the board."""
    pairs: dict[str, Any] = {name: tuple(value) for name, value in values.items() if isinstance(value, list)}
    game = PlayedGame(**values | pairs)
    for name, annotation in PlayedGame.__annotations__.items():
        value, kind = getattr(game, name), {"str": str, "int": int}.get(annotation, tuple)
        if not isinstance(value, kind) or (isinstance(value, tuple) and len(value) != 2):
            raise TypeError(f"{name} = {value!r}")
    if not all(isinstance(name, str) for name in game.pair):
        raise TypeError(f"pair = {game.pair!r}")
    moves_of(game, board)
    return game


def _check(before: dict[str, Any], now: dict[str, Any], games: list[PlayedGame], path: Path) -> None:
    """SettingsError if games that were played do not belong to the field."""

    def differs(was: str, is_now: str) -> SettingsError:
        return SettingsError(
            f"the field contradicts {path}: played with {was}, now {is_now}; put it back, or give another --out"
        )

    for name in sorted((before.keys() | now.keys()) - set(COUNTS), key=lambda name: (name != "kind", name)):
        if before.get(name) != now.get(name):
            raise differs(*(f"{name} = {given[name]}" if name in given else f"no {name}" for given in (before, now)))
    for name in sorted({name for game in games for name in game.pair}):
        was, is_now = before["entrants"].get(name), now["entrants"].get(name)
        if was != is_now:
            raise differs(f"entrant {name!r} = {was}", "it is missing" if is_now is None else f"{is_now}")
    most = max(game.index for game in games) + 1
    if most > now["games"]:
        raise differs(f"{most} games of a pairing, both colours counted", f"games = {now['games']}")


def file_name(played: PlayedGame, field: Field) -> str:
    """Of the game's file in the folder `games`."""
    entrants = {entrant.name: entrant.file_name for entrant in field.entrant}
    ending = "sgf" if field.game in sgf.GAME_NUMBERS else "txt"
    return f"{entrants[played.pair[0]]}~{entrants[played.pair[1]]}-{played.index + 1:04}.{ending}"


def write_game(played: PlayedGame, field: Field, game: Game, folder: Path) -> None:
    """Save a game as a file; one of its name, which a journal that was removed may have left, goes. StorageError."""
    path = folder / GAMES / file_name(played, field)
    content = _sgf(played, field, game) if path.suffix == ".sgf" else _text(played, field).encode()
    with storage.writing(path.parent):
        path.parent.mkdir(parents=True, exist_ok=True)
        with storage.replacing(path) as file:
            file.write(content)


def _sgf(played: PlayedGame, field: Field, game: Game) -> bytes:
    moves = moves_of(played, game)
    return sgf.serialise(
        sgf.GameRecord(
            game.size,
            moves,
            komi=field.komi if field.game == "go" else None,
            result=played.result,
            rules=field.rules,
            black_name=played.black,
            white_name=played.white,
            comments=((len(moves), f"{played.ended}: {played.detail}"),) if played.detail else (),
            game=field.game,
        )
    )


def _text(played: PlayedGame, field: Field) -> str:
    lines = {"game": field.game, "size": field.size, "rules": field.rules, "black": played.black}
    lines |= {"white": played.white, "result": played.result, "ended": played.ended, "detail": played.detail}
    return "".join(f"{key}: {value}\n" for key, value in lines.items() if value) + f"moves: {played.moves}\n"
