"""How Go is counted: komi, and at the end final_score and final_status_list, which always agree.

Both read one `gozero.scoring.settlement.Settlement`, which the engine's own passing looks at too; what it judges and how is
said there. Rules without agreement about dead stones count the board as it stands.
"""

from __future__ import annotations

from collections.abc import Mapping

from gozero.games import coords
from gozero.games.colours import BLACK, WHITE
from gtp.arguments import colour_of, komi_of
from gtp.protocol import Command, GtpError, Handler
from gtp.session import Session

STATUSES = ("alive", "dead", "seki", "black_territory", "white_territory", "dame")


def format_score(score: float) -> str:
    """GTP's result for Black's lead in points: ``B+3.5``, ``W+0.5`` or ``0``."""
    points = round(abs(score), 3)
    if points == 0:
        return "0"
    text = f"{points:.3f}".rstrip("0")
    return f"{'B' if score > 0 else 'W'}+{text}{'0' if text.endswith('.') else ''}"


class ScoringCommands:
    """komi and get_komi, final_score, final_status_list and kgs-genmove_cleanup."""

    def __init__(self, session: Session) -> None:
        self._session = session

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
            limits = Limits(None, should_stop=signals.should_stop)
            return format_score(self._session.go_ending.settled_score(limits))

    def final_status_list(self, command: Command) -> str:
        """Strings one a line (alive, dead, seki), or points (black_territory, white_territory, dame)."""
        if command.text not in STATUSES:
            raise GtpError(f"invalid status {command.text!r}: expected {', '.join(STATUSES[:-1])} or {STATUSES[-1]}")
        from gozero.play.searcher import Limits

        signals = self._session.signals
        with signals.thinking():
            settlement = self._session.go_ending.count(Limits(None, should_stop=signals.should_stop))
        if command.text in ("alive", "dead", "seki"):
            strings = {"alive": settlement.alive, "dead": settlement.dead, "seki": settlement.seki}[command.text]
            return "\n".join(self._vertices(string) for string in strings)
        if command.text == "dame":
            return self._vertices(settlement.dame)
        return self._vertices(settlement.territory(BLACK if command.text == "black_territory" else WHITE))

    def genmove_cleanup(self, command: Command) -> str:
        """genmove after a dispute about dead stones: takes them off, passes only when none is left, and never resigns."""
        session, colour = self._session, colour_of(command.text)
        with session.move(colour) as limits:
            among = session.go_ending.clean_up_moves(session.go_game.root(colour), limits)
            action = session.player.genmove_among(colour, among, limits)
        return coords.vertex(action, session.go_game.size)

    def _vertices(self, points: list[int]) -> str:
        return " ".join(coords.vertex(point, self._session.go_game.size) for point in points)
