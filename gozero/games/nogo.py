"""NoGo on 2x2 to 13x13: no move may capture, none may leave its own chain without a liberty, and who cannot move loses.

The state row is a board of `gozero.games.go.chains` with one more field in its header, and two tables for each colour
behind it, int32 [points] each, Black's before White's:

  PLAYABLE    number of points where Black may play; the next field is White's
  order       the points; the playable ones stand first, unordered
  place       where in `order` each point stands

Such a pair is a sparse set (Briggs and Torczon, 1993): asking, drawing a member at random and striking one out take one
step each. Striking is all it needs: what is illegal stays so, as no stone is ever taken off and a chain grows only onto
its liberties. Nor need `step` look at every point: a stone closes only the points beside it, and the last liberties of
the chains beside it. A position is its stones and the side to move; the history is left alone.
"""

from __future__ import annotations

from functools import partial

import numpy as np
from numba import types

from gozero.games.game import BLACK, EMPTY, NOT_OVER, PLY, TO_PLAY, WHITE, Game, check_size
from gozero.games.go import chains
from gozero.games.go.chains import EDGE, LIBERTIES, NEXT, RECORD, SIZE, at, colour_at, liberties_at, put
from gozero.system.jit import LEGAL, MASK, OUTCOME, OWNER, SAMPLE, SCORE, STATE, STEP, kernel
from gozero.system.rng import below

PLAYABLE = 5
MIN_SIZE, MAX_SIZE = 2, 13
SIDES_OF_A_POINT = 4  # and so the most pseudo-liberties of a chain whose liberties are one point


@kernel()
def _order_start(colour, size):
    """Where a colour's `order` begins in the row; its `place` follows."""
    return chains.state_ints(size) + (colour - 1) * 2 * size * size


@kernel()
def _playable(state, colour):
    """Number of points where a colour may play."""
    return np.int64(at(state, PLAYABLE + colour - 1))


@kernel()
def _may_play(state, action, colour, size):
    return at(state, _order_start(colour, size) + size * size + action) < _playable(state, colour)


@kernel()
def _strike(state, action, colour, size):
    """Take a point from those where a colour may play, if it is one of them: the last changes places with it."""
    order = _order_start(colour, size)
    places = order + size * size
    place = at(state, places + action)
    last = _playable(state, colour) - 1
    if place > last:
        return
    moved = at(state, order + last)
    put(state, order + place, moved)
    put(state, places + moved, place)
    put(state, order + last, action)
    put(state, places + action, last)
    put(state, PLAYABLE + colour - 1, last)


@kernel()
def _put_stone(state, action, colour, size):
    """Put a stone on an empty point, where then neither colour may play."""
    chains.put_stone(state, chains.cell_of(action, size), colour, size)
    _strike(state, action, BLACK, size)
    _strike(state, action, WHITE, size)


@kernel()
def _judge(state, cell, size):
    """Strike an empty cell for each colour that a stone there would break the rules for."""
    alive, dead = chains.fates_beside(state, cell, size)
    for colour in (BLACK, WHITE):
        lives = (at(state, cell + LIBERTIES) | (alive & colour)) != 0
        if (dead & (BLACK + WHITE - colour)) | (not lives):  # branches apart would be taken at random
            _strike(state, chains.action_of(cell, size), colour, size)


@kernel()
def _some_liberty(state, cell, size):
    """A liberty, as a cell, of the chain at `cell`, which has one."""
    down = chains.row_step(size)
    stone = np.int64(cell)
    while True:
        for offset in (-down, -RECORD, RECORD, down):
            if colour_at(state, stone + offset) == EMPTY:
                return stone + offset
        stone = np.int64(at(state, stone + NEXT))


@kernel()
def _judge_around(state, cell, size):
    """Mark the points that the new stone at `cell` closes: those beside it, last liberties of the chains beside it."""
    down = chains.row_step(size)
    for offset in (-down, -RECORD, RECORD, down):
        beside = cell + offset
        found = colour_at(state, beside)
        doubtful = np.int64(0)
        if found == EMPTY:
            doubtful = beside
        elif found != EDGE and 0 < liberties_at(state, beside) <= SIDES_OF_A_POINT:
            doubtful = _some_liberty(state, beside, size)
        if doubtful:
            _judge(state, doubtful, size)


@kernel(STEP.signature)
def step(state, history, action):
    """Play a legal action for the side to move, in place."""
    size = np.int64(state[SIZE])
    colour = state[TO_PLAY]
    _put_stone(state, action, colour, size)
    _judge_around(state, chains.cell_of(action, size), size)
    state[TO_PLAY] = BLACK + WHITE - colour
    state[PLY] += 1


@kernel(LEGAL.signature)
def legal(state, history, out):
    """Write 0 / 1 for each action into out uint8 [A] and return how many are legal. Passing never is."""
    colour = state[TO_PLAY]
    order = _order_start(colour, np.int64(state[SIZE]))
    count = _playable(state, colour)
    out[:] = 0
    for k in range(count):
        out[at(state, order + k)] = 1
    return count


@kernel(SAMPLE.signature)
def sample(state, history, generator):
    """A uniformly random legal point; the game must not be over."""
    colour = state[TO_PLAY]
    order = _order_start(colour, np.int64(state[SIZE]))
    return np.int64(at(state, order + below(generator, _playable(state, colour))))


@kernel(OUTCOME.signature)
def outcome(state):
    """-1 where the side to move has no legal move, else NOT_OVER: nobody wins by moving, and there are no draws."""
    return NOT_OVER if _playable(state, state[TO_PLAY]) else -1


@kernel(OWNER.signature)
def owner(state, out):
    """Who may play where, into out int8 [points]: +1 only the side to move, -1 only the other, 0 both or neither."""
    size = np.int64(state[SIZE])
    colour = state[TO_PLAY]
    for action in range(size * size):
        mine, theirs = _may_play(state, action, colour, size), _may_play(state, action, BLACK + WHITE - colour, size)
        out[action] = np.int8(mine) - np.int8(theirs)


@kernel(SCORE.signature)
def score(state):
    """Points where the side to move may play less those where the other may, less 1 for the move: the sign is the
    outcome's.
    """
    colour = state[TO_PLAY]
    return np.float64(_playable(state, colour) - _playable(state, BLACK + WHITE - colour) - 1)


@kernel(types.boolean(STATE, MASK))
def _place(state, colours):
    """Put stones uint8 [points] on the empty board; False if a chain has no liberty."""
    size = np.int64(state[SIZE])
    for action in range(size * size):
        if colours[action] != EMPTY:
            _put_stone(state, action, np.int32(colours[action]), size)
    stifled = 0
    for action in range(size * size):
        cell = chains.cell_of(action, size)
        if colours[action] == EMPTY:
            _judge(state, cell, size)
        else:
            stifled += liberties_at(state, cell) == 0
    return stifled == 0


def make(size: int = 9) -> Game:
    """NoGo on a size x size board, size 2 to 13."""
    check_size(size, "NoGo", MIN_SIZE, MAX_SIZE)
    board, points = np.zeros(chains.state_ints(size), np.int32), size * size
    chains.clear(board, size)
    board[PLAYABLE : PLAYABLE + 2] = points  # both colours may play everywhere
    initial = np.concatenate([board, *[np.arange(points, dtype=np.int32)] * 4])
    return Game(
        name="nogo", rows=size, cols=size, has_pass=False, symmetries=tuple(range(8)), max_plies=size * size,
        initial=initial, step=step, legal=legal, outcome=outcome, sample=sample, stones=chains.stones,
        set_up=partial(chains.set_up, initial, _place), owner=owner, score=score,
    )  # fmt: skip
