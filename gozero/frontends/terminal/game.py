"""One game of a person against the engine in a terminal: moves, undo, resignation, the result, the game as a record.

The engine is a `gozero.play.player.Player`, as in every front end. Nothing is read or printed here.
"""

from __future__ import annotations

from dataclasses import replace
from typing import NamedTuple

from gozero.games.colours import BLACK, COLOUR_NAMES, EMPTY, WHITE
from gozero.games.position import Position
from gozero.games.refusals import refusal
from gozero.play.current_game import GoGame
from gozero.play.ending import Outcome
from gozero.play.player import Player
from gozero.play.report import Analysis, Observer
from gozero.play.searcher import Limits
from gozero.records import move_list
from gozero.records.sgf import serialise
from gozero.system.errors import InputError


class Reply(NamedTuple):
    """A move of the engine."""

    colour: int
    action: int
    value: float  # expected result of that colour, -1..1


class TerminalGame:
    """One game, from its first position on.

    Args:
        player: has the game; it should not resign.
        person: BLACK or WHITE; the engine has the other colour.
        visits: simulations of the engine's moves.
        hint_visits: simulations of a hint; None: as many as of a move.
    """

    def __init__(self, player: Player, person: int, visits: int, hint_visits: int | None = None) -> None:
        self.player = player
        self.person = person
        self.resigned = False  # the person has
        self._visits = visits
        self._hint_visits = hint_visits or visits

    @property
    def position(self) -> Position:
        return self.player.game.position

    @property
    def is_over(self) -> bool:
        return self.resigned or self.position.is_over

    def outcome(self) -> Outcome:
        """Of a game that is over."""
        return Outcome(BLACK + WHITE - self.person, None) if self.resigned else self.player.ending.outcome()

    def play(self, action: int) -> None:
        """The person's move. InputError if the rules forbid it."""
        if why := refusal(self.position, action):
            raise InputError(why)
        self.player.game.play(self.person, action)

    def reply(self) -> Reply | None:
        """The engine plays, if it is its turn."""
        colour = self.position.to_play
        if self.is_over or colour == self.person:
            return None
        looks: list[Analysis] = []
        action = self.player.genmove(colour, Limits(self._visits), Observer(looks.append, most_moves=1))
        return Reply(colour, action, looks[-1].value)

    def hint(self, moves: int) -> Analysis:
        """What the engine thinks of the person's turn, with its first moves."""
        looks: list[Analysis] = []
        self.player.hint(Limits(self._hint_visits), Observer(looks.append, most_moves=moves))
        return looks[-1]

    def undo(self) -> None:
        """Back to the person's last own decision; a resignation is one. InputError where there is none."""
        if self.resigned:
            self.resigned = False
            return
        moves = self.position.moves
        own = [number for number, move in enumerate(moves) if move.colour == self.person]
        if not own:
            raise InputError("There is no move of yours to take back.")
        self.player.game.undo(len(moves) - own[-1])

    def record(self) -> bytes:
        """The game so far as SGF, or as a list of moves."""
        game = self.player.game
        if not isinstance(game, GoGame):
            return move_list.written(game.kind, game.position.moves).encode()
        black, white = ("", "gozero") if self.person == BLACK else ("gozero", "")
        return serialise(replace(game.record(), result=self._sgf_result(), black_name=black, white_name=white))

    def _sgf_result(self) -> str:
        """As SGF has it; empty while the game goes on."""
        if not self.is_over:
            return ""
        winner, lead = self.outcome()
        if winner == EMPTY:
            return "0"
        return f"{COLOUR_NAMES[winner][0]}+{'R' if lead is None else f'{abs(lead):g}'}"
