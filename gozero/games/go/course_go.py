"""The course's simplified Go on 5x5 (KAIST EE488C, 2016): the side with more one-point eyes wins.

  eye       an empty point all of whose neighbours are stones of one colour; the edge counts as one of them
  illegal   what simple ko and suicide forbid, and to fill an own eye unless the other side could capture by playing
            there; passing, while any point is legal
  end       when neither side can move, which takes two passes in a row, or after 50 plies, passes included

The state row and `step` are those of `gozero.games.go.go`. An eye here may be false: diagonals do not matter.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from gozero.games.game import BLACK, EMPTY, NOT_OVER, PLY, TO_PLAY, WHITE, Game, check_size
from gozero.games.go import chains, go
from gozero.games.go.chains import LIBERTIES, SIZE, at, colour_at
from gozero.games.go.header import KO, MOVE_LIMIT, PASSES
from gozero.system.jit import LEGAL, OUTCOME, OWNER, SAMPLE, SCORE, kernel
from gozero.system.rng import below

BOARD = 5
RULES = "chinese-simple"
PLIES = 50


@kernel()
def _eye_of(state, cell, size):
    """The colour whose eye an empty cell is, or EMPTY."""
    beside = chains.colours_beside(state, cell, size) & (BLACK | WHITE)
    return EMPTY if at(state, cell + LIBERTIES) or beside == BLACK | WHITE else beside


@kernel()
def _may_play(state, cell, colour, size):
    """Whether the side to move may put a stone on an empty cell."""
    if cell == state[KO]:
        return False
    if at(state, cell + LIBERTIES):
        return True
    alive, dead = chains.fates_beside(state, cell, size)
    if _eye_of(state, cell, size) == colour:
        return (alive & colour) != 0 and (dead & colour) != 0
    return ((alive & colour) | (dead & (BLACK + WHITE - colour))) != 0


@kernel(LEGAL.signature)
def legal(state, history, out):
    """Write 0 / 1 for each action into out uint8 [A] and return how many are legal; passing is if nothing else is."""
    size = np.int64(state[SIZE])
    count = 0
    for action in range(size * size):
        cell = chains.cell_of(action, size)
        allowed = colour_at(state, cell) == EMPTY and _may_play(state, cell, state[TO_PLAY], size)
        out[action] = allowed
        count += allowed
    out[size * size] = count == 0
    out[size * size + 1] = 0
    return max(count, 1)


@kernel(SAMPLE.signature)
def sample(state, history, generator):
    """A uniformly random legal action: the k-th point that is met replaces the one before with probability 1/k."""
    size = np.int64(state[SIZE])
    start = chains.empties_start(size)
    chosen, count = size * size, 0
    for place in range(state[chains.EMPTY_COUNT]):
        cell = np.int64(at(state, start + place))
        if _may_play(state, cell, state[TO_PLAY], size):
            count += 1
            if below(generator, count) == 0:
                chosen = chains.action_of(cell, size)
    return chosen


@kernel(OWNER.signature)
def owner(state, out):
    """The eyes into out int8 [points]: +1 the side to move's, -1 the other's, 0 all other points."""
    size = np.int64(state[SIZE])
    for action in range(size * size):
        cell = chains.cell_of(action, size)
        eye = _eye_of(state, cell, size) if colour_at(state, cell) == EMPTY else EMPTY
        out[action] = 0 if eye == EMPTY else (1 if eye == state[TO_PLAY] else -1)


@kernel(SCORE.signature)
def score(state):
    """Eyes of the side to move above the other's."""
    size = np.int64(state[SIZE])
    start = chains.empties_start(size)
    lead = 0
    for place in range(state[chains.EMPTY_COUNT]):
        eye = _eye_of(state, np.int64(at(state, start + place)), size)
        lead += 0 if eye == EMPTY else (1 if eye == state[TO_PLAY] else -1)
    return np.float64(lead)


@kernel(OUTCOME.signature)
def outcome(state):
    """+1, 0 or -1 for the side to move after two passes or the last ply, else NOT_OVER."""
    if state[PASSES] < 2 and state[PLY] < state[MOVE_LIMIT]:
        return NOT_OVER
    return np.int64(np.sign(score(state)))


def make(size: int = BOARD) -> Game:
    """The course's Go; there is one board."""
    check_size(size, "course_go", BOARD, BOARD)
    rules_of_go = go.make(size, RULES, komi=0.0, move_limit=PLIES)
    kernels = {"legal": legal, "outcome": outcome, "sample": sample, "owner": owner, "score": score}
    return replace(rules_of_go, name="course_go", thinkable=None, **kernels)
