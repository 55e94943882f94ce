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
from gozero.system.jit import HISTORY, LEGAL, MASK, OUTCOME, OWNER, SAMPLE, SCORE, STATE, STEP, copy_row, kernel
from gozero.system.rng import below

PLAYABLE = 5
MIN_SIZE, MAX_SIZE = 2, 13
SIDES_OF_A_POINT = 4  # and so the most pseudo-liberties of a chain whose liberties are one point

# `solved` plays on where both sides together have so many moves or fewer, through at most so many positions
SOLVED_MOVES, SOLVED_POSITIONS = 22, 1000  # at most half a millisecond
TABLE = 1024  # positions whose result is remembered, a power of two
WON = np.uint64(1)  # this bit of an entry is the result, the others are those of the position's hash
ACTIONS = 256  # above all actions

_ROWS, _INTS = types.Array(types.int32, 2, "C"), types.Array(types.int64, 2, "C")


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


@kernel()
def _play(state, action):
    """Play a legal action for the side to move, in place."""
    size = np.int64(state[SIZE])
    colour = state[TO_PLAY]
    _put_stone(state, action, colour, size)
    _judge_around(state, chains.cell_of(action, size), size)
    state[TO_PLAY] = BLACK + WHITE - colour
    state[PLY] += 1


@kernel(STEP.signature)
def step(state, history, action):
    """Play a legal action for the side to move, in place."""
    _play(state, action)


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


@kernel()
def _sorted_moves(state, child, moves):
    """Write the moves of the side to move into moves int64, last those that leave it more moves than the other side;
    `child` is scratch. Returns how many there are.
    """
    size, colour = np.int64(state[SIZE]), np.int64(state[TO_PLAY])
    start, count = _order_start(colour, size), _playable(state, colour)
    for k in range(count):
        action = np.int64(at(state, start + k))
        copy_row(child, state)
        _play(child, action)
        move = (_playable(child, colour) - _playable(child, BLACK + WHITE - colour)) * ACTIONS + action
        place = k
        while place > 0 and moves[place - 1] > move:
            moves[place] = moves[place - 1]
            place -= 1
        moves[place] = move
    return count


@kernel(types.int64(_ROWS, _INTS, types.int64[::1], HISTORY, HISTORY))
def _solve(line, moves, left, keys, seen):
    """+1 or -1 for the side to move in line[0], by a search to the end of the game; NOT_OVER if it takes too long.

    The other rows, `moves` and `left` are scratch for each depth, `keys` the hashes and `seen` the table, both all 0.
    """
    size, depth, result, entered, positions = np.int64(line[0, SIZE]), 0, 0, True, 0
    while depth >= 0:
        here, place = line[depth], np.int64(keys[depth] % np.uint64(TABLE))
        colour = np.int64(here[TO_PLAY])
        mine, theirs = _playable(here, colour), _playable(here, BLACK + WHITE - colour)
        if not entered:  # back from a move, which had this result for the other side
            result = 1 if result < 0 else (0 if left[depth] else -1)
        elif mine == 0 or theirs == 0:  # who has no move never gets one
            result = 1 if mine else -1
        elif depth and seen[place] | WON == keys[depth] | WON:
            result = 1 if seen[place] & WON else -1
        else:
            positions += 1
            if positions > SOLVED_POSITIONS:
                return NOT_OVER
            result, left[depth] = 0, _sorted_moves(here, line[depth + 1], moves[depth])
        if result:
            seen[place] = keys[depth] | WON if result > 0 else keys[depth] & ~WON
            entered, depth = False, depth - 1
            continue
        left[depth] -= 1
        action = moves[depth, left[depth]] % ACTIONS
        copy_row(line[depth + 1], here)
        _play(line[depth + 1], action)
        keys[depth + 1] = keys[depth] ^ chains.zobrist(colour, chains.cell_of(action, size))
        entered, depth = True, depth + 1
    return result


@kernel(OUTCOME.signature, allocates=True)
def solved(state):
    """The outcome for the side to move where few moves are left and playing them shows it, else NOT_OVER."""
    most = _playable(state, BLACK) + _playable(state, WHITE)
    if most > SOLVED_MOVES:
        return NOT_OVER
    line = np.empty((most + 1, state.shape[0]), np.int32)
    copy_row(line[0], state)
    left, keys, seen = np.empty(most + 1, np.int64), np.zeros(most + 1, np.uint64), np.zeros(TABLE, np.uint64)
    return _solve(line, np.empty((most + 1, most), np.int64), left, keys, seen)


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
        set_up=partial(chains.set_up, initial, _place), solved=solved, owner=owner, score=score,
    )  # fmt: skip
