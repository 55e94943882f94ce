"""The game contract: what a game must give so that one search, one player and one training loop serve it.

  state    int32 [S], one row per game. Every game's row begins with TO_PLAY and PLY; the game's file lists the rest.
  history  uint64 [H], beside the state: history[state[PLY]] is the hash of the current position, earlier ones before
           it. Games without superko leave it alone. A row needs room for PLY + further plies + 1 entries.
  action   int in 0 … A-1: points row-major from the top left, then pass, then resign. Resign is never legal here: the
           player decides it. Where pieces move, an action is where from and in which direction (`coords`).
  outcome  +1 win, 0 draw, -1 loss for the side to move, or NOT_OVER.

A `Game` is a description without a position. Row kernels trust their caller: an action that is not legal is refused by
`gozero.games.position.Position`, at the Python border.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from numba import types

from gozero.games import coords
from gozero.games.colours import BLACK as BLACK  # the colours are a part of the contract
from gozero.games.colours import EMPTY as EMPTY
from gozero.games.colours import WHITE as WHITE
from gozero.games.diagram import parse_diagram, print_diagram
from gozero.system.errors import ChoiceError
from gozero.system.jit import OUTCOME, STEP, STONES, kernel

TO_PLAY, PLY = 0, 1
SIZE, WON, COLOURS = 2, 3, 4  # fields of games whose rows have a cell a point, see `stones_of_cells`
NOT_OVER = 2

_STATES = types.Array(types.int32, 2, "C")
_HISTORIES = types.Array(types.uint64, 2, "C")
_ACTIONS = types.Array(types.int64, 1, "C")
_OUTCOMES = types.Array(types.int8, 1, "C")


def no_hash(state: np.ndarray) -> int:
    """0: earlier positions do not matter."""
    return 0


@dataclass(frozen=True, eq=False)
class Game:
    """A game's rules, as the search, the player and the training use them."""

    name: str  # in `gozero.games`
    rows: int
    cols: int
    has_pass: bool  # whether passing is a move
    symmetries: tuple[int, ...]  # those of `gozero.games.symmetry` that leave the rules unchanged
    max_plies: int  # a bound on the plies of a game in training
    initial: np.ndarray  # int32 [S], read-only: the first position, with its rules and komi
    step: Callable[..., None]  # (state, history, action): plays a legal action, in place
    legal: Callable[..., int]  # (state, history, out uint8 [A]) → number of legal actions; `out` becomes 0 / 1
    outcome: Callable[[np.ndarray], int]  # (state) → +1, 0, -1 for the side to move, or NOT_OVER
    # (state, history, generator uint64 [1]) → a uniformly random legal action for playouts (Go: never fills its own
    # one-point eye, passes when nothing else is left)
    sample: Callable[..., int]
    stones: Callable[..., None]  # (state, out uint8 [points]): the colours of the points, EMPTY, BLACK or WHITE
    # (colours uint8 [points], to_play) → int32 [S]: a position from stones. ValueError if it cannot stand
    set_up: Callable[[np.ndarray, int], np.ndarray]
    hexagons: bool = False  # whether the points are hexagons, of which each row stands half a point further right
    directions: coords.Directions = coords.PLACING  # in which pieces move; unless they do, an action is a point
    # as `legal`, without actions that a search with a network need not consider; at least one is left. None: `legal`
    thinkable: Callable[..., int] | None = None
    # (state) → the outcome of a position that is not over, if a short search to the end shows it, else NOT_OVER. None:
    # never tried
    solved: Callable[[np.ndarray], int] | None = None
    # (state, out int8 [points]): + points of the side to move as the board stands; None if the game has no areas
    owner: Callable[..., None] | None = None
    # (state) → points of the side to move above the other's, bonuses included; None if none are counted
    score: Callable[[np.ndarray], float] | None = None
    hash_of: Callable[[np.ndarray], int] = no_hash  # (state) → the first uint64 of a history that begins there
    # (state) → (ko point's action or None, passes in a row), for diagrams; None if there is nothing more to show
    marks: Callable[[np.ndarray], tuple[int | None, int]] | None = None
    # (state, ko, passes): writes them into a position of `set_up`
    set_marks: Callable[[np.ndarray, int | None, int], None] | None = None

    def __post_init__(self) -> None:
        self.initial.setflags(write=False)

    @cached_property
    def points(self) -> int:
        """Number of points of the board."""
        return self.rows * self.cols

    @property
    def actions(self) -> int:
        """A, the length of a policy: points (in each direction, if pieces move), pass and resign."""
        return self.pass_action + 2

    @property
    def moves_pieces(self) -> bool:
        """Whether an action goes from point to point."""
        return self.directions != coords.PLACING

    @cached_property
    def state_ints(self) -> int:
        """S, the length of a state row."""
        return len(self.initial)

    @cached_property
    def size(self) -> int:
        """Points a side, or columns if the board is not square."""
        return self.cols

    @cached_property
    def shape(self) -> tuple[int, int]:
        """(rows, cols)."""
        return self.rows, self.cols

    @property
    def dimensions(self) -> str:
        """The board's size as text, columns first: "7x6" in Connect-4."""
        return f"{self.cols}x{self.rows}"

    @property
    def pass_action(self) -> int:
        """The number of the board's own actions, which stand before it."""
        return len(self.directions) * self.points

    @property
    def resign_action(self) -> int:
        return self.pass_action + 1

    def vertex(self, action: int) -> str:
        """GTP text of an action: "E5", "D2-E3", "pass", "resign"."""
        return coords.vertex(action, self.cols, self.rows, self.directions)

    def ends(self, action: int) -> tuple[int, int]:
        """The points from which and to which one of the board's actions goes: the same where a piece is put."""
        return coords.ends(action, self.cols, self.rows, self.directions)

    def action(self, vertex: str) -> int:
        """The action that a GTP vertex names, in any case. ValueError if it is none of this board."""
        if self.moves_pieces:
            return coords.parse_move(vertex, self.cols, self.rows, self.directions)
        return coords.parse_vertex(vertex, self.cols, self.rows)

    def new_states(self, batch: int) -> np.ndarray:
        """int32 [batch, S]: first positions."""
        return np.tile(self.initial, (batch, 1))

    def new_histories(self, batch: int, plies: int | None = None) -> np.ndarray:
        """uint64 [batch, plies + 1]: histories of first positions, with room for `plies` plies (default: max_plies)."""
        histories = np.zeros((batch, (self.max_plies if plies is None else plies) + 1), np.uint64)
        histories[:, 0] = self.hash_of(self.initial.copy())
        return histories

    def check_states(self, states: np.ndarray) -> None:
        """ValueError unless `states` is int32 [n, S] of this game with n ≥ 1."""
        if states.dtype != np.int32 or states.ndim != 2 or states.shape[1] != self.state_ints or len(states) == 0:
            found = f"{states.dtype} {list(states.shape)}"
            raise ValueError(f"states must be int32 [n, {self.state_ints}] with n >= 1, not {found}")

    def board(self, state: np.ndarray) -> np.ndarray:
        """uint8 [rows, cols]: the colours of the points."""
        colours = np.empty(self.points, np.uint8)
        self.stones(state, colours)
        return colours.reshape(self.shape)

    def to_text(self, state: np.ndarray) -> str:
        """Board diagram: a line with the side to move, then rows from the top with coordinates."""
        ko, passes = (None, 0) if self.marks is None else self.marks(state)
        return print_diagram(self.board(state), int(state[TO_PLAY]), ko=ko, passes=passes, slanted=self.hexagons)

    def from_text(self, text: str) -> np.ndarray:
        """int32 [S]: the position a diagram of `to_text` shows. ValueError says what does not fit."""
        diagram = parse_diagram(text, self.cols, self.rows)
        state = self.set_up(diagram.colours, diagram.to_play)
        if self.set_marks is not None:
            self.set_marks(state, diagram.ko, diagram.passes)
        return state


def check_size(size: int, title: str, least: int, most: int) -> None:
    """ChoiceError unless a game is played on boards of `size`: `least` to `most` points a side."""
    if not least <= size <= most:
        sizes = f"only {least}" if least == most else f"{least} to {most}"
        raise ChoiceError(f"board size {size} is not supported: {title} has {sizes}")


@kernel(OUTCOME.signature)
def outcome_of_won(state):
    """-1 for the side to move if the field WON says that the last move won, else NOT_OVER."""
    return -1 if state[WON] else NOT_OVER


@kernel(STONES.signature)
def stones_of_cells(state, out):
    """Write the colours of the points, from the field COLOURS on a cell a point, into out uint8 [>= points]."""
    for point in range(np.int64(state[SIZE]) ** 2):
        out[point] = state[COLOURS + point]


@kernel(types.void(STEP, _STATES, _HISTORIES, _ACTIONS))
def step_batch(step: Any, states: np.ndarray, histories: np.ndarray, actions: np.ndarray) -> None:
    """Play actions[b] int64 in states[b] int32 [S] with histories[b] uint64 [H], in place, except negative actions."""
    for b in range(states.shape[0]):
        if actions[b] >= 0:
            step(states[b], histories[b], actions[b])


@kernel(types.void(OUTCOME, _STATES, _OUTCOMES))
def outcome_batch(outcome: Any, states: np.ndarray, out: np.ndarray) -> None:
    """Write the outcome of each state into out int8 [B]."""
    for b in range(states.shape[0]):
        out[b] = outcome(states[b])
