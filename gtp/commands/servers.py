"""Commands by which the servers KGS and CGOS inform the engine about a game.

None of it changes the board. `kgs-chat` is not offered: newer clients of KGS crash where it is listed.
"""

from __future__ import annotations

from collections.abc import Mapping

from gtp.protocol import Command, Handler
from gtp.session import Session


class ServerCommands:
    """kgs-game_over, and the announcements of CGOS's client; none is ever refused, since that client ends at an error."""

    def __init__(self, session: Session) -> None:
        self._session = session

    def commands(self) -> Mapping[str, Handler]:
        return {
            "kgs-game_over": self.game_over,
            "cgos-opponent_name": self.opponent_name,
            "cgos-opponent_rating": lambda command: "",
            "cgos-gameover": self.game_over,
        }

    def game_over(self, command: Command) -> str:
        """Stop pondering; the board stays, since the game may only be adjourned."""
        self._session.stop_pondering()
        return ""

    def opponent_name(self, command: Command) -> str:
        """Keep the opponent's name for records."""
        self._session.opponent = command.text
        return ""
