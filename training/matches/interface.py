"""The interface between a match and its players.

A player plays many games at once: each has a slot number, and `choose` answers for all slots that are to move, so that
a player in this process fills its evaluation batches. The players themselves are in `training.matches.players`.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Protocol

from gozero.games.game import Game
from gozero.games.position import Position
from gozero.system.errors import ChoiceError, UserError


class PlayerError(UserError):
    """A description that makes no player; the message is one line that says what is wrong and what to write."""


def said(error: Exception) -> str:
    """What went wrong in one line: a `PlayerError`'s own words, otherwise with the kind of the exception."""
    if isinstance(error, PlayerError):
        return str(error)
    return " ".join(f"{type(error).__name__}: {error}".split()).removesuffix(":")


MOST_SECONDS = 1e6  # of a move: eleven days


@dataclass(frozen=True)
class Conditions:
    """The terms of a player's games. ChoiceError for numbers with which none can play."""

    game: Game
    komi: float  # points
    seed: int = 1
    parallel: int = 1  # games in progress at once: slots 0 ... parallel - 1
    move_seconds: float = 60.0  # what a GTP engine may take for one answer
    threads: int | None = None  # for network evaluation; None: all cores this process may use
    clock: tuple[float, float, int] | None = None  # what GTP engines are told in time_settings; None: nothing

    def __post_init__(self) -> None:
        if not 0 < self.move_seconds <= MOST_SECONDS:
            raise ChoiceError(
                f"a move cannot have {self.move_seconds:g} seconds: expected a number above 0, at most {MOST_SECONDS:,.0f}"
            )
        if self.threads is not None and self.threads < 1:
            raise ChoiceError(f"{self.threads} threads cannot evaluate: expected 1 or more")

    @property
    def size(self) -> int:
        return self.game.size


@dataclass(frozen=True)
class Turn:
    """A game that waits for a move (or for its final score)."""

    slot: int
    position: Position
    left: tuple[float, int] | None = None  # the mover's clock as GTP's time_left tells it; None: nothing is told
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

    def choose(self, turns: Sequence[Turn]) -> Sequence[int | Fault]:
        """An action (or resign) for each position; positions are not changed."""

    def final_score(self, turn: Turn) -> str | None:
        """The result of the finished game by the player's count; None if it names none."""

    def close(self) -> None:
        """Free processes and memory."""
