"""Commands by which servers (KGS, CGOS) and gomill's match controller tell and ask about a game.

None of it changes the board, and none is refused: CGOS's client ends at an error. `kgs-chat` is not offered: newer
clients of KGS crash where it is listed.
"""

from __future__ import annotations

from collections.abc import Mapping

from gtp.protocol import Command, Handler
from gtp.session import CommandGroup


class GomillCommands(CommandGroup):
    """What gomill writes into its records."""

    def commands(self) -> Mapping[str, Handler]:
        return {
            "gomill-explain_last_move": self.explain_last_move,
            "gomill-describe_engine": lambda command: self._session.description,
        }

    def explain_last_move(self, command: Command) -> str:
        """The evaluation behind the last ``genmove``, also a resignation; empty without a choice."""
        last = self._session.game.notes.last
        return "" if last is None else self._session.summary(last)


class ServerCommands(CommandGroup):
    """kgs-game_over, and the announcements of CGOS's client."""

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
        """Note the opponent's name for records."""
        self._session.opponent = command.text
        return ""
