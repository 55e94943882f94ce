"""A position with its history: the interface between Python and the kernels of the rules, where actions are checked."""

from __future__ import annotations

from collections.abc import Iterable
from typing import NamedTuple

import numpy as np

from gozero.games import GO_FAMILY
from gozero.games.colours import COLOUR_NAMES
from gozero.games.game import BLACK, NOT_OVER, PLY, TO_PLAY, Game
from gozero.games.go.header import KO_RULE
from gozero.games.go.rules import SIMPLE


class IllegalMove(ValueError):  # noqa: N818 - the name is what it says to the user
    """An action that the rules refuse; the message names move and side, `number` counts it in a record from 1. Or there
    is no legal action among those asked for.
    """

    number = 0


class Move(NamedTuple):
    """One move: the colour that played and its action."""

    colour: int
    action: int


class Position:
    """One game: play, undo, ask."""

    state: np.ndarray  # int32 [S], the current state row. Do not write to it
    moves: list[Move]  # since the first position, oldest first; passes after the end among them

    def __init__(self, game: Game) -> None:
        self.game = game
        self._restart(game.initial)

    def _restart(self, first: np.ndarray) -> None:
        """Begin again from the state row `first` int32 [S]."""
        self._first = first.copy()
        self.state = first.copy()
        self._history = np.zeros(self.game.max_plies + 2, np.uint64)
        self._history[self.ply] = self.game.hash_of(self.state)
        self.moves, self._idle = [], 0  # passes after the end: the last moves, which the state does not have

    @property
    def to_play(self) -> int:
        """BLACK or WHITE."""
        return int(self.state[TO_PLAY])

    @property
    def ply(self) -> int:
        """Plies since the first position, with the passes that stand between two moves of one colour."""
        return int(self.state[PLY])

    def history_row(self, extra: int) -> np.ndarray:
        """uint64 [>= PLY + extra + 1]: a copy of the history with room for `extra` further plies."""
        row = np.zeros(self.ply + extra + 1, np.uint64)
        row[: self.ply + 1] = self._history[: self.ply + 1]
        return row

    def legal(self, *, superko: bool = True) -> np.ndarray:
        """bool [A]: the legal actions of the side to move; without `superko`, only what the board itself forbids."""
        state, mask = self.state, np.zeros(self.game.actions, np.uint8)
        if not superko and self.game.name in GO_FAMILY:
            state = state.copy()
            state[KO_RULE] = SIMPLE
        self.game.legal(state, self._history, mask)
        return mask.astype(bool)

    def is_legal(self, action: int, *, superko: bool = True) -> bool:
        """Whether the side to move may play this action; resigning is not an action of the board."""
        return 0 <= action < self.game.actions and bool(self.legal(superko=superko)[action])

    def play(self, action: int, colour: int | None = None, *, superko: bool = True) -> None:
        """Play an action, if need be after a pass of the side to move. IllegalMove, and no change, if the rules refuse
        it; without `superko` only if the board does, as another program may have other rules.
        """
        mover = self.to_play if colour is None else colour
        before = self.state.copy()
        if mover != self.to_play:
            self._step_out_of_turn(mover, action)
        if not self.is_legal(action, superko=superko):
            self.state = before
            raise IllegalMove(f"{self._name(action)} is illegal for {COLOUR_NAMES[mover]}")
        self._step(action)
        self.moves.append(Move(mover, action))

    def give_turn(self, colour: int) -> None:
        """Let `colour` play next, as a set-up may say; ``moves`` stays, and a game that is over is over."""
        if colour != self.to_play and not self.is_over:
            self._step_out_of_turn(colour, self.game.pass_action)

    def pass_after_end(self, colour: int) -> None:
        """Record a pass in a game that is over; it changes only ``moves``. ValueError while the game goes on."""
        if not self.is_over:
            raise ValueError("the game is not over")
        self.moves.append(Move(colour, self.game.pass_action))
        self._idle += 1

    def _name(self, action: int) -> str:
        try:
            return self.game.vertex(action)
        except ValueError:
            return f"action {action}"

    def _step_out_of_turn(self, colour: int, action: int) -> None:
        """Give `colour` the move: the other side passes, if it can, which does not help to end the game."""
        if not self.game.has_pass:
            self.state[TO_PLAY] = colour
            return
        self._step(self.game.pass_action)
        if action == self.game.pass_action and self.game.set_marks is not None:
            self.game.set_marks(self.state, None, 0)

    def _step(self, action: int) -> None:
        if self.ply + 2 > len(self._history):
            self._history = np.concatenate([self._history, np.zeros_like(self._history)])
        self.game.step(self.state, self._history, action)

    def undo(self, number: int = 1) -> None:
        """Take back the last moves. IndexError if there are fewer; then none is taken back."""
        if not 0 <= number <= len(self.moves):
            raise IndexError("there is no move to undo")
        idle = min(number, self._idle)
        self._idle -= idle
        moves = self.moves[: len(self.moves) - number]
        if number == idle:
            self.moves = moves
            return
        first = self._first
        self._restart(first)
        for move in moves:
            if move.colour != self.to_play:
                self._step_out_of_turn(move.colour, move.action)
            self._step(move.action)
        self.moves = moves

    def set_up(self, stones: dict[int, int], to_play: int = BLACK) -> None:
        """Begin again from stones, a colour for each action. ValueError, and no change, if they cannot stand."""
        if to_play not in COLOUR_NAMES:
            raise ValueError(f"{to_play!r} is no side that could be to play")
        if strange := stones.keys() - range(self.game.points):
            raise ValueError(f"action {min(strange)} is no point of this board")
        colours = np.zeros(self.game.points, np.uint8)
        for action, colour in stones.items():
            colours[action] = colour
        self._restart(self.game.set_up(colours, to_play))

    def outcome(self) -> int:
        """+1, 0, -1 for the side to move, or NOT_OVER."""
        return int(self.game.outcome(self.state))

    @property
    def is_over(self) -> bool:
        return self.outcome() != NOT_OVER

    def score(self) -> float:
        """Black's points above White's as the board stands. ValueError if the game has no score."""
        if self.game.score is None:
            raise ValueError(f"{self.game.name} has no score")
        points = float(self.game.score(self.state))
        return points if self.to_play == BLACK else -points

    def owner(self) -> np.ndarray:
        """int8 [points]: +1 Black's, -1 White's, 0 neither, as the board stands. ValueError if there are no areas."""
        if self.game.owner is None:
            raise ValueError(f"{self.game.name} has no areas")
        owners = np.zeros(self.game.points, np.int8)
        self.game.owner(self.state, owners)
        return owners if self.to_play == BLACK else -owners

    def copy(self) -> Position:
        """An independent position with the same past."""
        other = Position.__new__(Position)
        other.game, other.moves, other._idle = self.game, list(self.moves), self._idle
        other._first, other.state, other._history = self._first, self.state.copy(), self._history.copy()
        return other

    def children(self, actions: Iterable[int]) -> list[Position]:
        """The positions after each of these legal actions of the side to move."""
        children = []
        for action in actions:
            children.append(self.copy())
            children[-1].play(int(action))
        return children

    def __str__(self) -> str:
        return self.game.to_text(self.state)
