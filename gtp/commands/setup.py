"""Positions that are set up instead of played, and handicap stones.

Such a position begins a game: it has no history and no ko, komi stays, and the stones cannot be undone. If the stones
cannot stand like this, the board stays as it was. What a rule set gives White for a handicap is counted by the game.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from gozero.games.colours import BLACK, EMPTY
from gozero.games.go.handicap import FEWEST_STONES, fixed_points, free_points, most_fixed
from gozero.system.errors import SetUpError
from gtp.arguments import colour_of, whole_number_of
from gtp.protocol import Command, GtpError, Handler
from gtp.session import CommandGroup


class SetupCommands(CommandGroup):
    """set_position, gogui-setup and gogui-setup_player."""

    def commands(self) -> Mapping[str, Handler]:
        return {
            "set_position": self.set_position,
            "gogui-setup": self.gogui_setup,
            "gogui-setup_player": self.gogui_setup_player,
        }

    def set_position(self, command: Command) -> str:
        """``C V C V ...``: these stones and no others, Black to move."""
        return self._begin(self._stones(command), BLACK)

    def gogui_setup(self, command: Command) -> str:
        """``C V C V ...``: these stones beside those on the board; the colour ``e`` takes one off. Whose turn it is
        stays.
        """
        return self._begin(self._present() | self._stones(command), self._session.game.position.to_play)

    def gogui_setup_player(self, command: Command) -> str:
        """Set whose turn it is; nothing changes if it is that side's turn already."""
        colour = colour_of(command.text)
        return "" if colour == self._session.game.position.to_play else self._begin(self._present(), colour)

    def _stones(self, command: Command) -> dict[int, int]:
        """The colour, or EMPTY, of each point that is named."""
        words = command.arguments
        if len(words) % 2:
            raise GtpError("syntax error: expected pairs of a colour and a vertex")
        stones: dict[int, int] = {}
        for name, vertex in zip(words[::2], words[1::2], strict=True):
            colour = EMPTY if name.lower() in ("e", "empty") else colour_of(name)
            point = self._session.point(vertex)
            if point in stones:
                raise GtpError(f"{vertex} is named twice")
            stones[point] = colour
        return stones

    def _present(self) -> dict[int, int]:
        """The colours of the points of the board."""
        return dict(enumerate(self._session.game.stones().reshape(-1).tolist()))

    def _begin(self, points: Mapping[int, int], to_play: int) -> str:
        try:
            self._session.game.set_up({point: colour for point, colour in points.items() if colour != EMPTY}, to_play)
        except SetUpError as error:
            raise GtpError(f"cannot set up: {error}") from None
        self._session.clock.reset()
        return ""


class HandicapCommands(CommandGroup):
    """The three commands of GTP for an empty board, which White plays next, and get_handicap, the number of stones."""

    def commands(self) -> Mapping[str, Handler]:
        return {
            "fixed_handicap": self.fixed_handicap,
            "place_free_handicap": self.place_free_handicap,
            "set_free_handicap": self.set_free_handicap,
            "get_handicap": lambda command: str(self._session.go_game.handicap),
        }

    def fixed_handicap(self, command: Command) -> str:
        stones, most = self._number(command), most_fixed(self._size)
        if most == 0:
            raise GtpError(f"invalid handicap: {stones} on {self._size}x{self._size}")
        if stones > most:
            raise GtpError(f"invalid handicap: {self._size}x{self._size} has fixed handicaps of 2 to {most}")
        return self._place(fixed_points(stones, self._size))

    def place_free_handicap(self, command: Command) -> str:
        """As many stones as are asked for, if they leave a liberty: the fixed points first."""
        return self._place(free_points(self._number(command), self._size))

    def set_free_handicap(self, command: Command) -> str:
        points = [self._session.point(argument) for argument in command.arguments]
        if len(points) < FEWEST_STONES:
            raise GtpError("invalid handicap: expected two vertices or more")
        if len(set(points)) < len(points):
            raise GtpError("invalid handicap: a vertex is named twice")
        self._place(points)
        return ""

    @property
    def _size(self) -> int:
        return self._session.go_game.size

    def _number(self, command: Command) -> int:
        if len(command.arguments) != 1:
            raise GtpError("syntax error: expected the number of stones")
        stones = whole_number_of(command.arguments[0])
        if stones < FEWEST_STONES:
            raise GtpError(f"invalid handicap: {stones} on {self._size}x{self._size}")
        return stones

    def _place(self, points: Sequence[int]) -> str:
        """Place the stones; their vertices."""
        if self._session.game.stones().any():
            raise GtpError("board not empty")
        try:
            self._session.go_game.place_handicap(points)
        except SetUpError as error:
            raise GtpError(f"invalid handicap: {error}") from None
        return self._session.vertices(points)
