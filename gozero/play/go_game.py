"""A game of Go in progress: what Go alone has beside `gozero.play.current_game` - komi, rules, handicap, records and moves out
of turn.

Vocabulary. A *start* is a game before its first move (`gozero.play.go_start`); the position can always be rebuilt from the
start and the moves. The *root* differs from the position on the board when a colour is asked to move out of turn or
after the game has ended: controllers ask for both, and two passes end a game only if nobody plays on.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace

import numpy as np

from gozero.games.go import area, go
from gozero.games.go.rules import RuleSet
from gozero.games.position import Position
from gozero.play.current_game import CurrentGame
from gozero.play.go_start import GoStart
from gozero.records.sgf import GameRecord
from gozero.scoring import regions
from gozero.system.errors import ChoiceError


class GoGame(CurrentGame):
    """One game of Go, or of a game of its family, at a time.

    Args:
        name: in `gozero.games.GO_FAMILY`.
        sizes: as for `CurrentGame`.
        size: of the first game.
        rules: the name of a rule set, None: the game's own. ChoiceError where the game does not have it.
        komi: of the first game, None: the game's own; later games keep what was set last. Simplified Go has none: it
            stays 0.
    """

    def __init__(
        self, name: str, sizes: Sequence[int], *, size: int, rules: str | None = None, komi: float | None = None
    ) -> None:
        self._start = GoStart.first(name, size, komi, rules)
        super().__init__(name, sizes, self._start.position())

    # Komi, rules, handicap

    @property
    def komi(self) -> float:
        return self._start.komi

    def set_komi(self, komi: float) -> None:
        """Count with another komi (finite) from now on, also for this game; without effect in a game that has none."""
        self._go_on(self._start.with_komi(komi))

    @property
    def rules(self) -> RuleSet:
        return self._start.rules

    def set_rules(self, rules: RuleSet) -> None:
        """Play by other rules from now on, also in this game; board, komi and moves stay.

        ChoiceError where the game has only one set, IllegalMove where these rules forbid a move that was played.
        """
        self._go_on(self._start.under(rules))

    @property
    def handicap(self) -> int:
        """Black's stones ahead, see `GoStart.handicap`."""
        return self._start.handicap(self.position.moves)

    @property
    def placed_handicap(self) -> int:
        """Those of them that stood on the board before the first move."""
        setting = self._start.setting
        return setting.handicap if len(setting.black_stones) >= setting.handicap else 0

    def place_handicap(self, points: Sequence[int]) -> None:
        """Begin a handicap game: Black's stones on the empty board, White to move. ValueError if they have no liberty."""
        self._begin_from(self._start.with_handicap(points))

    # Begin and play

    def new_game(self, size: int | None = None) -> None:
        """An empty board, of another size if given; komi stays, handicap does not."""
        self._begin_from(self._start.empty(size or self.size))

    def set_up(self, stones: Mapping[int, int], to_play: int) -> None:
        """As `CurrentGame.set_up`; komi stays, handicap does not."""
        self._begin_from(self._start.with_stones(stones, to_play))

    def load_record(self, record: GameRecord, rules: RuleSet | None = None) -> None:
        """Take over a game; a record without komi gets the present one. The rules stay where none are given.

        Raises:
            ValueError: its size cannot be played, or one of its moves. The game is as it was.
        """
        if record.size not in self.sizes:
            raise ChoiceError(
                f"board size {record.size} is not supported; these weights play {', '.join(map(str, self.sizes))}"
            )
        start = self._start.of_record(record)
        self._begin_from(start if rules is None else start.under(rules), record.moves)
        if record.next_to_play is not None:
            self.position.give_turn(record.next_to_play)

    def record(self) -> GameRecord:
        """The game so far."""
        moves, turn = self.position.moves, self.position.to_play
        record = self._start.record(moves)
        return replace(record, next_to_play=turn) if moves and moves[-1].colour == turn else record

    def play(self, colour: int, action: int) -> None:
        """Play for either colour at any time. IllegalMove where the board forbids it; repeating an earlier board is
        accepted.
        """
        self.position.play(action, colour, superko=False)

    def _begin_from(self, start: GoStart, moves: Sequence[tuple[int, int]] = ()) -> None:
        """Set up ``start`` and play ``moves``; only when all of it has succeeded does it replace the old game."""
        position = start.position(moves)
        self._start = start
        self._begin(position)

    def _go_on(self, start: GoStart) -> None:
        """Let the game go on with the same moves from another start. ValueError where one of them cannot be played:
        nothing changes.
        """
        position = start.position(self.position.moves)
        position.give_turn(self.position.to_play)
        self.position = position
        self._start = start
        self.notes.low_values.clear()

    # Whose turn

    @property
    def is_over(self) -> bool:
        """Never: whoever plays on after two passes continues the game."""
        return False

    def legal(self, colour: int) -> np.ndarray:
        """What the rules, superko included, allow ``colour`` to play now, bool [A]."""
        return self.root(colour).legal()

    def root(self, colour: int) -> Position:
        """A copy of the position with ``colour`` to move, not over, in which the other side has passed if need be."""
        return _root_of(self.position, colour)

    def root_under(self, rules: RuleSet, colour: int) -> Position:
        """As `root`, of the game as if it were played by other rules. Errors as `set_rules`."""
        return _root_of(self._start.under(rules).position(self.position.moves), colour)

    # The points

    def is_empty(self) -> bool:
        """Whether there is no stone on the board."""
        return not self.stones().any()

    def liberties(self) -> np.ndarray:
        """Liberties of the chain on each point, int64 [rows, cols]; 0 where there is no stone."""
        return regions.liberties_of(self.stones())

    def pass_alive(self) -> np.ndarray:
        """The owner of each unconditionally settled point (Benson), uint8 [rows, cols]: BLACK, WHITE or EMPTY."""
        return area.owners_of(area.pass_alive_owners, self.stones()).reshape(self.kind.shape)


def _root_of(position: Position, colour: int) -> Position:
    """A copy with ``colour`` to move, not over, in which the other side has passed if need be."""
    root = position.copy()
    out_of_turn = root.to_play != colour
    if out_of_turn:
        root.play(root.game.pass_action)
    if out_of_turn or root.is_over:
        root.state[go.PASSES] = 0  # those passes were not meant to end the game
    if root.is_over:
        root.state[go.MOVE_LIMIT] = 0  # a search beyond the limit continues the game
    return root
