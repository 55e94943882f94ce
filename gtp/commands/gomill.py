"""gomill's match controller: what it writes into its records of the engine and of each move."""

from __future__ import annotations

from collections.abc import Mapping

from gtp.notes import summary
from gtp.protocol import Command, Handler
from gtp.session import Session


class GomillCommands:
    """The two commands."""

    def __init__(self, session: Session) -> None:
        self._session = session

    def commands(self) -> Mapping[str, Handler]:
        return {
            "gomill-explain_last_move": self.explain_last_move,
            "gomill-describe_engine": lambda command: self._session.description,
        }

    def explain_last_move(self, command: Command) -> str:
        """The evaluation behind the last ``genmove``, a resignation too; empty where there was no choice, or no move
        yet.
        """
        game = self._session.game
        return "" if game.notes.last is None else summary(game.notes.last, game.board)
