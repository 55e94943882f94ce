"""What a tournament is: its entrants and conditions, read from TOML and checked before anything starts.

Vocabulary
    entrant     a player with a name of its own; what it may be is listed in `training.matches.players`
    pairing     two entrants who meet, by their places in the field
    challenger  in a gauntlet: an entrant that meets every entrant that is not a challenger

An unknown key or an invalid value is a `SettingsError`, one line that names the key, the value and what is allowed.
"""

from __future__ import annotations

import hashlib
import re
import unicodedata
from contextlib import closing
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np

from gozero import games
from gozero.games.game import Game
from gozero.games.position import Position
from gozero.nets import locations
from gozero.nets.weights import WeightsError
from gozero.system.errors import ChoiceError
from gozero.system.options import SettingsError
from gozero.system.threads import available_threads
from training.matches.match import opening
from training.matches.players import Conditions, PlayerError, open_player, visits_of
from training.matches.tournament.clocks import GameClock
from training.matches.tournament.sprt import SprtSettings
from training.records import scoring
from training.settings import config
from training.settings.config import setting

ROUND_ROBIN, GAUNTLET, SPRT, PAIRS = "round-robin", "gauntlet", "sprt", "pairs"
LONGEST_NAME = 60  # bytes of a name in files: some file systems allow 143 for two names, the number and the ending
TOGETHER = 8  # games at once in a process where all entrants think in it and no clock runs
CONTROLS = ("Cc", "Zl", "Zp")  # Unicode's categories of control characters and of what ends a line
OUTSIDE = ("gtp:", "pachi:")
OPENINGS_LOOKED_AT = 200  # tries after which openings that do not end the game count as too rare
LEFT_TO_START = re.compile(r"gtp:\s*\S.*|pachi:uct:[1-9]\d*|perfect", re.ASCII | re.DOTALL)
"""Descriptions that are in order, whether or not the program or the package is there: that shows when they start."""
WEIGHTS = re.compile(r"weights:(?P<file>.+?):(?P<visits>[1-9]\d*|policy)(:(auto|f32|bf16|int8))?", re.ASCII)


@dataclass(frozen=True)
class Entrant:
    """One player of the field."""

    player: str = setting("", unit="what plays; see gozero match --help")
    name: str = setting("", unit="its name in tables and files; empty = as `player`")

    @property
    def file_name(self) -> str:
        """The name as a part of a file's name, without `~`; of a long one the beginning and a hash of the whole."""
        name = re.sub(r"[^\w.+-]+", "-", self.name).strip("-.") or "entrant"
        if len(name.encode()) <= LONGEST_NAME:
            return name
        mark = hashlib.sha256(self.name.encode()).hexdigest()[:12]
        return f"{name.encode()[: LONGEST_NAME - len(mark) - 1].decode(errors='ignore')}-{mark}"


@dataclass(frozen=True)
class Pair:
    """Two entrants that meet, in a field of the kind `pairs`."""

    a: str = setting("", unit="name of an entrant")
    b: str = setting("", unit="name of another")


@dataclass(frozen=True)
class Field:
    """A tournament, complete: nothing is left to be found out from the game."""

    entrant: tuple[Entrant, ...] = field(metadata={"unit": "who plays"})
    game: str = setting(scoring.GO, unit="game", choices=tuple(games.GAMES))
    size: int = setting(0, unit="board size; 0 = the game's own", low=0, high=25)
    komi: float = setting(0.0, unit="points for White, Go only", low=-games.MOST_KOMI, high=games.MOST_KOMI)
    rules: str = setting("", unit="rule set of the referee; empty = the game's own")
    kind: str = setting(ROUND_ROBIN, unit="who meets whom", choices=(ROUND_ROBIN, GAUNTLET, SPRT, PAIRS))
    games: int = setting(20, unit="games of each pairing, even; the most of an SPRT", low=2, high=1_000_000)
    challengers: int = setting(1, unit="how many of the first entrants meet all others (gauntlet)", low=1)
    opening_moves: int = setting(2, unit="random plies before the entrants begin", low=0, high=500)
    max_moves: int = setting(700, unit="plies after which the board is counted", low=1, high=100_000)
    seed: int = setting(1, unit="fixes openings and random players", low=0, high=2**63 - 1)
    processes: int = setting(0, unit="processes that play; 0 = one for each core", low=0, high=1024)
    answer_seconds: float = setting(60.0, unit="what any answer may take, a clock apart", low=0.01, high=1e6)
    clock: GameClock = field(default_factory=GameClock, metadata={"unit": "the clock"})
    pair: tuple[Pair, ...] = field(default=(), metadata={"unit": "who meets whom (pairs)"})
    sprt: SprtSettings = field(default_factory=SprtSettings, metadata={"unit": "the question of an SPRT"})

    @property
    def names(self) -> list[str]:
        return [entrant.name for entrant in self.entrant]

    @property
    def pairings(self) -> list[tuple[int, int]]:
        """Who meets whom."""
        count = len(self.entrant)
        if self.kind == SPRT:
            return [(0, 1)]
        if self.kind == PAIRS:
            places = {name: place for place, name in enumerate(self.names)}
            return [(places[pair.a], places[pair.b]) for pair in self.pair]
        first = self.challengers if self.kind == GAUNTLET else count
        from_first = self.challengers if self.kind == GAUNTLET else 0
        return [(i, j) for i in range(first) for j in range(max(i + 1, from_first), count)]

    @property
    def together(self) -> int:
        """Games at once in one process. It is the same on every machine: a search in batches depends on it."""
        outside = any(entrant.player.startswith(OUTSIDE) for entrant in self.entrant)
        return 1 if outside or self.clock.kind != "none" else TOGETHER

    @property
    def workers(self) -> int:
        """Processes that play."""
        return self.processes or available_threads()

    def make_game(self) -> Game:
        """The game under its rules."""
        komi = self.komi if self.game == scoring.GO else None
        return games.make(self.game, size=self.size, rules=self.rules or None, komi=komi)

    def conditions(self, game: Game) -> Conditions:
        """What players of a process are told."""
        return Conditions(
            game, self.komi, self.seed, self.together, self.answer_seconds, threads=1, clock=self.clock.told
        )

    @cached_property
    def facts(self) -> dict[str, Any]:
        """What decides the results, as plain values for journal and results; weights come with a hash of their file, as
        it was when this was asked first: processes that play get it with the field.
        """
        same = ("game", "size", "komi", "rules", "kind", "opening_moves", "max_moves", "seed")
        facts: dict[str, Any] = {name: getattr(self, name) for name in same}
        facts |= {"clock": str(self.clock), "games": self.games}
        if self.kind == SPRT:
            facts["sprt"] = vars(self.sprt) | {"of": self.names[0]}
        if self.kind == GAUNTLET:
            facts["challengers"] = self.names[: self.challengers]
        if self.kind == PAIRS:
            facts["pairs"] = [[pair.a, pair.b] for pair in self.pair]
        facts["entrants"] = {entrant.name: fact_of(entrant.player) for entrant in self.entrant}
        return facts

    def __str__(self) -> str:
        komi = f", komi {self.komi:g}" if self.game == scoring.GO else ""
        kind = {SPRT: "match with SPRT", PAIRS: f"{len(self.pair)} pair{'s' * (len(self.pair) > 1)}"}.get(
            self.kind, self.kind
        )
        shape = self.make_game().dimensions
        return f"{kind} of {len(self.entrant)}, {self.game} {shape}{komi}{', ' * bool(self.rules)}{self.rules}; {self.clock}"


def load(path: Path, **changes: Any) -> Field:
    """Read a field; `changes` (None: none) go over what the file says. SettingsError for whatever cannot be."""
    return made(config.read(path) | {key: value for key, value in changes.items() if value is not None}, str(path))


def made(values: dict[str, Any], where: str) -> Field:
    """A field from plain values as a file has them; ``where`` begins the error line. SettingsError as `load`."""
    if "clock" in values:
        values = values | {"clock": _clock(values["clock"], f"{where}: clock")}
    given = set(values)
    read: Field = config.from_dict(Field, values, where)
    whole = _completed(read, given, where)
    _check_entrants(whole, where)
    return whole


def _clock(value: Any, where: str) -> Any:
    """A clock as a table: `none`, `course`, the seconds of a move, or a table of main time and overtime."""
    if isinstance(value, str) and value in ("none", "course"):
        return {"kind": value}
    if isinstance(value, (int, float)) and not isinstance(value, bool):
        return {"kind": "move", "seconds": value}
    if isinstance(value, dict) and "kind" not in value:
        if not value.get("main") and not value.get("byoyomi"):
            raise SettingsError(f"{where} = {value!r}: give main or byoyomi, in seconds, or both")
        if "seconds" in value or ("stones" in value and not value.get("byoyomi")):
            key, why = (
                ("seconds", "write clock = SECONDS") if "seconds" in value else ("stones", "give byoyomi as well")
            )
            raise SettingsError(f"{where} = {value!r}: {key} has no effect in this table; leave it out, or {why}")
        return {"kind": "game", **value}
    raise SettingsError(
        f"{where} = {value!r}: expected none, course, the seconds of a move, or a table such as "
        "{ main = 60, byoyomi = 5, stones = 1 }"
    )


def _completed(read: Field, given: set[str], where: str) -> Field:
    """With the game's own size, komi and rules, and every entrant's name; SettingsError for what the game does not have."""
    if "komi" in given and read.game != scoring.GO:
        raise SettingsError(f"{where}: komi = {read.komi:g}: {read.game} has no komi; leave it out")
    size = read.size or games.usual(read.game, "size") or 0
    komi = read.komi if "komi" in given else scoring.usual_komi(read.game, size)
    entrants = tuple(
        Entrant(entrant.player, entrant.name or " ".join(entrant.player.split())) for entrant in read.entrant
    )
    rules = read.rules or games.usual(read.game, "rules") or ""
    values = vars(read) | {"size": size or None, "komi": komi, "entrant": entrants, "rules": rules}
    whole = Field(**values)
    try:
        game = whole.make_game()
    except ValueError as error:
        raise SettingsError(f"{where}: {error}") from None
    return Field(**values | {"size": game.size})


def _check_entrants(whole: Field, where: str) -> None:
    count, names = len(whole.entrant), whole.names
    if whole.games % 2:
        raise SettingsError(f"{where}: games = {whole.games}: expected an even number, each opening is played twice")
    _check_opening(whole, where)
    if count < 2 or (whole.kind == SPRT and count != 2):
        wanted = "exactly two" if whole.kind == SPRT else "at least two"
        raise SettingsError(f"{where}: {count} [[entrant]]: {whole.kind} needs {wanted}")
    if whole.kind == GAUNTLET and whole.challengers >= count:
        raise SettingsError(f"{where}: challengers = {whole.challengers}: expected fewer than the {count} entrants")
    if whole.kind == SPRT and whole.sprt.elo1 <= whole.sprt.elo0:
        raise SettingsError(f"{where}: sprt: elo1 = {whole.sprt.elo1:g}: expected more than elo0 = {whole.sprt.elo0:g}")
    _check_pairs(whole, where)
    for number, name in enumerate(names, 1):
        if any(unicodedata.category(character) in CONTROLS for character in name):
            raise SettingsError(f"{where}: entrant {number}: name = {name!r}: expected no control characters")
    for seen in ([entrant.file_name.lower() for entrant in whole.entrant], names):
        for number, name in enumerate(seen):
            if name in seen[:number]:
                both = f"{names[seen.index(name)]!r} and {names[number]!r}"
                raise SettingsError(
                    f"{where}: entrants {both} have the same name in files; give each a name of its own"
                )
    conditions = whole.conditions(whole.make_game())
    for number, entrant in enumerate(whole.entrant, 1):
        _check_player(entrant.player, conditions, f"{where}: entrant {number}")


def _check_pairs(whole: Field, where: str) -> None:
    """SettingsError for pairs that cannot meet, or that another kind has no use for."""
    if bool(whole.pair) != (whole.kind == PAIRS):
        what = "give at least one [[pair]]" if whole.kind == PAIRS else f"leave out [[pair]], or write kind = {PAIRS!r}"
        raise SettingsError(f"{where}: kind = {whole.kind!r}: {what}")
    seen: set[frozenset[str]] = set()
    for number, pair in enumerate(whole.pair, 1):
        for key, name in (("a", pair.a), ("b", pair.b)):
            if name not in whole.names:
                raise SettingsError(f"{where}: pair {number}: {key} = {name!r}: no entrant has this name")
        if pair.a == pair.b or {pair.a, pair.b} in seen:
            raise SettingsError(
                f"{where}: pair {number}: {pair.a!r} and {pair.b!r}: expected two entrants, each pair once"
            )
        seen.add(frozenset((pair.a, pair.b)))


def _check_opening(whole: Field, where: str) -> None:
    """SettingsError for openings after which no entrant has a move."""
    game = whole.make_game()
    free = int(np.count_nonzero(game.board(Position(game).state) == 0))
    if whole.opening_moves >= whole.max_moves:
        raise SettingsError(
            f"{where}: opening_moves = {whole.opening_moves}: expected fewer than max_moves = {whole.max_moves}"
        )
    if whole.opening_moves >= free:
        raise SettingsError(
            f"{where}: opening_moves = {whole.opening_moves}: expected fewer than the {free} empty points of the board"
        )
    try:
        opening(game, whole.opening_moves, whole.seed, OPENINGS_LOOKED_AT)
    except ChoiceError as error:
        raise SettingsError(f"{where}: opening_moves = {whole.opening_moves}: {error}") from None


def _check_player(player: str, conditions: Conditions, where: str) -> None:
    """SettingsError for a description that makes no player. Networks and programs are not started for it."""
    try:
        if found := WEIGHTS.fullmatch(player):
            visits_of(found["visits"], player)
            locations.find(found["file"])
        elif not LEFT_TO_START.fullmatch(player):
            with closing(open_player(player, conditions)):
                pass
    except (PlayerError, WeightsError) as error:
        raise SettingsError(f"{where}: player = {player!r}: {error}") from None


def fact_of(player: str) -> str:
    """A description, with ` (sha256 ...)` of a weights file, so that another file under the same name is noticed.
    WeightsError where there is none.
    """
    found = WEIGHTS.fullmatch(player)
    if not found:
        return player
    return f"{player} (sha256 {hashlib.sha256(locations.find(found['file']).read_bytes()).hexdigest()[:16]})"
