"""The end of a game: who won, by what, and in Go the count with its dead stones, which the page may dispute."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from gozero.frontends.web.engine.session import GameSession, RefusedError
from gozero.games import COUNTED_GAMES
from gozero.games.colours import BLACK, COLOUR_NAMES, EMPTY, WHITE
from gozero.games.descriptions import won_by
from gozero.games.go import go
from gozero.play.current_game import GoGame
from gozero.play.ending import GoEnding, Outcome
from gozero.play.player import Player
from gozero.play.searcher import Limits, never
from gozero.scoring.regions import chains_of
from gozero.scoring.settlement import Settlement, agreed, as_it_stands


class Counting:
    """Results of one game.

    Args:
        session: the game.
        player: judges which stones are dead.
    """

    def __init__(self, session: GameSession, player: Player) -> None:
        self._session = session
        self._ending = player.ending

    @property
    def is_counted(self) -> bool:
        """Whether the shown position is the end of a game of Go by the rules."""
        session = self._session
        return isinstance(session.game, GoGame) and session.game.position.is_over and session.ended_here is None

    @property
    def is_disputable(self) -> bool:
        """Whether the players may agree about dead stones."""
        session = self._session
        return self.is_counted and session.game.name == "go" and self._removes_dead

    @property
    def _removes_dead(self) -> bool:
        game = self._session.game
        return isinstance(game, GoGame) and game.rules.removes_dead

    def settlement(self, should_stop: Callable[[], bool] = never) -> Settlement:
        """What the game is counted by."""
        session, board = self._session, self._session.game.stones()
        if not self.is_disputable:
            return as_it_stands(board)
        if session.at in session.agreed:
            return agreed(board, session.agreed[session.at])
        assert isinstance(self._ending, GoEnding)
        return self._ending.settlement(Limits(None, should_stop=should_stop))

    def is_settled(self, should_stop: Callable[[], bool]) -> bool:
        """Whether nothing is left to do in the shown position but to pass."""
        if not (self._removes_dead and isinstance(self._ending, GoEnding)):
            return False
        return self._ending.settlement(Limits(None, should_stop=should_stop)).is_complete

    def toggle(self, action: int) -> None:
        """Call the string on a point dead if it was alive, and the other way round. RefusedError if there is none."""
        if not self.is_disputable:
            raise RefusedError("Dead stones are marked at the end of a game, after two passes.")
        session = self._session
        chain = next((chain for chain in chains_of(session.game.stones()) if action in chain), None)
        if chain is None:
            raise RefusedError(f"{session.vertex(action)} is empty: click a stone to call its group dead or alive.")
        dead = [[int(point) for point in found] for found in self.settlement().dead]
        chain = [int(point) for point in chain]
        session.agreed[session.at] = [found for found in dead if found != chain] if chain in dead else [*dead, chain]

    def values(self) -> dict[str, Any] | None:
        """The count for the page; None where nothing is counted."""
        if not self.is_counted:
            return None
        settlement = self.settlement()
        bonus = float(go.white_bonus(self._session.game.position.state))
        owner = settlement.owner
        return {
            "dead": [int(point) for chain in settlement.dead for point in chain],
            "owner": [int(colour) for colour in owner],
            "black": int((owner == BLACK).sum()),
            "white": int((owner == WHITE).sum()) + bonus,
            "bonus": bonus,
            "disputable": self.is_disputable,
        }

    def outcome(self, should_stop: Callable[[], bool] = never) -> Outcome:
        """The outcome by the rules of the position that is shown, which is over."""
        game = self._session.game
        if not self.is_counted:
            return Outcome(game.winner(), float(game.position.score()) if game.name in COUNTED_GAMES else None)
        return Outcome.of_lead(self.settlement(should_stop).area - float(go.white_bonus(game.position.state)))

    def result(self) -> str:
        """The result in one sentence; empty while the game goes on."""
        session = self._session
        if not session.is_over:
            return ""
        if (ended := session.ended_here) is not None:
            how = "resigned" if ended.how == "resignation" else "ran out of time"
            return f"{COLOUR_NAMES[ended.winner]} wins: {COLOUR_NAMES[BLACK + WHITE - ended.winner]} {how}."
        winner, lead = self.outcome()
        if winner == EMPTY:
            return "The game is a draw."
        return f"{COLOUR_NAMES[winner]} wins by {won_by(session.game.name, winner, lead)}."

    def sgf_result(self) -> str:
        """The game's result as SGF has it, wherever the page looks; empty while the game goes on."""
        session, shown = self._session, self._session.at
        session.go_to(session.end)
        try:
            if not session.is_over:
                return ""
            if (ended := session.ended_here) is not None:
                return f"{COLOUR_NAMES[ended.winner][0]}+{ended.how[0].upper()}"
            winner, lead = self.outcome()
            return "0" if winner == EMPTY else f"{COLOUR_NAMES[winner][0]}+{'' if lead is None else f'{abs(lead):g}'}"
        finally:
            session.go_to(shown)
