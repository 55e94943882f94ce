"""Perfect play in games that are solved: the value of every move, and the moves of a perfect player.

    tictactoe                       searched to the end here, in a fraction of a second
    nogo up to 4x4, othello of 4x4  searched to the end here, in seconds at most
    connect4                        bitbully's solver with its opening book (`pip install bitbully`, AGPL-3.0: never a
                                    dependency, only looked for here)

A value is +1, 0 or -1: what the side to move can force, a win, a draw or a loss; neither the length of the game nor its
score counts. The best moves keep the value; in Connect-4 they are the quickest win, else a draw, else the slowest loss.
Nothing is trained on these values, and a solver never plays for the engine.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Hashable
from typing import Any

import numpy as np

from gozero.games import symmetry
from gozero.games.game import NOT_OVER, PLY, TO_PLAY, Game
from gozero.system.errors import UserError

SEARCHED = {"tictactoe": 3, "nogo": 4, "othello": 4}  # the largest board of each game that is searched here
LONGEST = 200  # plies


class UnsolvedError(UserError):
    """There is no solver of this game here; one line that says so, or how to get it."""


class Solver(ABC):
    """Gives the values of a game's positions. States are int32 [S], of games that are not over."""

    @abstractmethod
    def scores(self, state: np.ndarray) -> dict[int, int]:
        """{legal action: above 0 for a win of the side to move, below for a loss, further from 0 the sooner}."""

    def values(self, state: np.ndarray) -> dict[int, int]:
        """{legal action: its value for the side to move, +1, 0 or -1}."""
        return {action: int(np.sign(score)) for action, score in self.scores(state).items()}

    def best_moves(self, state: np.ndarray) -> list[int]:
        """The actions that a perfect player chooses from, at least one."""
        scores = self.scores(state)
        return [action for action, score in scores.items() if score == max(scores.values())]


def solver(game: Game) -> Solver:
    """Return the solver of `game`. UnsolvedError if there is none."""
    if game.name == "connect4":
        return BitbullySolver(game)
    if game.size <= SEARCHED.get(game.name, 0):
        return TreeSolver(game)
    raise UnsolvedError(
        f"there is no perfect player of {game.name} {game.dimensions}: only of tictactoe, connect4, nogo up to 4x4 "
        "and othello 4x4"
    )


class TreeSolver(Solver):
    """Searches to the end over a game's kernels: negamax that stops at the first winning move and remembers the value
    of each board, up to symmetry, with the side to move: the future of a position may depend on nothing else.

    The sides must take turns, and no game may last longer than LONGEST.
    """

    def __init__(self, game: Game) -> None:
        self._game = game
        # int64 [symmetries, points]: the point that each symmetry brings to each point
        self._images = np.stack([symmetry.point_map(game.shape, number) for number in game.symmetries])
        self._known: dict[Hashable, int] = {}

    def scores(self, state: np.ndarray) -> dict[int, int]:
        history = self._game.new_histories(1, LONGEST)[0]
        return {action: -self._value(*child) for action, child in self._children(state, history)}

    def _value(self, state: np.ndarray, history: np.ndarray) -> int:
        outcome = int(self._game.outcome(state))
        if outcome != NOT_OVER:
            return outcome
        key = min(map(bytes, self._game.board(state).reshape(-1)[self._images])), int(state[TO_PLAY])
        if key not in self._known:
            self._known[key] = self._search(state, history)
        return self._known[key]

    def _search(self, state: np.ndarray, history: np.ndarray) -> int:
        highest = -1
        for _, child in self._children(state, history):
            highest = max(highest, -self._value(*child))
            if highest == 1:
                break
        return highest

    def _children(self, state: np.ndarray, history: np.ndarray) -> list[tuple[int, tuple[np.ndarray, np.ndarray]]]:
        """(action, position after it): a pass first, because it ends games soonest, then by the number of replies."""
        game = self._game
        assert state[PLY] < LONGEST, game.to_text(state)
        mask = np.empty(game.actions, np.uint8)
        game.legal(state, history, mask)
        children = []
        for action in np.flatnonzero(mask).tolist():
            child = state.copy(), history.copy()
            game.step(*child, action)
            children.append((action != game.pass_action, game.legal(*child, mask), action, child))
        return [(action, child) for *_, action, child in sorted(children, key=lambda entry: entry[:3])]


class BitbullySolver(Solver):
    """Connect-4 by bitbully, which plays in columns and numbers the discs in the order of play, as we do.

    UnsolvedError if it is not installed.
    """

    def __init__(self, game: Game) -> None:
        try:
            from bitbully import BitBully, Board
        except ImportError:
            raise UnsolvedError("the perfect player of connect4 needs bitbully; run: pip install bitbully") from None
        self._game, self._board = game, Board
        self._expert: Any = BitBully()  # loads the book of all positions of 12 plies

    def scores(self, state: np.ndarray) -> dict[int, int]:
        game = self._game
        mask = np.empty(game.actions, np.uint8)
        game.legal(state, game.new_histories(1)[0], mask)
        scores = self._expert.score_all_moves(self._board.from_array(game.board(state).tolist()))
        return {action: scores[action % game.cols] for action in np.flatnonzero(mask).tolist()}
