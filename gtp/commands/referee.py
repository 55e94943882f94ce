"""Commands that the games other than Go have instead of Go's: the result of a game, and GoGui's questions about the
rules.

GoGui lets a program that answers `gogui-rules_...` referee: it shows the board that it is told, allows the moves that
it is told, and takes the game for over when there are none. These games have no komi; controllers send it unasked, so
it is accepted and ignored.
"""

from __future__ import annotations

from collections.abc import Mapping

from gozero.games import COUNTED_GAMES, coords
from gozero.games.colours import COLOUR_WORDS
from gtp.arguments import komi_of
from gtp.commands.scoring import format_score
from gtp.protocol import Command, GtpError, Handler
from gtp.session import Session

SYMBOLS = ".XO"
"""GoGui's, for no stone, Black's and White's."""


class RefereeCommands:
    """komi, final_score and the six questions."""

    def __init__(self, session: Session) -> None:
        self._session = session

    def commands(self) -> Mapping[str, Handler]:
        return {
            "komi": self.komi,
            "final_score": self.final_score,
            "gogui-rules_game_id": lambda command: self._session.game.name.capitalize(),
            "gogui-rules_board": self.board,
            "gogui-rules_board_size": self.board_size,
            "gogui-rules_legal_moves": self.legal_moves,
            "gogui-rules_side_to_move": lambda command: COLOUR_WORDS[self._session.game.position.to_play],
            "gogui-rules_final_result": self.final_result,
        }

    def komi(self, command: Command) -> str:
        """A number, which changes nothing."""
        komi_of(command)
        return ""

    def final_score(self, command: Command) -> str:
        """``B+12.0`` where points are counted, else ``B+R``; ``0`` for a draw."""
        game = self._session.game
        if not game.is_over:
            raise GtpError("the game is not over")
        if game.name in COUNTED_GAMES:
            return format_score(game.position.score())
        return {0: "0", 1: "B+R", 2: "W+R"}[game.winner()]

    def final_result(self, command: Command) -> str:
        """The result in words, which GoGui shows when the game is over."""
        game = self._session.game
        if not game.is_over:
            return "the game is not over"
        winner = game.winner()
        if winner not in COLOUR_WORDS:
            return "draw"
        margin = f" by {abs(game.position.score()):g}" if game.name in COUNTED_GAMES else ""
        return f"{COLOUR_WORDS[winner]} wins{margin}"

    def board(self, command: Command) -> str:
        """Rows from the top."""
        return "\n" + "\n".join("".join(SYMBOLS[colour] for colour in row) for row in self._session.game.stones())

    def board_size(self, command: Command) -> str:
        """Columns and rows, or one number for both."""
        cols, rows = self._session.game.board
        return str(cols) if cols == rows else f"{cols} {rows}"

    def legal_moves(self, command: Command) -> str:
        """What the side to move may play, ``pass`` where that is a move; nothing once the game is over."""
        game = self._session.game
        legal = game.legal(game.position.to_play)
        return " ".join(coords.vertex(int(action), *game.board) for action in legal.nonzero()[0])
