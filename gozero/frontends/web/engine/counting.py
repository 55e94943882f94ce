"""The end of a game: who won, by what, and in Go the count with its dead stones, which the page may dispute."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from gozero.frontends.web.engine.game_tree import Estimate
from gozero.frontends.web.engine.session import GameSession
from gozero.games import COUNTED_GAMES
from gozero.games.colours import BLACK, COLOUR_WORDS, EMPTY, WHITE, opponent, result_text
from gozero.games.descriptions import DESCRIPTIONS
from gozero.games.go import go
from gozero.play.current_game import GoGame
from gozero.play.ending import Ending, GoEnding, Outcome
from gozero.play.searcher import Limits, never
from gozero.scoring.settlement import Settlement, agreed, by_territory, chains_of
from gozero.system.errors import InputError


class Counting:
    """Results of one game.

    Args:
        session: the game.
        ending: judges which stones are dead.
    """

    def __init__(self, session: GameSession, ending: Ending) -> None:
        self._session = session
        self._ending = ending

    @property
    def _is_counted(self) -> bool:
        """Whether the shown position is the end of a game of Go by the rules."""
        session = self._session
        return isinstance(session.game, GoGame) and session.game.position.is_over and session.ended_here is None

    @property
    def _removes_dead(self) -> bool:
        """Whether the players agree about dead stones at the end."""
        return isinstance(self._session.game, GoGame) and self._session.game.rules.removes_dead

    def _settlement(self, should_stop: Callable[[], bool] = never) -> Settlement:
        """What the game is counted by."""
        session, game = self._session, self._session.game
        dead = session.tree[session.at].dead
        if dead is not None:
            assert isinstance(game, GoGame)
            found = agreed(game.stones(), dead)
            return by_territory(found) if game.rules.territory else found
        assert isinstance(self._ending, GoEnding)
        return self._ending.count(Limits(None, should_stop=should_stop))

    def toggle(self, action: int) -> None:
        """Call the string on a point dead if it was alive, and the other way round. InputError if there is none."""
        session = self._session
        if not (self._is_counted and self._removes_dead):
            raise InputError("Dead stones are marked at the end of a game, after two passes.")
        chain = next((chain for chain in chains_of(session.game.stones()) if action in chain), None)
        if chain is None:
            raise InputError(f"{session.vertex(action)} is empty: click a stone to call its group dead or alive.")
        dead = list(self._settlement().dead)
        dead = [found for found in dead if found != chain] if chain in dead else [*dead, chain]
        is_judged = isinstance(self._ending, GoEnding) and sorted(dead) == sorted(self._ending.count().dead)
        session.tree[session.at].dead = None if is_judged else dead  # None: all is as the engine judges it

    def values(self) -> dict[str, Any] | None:
        """The count for the page; None if nothing is counted."""
        if not self._is_counted:
            return None
        settlement = self._settlement()
        black, white = (self._points(settlement, colour) for colour in (BLACK, WHITE))
        lead = self._lead(settlement)
        return {
            "dead": [point for chain in settlement.dead for point in chain],
            "owner": settlement.owner.tolist(),
            "black": black,
            "white": black - lead,
            "bonus": black - lead - white,
            "disputable": self._removes_dead,
        }

    def _points(self, settlement: Settlement, colour: int) -> int:
        """Of a side, without komi and handicap bonus: its area, or its territory and prisoners."""
        game, rival = self._session.game, opponent(colour)
        if not (isinstance(game, GoGame) and game.rules.territory):
            return int((settlement.owner == colour).sum())
        return len(settlement.territory(colour)) + len(settlement.dead_of(rival)) + game.captured[rival]

    def _lead(self, settlement: Settlement) -> float:
        """Black's points above White's."""
        return settlement.area - float(go.white_bonus(self._session.game.position.state))

    def outcome(self, should_stop: Callable[[], bool] = never) -> Outcome:
        """The outcome by the rules of the position that is shown, which is over."""
        game = self._session.game
        if self._is_counted:
            return Outcome.of_lead(self._lead(self._settlement(should_stop)))
        return Outcome(game.winner(), float(game.position.score()) if game.name in COUNTED_GAMES else None)

    def estimate(self, node: int, visits: int, should_stop: Callable[[], bool]) -> Estimate | None:
        """The count of a node where the game is over, as if it were searched; None if the count was stopped."""
        with self._session.looking_at(node):
            winner, lead = self.outcome(should_stop)
        return None if should_stop() else Estimate(visits, {BLACK: 1.0, WHITE: 0.0, EMPTY: 0.5}[winner], lead)

    def ending(self) -> dict[str, Any] | None:
        """How the game ended, for the page to put into words; None while it goes on."""
        session = self._session
        if not session.is_over:
            return None
        if (ended := session.ended_here) is not None:
            return {"winner": COLOUR_WORDS[ended.winner], "how": ended.how, "by": "", "margin": None}
        winner, lead = self.outcome()
        margin, by = None if lead is None else abs(lead), DESCRIPTIONS[session.game.name].won_by
        by = by.removesuffix("s") if margin == 1 else by
        return {"winner": COLOUR_WORDS.get(winner), "how": "rules", "by": by, "margin": margin}

    def sgf_result(self) -> str:
        """The game's result as SGF has it, wherever the page looks; empty while the game goes on."""
        session = self._session
        with session.looking_at(session.end):
            if not session.is_over:
                return ""
            if (ended := session.ended_here) is not None:
                return result_text(ended.winner, ended.how[0].upper())
            return result_text(*self.outcome())
