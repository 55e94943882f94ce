"""How a game of Go ends: which moves are still worth playing, when to pass, and what is dead at the end.

Vocabulary. A side *wins as it stands* if both counts say so: the area as the board stands, and the *settled* area, from which stones
inside the other side's pass-alive territory (Benson 1976) are removed. Nothing else is ever taken for dead: a server that removes no
dead stones counts the first, a referee that removes them the second, and whoever passes here has won by both.

Arrays of points are [P] in action order; the side to move is +, as everywhere. This module knows neither search nor protocol.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from gozero.games import GO_FAMILY, chains, go
from gozero.games.game import BLACK, EMPTY, PLY, TO_PLAY, WHITE, Game
from gozero.position import Position


def candidates(position: Position) -> np.ndarray:
    """bool [A]: the moves worth a thought in a position that is not over; see `sensible_moves`."""
    opponent_passed = bool(position.moves) and position.moves[-1].action == position.game.pass_action
    return sensible_moves(position.game, position.state, position.legal(), opponent_passed=opponent_passed)


def sensible_moves(game: Game, state: np.ndarray, legal: np.ndarray, *, opponent_passed: bool) -> np.ndarray:
    """The legal actions that are worth a thought, bool [A]; nothing but the pass where passing is right at once.

    Never among them, while there is anything else: a move into one's own one-point eye or into one's own pass-alive territory with no
    enemy stone in it. The pass is among them if the side to move wins as it stands; it stands alone if the opponent has just passed
    as well, or all that could still be played is pass-alive, or nothing else is left. A game beyond ``game.max_plies`` is brought
    to its end: from then on the pass is always allowed and moves into anybody's pass-alive territory are not. In games other than Go
    everything legal is worth a thought.

    Args:
        game: any.
        state: int32 [S].
        legal: bool [A].
        opponent_passed: whether the opponent's last move was a pass.
    """
    if game.name not in GO_FAMILY:
        return legal
    alive = _pass_alive(state, game.points)
    useful = legal[: game.points] & ~wasted_points(state, alive, game.rows)
    contested = useful & (alive == 0)
    wins = wins_as_it_stands(state)
    overlong = state[PLY] >= game.max_plies
    sensible = np.zeros(game.actions, np.bool_)
    sensible[: game.points] = contested if overlong else useful
    passes_now = wins and (opponent_passed or not contested.any())
    if passes_now or not sensible.any():
        sensible[:] = False
        sensible[game.pass_action] = True
    elif wins or overlong:
        sensible[game.pass_action] = True
    return sensible


def wins_as_it_stands(state: np.ndarray) -> bool:
    """Whether the side to move is ahead on the board as it stands, with dead stones counted for either side."""
    return bool(go.score(state) > 0 and go.settled_score(state) > 0)


def wasted_points(state: np.ndarray, alive: np.ndarray, size: int) -> np.ndarray:
    """Points that the side to move would only lose by filling, bool [P]: own eyes, and own pass-alive territory without enemy stones.

    Args:
        state: int32 [S].
        alive: int8 [P] from ``go.pass_alive``.
        size: points a side.
    """
    board = board_of(state, size)
    own, enemy, empty = board == state[TO_PLAY], board == BLACK + WHITE - state[TO_PLAY], board == EMPTY
    territory = (alive.reshape(size, size) > 0) & ~own
    wasted = empty & territory & ~_connected(enemy & territory, territory)
    for row, col in np.argwhere(empty & ~wasted & ~_touches(~own)):  # eyes: every neighbour is an own stone
        neighbours = _touches(_only(row, col, size))
        first_row, first_col = np.argwhere(neighbours)[0]
        chain = _connected(_only(first_row, first_col, size), own)
        wasted[row, col] = not (neighbours & ~chain).any()
    return np.asarray(wasted.reshape(-1))


@dataclass(frozen=True)
class FinalStatus:
    """What the end of the game makes of every point; lists of actions. ``alive`` and ``dead`` hold whole chains."""

    alive: list[list[int]]
    dead: list[list[int]]
    black_territory: list[int]
    white_territory: list[int]
    dame: list[int]


def final_status(state: np.ndarray, size: int) -> FinalStatus:
    """Dead is what stands where the settled area belongs to the other side, so that the status always agrees with ``settled_score``."""
    owner = np.empty(size * size, np.int8)
    go.settled_owner(state, owner)
    side = state[TO_PLAY]
    owning_colour = np.choose(owner + 1, [BLACK + WHITE - side, EMPTY, side])
    board = board_of(state, size).reshape(-1)
    chains = chains_of(board.reshape(size, size))
    return FinalStatus(
        alive=[chain for chain in chains if owning_colour[chain[0]] == board[chain[0]]],
        dead=[chain for chain in chains if owning_colour[chain[0]] != board[chain[0]]],
        black_territory=_points((owning_colour == BLACK) & (board != BLACK)),
        white_territory=_points((owning_colour == WHITE) & (board != WHITE)),
        dame=_points(owning_colour == EMPTY),
    )


def board_of(state: np.ndarray, size: int) -> np.ndarray:
    """Colours of the points, uint8 [size, size]."""
    colours = np.empty(size * size, np.uint8)
    chains.stones(state, colours)
    return colours.reshape(size, size)


def chains_of(board: np.ndarray) -> list[list[int]]:
    """Every chain of a board uint8 [size, size] as the ascending list of its actions."""
    left = board != EMPTY
    chains = []
    while left.any():
        row, col = np.argwhere(left)[0]
        chain = _connected(_only(row, col, len(board)), board == board[row, col])
        chains.append(_points(chain.reshape(-1)))
        left &= ~chain
    return chains


def _pass_alive(state: np.ndarray, points: int) -> np.ndarray:
    alive = np.empty(points, np.int8)
    go.pass_alive(state, alive)
    return alive


def _points(mask: np.ndarray) -> list[int]:
    return [int(point) for point in np.flatnonzero(mask)]


def _only(row: int, col: int, size: int) -> np.ndarray:
    """A mask of one point, bool [size, size]."""
    mask = np.zeros((size, size), np.bool_)
    mask[row, col] = True
    return mask


def _touches(mask: np.ndarray) -> np.ndarray:
    """The points with a neighbour in ``mask``, bool [size, size]."""
    touched = np.zeros_like(mask)
    touched[1:] |= mask[:-1]
    touched[:-1] |= mask[1:]
    touched[:, 1:] |= mask[:, :-1]
    touched[:, :-1] |= mask[:, 1:]
    return touched


def _connected(start: np.ndarray, within: np.ndarray) -> np.ndarray:
    """All points of ``within`` that are connected with ``start`` through ``within``, bool [size, size]."""
    reached = start & within
    while True:
        grown = (reached | _touches(reached)) & within
        if (grown == reached).all():
            return reached
        reached = grown
