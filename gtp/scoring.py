"""How Go is counted: komi, and at the end final_score and final_status_list, which always agree.

Both count by area after removing the stones that stand inside territory the other side holds unconditionally (Benson's pass-alive
territory). Nothing is guessed: whatever else may be dead counts as it stands, and no string is ever called seki.
"""

from __future__ import annotations

from collections.abc import Mapping

from gozero import coords
from gtp.arguments import komi_of
from gtp.protocol import Command, GtpError, Handler
from gtp.session import Session


def format_score(score: float) -> str:
    """GTP's result for Black's lead in points: ``B+3.5``, ``W+0.5`` or ``0``."""
    points = round(abs(score), 3)
    if points == 0:
        return "0"
    text = f"{points:.3f}".rstrip("0")
    return f"{'B' if score > 0 else 'W'}+{text}{'0' if text.endswith('.') else ''}"


class ScoringCommands:
    """komi and get_komi, final_score and final_status_list."""

    def __init__(self, session: Session) -> None:
        self._session = session

    def commands(self) -> Mapping[str, Handler]:
        return {
            "komi": self.komi,
            "get_komi": lambda command: f"{self._session.go_player.komi:.10g}",
            "final_score": lambda command: format_score(self._session.go_player.settled_score()),
            "final_status_list": self.final_status_list,
        }

    def komi(self, command: Command) -> str:
        """Counts at once, also in the middle of a game."""
        self._session.go_player.set_komi(komi_of(command))
        return ""

    def final_status_list(self, command: Command) -> str:
        """Strings one a line (alive, dead, seki), or points (black_territory, white_territory, dame)."""
        player, wanted = self._session.go_player, command.text
        status = player.final_status()
        if wanted in ("alive", "dead", "seki"):
            strings = {"alive": status.alive, "dead": status.dead, "seki": []}[wanted]
            return "\n".join(" ".join(coords.vertex(point, player.size) for point in string) for string in strings)
        if wanted in ("black_territory", "white_territory", "dame"):
            points = {"black_territory": status.black_territory, "white_territory": status.white_territory, "dame": status.dame}[wanted]
            return " ".join(coords.vertex(point, player.size) for point in points)
        raise GtpError(f"invalid status {wanted!r}: expected alive, dead, seki, black_territory, white_territory or dame")
