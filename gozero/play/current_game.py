"""A game in progress: its position, who may play, and what the engine has noted of it; nothing is searched here.

In Go (`GoGame`) a controller may play for either side at any time; all other games are played by turns.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import takewhile

import numpy as np

from gozero import games
from gozero.games.colours import COLOUR_NAMES, opponent
from gozero.games.game import BLACK, EMPTY, NOT_OVER, WHITE, Game
from gozero.games.go import go
from gozero.games.go.handicap import FEWEST_STONES
from gozero.games.go.rules import RuleSet, named_rules, rule_set
from gozero.games.position import IllegalMove, Position
from gozero.play.searcher import Analysis
from gozero.records.sgf import GAME_NUMBERS, GameRecord
from gozero.system.errors import ChoiceError
from gozero.system.words import spanned


def check_board(size: int, sizes: Sequence[int]) -> None:
    """ChoiceError unless a board of that size is among those, ascending, that can be played."""
    if size not in sizes:
        raise ChoiceError(f"board size {size} is not supported: expected {spanned(sizes)}")


class TurnError(ValueError):
    """It is not for this side to move now; the message says whose turn it is, or that the game is over."""


@dataclass
class EngineNotes:
    """What the engine thought of its own moves in one game."""

    by_move: dict[int, Analysis] = field(default_factory=dict)  # by the number of moves played with it
    last: Analysis | None = None  # of the last move asked for, a resignation too; None if there was no choice
    resignation: tuple[int, int] | None = None  # who resigned, after how many moves
    low_values: Counter[int] = field(default_factory=Counter)  # own moves in a row with a hopeless value, by colour


class CurrentGame:
    """One game at a time, played by turns until its rules end it."""

    handicap = 0  # Black's stones ahead
    placed_handicap = 0  # those of them that stood on the board before the first move
    position: Position  # the current one; replaced when another game begins
    notes: EngineNotes  # of this game

    def __init__(self, name: str, sizes: Sequence[int], *, size: int, rules: str | None) -> None:
        """Begin a game of `gozero.games` by the named rules, None: its own. `sizes` are those that can be played,
        ascending.
        """
        self.name, self.sizes = name, sizes
        self._named_rules = rules
        self.new_game(size)

    # The board

    @property
    def definition(self) -> Game:
        """The game's rules, for this board."""
        return self.position.game

    @property
    def size(self) -> int:
        return self.definition.size

    @property
    def board(self) -> tuple[int, int]:
        """(columns, rows), as `gozero.games.coords` takes them."""
        return self.definition.cols, self.definition.rows

    def stones(self) -> np.ndarray:
        """The colours of the points, uint8 [rows, cols]: EMPTY, BLACK or WHITE."""
        return self.definition.board(self.position.state)

    def mask_of(self, actions: Sequence[int]) -> np.ndarray:
        """These actions as a mask, bool [A]."""
        mask = np.zeros(self.definition.actions, np.bool_)
        mask[list(actions)] = True
        return mask

    # Begin, play and take back

    def new_game(self, size: int | None = None) -> None:
        """The first position, on a board of another size if given."""
        self._begin(Position(games.make(self.name, size=size or self.size, rules=self._named_rules)))

    def set_up(self, stones: Mapping[int, int], to_play: int) -> None:
        """Begin a game with these stones, a colour for each action. ValueError, and no change, if they cannot stand."""
        position = Position(self.definition)
        position.set_up(dict(stones), to_play)
        self._begin(position)

    def play(self, colour: int, action: int) -> None:
        """Play a move; after the end either side may pass. IllegalMove by the rules, TurnError out of turn."""
        if self.is_over and action == self.definition.pass_action:
            self.position.pass_after_end(colour)
            return
        self._check_turn(colour)
        self.position.play(action)

    def play_all(self, moves: Sequence[tuple[int, int]]) -> None:
        """Play (colour, action) in order: all of them or, if one is refused, none. Errors as `play`."""
        before = self.position.copy()
        try:
            for colour, action in moves:
                self.play(colour, action)
        except (IllegalMove, TurnError):
            self.position = before
            raise

    def undo(self, number: int = 1) -> None:
        """Take back the last moves. IndexError, and none is taken back, if there are fewer."""
        played = len(self.position.moves)
        self.position.undo(number)
        if number:
            self.notes.low_values.clear()
            self.notes.resignation = None
        for move in range(played, played - number, -1):
            self.notes.by_move.pop(move, None)

    def _begin(self, position: Position) -> None:
        self.position, self.notes = position, EngineNotes()

    # Whose turn, and the end

    @property
    def is_over(self) -> bool:
        """Whether the game has ended, so that no side is to move."""
        return self.position.is_over

    def legal(self, colour: int) -> np.ndarray:
        """What the rules allow ``colour`` to play now, bool [A]: nothing if it is not to move."""
        if self.is_over or colour != self.position.to_play:
            return self.mask_of([])
        return self.position.legal()

    def root(self, colour: int) -> Position:
        """The position to search for ``colour``, not over, as a copy. TurnError if it is not to move."""
        self._check_turn(colour)
        return self.position.copy()

    def _check_turn(self, colour: int) -> None:
        if self.is_over:
            raise TurnError("the game is over")
        if colour != self.position.to_play:
            raise TurnError(f"it is {COLOUR_NAMES[self.position.to_play]}'s turn")

    @property
    def resigned(self) -> int:
        """The side that the engine has resigned for in this position, or EMPTY."""
        colour, number = self.notes.resignation or (EMPTY, 0)
        return colour if number == len(self.position.moves) else EMPTY

    def record(self) -> GameRecord | None:
        """The game so far; None if such games are not written as SGF."""
        if self.name not in GAME_NUMBERS:
            return None
        rules = self._named_rules or games.usual(self.name, "rules") or ""
        return GameRecord(self.size, tuple(self.position.moves), game=self.name, rules=rules)

    def winner(self) -> int:
        """BLACK, WHITE, or EMPTY for a draw. ValueError while the game is not over."""
        outcome = self.position.outcome()
        if outcome == NOT_OVER:
            raise ValueError("the game is not over")
        side = self.position.to_play
        return {1: side, 0: EMPTY, -1: opponent(side)}[outcome]


class GoGame(CurrentGame):
    """A game of Go's family: controllers play and ask out of turn, and play on after two passes if they like.

    The position can always be rebuilt from the *setting*, the game's record without its moves, and the moves.
    """

    rules: RuleSet  # of this game; later ones have those that were chosen last, or the game's own

    def __init__(self, name: str, sizes: Sequence[int], *, size: int, rules: str | None, komi: float | None) -> None:
        """Begin with this komi, None: the rules' own; later games have what was set last. Simplified Go has none."""
        self._has_komi = name == "go"  # and with it other rules than its own
        self.name = name
        if rules is not None:
            self._check_own_rules()
        self._usual_rules = rule_set(games.usual(name, "rules"))
        self._chosen_rules = None if rules is None else rule_set(rules)
        usual = self._chosen_rules or self._usual_rules
        self._setting = GameRecord(size, komi=usual.komi if komi is None else komi)
        super().__init__(name, sizes, size=size, rules=rules)

    # Komi, rules, handicap

    @property
    def komi(self) -> float:
        return self._setting.komi or 0.0 if self._has_komi else 0.0

    def set_komi(self, komi: float) -> None:
        """Count with another komi (finite) from now on, also for this game; without effect in a game that has none."""
        result = self._setting.result if komi == self.komi else ""
        self._go_on(replace(self._setting, komi=komi, result=result), self.rules)

    def set_rules(self, rules: RuleSet) -> None:
        """Play by other rules from now on, also in this game. ChoiceError if it has only one set, IllegalMove if they
        forbid a move.
        """
        self._check_own_rules()
        self._go_on(replace(self._setting, result=self._setting.result if rules == self.rules else ""), rules)
        self._chosen_rules = rules

    @property
    def handicap(self) -> int:  # type: ignore[override]
        """Stones that the game began with, else Black's plays before White's first move if they are two or more."""
        setting = self._setting
        if setting.handicap or setting.black_stones or setting.white_stones:
            return setting.handicap
        passing = setting.size**2
        ahead = takewhile(lambda move: move.colour == BLACK and move.action != passing, self.position.moves)
        stones = sum(1 for _ in ahead)
        return stones if stones >= FEWEST_STONES else 0

    @property
    def placed_handicap(self) -> int:  # type: ignore[override]
        setting = self._setting
        return setting.handicap if len(setting.black_stones) >= setting.handicap else 0

    @property
    def captured(self) -> dict[int, int]:
        """How many stones of each colour have been taken off the board."""
        board, setting = self.stones(), self._setting
        placed = {BLACK: len(setting.black_stones), WHITE: len(setting.white_stones)}
        for move in self.position.moves:
            placed[move.colour] += move.action < self.definition.points
        return {colour: count - int((board == colour).sum()) for colour, count in placed.items()}

    def place_handicap(self, points: Sequence[int]) -> None:
        """Begin a handicap game: Black's stones alone, White to move. ValueError if they have no liberty."""
        stones, number = tuple(points), len(points)
        self._begin_from(GameRecord(self.size, komi=self.komi, handicap=number, black_stones=stones, to_play=WHITE))

    # Begin and play

    def new_game(self, size: int | None = None) -> None:
        """An empty board, of another size if given; komi stays, handicap does not."""
        self._begin_from(GameRecord(size or self.size, komi=self.komi))

    def set_up(self, stones: Mapping[int, int], to_play: int) -> None:
        """As `CurrentGame.set_up`; komi stays, handicap does not."""
        black, white = (tuple(sorted(point for point in stones if stones[point] == side)) for side in (BLACK, WHITE))
        self._begin_from(GameRecord(self.size, komi=self.komi, black_stones=black, white_stones=white, to_play=to_play))

    def load_record(self, record: GameRecord) -> None:
        """Take over a game with its komi, if it has one, and its rules, if they are known and none were chosen or these
        forbid a move. ValueError, and no change, if its size or a move cannot be played; IllegalMove has that move's
        number.
        """
        check_board(record.size, self.sizes)
        komi = self.komi if record.komi is None else record.komi
        setting = replace(record, komi=komi, moves=(), next_to_play=None)
        usual, named = self._chosen_rules or self._usual_rules, named_rules(record.rules) if self._has_komi else None
        try:
            self._begin_from(setting, self._chosen_rules or named or usual, record.moves)
        except IllegalMove:
            if self._chosen_rules is None or named in (None, usual):
                raise
            self._begin_from(setting, named, record.moves)
        if record.next_to_play is not None:
            self.position.give_turn(record.next_to_play)

    def record(self) -> GameRecord:
        """The game so far; with the result of the record that it began from only where that ended."""
        moves, turn = self.position.moves, self.position.to_play
        result = self._setting.result if tuple(moves) == self._record_moves else ""
        record = replace(self._setting, komi=self.komi, moves=tuple(moves), rules=self.rules.name, result=result)
        return replace(record, next_to_play=turn) if moves and moves[-1].colour == turn else record

    def play(self, colour: int, action: int) -> None:
        """Play for either colour at any time, superko aside. IllegalMove if the board forbids it."""
        self.position.play(action, colour, superko=False)

    def _begin_from(
        self, setting: GameRecord, rules: RuleSet | None = None, moves: Sequence[tuple[int, int]] = ()
    ) -> None:
        """Begin a game, by rules of its own if given; only when all of it has succeeded does it replace the old one."""
        rules = rules or self._chosen_rules or self._usual_rules
        position = self._position_of(setting, rules, moves)
        self._setting, self.rules, self._record_moves = setting, rules, tuple(moves)
        self._begin(position)

    def _go_on(self, setting: GameRecord, rules: RuleSet) -> None:
        """Go on with the same moves from another setting. ValueError, and no change, if one cannot be played."""
        position = self._position_of(setting, rules, self.position.moves)
        position.give_turn(self.position.to_play)
        self.position, self._setting, self.rules = position, setting, rules
        self.notes.low_values.clear()

    def _check_own_rules(self) -> None:
        if not self._has_komi:
            raise ChoiceError(f"{self.name} has only its own rules")

    def _position_of(self, setting: GameRecord, rules: RuleSet, moves: Sequence[tuple[int, int]]) -> Position:
        """The position after these moves, (colour, action), superko aside. ValueError if one cannot be played."""
        terms = {"rules": rules, "komi": setting.komi or 0.0, "handicap": setting.handicap} if self._has_komi else {}
        position = Position(games.make(self.name, size=setting.size, **terms))
        stones = dict.fromkeys(setting.black_stones, BLACK) | dict.fromkeys(setting.white_stones, WHITE)
        if stones or setting.to_play != BLACK:
            position.set_up(stones, setting.to_play)
        for number, (colour, action) in enumerate(moves, 1):
            try:
                position.play(action, colour, superko=False)
            except IllegalMove as error:
                error.number = number
                raise
        return position

    # Whose turn

    @property
    def is_over(self) -> bool:
        """Never: a side that plays on after two passes continues the game."""
        return False

    def legal(self, colour: int) -> np.ndarray:
        """What the rules, superko included, allow ``colour`` to play now, bool [A]."""
        return self.root(colour).legal()

    def root(self, colour: int) -> Position:
        """A copy of the position with ``colour`` to move, not over, in which the other side has passed if need be."""
        root = self.position.copy()
        out_of_turn = root.to_play != colour
        if out_of_turn:
            root.play(root.game.pass_action)
        if out_of_turn or root.is_over:
            root.state[go.PASSES] = 0  # those passes were not meant to end the game
        if root.is_over:
            root.state[go.MOVE_LIMIT] = 0  # a search beyond the limit continues the game
        return root
