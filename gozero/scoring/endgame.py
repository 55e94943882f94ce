"""The end of a game of Go as the rules and a settlement decide it: which moves are still worth playing, when a pass is
sound.

A side can take more while there is a point between the colours, of no seki, that it can play without being in atari. It
wins as it stands if both counts say so: the area as the board stands, which a server counts that removes no dead
stones, and the area without stones inside the other side's pass-alive territory (Benson 1976). A
`settlement.Settlement` judges what else is dead. Where territory counts, a stone costs a point that gains nothing, so a
settlement alone says which moves are left.

A result is +1, 0 or -1 for the side to move, as an outcome. Arrays of points are [P] in action order.
"""

from __future__ import annotations

import numpy as np

from gozero.games import GO_FAMILY
from gozero.games.colours import opponent
from gozero.games.game import BLACK, EMPTY, PLY, TO_PLAY, Game
from gozero.games.go import go
from gozero.games.position import Position
from gozero.scoring.regions import connected, mask_of, points, touches
from gozero.scoring.settlement import Settlement, as_it_stands


def candidates(position: Position) -> np.ndarray:
    """bool [A]: the moves worth a thought in a position that is not over; see `sensible_moves`."""
    opponent_passed = bool(position.moves) and position.moves[-1].action == position.game.pass_action
    return sensible_moves(position.game, position.state, position.legal(), opponent_passed=opponent_passed)


def sensible_moves(game: Game, state: np.ndarray, legal: np.ndarray, *, opponent_passed: bool) -> np.ndarray:
    """The legal actions worth considering, bool [A]; only the pass where passing is right at once.

    Never among them, while there is anything else: a move into one's own one-point eye or into one's own pass-alive
    territory with no enemy stone in it. The pass is among them if the side to move cannot take more and wins as it
    stands, or draws so and the opponent has just passed; it stands alone if that side wins and the opponent has just
    passed, or all that could still be played is pass-alive, or nothing else is left. A game beyond
    ``game.max_plies`` is ended: the pass is always allowed and moves into either side's pass-alive territory are not.
    In games other than Go every legal action is considered. State int32 [S], legal bool [A].
    """
    if game.name not in GO_FAMILY:
        return legal
    alive = _pass_alive(game, state)
    useful = legal[: game.points] & ~_wasted_points(game, state, alive)
    contested = useful & (alive == 0)
    standing = result_as_it_stands(state)
    overlong = state[PLY] >= game.max_plies
    sensible = np.zeros(game.actions, np.bool_)
    sensible[: game.points] = contested if overlong else useful
    passes_now = standing > 0 and (opponent_passed or not contested.any())
    may_pass = standing > 0 or (standing == 0 and opponent_passed)
    if passes_now or not sensible.any():
        sensible[:] = False
        sensible[game.pass_action] = True
    elif overlong or (may_pass and not can_take_more(game.board(state), int(state[TO_PLAY]), legal)):
        sensible[game.pass_action] = True
    return sensible


def settled_moves(
    game: Game,
    state: np.ndarray,
    sensible: np.ndarray,
    settlement: Settlement,
    *,
    opponent_passed: bool,
    friendly: bool,
) -> np.ndarray:
    """The sensible moves that a settlement leaves, bool [A].

    Only the pass if nothing is left to gain, or if the opponent has passed, the side is ``friendly`` and the settlement
    wins, or draws and is complete. A side that is not friendly must capture dead stones that lower its result.
    """
    settled, standing = settled_result(state, settlement), result_as_it_stands(state)
    gains = settled > standing and not sensible[game.pass_action]
    agreed = friendly and opponent_passed and (settled > 0 or (settled == 0 and settlement.is_complete))
    if agreed or (settlement.is_complete and not gains):
        return np.arange(game.actions) == game.pass_action
    if settled > standing and opponent_passed:
        taking = sensible & _taking_off(game, state, settlement)
        return taking if taking.any() else sensible
    return sensible


def territory_moves(game: Game, state: np.ndarray, legal: np.ndarray, *, opponent_passed: bool) -> np.ndarray:
    """The legal actions worth considering where territory counts, bool [A], before a settlement is known: no move into
    either side's pass-alive territory or one's own eye, and the pass unless more than neutral points is open.
    """
    alive = _pass_alive(game, state)
    useful = legal.copy()
    useful[: game.points] &= ~_wasted_points(game, state, alive) & (alive == 0)
    useful[game.pass_action] = opponent_passed or not useful[: game.points].any() or not go.is_open(state)
    return useful


def unsettled_moves(
    game: Game, state: np.ndarray, useful: np.ndarray, settlement: Settlement, *, opponent_passed: bool
) -> np.ndarray:
    """Those of the `territory_moves` that a settlement leaves, bool [A]: onto open points, or in a ko all, as threats.

    The pass, which after the opponent's would end the game, is among them only if the search counts that end as the
    settlement does, or if all the others would put their own string in atari; it stands alone if nothing is left.
    """
    left, passing = useful.copy(), np.arange(game.actions) == game.pass_action
    if not state[go.KO]:
        left[: game.points] &= settlement.open
    left[game.pass_action] &= not opponent_passed or settled_result(state, settlement) == np.sign(go.score(state))
    board, colour = game.board(state), int(state[TO_PLAY])
    if not left[game.pass_action] and not any(_is_safe(board, action, colour) for action in points(left)):
        left = passing if opponent_passed else left | passing
    return passing if settlement.is_complete else left


def clean_up_moves(
    game: Game, state: np.ndarray, legal: np.ndarray, settlement: Settlement, *, opponent_passed: bool
) -> np.ndarray:
    """The moves, bool [A], that help to capture the other side's dead stones, or are open unless the opponent has just
    passed, since they may be threats; only the pass if there are none.
    """
    passing = np.arange(game.actions) == game.pass_action
    if not settlement.dead_of(opponent(int(state[TO_PLAY]))):
        if settlement.is_complete:
            return passing
        return sensible_moves(game, state, legal, opponent_passed=opponent_passed)
    useful = legal & ~passing
    useful[: game.points] &= ~_wasted_points(game, state, _pass_alive(game, state))
    wanted = _taking_off(game, state, settlement)
    if not opponent_passed:
        wanted[: game.points] |= settlement.open
    return next(mask for mask in (useful & wanted, useful, passing) if mask.any())


def settled_result(state: np.ndarray, settlement: Settlement) -> int:
    """The result of a settlement for the side to move."""
    lead = int(np.sign(settlement.area - go.white_bonus(state)))
    return lead if state[TO_PLAY] == BLACK else -lead


def _taking_off(game: Game, state: np.ndarray, settlement: Settlement) -> np.ndarray:
    """The empty points of the side to move around the other side's dead stones, bool [A]."""
    colour, board = int(state[TO_PLAY]), settlement.board
    dead = mask_of(settlement.dead_of(opponent(colour)), len(board))
    around = connected(dead, dead | (board == EMPTY)).reshape(-1) & ~dead.reshape(-1) & (settlement.owner == colour)
    return np.append(around, np.zeros(game.actions - game.points, np.bool_))


def can_take_more(board: np.ndarray, colour: int, legal: np.ndarray) -> bool:
    """Whether a side has a legal move (bool [A]) onto a point between the colours, of no seki, and not into atari."""
    return any(_is_safe(board, action, colour) for action in points(as_it_stands(board).open & legal[: board.size]))


def _is_safe(board: np.ndarray, action: int, colour: int) -> bool:
    """Whether a legal move leaves its own string two liberties or more."""
    point = mask_of([action], len(board))
    chain = connected(point, point | (board == colour))
    empty = ((board == EMPTY) & ~point) | _captured(board, point, opponent(colour))
    return bool((touches(chain) & empty).sum() > 1)


def _captured(board: np.ndarray, point: np.ndarray, colour: int) -> np.ndarray:
    """bool [size, size]: the stones of a colour that a stone of the other at `point`, bool [size, size], takes off."""
    captured = np.zeros(board.shape, np.bool_)
    for beside in points(touches(point) & (board == colour)):
        chain = connected(mask_of([beside], len(board)), board == colour)
        if not (touches(chain) & (board == EMPTY) & ~point).any():
            captured |= chain
    return captured


def result_as_it_stands(state: np.ndarray) -> int:
    """The certain result of the side to move as it stands: the worse of counting dead stones as alive or dead."""
    return int(np.sign(min(go.score(state), go.settled_score(state))))


def _wasted_points(game: Game, state: np.ndarray, alive: np.ndarray) -> np.ndarray:
    """Points, bool [P], that it would be a loss to fill: own eyes, own pass-alive territory without enemy stones."""
    board, size = game.board(state), game.rows
    own, empty = board == state[TO_PLAY], board == EMPTY
    territory = (alive.reshape(size, size) > 0) & ~own
    wasted = empty & territory & ~connected(~own & ~empty & territory, territory)
    for point in points(empty & ~wasted & ~touches(~own)):  # eyes: every neighbour is an own stone
        neighbours = touches(mask_of([point], size))
        chain = connected(mask_of(points(neighbours)[:1], size), own)
        wasted.reshape(-1)[point] = not (neighbours & ~chain).any()
    return np.asarray(wasted.reshape(-1))


def _pass_alive(game: Game, state: np.ndarray) -> np.ndarray:
    alive = np.empty(game.points, np.int8)
    go.pass_alive(state, alive)
    return alive
