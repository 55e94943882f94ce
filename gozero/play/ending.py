"""How a game ends, as far as a player must judge it: the moves to choose from, the first pass, the result."""

from __future__ import annotations

import math
import time
from typing import NamedTuple

import numpy as np

from gozero.games.colours import leader
from gozero.games.game import BLACK, WHITE
from gozero.games.go import go
from gozero.games.go.rules import RuleSet
from gozero.games.position import Position
from gozero.play.current_game import CurrentGame, GoGame
from gozero.play.searcher import Limits, Searcher
from gozero.scoring import endgame, life_and_death
from gozero.scoring.settlement import SURE, Settlement, as_it_stands, by_territory, settle
from gozero.search.root import RootResult

SETTLING_VISITS = 64  # of each of the two searches behind a settlement
FEW_MOVES = 12  # with so few moves left it is worth asking whether any of them gains something
OWNED = 0.8  # expected owner, -1..1, of a point where a move may be worth nothing
UNLIMITED = Limits(None)


class Outcome(NamedTuple):
    """How a game has ended."""

    winner: int  # BLACK, WHITE, or EMPTY for a draw
    lead: float | None  # Black's points above White's; None if points are not counted

    @classmethod
    def of_lead(cls, lead: float) -> Outcome:
        """Of a game that is counted."""
        return cls(leader(lead), lead)


class Ending:
    """What a player asks about the end when it chooses a move, within the limits; here the rules alone end the game."""

    def __init__(self, game: CurrentGame) -> None:
        self._current = game

    def outcome(self, limits: Limits = UNLIMITED) -> Outcome:
        """Of the game, which is over by the rules."""
        game = self._current
        return Outcome(game.winner(), None if game.definition.score is None else float(game.position.score()))

    def settled_score(self, limits: Limits) -> float | None:
        """Black's points above White's if both sides passed now; None if nothing is counted then."""
        return None

    def sensible(self, root: Position, limits: Limits, *, friendly: bool) -> np.ndarray:
        """The actions to choose from, bool [A]; ``friendly`` as in `PlayerSettings.friendly_pass`."""
        return root.legal()

    def revised(self, root: Position, action: int, result: RootResult, limits: Limits) -> int:
        """The action to play if a search's result suggests ``action``."""
        return action

    def is_idle(self, root: Position, action: int, limits: Limits) -> bool:
        """Whether the action is on a point that by the last search, of ``root``, belongs to a side already, and nothing
        is left to do but to pass.
        """
        return False

    def forget(self) -> None:
        """Drop what was searched."""


class GoEnding(Ending):
    """The end of a game of Go by a settlement: what the board alone leaves open, searches and readings settle."""

    def __init__(self, game: GoGame, searcher: Searcher) -> None:
        super().__init__(game)
        self._game = game
        self._searcher = searcher
        self._settlement: Settlement | None = None
        self._settled_rules: RuleSet | None = None  # by which that settlement was searched
        self._was_hurried = False  # whether time ended the readings of that settlement

    # Counting

    def settlement(self, limits: Limits = UNLIMITED) -> Settlement:
        """The owners of this board's points and its dead stones; the same object while board and rules are the same.

        Two short searches take half of the limits' time if in doubt, readings half of what is left. If they are
        stopped, the next question is judged anew; if time ran out, the next one without a limit is.
        """
        board, end = self._game.stones(), min(limits.deadline, limits.target)
        known = self._settlement
        if known is not None and (end < math.inf or not self._was_hurried) and self._is_of(known, board):
            return known
        settlement, self._was_hurried = settle(board), False
        if not settlement.is_complete:
            searched, now = self._expected_owners(limits), time.monotonic()
            deadline = now + (end - now) / 2
            stop = limits.should_stop
            settlement = settle(board, life_and_death.agree(self._game.definition, board, searched, deadline, stop))
            self._was_hurried = time.monotonic() >= deadline
        if self._game.rules.territory:
            settlement = by_territory(settlement)
        self._settlement = None if limits.should_stop() else settlement
        self._settled_rules = self._game.rules
        return settlement

    def count(self, limits: Limits = UNLIMITED) -> Settlement:
        """What the game is counted by if it ends now; rules without agreement about dead stones leave them there."""
        if self._game.rules.removes_dead:
            return self.settlement(limits)
        return as_it_stands(self._game.stones())

    def outcome(self, limits: Limits = UNLIMITED) -> Outcome:
        return Outcome.of_lead(self.settled_score(limits))

    def settled_score(self, limits: Limits = UNLIMITED) -> float:
        """Black's points above White's by `count`, komi and handicap bonus included."""
        return self.count(limits).area - float(go.white_bonus(self._game.position.state))

    def forget(self) -> None:
        self._settlement = None

    def _is_of(self, settlement: Settlement, board: np.ndarray) -> bool:
        """Whether a settlement is of this board, by the present rules."""
        return self._settled_rules == self._game.rules and np.array_equal(settlement.board, board)

    def _expected_owners(self, limits: Limits, visits: int = SETTLING_VISITS) -> list[np.ndarray]:
        """float32 [P], + for Black, by a search for either side to move; [] if the evaluator gives no ownership."""
        now = time.monotonic()
        quarter = (min(limits.deadline, limits.target) - now) / 4
        expected = []
        for number, colour, sign in ((1, BLACK, 1), (2, WHITE, -1)):
            root = self._game.root(colour)
            root.state[go.PASSES] = 0  # the question is what becomes of the stones, not whether the game ends
            among = endgame.sensible_moves(root.game, root.state, root.legal(), opponent_passed=False)
            among[root.game.pass_action] = True
            until = Limits(visits, now + number * quarter, should_stop=limits.should_stop)
            ownership = self._searcher.ownership(root, among, until)
            expected += [] if ownership is None else [sign * ownership]
        return expected

    # Moves

    def sensible(self, root: Position, limits: Limits, *, friendly: bool) -> np.ndarray:
        """The actions to choose from, bool [A]: see `gozero.scoring.endgame`; only the pass beyond a limit of moves."""
        if 0 < root.game.initial[go.MOVE_LIMIT] <= root.ply:
            return self._game.mask_of([root.game.pass_action])
        opponent_passed = self._opponent_passed(root)
        if self._game.rules.territory:
            return self._sensible_by_territory(root, limits, opponent_passed)
        mask = endgame.sensible_moves(root.game, root.state, root.legal(), opponent_passed=opponent_passed)
        moves = int(mask[: root.game.points].sum())
        if moves == 0 or not (opponent_passed or moves <= FEW_MOVES):
            return mask
        friendly, settlement = friendly and self._game.rules.removes_dead, self.settlement(limits)
        passed = {"opponent_passed": opponent_passed, "friendly": friendly}
        return endgame.settled_moves(root.game, root.state, mask, settlement, **passed)

    def _sensible_by_territory(self, root: Position, limits: Limits, opponent_passed: bool) -> np.ndarray:
        """A settlement has a say after the opponent's pass, and where the network is sure of all but few points."""
        state, game = root.state, root.game
        mask = endgame.territory_moves(game, state, root.legal(), opponent_passed=opponent_passed)
        owners = [] if opponent_passed else self._expected_owners(limits, visits=1)
        sure = np.abs(np.sum(owners, axis=0)) >= 2 * SURE if owners else np.zeros(game.points, np.bool_)
        if not opponent_passed and (mask[: game.points] & ~sure).sum() > FEW_MOVES:
            return mask
        settlement = self.settlement(limits)
        return endgame.unsettled_moves(game, state, mask, settlement, opponent_passed=opponent_passed)

    def clean_up_moves(self, root: Position, limits: Limits) -> np.ndarray:
        """The moves that help to capture the other side's dead stones, bool [A]; the pass only where none are left."""
        settlement, opponent_passed = self.settlement(limits), self._opponent_passed(root)
        return endgame.clean_up_moves(root.game, root.state, root.legal(), settlement, opponent_passed=opponent_passed)

    def revised(self, root: Position, action: int, result: RootResult, limits: Limits) -> int:
        """The action; the pass for an idle one, unless the dead stones decide the game; the next best for a first pass
        after which the opponent could pass and win, or draw in doubt.
        """
        if self.is_idle(root, action, limits):
            settled = endgame.settled_result(root.state, self.settlement(limits))
            return root.game.pass_action if settled == endgame.result_as_it_stands(root.state) else action
        if action != root.game.pass_action or self._opponent_passed(root) or not self._game.rules.removes_dead:
            return action
        settlement = self.settlement(limits)
        settled = endgame.settled_result(root.state, settlement)
        if settled > 0 or (settlement.is_complete and (settled == 0 or self._game.rules.territory)):
            return action
        return next((other for other in result.ranked() if other != action), action)

    def is_idle(self, root: Position, action: int, limits: Limits) -> bool:
        # after the opponent's pass `sensible` has asked already
        if self._opponent_passed(root) or not self._game.rules.removes_dead:
            return False
        owner = self._searcher.last_owners(root)
        if owner is None or action >= len(owner) or abs(owner[action]) < OWNED:
            return False
        if (np.abs(owner) < OWNED).sum() > FEW_MOVES:  # cheap, and in most positions enough
            return False
        guess = settle(self._game.stones(), [owner if root.to_play == BLACK else -owner] * 2)
        return guess.is_complete and self.settlement(limits).is_complete

    def _opponent_passed(self, root: Position) -> bool:
        last = next(reversed(self._game.position.moves), None)
        return last is not None and last.action == root.game.pass_action and last.colour != root.to_play
