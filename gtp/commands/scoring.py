"""How games are counted, and GoGui's questions about the rules of games that it does not know.

In Go, final_score and final_status_list always agree: both read one `gozero.scoring.settlement.Settlement`, as the
engine's own passing does. Rules without agreement about dead stones count the board as it stands.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

from gozero.games import COUNTED_GAMES
from gozero.games.colours import BLACK, COLOUR_WORDS, WHITE
from gtp.arguments import colour_of, komi_of
from gtp.protocol import Command, GtpError, Handler
from gtp.session import CommandGroup

if TYPE_CHECKING:
    from gozero.scoring.settlement import Settlement

STATUSES = ("alive", "dead", "seki", "black_territory", "white_territory", "dame")
SYMBOLS = ".XO"
"""GoGui's, for no stone, Black's and White's."""


def format_score(score: float) -> str:
    """GTP's result for Black's lead in points: ``B+3.5``, ``W+0.5`` or ``0``."""
    points = round(abs(score), 3)
    if points == 0:
        return "0"
    text = f"{points:.3f}".rstrip("0")
    return f"{'B' if score > 0 else 'W'}+{text}{'0' if text.endswith('.') else ''}"


class ScoringCommands(CommandGroup):
    """Go's: komi and get_komi, final_score, final_status_list and kgs-genmove_cleanup."""

    def commands(self) -> Mapping[str, Handler]:
        return {
            "komi": self.komi,
            "get_komi": lambda command: f"{self._session.go_game.komi:.10g}",
            "final_score": self.final_score,
            "final_status_list": self.final_status_list,
            "kgs-genmove_cleanup": self.genmove_cleanup,
        }

    def komi(self, command: Command) -> str:
        """Counts at once, also in the middle of a game."""
        self._session.go_game.set_komi(komi_of(command))
        return ""

    def final_score(self, command: Command) -> str:
        """In the middle of a game an estimate."""
        from gozero.play.searcher import Limits

        signals = self._session.signals
        with signals.thinking():
            return format_score(self._session.go_ending.settled_score(Limits(None, should_stop=signals.should_stop)))

    def final_status_list(self, command: Command) -> str:
        """Strings one a line (alive, dead, seki), or points (black_territory, white_territory, dame)."""
        if command.text not in STATUSES:
            raise GtpError(f"invalid status {command.text!r}: expected {', '.join(STATUSES[:-1])} or {STATUSES[-1]}")
        from gozero.play.searcher import Limits

        signals = self._session.signals
        with signals.thinking():
            settlement = self._session.go_ending.count(Limits(None, should_stop=signals.should_stop))
        return "\n".join(map(self._session.vertices, _with_status(settlement, command.text)))

    def genmove_cleanup(self, command: Command) -> str:
        """genmove after a dispute about dead stones: takes them off, passes only when none is left, never resigns."""
        session, colour = self._session, colour_of(command.text)
        with session.move(colour) as limits:
            among = session.go_ending.clean_up_moves(session.go_game.root(colour), limits)
            return session.vertex(session.player.genmove_among(colour, among, limits))


def _with_status(settlement: Settlement, status: str) -> Sequence[Sequence[int]]:
    """The strings of this status, or all its points as one."""
    if status == "dame":
        return [settlement.dame]
    if status.endswith("_territory"):
        return [settlement.territory(BLACK if status == "black_territory" else WHITE)]
    return {"alive": settlement.alive, "dead": settlement.dead, "seki": settlement.seki}[status]


class RefereeCommands(CommandGroup):
    """Other games': komi and final_score, and the six questions by which GoGui makes this engine its referee.

    It shows the board of the answer, allows the moves of the answer, and takes the game for over when there are none.
    These games have no komi; controllers send it unasked, so it is accepted and ignored.
    """

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
        """What the side to move may play, ``pass`` if that is a move; nothing once the game is over."""
        game = self._session.game
        return self._session.vertices(game.legal(game.position.to_play).nonzero()[0])
