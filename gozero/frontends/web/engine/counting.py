"""The end of a game: who won, by what, and in Go the count with its dead stones, which the page may dispute."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from gozero.frontends.web.engine.table import RefusedError, Table
from gozero.games import COUNTED_GAMES
from gozero.games.colours import BLACK, COLOUR_NAMES, EMPTY, WHITE
from gozero.games.descriptions import DESCRIPTIONS
from gozero.games.go import go
from gozero.play.current_game import GoGame
from gozero.play.ending import GoEnding, Outcome
from gozero.play.player import Player
from gozero.play.searcher import Limits, never
from gozero.scoring.regions import chains_of
from gozero.scoring.settlement import Settlement, agreed, as_it_stands


class Counting:
    """Results of one table's game.

    Args:
        table: the game.
        player: judges which stones are dead.
    """

    def __init__(self, table: Table, player: Player) -> None:
        self._table = table
        self._ending = player.ending

    @property
    def is_counted(self) -> bool:
        """Whether the shown position is the end of a game of Go by the rules."""
        table = self._table
        return isinstance(table.game, GoGame) and table.game.position.is_over and table.ended_here is None

    @property
    def is_disputable(self) -> bool:
        """Whether the players may agree about dead stones."""
        table = self._table
        return self.is_counted and table.game.name == "go" and self._removes_dead

    @property
    def _removes_dead(self) -> bool:
        game = self._table.game
        return isinstance(game, GoGame) and game.rules.removes_dead

    def settlement(self, should_stop: Callable[[], bool] = never) -> Settlement:
        """What the game is counted by."""
        table, board = self._table, self._table.game.stones()
        if not self.is_disputable:
            return as_it_stands(board)
        if table.at in table.agreed:
            return agreed(board, table.agreed[table.at])
        assert isinstance(self._ending, GoEnding)
        return self._ending.settlement(Limits(None, should_stop=should_stop))

    def is_settled(self, should_stop: Callable[[], bool]) -> bool:
        """Whether nothing is left to do in the shown position but to pass."""
        if not (self._removes_dead and isinstance(self._ending, GoEnding)):
            return False
        return self._ending.settlement(Limits(None, should_stop=should_stop)).is_complete

    def toggle(self, action: int) -> None:
        """Call the string on a point dead if it was alive, and the other way round. RefusedError where there is none."""
        if not self.is_disputable:
            raise RefusedError("Dead stones are marked at the end of a game, after two passes.")
        table = self._table
        chain = next((chain for chain in chains_of(table.game.stones()) if action in chain), None)
        if chain is None:
            raise RefusedError(f"{table.vertex(action)} is empty: click a stone to call its group dead or alive.")
        dead = [[int(point) for point in found] for found in self.settlement().dead]
        chain = [int(point) for point in chain]
        table.agreed[table.at] = [found for found in dead if found != chain] if chain in dead else [*dead, chain]

    def lead(self, settlement: Settlement) -> float:
        """Black's points above White's."""
        return settlement.area - float(go.white_bonus(self._table.game.position.state))

    def values(self) -> dict[str, Any] | None:
        """The count for the page; None where nothing is counted."""
        if not self.is_counted:
            return None
        settlement = self.settlement()
        bonus = float(go.white_bonus(self._table.game.position.state))
        owner = settlement.owner
        return {
            "dead": [int(point) for chain in settlement.dead for point in chain],
            "owner": [int(colour) for colour in owner],
            "black": int((owner == BLACK).sum()),
            "white": int((owner == WHITE).sum()) + bonus,
            "bonus": bonus,
            "disputable": self.is_disputable,
        }

    def winner(self) -> int:
        """BLACK, WHITE or EMPTY for a draw, of a game that is over."""
        table = self._table
        if table.ended_here is not None:
            return table.ended_here.winner
        return self.outcome().winner

    def outcome(self, should_stop: Callable[[], bool] = never) -> Outcome:
        """The outcome by the rules of the position that is shown, which is over."""
        game = self._table.game
        if not self.is_counted:
            return Outcome(game.winner(), float(game.position.score()) if game.name in COUNTED_GAMES else None)
        return Outcome.of_lead(self.lead(self.settlement(should_stop)))

    def result(self) -> str:
        """The result in one sentence; empty while the game goes on."""
        table = self._table
        if not table.is_over:
            return ""
        winner = self.winner()
        if winner == EMPTY:
            return "The game is a draw."
        name, loser = COLOUR_NAMES[winner], COLOUR_NAMES[BLACK + WHITE - winner]
        if table.ended_here is not None:
            return f"{name} wins: {loser} {'resigned' if table.ended_here.how == 'resignation' else 'ran out of time'}."
        words = DESCRIPTIONS[table.game.name].won_by.format(margin=f"{abs(self._margin()):g}", loser=loser)
        return f"{name} wins by {words.removesuffix('s') if words.startswith('1 ') else words}."

    def sgf_result(self) -> str:
        """The game's result as SGF has it, wherever the page looks; empty while the game goes on."""
        table, shown = self._table, self._table.at
        table.go_to(table.end)
        try:
            return self._sgf_result_here()
        finally:
            table.go_to(shown)

    def _sgf_result_here(self) -> str:
        table = self._table
        if not table.is_over:
            return ""
        winner = self.winner()
        if winner == EMPTY:
            return "0"
        ended = table.ended_here
        if ended is not None:
            how = ended.how[0].upper()
        else:
            how = f"{abs(self._margin()):g}" if self.is_counted or table.game.name in COUNTED_GAMES else ""
        return f"{COLOUR_NAMES[winner][0]}+{how}"

    def _margin(self) -> float:
        if self.is_counted:
            return self.lead(self.settlement())
        position = self._table.game.position
        return 0.0 if position.game.score is None else position.score()
