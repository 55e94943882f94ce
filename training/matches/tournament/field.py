"""What a tournament is: its entrants and conditions, read from TOML and checked before anything starts.

An unknown key or an invalid value is a `SettingsError`, one line that names the key, the value and what is allowed.
"""

from __future__ import annotations

import hashlib
import re
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, field, replace
from functools import cached_property
from itertools import combinations, product
from pathlib import Path
from typing import Any

from gozero import games
from gozero.games.game import Game
from gozero.nets import locations
from gozero.search.settings import SearchSettings
from gozero.system.errors import ChoiceError, UserError
from gozero.system.machine import available_threads
from gozero.system.options import SettingsError, from_values, read_toml, setting
from gozero.system.words import counted
from training.elo import SprtSettings
from training.matches.clocks import GameClock
from training.matches.interface import Conditions, parse_player
from training.matches.match import opening
from training.matches.players import open_player, with_changes
from training.matches.python_player import file_of
from training.records import scoring

ROUND_ROBIN, GAUNTLET, SPRT, PAIRS = "round-robin", "gauntlet", "sprt", "pairs"
LONGEST_NAME = 60  # bytes of a name in files: some file systems allow 143 for two names, the number and the ending
TOGETHER = 8  # games at once in a process where all entrants think in it and no clock runs


@dataclass(frozen=True)
class Entrant:
    player: str = setting("", unit="what plays; see gozero match --help")
    name: str = setting("", unit="its name in tables and files; empty = as `player`")


def file_name(name: str, is_marked: bool = False) -> str:
    """A name as a part of a file's name, without `~`; of a long or marked one the beginning and a hash of the whole."""
    plain = re.sub(r"[^\w.+-]+", "-", name).strip("-.") or "entrant"
    if len(plain.encode()) <= LONGEST_NAME and not is_marked:
        return plain
    mark = hashlib.sha256(name.encode()).hexdigest()[:12]
    return f"{plain.encode()[: LONGEST_NAME - len(mark) - 1].decode(errors='ignore')}-{mark}"


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
    answer_seconds: float = setting(60.0, unit="what any answer may take, whatever the clock", low=0.01, high=1e6)
    clock: GameClock = field(default_factory=GameClock, metadata={"unit": "the clock"})
    pair: tuple[Pair, ...] = field(default=(), metadata={"unit": "who meets whom (pairs)"})
    sprt: SprtSettings = field(default_factory=SprtSettings, metadata={"unit": "the question of an SPRT"})

    @property
    def names(self) -> list[str]:
        return [entrant.name for entrant in self.entrant]

    @property
    def file_names(self) -> dict[str, str]:
        """Each name as a part of a file's name, no two alike on file systems that ignore case."""
        plain = Counter(file_name(name).lower() for name in self.names)
        return {name: file_name(name, is_marked=plain[file_name(name).lower()] > 1) for name in self.names}

    @property
    def pairings(self) -> list[tuple[str, str]]:
        """The names of who meets whom, each pair in the order of the alphabet."""
        if self.kind == PAIRS:
            pairs = [(pair.a, pair.b) for pair in self.pair]
        elif self.kind == GAUNTLET:
            pairs = list(product(self.names[: self.challengers], self.names[self.challengers :]))
        else:
            pairs = list(combinations(self.names, 2))
        return [(min(pair), max(pair)) for pair in pairs]

    @property
    def together(self) -> int:
        """Games at once in one process. It is the same on every machine: a search in batches depends on it."""
        outside = any(parse_player(entrant.player).kind == "gtp" for entrant in self.entrant)
        return 1 if outside or self.clock.runs else TOGETHER

    @property
    def workers(self) -> int:
        return self.processes or available_threads()

    def make_game(self) -> Game:
        komi = self.komi if self.game == scoring.GO else None
        if self.game == scoring.GO:
            scoring.check_rules(self.rules)
        return games.make(self.game, size=self.size, rules=self.rules or None, komi=komi)

    def conditions(self, game: Game) -> Conditions:
        """Under which the players of a process play."""
        return Conditions(
            game, self.komi, self.seed, self.together, self.answer_seconds, threads=1, clock=self.clock.time_settings
        )

    @cached_property
    def facts(self) -> dict[str, Any]:
        """What decides the results, as plain values for journal and results; weights come with a hash of their file, as
        it was when this was asked first: processes that play get it with the field.
        """
        same = ("game", "size", "komi", "rules", "kind", "opening_moves", "max_moves", "seed", "games")
        facts: dict[str, Any] = {name: getattr(self, name) for name in same} | {"clock": str(self.clock)}
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
        kind = {SPRT: "match with SPRT", PAIRS: counted(len(self.pair), "pair")}.get(self.kind, self.kind)
        shape = self.make_game().dimensions
        rules = f", {self.rules}" if self.rules else ""
        return f"{kind} of {len(self.entrant)}, {self.game} {shape}{komi}{rules}; {self.clock}"


def load(path: Path, **changes: Any) -> Field:
    """Read a field; `changes` (None: none) go over what the file says. SettingsError for whatever cannot be."""
    return made(read_toml(path) | {key: value for key, value in changes.items() if value is not None}, str(path))


def made(values: dict[str, Any], where: str) -> Field:
    """A field from plain values as a file has them; ``where`` begins the error line. SettingsError as `load`."""
    if "clock" in values:
        values = values | {"clock": _clock(values["clock"], f"{where}: clock")}
    read: Field = from_values(Field, values, where)
    try:
        whole = _completed(read, "komi" in values)
        for problem in _problems(whole):
            raise SettingsError(f"{where}: {problem}")
    except ChoiceError as error:
        raise SettingsError(f"{where}: {error}") from None
    return whole


def _clock(value: Any, where: str) -> Any:
    """A clock as a table: `none`, `course`, the seconds of a move, or a table of main time and overtime."""
    if value in ("none", "course"):
        return {"course": value == "course"}
    if isinstance(value, (int, float)) and not isinstance(value, bool):
        value = {"byoyomi": value}
    if isinstance(value, dict) and (value.get("main") or value.get("byoyomi")):
        return value
    raise SettingsError(
        f"{where} = {value!r}: expected none, course, the seconds of a move, or a table such as "
        "{ main = 60, byoyomi = 5, stones = 1 }"
    )


def _completed(read: Field, has_komi: bool) -> Field:
    """With the game's own size, komi and rules, and every name; ChoiceError for what the game does not have."""
    if has_komi and read.game != scoring.GO:
        raise ChoiceError(f"komi = {read.komi:g}: {read.game} has no komi; leave it out")
    size = read.size or games.usual(read.game, "size") or 0
    whole = replace(
        read,
        size=size,
        komi=read.komi if has_komi else scoring.usual_komi(read.game, size),
        rules=read.rules or games.usual(read.game, "rules") or "",
        entrant=tuple(Entrant(each.player, each.name or " ".join(each.player.split())) for each in read.entrant),
    )
    return replace(whole, size=whole.make_game().size)


def _problems(whole: Field) -> Iterator[str]:
    count, names, plies = len(whole.entrant), whole.names, whole.opening_moves
    if whole.games % 2:
        yield f"games = {whole.games}: expected an even number, each opening is played twice"
    if plies >= whole.max_moves:
        yield f"opening_moves = {plies}: expected fewer than max_moves = {whole.max_moves}"
    opening(whole.make_game(), plies, whole.seed)
    if count < 2 or (whole.kind == SPRT and count != 2):
        wanted = "exactly two" if whole.kind == SPRT else "at least two"
        yield f"{count} [[entrant]]: {whole.kind} needs {wanted}"
    if whole.kind == GAUNTLET and whole.challengers >= count:
        yield f"challengers = {whole.challengers}: expected fewer than the {count} entrants"
    if whole.kind == SPRT and whole.sprt.elo1 <= whole.sprt.elo0:
        yield f"sprt: elo1 = {whole.sprt.elo1:g}: expected more than elo0 = {whole.sprt.elo0:g}"
    if bool(whole.pair) != (whole.kind == PAIRS):
        what = "give at least one [[pair]]" if whole.kind == PAIRS else f"leave out [[pair]], or write kind = {PAIRS!r}"
        yield f"kind = {whole.kind!r}: {what}"
    meetings = [{pair.a, pair.b} for pair in whole.pair]
    for number, meeting in enumerate(meetings):
        if unknown := meeting.difference(names):
            yield f"pair {number + 1}: no entrant has the name {', '.join(map(repr, unknown))}"
        if len(meeting) < 2 or meeting in meetings[:number]:
            yield f"pair {number + 1}: {', '.join(map(repr, meeting))}: expected two entrants, each pair once"
    for number, name in enumerate(names):
        if not name.isprintable():
            yield f"entrant {number + 1}: name = {name!r}: expected printable characters"
        if name in names[:number]:
            yield f"entrants {names.index(name) + 1} and {number + 1} have the name {name!r}; give each its own"
        try:
            _check_player(whole, whole.entrant[number].player)
        except UserError as error:
            yield f"entrant {number + 1}: player = {whole.entrant[number].player!r}: {error}"


def _check_player(whole: Field, text: str) -> None:
    """UserError for a description that makes no player. Networks, programs and packages show only when they start."""
    player = parse_player(text)
    if player.kind == "weights":
        locations.find(player.argument)
        with_changes(SearchSettings(), player.search)
    elif player.kind not in ("perfect", "gtp"):
        open_player(text, Conditions(whole.make_game(), whole.komi)).close()


def fact_of(player: str) -> str:
    """A description, with ` (sha256 ...)` of a weights or Python file, so that another file under the same name is
    noticed. UserError if there is none.
    """
    known = parse_player(player)
    if known.kind not in ("weights", "python"):
        return player
    file = locations.find(known.argument) if known.kind == "weights" else file_of(known.argument)
    return f"{player} (sha256 {hashlib.sha256(file.read_bytes()).hexdigest()[:16]})"
