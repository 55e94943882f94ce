"""Positions that are set up instead of played: set_position, gogui-setup and gogui-setup_player.

Such a position begins a game: it has no history and no ko, komi stays, and earlier moves cannot be undone. A
chain without liberties and a point that is named twice are refused, and then the board is as it was.
"""

from __future__ import annotations

from collections.abc import Mapping

from gozero.games.colours import BLACK, EMPTY
from gozero.system.errors import SetUpError
from gtp.arguments import colour_of, point_of
from gtp.protocol import Command, GtpError, Handler
from gtp.session import Session

_NOBODY = ("e", "empty")


class SetupCommands:
    """The three commands."""

    def __init__(self, session: Session) -> None:
        self._session = session

    def commands(self) -> Mapping[str, Handler]:
        return {
            "set_position": self.set_position,
            "gogui-setup": self.gogui_setup,
            "gogui-setup_player": self.gogui_setup_player,
        }

    def set_position(self, command: Command) -> str:
        """``C V C V ...``: these stones and no others, Black to move."""
        self._begin(self._stones(command), BLACK)
        return ""

    def gogui_setup(self, command: Command) -> str:
        """``C V C V ...``: these stones beside those on the board; the colour ``e`` takes one off. Whose turn it is
        stays.
        """
        self._begin(self._present() | self._stones(command), self._session.game.position.to_play)
        return ""

    def gogui_setup_player(self, command: Command) -> str:
        """Set whose turn it is; nothing changes where it is that side's turn already."""
        colour = colour_of(command.text)
        if colour != self._session.game.position.to_play:
            self._begin(self._present(), colour)
        return ""

    def _stones(self, command: Command) -> dict[int, int]:
        """The colour, or EMPTY, of each point that is named."""
        words = command.arguments
        if len(words) % 2:
            raise GtpError("syntax error: expected pairs of a colour and a vertex")
        stones: dict[int, int] = {}
        for name, vertex in zip(words[::2], words[1::2], strict=True):
            colour = EMPTY if name.lower() in _NOBODY else colour_of(name)
            point = point_of(vertex, *self._session.game.board)
            if point in stones:
                raise GtpError(f"{vertex} is named twice")
            stones[point] = colour
        return stones

    def _present(self) -> dict[int, int]:
        """The colours of the points of the board."""
        return dict(enumerate(self._session.game.stones().reshape(-1).tolist()))

    def _begin(self, points: Mapping[int, int], to_play: int) -> None:
        try:
            self._session.game.set_up({point: colour for point, colour in points.items() if colour != EMPTY}, to_play)
        except SetUpError as error:
            raise GtpError(f"cannot set up: {error}") from None
        self._session.clock.reset()
