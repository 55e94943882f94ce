"""A player of Go: what Go alone has beside `gozero.player` - komi, handicap, records, moves out of turn, and how a game
ends.

Vocabulary. A *start* is a game before its first move (`gozero.go_start`); position and tree can always be rebuilt from
the start and the moves. The *root* differs from the position on the board when a colour is asked to move out
of turn or after the game has ended: controllers ask for both, and two passes end a game only if nobody plays on.
"""

from __future__ import annotations

import math
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace

import numpy as np

from gozero import endgame, regions, witness
from gozero.errors import ChoiceError
from gozero.evaluators.base import Evaluator
from gozero.game_tree import Limits
from gozero.games import area, go
from gozero.games.game import BLACK, WHITE, Game
from gozero.games.rules import RuleSet
from gozero.go_start import GoStart
from gozero.player import Player, PlayerSettings, never
from gozero.position import Move, Position
from gozero.restrictions import Restriction
from gozero.search.search import RootResult
from gozero.search_report import Observer, counted
from gozero.settlement import Settlement, as_it_stands, settle
from gozero.sgf import GameRecord

SETTLING_VISITS = 64  # of each of the two searches behind a settlement
FEW_MOVES = 12  # with so few moves left it is worth asking whether any of them gains something
UNLIMITED = Limits(None)


class GoPlayer(Player):
    """One game of Go, or of a game of its family, at a time.

    Args:
        game: a name in `gozero.games.GO_FAMILY`.
        komi: of the first game, None: the game's own; later games keep what was set last. Simplified Go has none: it
            stays 0.
        sizes, open_evaluator, settings, size: as for `Player`.
    """

    def __init__(
        self,
        game: str,
        sizes: Sequence[int],
        open_evaluator: Callable[[Game], Evaluator],
        settings: PlayerSettings,
        *,
        size: int,
        komi: float | None = None,
    ) -> None:
        self._start = GoStart.first(game, size, komi, settings.rules)
        self._settlement: Settlement | None = None
        self._was_hurried = False  # whether time ended the readings of that settlement
        super().__init__(game, sizes, open_evaluator, settings, size=size)

    # The game

    @property
    def komi(self) -> float:
        return self._start.komi

    @property
    def is_over(self) -> bool:
        """Never: whoever plays on after two passes goes on with the game."""
        return False

    def new_game(self, size: int | None = None) -> None:
        """An empty board, of another size if given; komi stays, handicap does not."""
        self._begin_from(self._start.empty(size or self.size))

    def set_komi(self, komi: float) -> None:
        """Count with another komi (finite) from now on, also for this game; without effect in a game that has none."""
        self._go_on(self._start.with_komi(komi))

    @property
    def rules(self) -> RuleSet:
        return self._start.rules

    def set_rules(self, rules: RuleSet) -> None:
        """Play by other rules from now on, also in this game; board, komi and moves stay.

        ValueError where the game has only one set, or where these rules forbid a move that was played.
        """
        self._go_on(self._start.under(rules))
        self._settlement = None

    def analyse_under(
        self,
        rules: RuleSet,
        colour: int,
        limits: Limits,
        should_stop: Callable[[], bool],
        observer: Observer,
        restrictions: Sequence[Restriction] = (),
    ) -> None:
        """As `analyse`, of the game as if it were played by other rules, in a tree that is dropped. ValueError also as
        `set_rules`.
        """
        root = _root_of(self._start.under(rules).position(self.position.moves), colour)
        self._analyse(root, limits, should_stop, observer, restrictions, aside=True)

    def place_handicap(self, points: Sequence[int]) -> None:
        """Begin a handicap game: Black's stones on the empty board, White to move. ValueError if they have no liberty."""
        self._begin_from(self._start.with_handicap(points))

    def set_up(self, stones: Mapping[int, int], to_play: int) -> None:
        """As `Player.set_up`; komi stays, handicap does not."""
        self._begin_from(self._start.with_stones(stones, to_play))

    def load_record(self, record: GameRecord) -> None:
        """Take over a game; without a komi of its own it gets the present one.

        Raises:
            ValueError: its size cannot be played, or one of its moves. The game is as it was.
        """
        if record.size not in self.sizes:
            raise ChoiceError(
                f"board size {record.size} is not supported; these weights play {', '.join(map(str, self.sizes))}"
            )
        self._begin_from(self._start.of_record(record), record.moves)

    def record(self) -> GameRecord:
        """The game so far."""
        return self._start.record(self.position.moves)

    @property
    def handicap(self) -> int:
        """Black's stones ahead, see `GoStart.handicap`."""
        return self._start.handicap(self.position.moves)

    def is_empty(self) -> bool:
        """Whether there is no stone on the board."""
        return not self.stones().any()

    def play(self, colour: int, action: int) -> None:
        """Play for either colour at any time. IllegalMove where the board forbids it; repeating an earlier board is
        accepted.
        """
        self.position.play(action, colour, superko=False)

    def legal(self, colour: int) -> np.ndarray:
        """What the rules, superko included, allow ``colour`` to play now, bool [A]."""
        return self._root(colour).legal()

    def _begin_from(self, start: GoStart, moves: Sequence[tuple[int, int]] = ()) -> None:
        """Set up ``start`` and play ``moves``; only when all of it has succeeded does it take the old game's place."""
        position = start.position(moves)
        self._start = start
        self._begin(position)

    def _go_on(self, start: GoStart) -> None:
        """Let the game go on with the same moves from another start. ValueError where one of them cannot be played:
        nothing changes.
        """
        self.position = start.position(self.position.moves)
        self._start = start
        self._low_values.clear()

    # Moves

    def forget(self) -> None:
        """As `Player.forget`, the settlement too."""
        super().forget()
        self._settlement = None

    def _root(self, colour: int) -> Position:
        """The position with ``colour`` to move, see `_root_of`."""
        return _root_of(self.position, colour)

    def clean_up(self, colour: int, limits: Limits, should_stop: Callable[[], bool] = never) -> int:
        """Play a move that helps to take the other side's dead stones off, the pass only where none are left; it never
        resigns.
        """
        root = self._root(colour)
        settlement, opponent_passed = self.settlement(limits, should_stop), self._opponent_passed(root)
        mask = endgame.clean_up_moves(root.game, root.state, root.legal(), settlement, opponent_passed=opponent_passed)
        action = self.suggest(colour, limits, should_stop, mask)
        self.last_note = None
        self.play(colour, action)
        return action

    def _sensible(self, root: Position, limits: Limits, should_stop: Callable[[], bool]) -> np.ndarray:
        """The actions to choose from, bool [A]; see `gozero.endgame`. Beyond a limit of moves there is nothing but to
        pass.
        """
        if 0 < root.game.initial[go.MOVE_LIMIT] <= root.ply:
            return self.mask_of([root.game.pass_action])
        opponent_passed = self._opponent_passed(root)
        mask = endgame.sensible_moves(root.game, root.state, root.legal(), opponent_passed=opponent_passed)
        moves = int(mask[: root.game.points].sum())
        if moves == 0 or not (opponent_passed or moves <= FEW_MOVES):
            return mask
        friendly = self._settings.friendly_pass and self.rules.removes_dead
        settlement = self.settlement(limits, should_stop)
        return endgame.settled_moves(
            root.game, root.state, mask, settlement, opponent_passed=opponent_passed, friendly=friendly
        )

    def _choose(self, root: Position, result: RootResult, limits: Limits, should_stop: Callable[[], bool]) -> int:
        """As ever, but the first pass is not played where the opponent could pass too and have won by the settlement,
        or drawn in doubt.
        """
        action = super()._choose(root, result, limits, should_stop)
        if action != root.game.pass_action or self._opponent_passed(root) or not self.rules.removes_dead:
            return action
        settlement = self.settlement(limits, should_stop)
        settled = endgame.settled_result(root.state, settlement)
        if settled > 0 or (settled == 0 and settlement.is_complete):
            return action
        others = np.flatnonzero((result.visits > 0) | (result.prior > 0))
        ranked = others[np.lexsort((result.prior[others], result.visits[others]))]
        return int([action, *ranked[ranked != action]][-1])

    def _forced_observer(
        self, root: Position, action: int, observer: Observer, limits: Limits, should_stop: Callable[[], bool]
    ) -> Observer:
        """Of a pass without a choice the count is told instead of the network's guess: there is nothing left to play
        for.
        """
        if action != root.game.pass_action:
            return observer
        settlement = self.settlement(limits, should_stop) if self.rules.removes_dead else as_it_stands(self.stones())
        lead = (settlement.area - float(go.white_bonus(root.state))) * (1 if root.to_play == BLACK else -1)
        return replace(observer, report=lambda look: observer.report(counted(look, lead)))

    def _opponent_passed(self, root: Position) -> bool:
        return self.position.moves[-1:] == [Move(BLACK + WHITE - root.to_play, root.game.pass_action)]

    def _resignation(self, colour: int) -> tuple[float, float]:
        """In handicap games White, who is meant to be behind, resigns later and at a lower value."""
        handicap = self.handicap if colour == WHITE else 0
        threshold, earliest = super()._resignation(colour)
        played = max(0, 2 * (handicap - self._start.setting.handicap) - 1)  # plies of the gifts, with White's passes
        return -1 + (1 + threshold) / (1 + handicap), earliest * (1 + handicap / 9) + played

    # The points

    def liberties(self) -> np.ndarray:
        """Liberties of the chain on each point, int64 [rows, cols]; 0 where there is no stone."""
        return regions.liberties_of(self.stones())

    def pass_alive(self) -> np.ndarray:
        """Whose each point is whoever moves (Benson), uint8 [rows, cols]: BLACK, WHITE or EMPTY."""
        return area.owners_of(area.pass_alive_owners, self.stones()).reshape(self.game.shape)

    # The end

    def settlement(self, limits: Limits = UNLIMITED, should_stop: Callable[[], bool] = never) -> Settlement:
        """Whose the points of this board are and which stones are dead; the same object for as long as board and rules
        are the same.

        Where something is left in doubt, two short searches and playouts say what is to be expected, within half of the
        limits' time, and readings settle what they differ about, within half of what is left then. If they are stopped,
        the next question is judged anew; if time ran out, the next question without a limit is.
        """
        board, end = self.stones(), min(limits.deadline, limits.target)
        if (
            self._settlement is not None
            and np.array_equal(self._settlement.board, board)
            and (end < math.inf or not self._was_hurried)
        ):
            return self._settlement
        settlement, self._was_hurried = settle(board), False
        if not settlement.is_complete:
            searched, now = self._expected_owners(limits, should_stop), time.monotonic()
            deadline = now + (end - now) / 2
            settlement = settle(board, witness.agree(self.position.game, board, searched, deadline, should_stop))
            self._was_hurried = time.monotonic() >= deadline
        self._settlement = None if should_stop() else settlement
        return settlement

    def count(self, should_stop: Callable[[], bool] = never) -> Settlement:
        """What the game is counted by if it ends now; rules without agreement about dead stones leave them on the
        board.
        """
        return self.settlement(should_stop=should_stop) if self.rules.removes_dead else as_it_stands(self.stones())

    def settled_score(self, should_stop: Callable[[], bool] = never) -> float:
        """Black's points above White's by `count`, komi and handicap bonus included."""
        return self.count(should_stop).area - float(go.white_bonus(self.position.state))

    def _expected_owners(self, limits: Limits, should_stop: Callable[[], bool]) -> list[np.ndarray]:
        """float32 [P], + for Black, by a search for either side to move; nothing where the evaluator knows no owners."""
        now = time.monotonic()
        quarter = (min(limits.deadline, limits.target) - now) / 4
        expected = []
        for number, colour, sign in ((1, BLACK, 1), (2, WHITE, -1)):
            root = self._root(colour)
            root.state[go.PASSES] = 0  # the question is what becomes of the stones, not whether the game ends
            among = endgame.sensible_moves(root.game, root.state, root.legal(), opponent_passed=False)
            among[root.game.pass_action] = True
            ownership = self._ownership(root, among, Limits(SETTLING_VISITS, now + number * quarter), should_stop)
            expected += [] if ownership is None else [sign * ownership]
        return expected


def _root_of(position: Position, colour: int) -> Position:
    """A copy with ``colour`` to move, not over, in which the other side has passed if need be."""
    root = position.copy()
    out_of_turn = root.to_play != colour
    if out_of_turn:
        root.play(root.game.pass_action)
    if out_of_turn or root.is_over:
        root.state[go.PASSES] = 0  # nobody meant those passes to end the game
    if root.is_over:
        root.state[go.MOVE_LIMIT] = 0  # whoever asks beyond the limit goes on
    return root
