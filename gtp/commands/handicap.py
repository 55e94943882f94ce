"""Handicap stones: fixed_handicap, place_free_handicap and set_free_handicap, on an empty board only; get_handicap
answers the
number of stones.

Komi is the controller's business; what a rule set gives White for the stones is counted by the game. White plays next,
and the stones cannot be undone.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from gozero.games import coords
from gozero.games.go.handicap import FEWEST_STONES, fixed_points, free_points, most_fixed
from gozero.system.errors import SetUpError
from gtp.arguments import point_of, whole_number_of
from gtp.protocol import Command, GtpError, Handler
from gtp.session import Session


class HandicapCommands:
    """The three commands, which answer with the vertices of the stones, or nothing for the controller's own choice; and
    get_handicap.
    """

    def __init__(self, session: Session) -> None:
        self._session = session

    def commands(self) -> Mapping[str, Handler]:
        return {
            "fixed_handicap": self.fixed_handicap,
            "place_free_handicap": self.place_free_handicap,
            "set_free_handicap": self.set_free_handicap,
            "get_handicap": lambda command: str(self._session.go_game.handicap),
        }

    def fixed_handicap(self, command: Command) -> str:
        stones = self._stones(command)
        if most_fixed(self._size) == 0:
            raise GtpError(f"invalid handicap: {stones} on {self._size}x{self._size}")
        if stones > most_fixed(self._size):
            raise GtpError(
                f"invalid handicap: {self._size}x{self._size} has fixed handicaps of 2 to {most_fixed(self._size)}"
            )
        return self._place(fixed_points(stones, self._size))

    def place_free_handicap(self, command: Command) -> str:
        """As many stones as are asked for, if they leave a liberty: the fixed points first."""
        return self._place(free_points(self._stones(command), self._size))

    def set_free_handicap(self, command: Command) -> str:
        points = [point_of(argument, self._size, self._size) for argument in command.arguments]
        if len(points) < FEWEST_STONES:
            raise GtpError("invalid handicap: expected two vertices or more")
        if len(set(points)) < len(points):
            raise GtpError("invalid handicap: a vertex is named twice")
        self._place(points)
        return ""

    @property
    def _size(self) -> int:
        return self._session.go_game.size

    def _stones(self, command: Command) -> int:
        if len(command.arguments) != 1:
            raise GtpError("syntax error: expected the number of stones")
        stones = whole_number_of(command.arguments[0])
        if stones < FEWEST_STONES:
            raise GtpError(f"invalid handicap: {stones} on {self._size}x{self._size}")
        return stones

    def _place(self, points: Sequence[int]) -> str:
        game = self._session.go_game
        if not game.is_empty():
            raise GtpError("board not empty")
        try:
            game.place_handicap(points)
        except SetUpError as error:
            raise GtpError(f"invalid handicap: {error}") from None
        return " ".join(coords.vertex(point, game.size) for point in points)
