"""A game in progress: its position, who may play, and what the engine has noted of it.

Vocabulary. A side is *to move* by the rules. The *root* is the position that a search for one side begins with. An
engine's *note* is what it thought of a move of its own when it chose it.

Nothing is searched here. Games that are played by turns are `TurnGame`; Go, where a controller may play for either
side at any time, is `gozero.play.go_game`.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

import numpy as np

from gozero import games
from gozero.games.colours import COLOUR_NAMES
from gozero.games.game import BLACK, EMPTY, NOT_OVER, WHITE, Game
from gozero.games.position import IllegalMove, Position
from gozero.play.report import Analysis


class TurnError(ValueError):
    """It is not for this side to move now; the message says whose turn it is, or that the game is over."""


@dataclass
class EngineNotes:
    """What the engine has noted during one game.

    Attributes:
        by_move: of the moves that it chose, by the number of moves played with them.
        last: of the last move that it was asked for, a resignation too; None where there was no choice to make.
        resignation: (who resigned, after how many moves), or None.
        low_values: own moves in a row with a hopeless value, by colour.
    """

    by_move: dict[int, Analysis] = field(default_factory=dict)
    last: Analysis | None = None
    resignation: tuple[int, int] | None = None
    low_values: Counter[int] = field(default_factory=Counter)

    def keep(self, number: int) -> None:
        """Enter the last note, if there is one, as that of move ``number``."""
        if self.last is not None:
            self.by_move[number] = self.last

    def undo(self, number: int) -> None:
        """Forget what concerns move ``number``, which is taken back."""
        self.low_values.clear()
        self.by_move.pop(number, None)
        self.resignation = None


class CurrentGame(ABC):
    """One game at a time, on any of ``sizes``.

    Args:
        name: in `gozero.games`.
        sizes: board sizes that can be played, ascending; the size of a board that is not square is its number of
            columns.
        position: of the first game.

    Attributes:
        position: the current one; replaced when another game begins.
        notes: the engine's, of this game.
    """

    position: Position

    def __init__(self, name: str, sizes: Sequence[int], position: Position) -> None:
        self.name = name
        self.sizes = sizes
        self._begin(position)

    # The board

    @property
    def kind(self) -> Game:
        """The game's rules, for this board."""
        return self.position.game

    @property
    def size(self) -> int:
        return self.kind.size

    @property
    def board(self) -> tuple[int, int]:
        """(columns, rows), as `gozero.games.coords` takes them."""
        return self.kind.cols, self.kind.rows

    def stones(self) -> np.ndarray:
        """The colours of the points, uint8 [rows, cols]: EMPTY, BLACK or WHITE."""
        return self.kind.board(self.position.state)

    def mask_of(self, actions: Sequence[int]) -> np.ndarray:
        """These actions as a mask, bool [A]."""
        mask = np.zeros(self.kind.actions, np.bool_)
        mask[list(actions)] = True
        return mask

    # Begin, play and take back

    @abstractmethod
    def new_game(self, size: int | None = None) -> None:
        """The first position, on a board of another size if given."""

    @abstractmethod
    def set_up(self, stones: Mapping[int, int], to_play: int) -> None:
        """Begin a game with these stones, a colour for each action. ValueError where they cannot stand: the game is as
        it was.
        """

    @abstractmethod
    def play(self, colour: int, action: int) -> None:
        """Play a move. IllegalMove where the rules forbid it, TurnError where it is not that side's turn."""

    def play_all(self, moves: Sequence[tuple[int, int]]) -> None:
        """Play (colour, action) in order: all of them or, where one is refused, none. Errors as `play`."""
        before = self.position.copy()
        try:
            for colour, action in moves:
                self.play(colour, action)
        except (IllegalMove, TurnError):
            self.position = before
            raise

    def undo(self, number: int = 1) -> None:
        """Take back the last moves. IndexError when there are not so many; then none is taken back."""
        played = len(self.position.moves)
        self.position.undo(number)
        for move in range(played, played - number, -1):
            self.notes.undo(move)

    def _begin(self, position: Position) -> None:
        """Let a game begin with this position."""
        self.position = position
        self.notes = EngineNotes()

    # Whose turn, and the end

    @property
    @abstractmethod
    def is_over(self) -> bool:
        """Whether the game has ended, so that no side is to move."""

    @abstractmethod
    def legal(self, colour: int) -> np.ndarray:
        """What the rules allow ``colour`` to play now, bool [A]."""

    @abstractmethod
    def root(self, colour: int) -> Position:
        """The position to search for ``colour``, not over, as a copy. TurnError where it is not to move."""

    @property
    def resigned(self) -> int:
        """The side that the engine has resigned for in this position, or EMPTY."""
        colour, number = self.notes.resignation or (EMPTY, 0)
        return colour if number == len(self.position.moves) else EMPTY

    def winner(self) -> int:
        """BLACK, WHITE, or EMPTY for a draw. ValueError while the game is not over."""
        outcome = self.position.outcome()
        if outcome == NOT_OVER:
            raise ValueError("the game is not over")
        side = self.position.to_play
        return {1: side, 0: EMPTY, -1: BLACK + WHITE - side}[outcome]


class TurnGame(CurrentGame):
    """A game that is played by turns and ends by its rules.

    Args:
        name, sizes: as for `CurrentGame`.
        size: of the first game.
        rules: the name of a rule set, None: the game's own. ChoiceError where the game does not have it.
    """

    def __init__(self, name: str, sizes: Sequence[int], *, size: int, rules: str | None = None) -> None:
        self._rules = rules
        super().__init__(name, sizes, Position(games.make(name, size=size, rules=rules)))

    def new_game(self, size: int | None = None) -> None:
        self._begin(Position(games.make(self.name, size=size or self.size, rules=self._rules)))

    def set_up(self, stones: Mapping[int, int], to_play: int) -> None:
        position = Position(self.kind)
        position.set_up(dict(stones), to_play)
        self._begin(position)

    def play(self, colour: int, action: int) -> None:
        """Play for the side to move; after the end either side may pass. IllegalMove where the rules forbid it,
        TurnError otherwise.
        """
        if self.is_over and action == self.kind.pass_action:
            self.position.pass_after_end(colour)
            return
        self._check_turn(colour)
        self.position.play(action)

    @property
    def is_over(self) -> bool:
        return self.position.is_over

    def legal(self, colour: int) -> np.ndarray:
        """What the rules allow ``colour`` to play now, bool [A]: nothing where it is not to move."""
        if self.is_over or colour != self.position.to_play:
            return np.zeros(self.kind.actions, np.bool_)
        return self.position.legal()

    def root(self, colour: int) -> Position:
        self._check_turn(colour)
        return self.position.copy()

    def _check_turn(self, colour: int) -> None:
        """TurnError unless ``colour`` is to move."""
        if self.is_over:
            raise TurnError("the game is over")
        if colour != self.position.to_play:
            raise TurnError(f"it is {COLOUR_NAMES[self.position.to_play]}'s turn")
