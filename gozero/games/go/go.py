"""Go on 2x2 to 19x19: turn order, ko and superko, suicide, scoring, and pass-alive areas.

The state row is a board of `gozero.games.go.chains` with the header of `gozero.games.go.header`; history[state[PLY]] is
the Zobrist hash of the stones, under SITUATIONAL flipped by WHITE_TO_PLAY. A move can repeat an earlier position only
on a point that was once emptied (`chains.is_touched`) or by suicide.

Where territory counts, a score is the area less the stones that each side put on the board, on the board or captured:
so territory and prisoners, if all that is dead was taken off.

`step` and `sample` are compiled into the kernels that call them by name: random games are a seventh faster.
"""

from __future__ import annotations

from functools import partial

import numpy as np
from numba import types

from gozero.games.coords import MAX_SIZE
from gozero.games.game import BLACK, EMPTY, NOT_OVER, PLY, TO_PLAY, WHITE, Game, check_size
from gozero.games.go import chains, header, superko
from gozero.games.go.area import area_owners, has_open_region, pass_alive_owners, settled_owners
from gozero.games.go.chains import LIBERTIES, NEXT, RECORD, SIZE, ZOBRIST, at, colour_at, liberties_at
from gozero.games.go.header import BONUS, KO, KO_RULE, KOMI, KOMI_UNITS, MOVE_LIMIT, PASS_BITS, PASSES, SUICIDE
from gozero.games.go.rules import MIN_SIZE, SIMPLE, SITUATIONAL, RuleSet, rule_set
from gozero.games.go.superko import WHITE_TO_PLAY
from gozero.system.jit import LEGAL, MASK, OUTCOME, OWNER, SAMPLE, SCORE, STATE, STEP, kernel
from gozero.system.rng import following, next_random, scaled


@kernel()
def _play_stone(state, cell, colour, size):
    """Put the stone, remove what it captures (or its own chain), note a ko. Returns the change of the Zobrist hash."""
    down = chains.row_step(size)
    rival = BLACK + WHITE - colour
    change = chains.put_stone(state, cell, colour, size)
    captures = False
    for offset in (-down, -RECORD, RECORD, down):
        captures |= (colour_at(state, cell + offset) == rival) & (liberties_at(state, cell + offset) == 0)
    captured, last = 0, 0
    if captures:  # seldom, so that this branch is foreseen and the four below are not met
        for offset in (-down, -RECORD, RECORD, down):
            beside = cell + offset
            if colour_at(state, beside) == rival and liberties_at(state, beside) == 0:
                taken, stones = chains.remove_chain(state, beside, size)
                change ^= taken
                captured += stones
                last = beside
    if liberties_at(state, cell) == 0:
        taken, stones = chains.remove_chain(state, cell, size)
        change ^= taken
    elif captured == 1 and at(state, cell + NEXT) == cell and at(state, cell + LIBERTIES) == 1:
        state[KO] = last
    return change


@kernel(STEP.signature, forceinline=True)
def step(state, history, action):
    """Play a legal action for the side to move, in place; history[PLY + 1] becomes the hash of the new position."""
    size = np.int64(state[SIZE])
    colour = state[TO_PLAY]
    ply = state[PLY]
    position = at(history, ply)
    superko.note(state, position)
    state[KO] = 0
    if action == size * size:
        state[PASSES] += 1
        state[BONUS] += state[header.TERRITORY] * (1 if colour == WHITE else -1)
        state[PASS_BITS] = ((state[PASS_BITS] << 1) | 1) & 31
    else:
        position ^= _play_stone(state, chains.cell_of(action, size), colour, size)
        state[PASSES] = 0
        state[PASS_BITS] = (state[PASS_BITS] << 1) & 31
    if state[KO_RULE] == SITUATIONAL:
        position ^= WHITE_TO_PLAY
    state[TO_PLAY] = BLACK + WHITE - colour
    state[PLY] = ply + 1
    history[ply + 1] = position


@kernel()
def _may_play(state, history, cell, colour, size):
    """Whether the side to move may put a stone on an empty cell."""
    may_repeat = state[KO_RULE] != SIMPLE and chains.is_touched(state, cell) != 0
    if at(state, cell + LIBERTIES) > 0 and not may_repeat:
        return True
    if cell == state[KO]:
        return False
    alive, dead = chains.fates_beside(state, cell, size)
    suicide = (at(state, cell + LIBERTIES) | (alive & colour) | (dead & (BLACK + WHITE - colour))) == 0
    if suicide and state[SUICIDE] == 0:
        return False
    if may_repeat or (suicide and state[KO_RULE] != SIMPLE):
        return not superko.repeats(state, history, cell, colour, size, suicide, dead)
    return True


@kernel(LEGAL.signature)
def legal(state, history, out):
    """Write 0 / 1 for each action into out uint8 [A] and return how many are legal. Passing always is."""
    size = np.int64(state[SIZE])
    colour = state[TO_PLAY]
    count = 1
    action = 0
    for row in range(size):
        cell = chains.cell_at(row, 0, size)
        for _ in range(size):
            allowed = colour_at(state, cell) == EMPTY and _may_play(state, history, cell, colour, size)
            out[action] = allowed
            count += allowed
            action += 1
            cell += RECORD
    out[action] = 1
    out[action + 1] = 0
    return count


@kernel(SAMPLE.signature, forceinline=True)
def sample(state, history, generator):
    """A uniformly random legal point that is not a one-point eye of the side to move; pass when there is none."""
    size = np.int64(state[SIZE])
    colour = state[TO_PLAY]
    start = chains.empties_start(size)
    left = np.int64(state[chains.EMPTY_COUNT])
    word = next_random(generator)
    while left > 0:
        place = scaled(word, left)
        word = following(word)
        cell = np.int64(at(state, start + place))
        if not chains.fills_own_eye(state, cell, colour, size) and _may_play(state, history, cell, colour, size):
            return chains.action_of(cell, size)
        left -= 1
        other = at(state, start + left)
        chains.put(state, start + place, other)
        chains.put(state, start + left, cell)
        chains.put(state, other + NEXT, place)
        chains.put(state, cell + NEXT, left)
    return size * size


@kernel()
def _to_side_to_move(owners, state, size, out):
    """Owners int8 [cells] → out int8 [points]: +1 the side to move, -1 the other, 0 neither."""
    for action in range(size * size):
        colour = owners[action + action // size + size + 2]
        out[action] = 0 if colour == EMPTY else (1 if colour == state[TO_PLAY] else -1)


@kernel(OWNER.signature, allocates=True)
def owner(state, out):
    """Area as the board stands into out int8 [points]: +1 the side to move, -1 the other, 0 neither."""
    size = np.int64(state[SIZE])
    _to_side_to_move(area_owners(chains.padded_board(state, size), size), state, size, out)


@kernel(OWNER.signature, allocates=True)
def pass_alive(state, out):
    """Points safe whoever moves (Benson) into out int8 [points]: +1 the side to move's, -1 the other's, 0 undecided."""
    size = np.int64(state[SIZE])
    _to_side_to_move(pass_alive_owners(chains.padded_board(state, size), size), state, size, out)


@kernel(OWNER.signature, allocates=True)
def settled_owner(state, out):
    """As `owner`, after taking off the stones inside the other side's pass-alive territory."""
    size = np.int64(state[SIZE])
    _to_side_to_move(settled_owners(chains.padded_board(state, size), size), state, size, out)


@kernel(types.boolean(STATE), allocates=True)
def is_open(state):
    """Whether there is more to play for than neutral points: an empty region of more than two that reaches both colours
    and is no pass-alive territory, or a side without a stone before half the board is played.
    """
    size = np.int64(state[SIZE])
    colours = chains.padded_board(state, size)
    begins = 2 * state[PLY] <= size * size
    if begins and not ((colours == BLACK).any() and (colours == WHITE).any()):
        return True
    if not has_open_region(colours, area_owners(colours, size), size):
        return False
    return begins or has_open_region(colours, settled_owners(colours, size), size)


@kernel(LEGAL.signature, allocates=True)
def thinkable(state, history, out):
    """As `legal`, but for a pass on an open board, unless the other side has just passed."""
    count = legal(state, history, out)
    if count > 1 and state[PASSES] == 0 and is_open(state):
        out[out.shape[0] - 2] = 0
        count -= 1
    return count


@kernel()
def white_bonus(state):
    """Points White is given, float64: komi, the handicap bonus and, by territory, Black's stones less White's, which is
    White's passes less Black's and one if White is to move.
    """
    return state[KOMI] / KOMI_UNITS + state[BONUS] + (state[header.TERRITORY] != 0 and state[TO_PLAY] == WHITE)


@kernel()
def expected_bonus(state):
    """As `white_bonus` at the end of the game if both sides go on by turns, whoever plays last, float64."""
    return (state[KOMI] + state[header.TERRITORY] * KOMI_UNITS // 2) / KOMI_UNITS + state[BONUS]


@kernel()
def _points(state, area):
    """Score in points for the side to move, from its area above the other's, komi and handicap bonus."""
    return area - white_bonus(state) if state[TO_PLAY] == BLACK else area + white_bonus(state)


@kernel()
def _area(owners):
    """The side to move's area above the other's, from ownership int8 [points]."""
    area = 0
    for k in range(owners.shape[0]):
        area += int(owners[k])  # uncompiled, a sum of int8 would wrap
    return area


@kernel()
def _are_alone(state, size):
    """Whether no two empty points are neighbours, as after nearly all random games."""
    start = chains.empties_start(size)
    beside = 0
    for place in range(state[chains.EMPTY_COUNT]):
        beside += at(state, at(state, start + place) + LIBERTIES)
    return beside == 0


@kernel()
def _area_of_alone(state, size):
    """As `_area`, where no two empty points are neighbours: a tenth of the work of `owner`."""
    black = 0
    for action in range(size * size):
        cell = chains.cell_of(action, size)
        colour = colour_at(state, cell)
        owner = colour if colour != EMPTY else chains.colours_beside(state, cell, size) & (BLACK | WHITE)
        black += (owner == BLACK) - np.int64(owner == WHITE)
    return black if state[TO_PLAY] == BLACK else -black


@kernel(SCORE.signature, allocates=True)
def settled_score(state):
    """Points of the side to move above the other's, from `settled_owner`."""
    owners = np.empty(state[SIZE] * state[SIZE], np.int8)
    settled_owner(state, owners)
    return _points(state, _area(owners))


@kernel(SCORE.signature, allocates=True)
def score(state):
    """As `settled_score`, but as the board stands, where area counts."""
    if state[header.TERRITORY] != 0:
        return settled_score(state)
    size = np.int64(state[SIZE])
    if _are_alone(state, size):
        return _points(state, _area_of_alone(state, size))
    owners = np.empty(size * size, np.int8)
    owner(state, owners)
    return _points(state, _area(owners))


@kernel()
def _is_over(state):
    """Whether two passes or the move limit have ended the game."""
    return state[PASSES] >= 2 or (state[MOVE_LIMIT] > 0 and state[PLY] >= state[MOVE_LIMIT])


@kernel(OUTCOME.signature, allocates=True)
def outcome(state):
    """+1, 0 or -1 for the side to move after two passes or at the move limit, else NOT_OVER."""
    return np.int64(np.sign(score(state))) if _is_over(state) else NOT_OVER


@kernel(OUTCOME.signature, allocates=True)
def settled_outcome(state):
    """As `outcome`, by `settled_score`, which differs only if a point is neutral: dead stones share their liberties."""
    if not _is_over(state):
        return NOT_OVER
    owners = np.empty(state[SIZE] * state[SIZE], np.int8)
    owner(state, owners)
    if (owners == 0).any():
        settled_owner(state, owners)
    return np.int64(np.sign(_points(state, _area(owners))))


@kernel(types.uint64(STATE))
def hash_of(state):
    """The hash a history that begins with this position begins with."""
    size = np.int64(state[SIZE])
    position = np.uint64(0)
    for index in range(chains.cell_count(size)):
        colour = colour_at(state, chains.HEADER + index * RECORD)
        if colour in (BLACK, WHITE):
            position ^= ZOBRIST[np.uint64(colour), index]
    if state[KO_RULE] == SITUATIONAL and state[TO_PLAY] == WHITE:
        position ^= WHITE_TO_PLAY
    return position


@kernel(types.boolean(STATE, MASK))
def _place(state, colours):
    """Put stones uint8 [points] on the empty board; False if a chain has no liberty. Past boards become this one."""
    size = np.int64(state[SIZE])
    state[BONUS] -= state[header.TERRITORY] * (state[TO_PLAY] == WHITE)
    for action in range(size * size):
        if colours[action] != EMPTY:
            state[BONUS] += state[header.TERRITORY] * (1 if colours[action] == BLACK else -1)
            chains.put_stone(state, chains.cell_of(action, size), np.int32(colours[action]), size)
    chains.forget_past(state, size)
    stifled = 0
    for action in range(size * size):
        stifled += colours[action] != EMPTY and liberties_at(state, chains.cell_of(action, size)) == 0
    return stifled == 0


def make(
    size: int = 13, rules: str | RuleSet = "chinese", komi: float | None = None, handicap: int = 0, move_limit: int = 0
) -> Game:
    """Go on a size x size board, 2 to 19, by a named rule set or one's own. White gets `komi` points, rounded to a
    thousandth (None: what is usual by the rules), and a bonus for `handicap` stones; beyond `move_limit` plies (0:
    none) the game ends and is counted.
    """
    check_size(size, "Go", MIN_SIZE, MAX_SIZE)
    initial, chosen = np.zeros(chains.state_ints(size), np.int32), rule_set(rules)
    chains.clear(initial, size)
    header.set_rules(initial, chosen, chosen.komi if komi is None else komi, handicap)
    initial[MOVE_LIMIT] = move_limit
    return Game(
        name="go", rows=size, cols=size, has_pass=True, symmetries=tuple(range(8)),
        max_plies=move_limit or int(2.2 * size * size) + 2, initial=initial,
        step=step, legal=legal, thinkable=thinkable, outcome=outcome, sample=sample, stones=chains.stones,
        set_up=partial(chains.set_up, initial, _place), owner=owner, score=score, hash_of=hash_of,
        marks=header.marks, set_marks=header.set_marks,
    )  # fmt: skip
