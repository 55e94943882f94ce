"""The best moves of solved games: what a perfect player chooses from.

    tictactoe  the whole tree, solved here in a fraction of a second and remembered; best is what keeps the value of the position
    connect4   bitbully's solver with its opening book (`pip install bitbully`, AGPL-3.0: never a dependency, only looked for here);
               best is the quickest win, else a draw, else the slowest loss

A solver takes a state int32 [S] of a game that is not over. This is the only module that imports bitbully.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from gozero.games.game import NOT_OVER, Game

Solver = Callable[[np.ndarray], list[int]]  # state int32 [S] -> the best actions, at least one


class UnsolvedError(Exception):
    """Nobody here knows the best moves of this game; one line that says so, or how to get someone who does."""


def solver(game: Game) -> Solver:
    """Who knows the best moves of `game`. Raises `UnsolvedError`."""
    if game.name == "tictactoe":
        return _whole_tree(game)
    if game.name == "connect4":
        return _bitbully(game)
    raise UnsolvedError(f"there is no perfect player of {game.name}: only of tictactoe and connect4")


def _whole_tree(game: Game) -> Solver:
    """Negamax without pruning, for games of a few thousand positions that the stones alone tell apart."""
    history, mask, colours = game.new_histories(1)[0], np.zeros(game.actions, np.uint8), np.empty(game.points, np.uint8)
    known: dict[bytes, int] = {}

    def value(state: np.ndarray) -> int:
        """+1, 0, -1 for the side to move."""
        game.stones(state, colours)
        key = colours.tobytes()
        if key not in known:
            outcome = int(game.outcome(state))
            known[key] = outcome if outcome != NOT_OVER else max(after(state).values())
        return known[key]

    def after(state: np.ndarray) -> dict[int, int]:
        """The value of each legal action for the side to move."""
        game.legal(state, history, mask)
        values = {}
        for action in mask.nonzero()[0].tolist():
            following = state.copy()
            game.step(following, history, action)
            values[action] = -value(following)
        return values

    return lambda state: _best(after(state))


def _bitbully(game: Game) -> Solver:
    """Connect-4 by bitbully, which plays in columns and numbers the discs in the order of play, as we do."""
    try:
        from bitbully import BitBully, Board
    except ImportError:
        raise UnsolvedError("the perfect player of connect4 needs bitbully; run: pip install bitbully") from None
    expert = BitBully()  # loads the book of all positions of 12 plies
    colours, history, mask = np.empty(game.points, np.uint8), game.new_histories(1)[0], np.zeros(game.actions, np.uint8)

    def best_moves(state: np.ndarray) -> list[int]:
        game.stones(state, colours)
        game.legal(state, history, mask)
        scores = expert.score_all_moves(Board.from_array(colours.reshape(game.shape).tolist()))
        return _best({action: scores[action % game.cols] for action in mask.nonzero()[0].tolist()})

    return best_moves


def _best(values: dict[int, int]) -> list[int]:
    most = max(values.values())
    return [action for action, value in values.items() if value == most]
