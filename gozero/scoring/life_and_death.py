"""Life and death in Go by random playouts and small searches, beside what a network expects.

A string lives in a playout, with the fate +1 instead of -1, if its point is its colour's at the end, and it was not
captured while every string around it stood. A reading is a search (PUCT with random playouts) for one string's fate
alone, with either colour first; it is made for a disputed string: one source is sure that it is dead and another is
not, or they doubt it on the whole.

The same board gives the same answers. Boards are uint8 [size, size], arrays of points [P] in action order.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from dataclasses import replace

import numpy as np
from numba import types

from gozero.evaluators.rollout import RolloutEvaluator, playout
from gozero.games.colours import opponent
from gozero.games.game import BLACK, EMPTY, NOT_OVER, TO_PLAY, WHITE, Game
from gozero.games.go import area, chains, go
from gozero.games.go.rules import SIMPLE
from gozero.scoring.settlement import SURE, Chain, chains_of, connected, in_seki, liberties_of, mask_of, points, touches
from gozero.search.root import SearchRequest
from gozero.search.search import Search
from gozero.search.settings import SearchSettings
from gozero.system.jit import HISTORY, OUTCOME, STATE, copy_row, kernel

PLAYOUTS = 200  # for each side to move
READING_VISITS = 1500  # of a reading, for each side to move first
MOST_READINGS = 12  # of one board, its longest strings first: a third of a second each
READING = SearchSettings(c_puct=2.0, fpu=0.0, max_nodes=READING_VISITS + 1)
# of -1..1: readings beyond this for either side first are a verdict; means stay below 1: a search tries weak moves too
READ = 0.5
DOUBT = 0.3  # of -1..1: a fate without a verdict is at most so sure
FEWEST_KOS = 2
SEED = 20101

# what stands behind the state row of a reading: the string's first point and its colour, then a mark for each point.
POINT, COLOUR, MARKS = 0, 1, 2
BESIDE = 1  # the mark of the stones of every string around it

_LABELS = types.Array(types.int64, 1, "C")
_TOTALS = types.Array(types.int64, 2, "C")


def run_playouts(game: Game, board: np.ndarray, playouts: int = PLAYOUTS) -> tuple[np.ndarray, np.ndarray]:
    """Run playouts of a board uint8 [size, size] by the rules of ``game``, with Black and with White to move first:
    (float32 [2, P] the mean owner of each point at the end, + for Black; float32 [2, P] the mean fate of the string on
    it, -1..1, + if it lives, 0 on empty points).
    """
    strings, labels = chains_of(board), np.full(board.size, -1, np.int64)
    for number, chain in enumerate(strings):
        labels[chain] = number
    owner, fate = np.zeros((2, board.size), np.float32), np.zeros((2, board.size), np.float32)
    plies = 3 * game.max_plies
    for side, colour in enumerate((BLACK, WHITE)):
        state = _bare(game.set_up(board.reshape(-1), colour))
        history = np.zeros(plies + 1, np.uint64)
        history[0] = game.hash_of(state)
        totals = np.zeros((2, board.size), np.int64)
        play_out(state, state.copy(), history, np.array([SEED], np.uint64), playouts, plies, labels, totals)
        owner[side] = totals[0] / playouts
        fate[side] = np.where(labels >= 0, totals[1][np.maximum(labels, 0)] / playouts, 0)
    return owner, fate


def read(
    game: Game, board: np.ndarray, chain: Chain, deadline: float, should_stop: Callable[[], bool]
) -> tuple[float, float] | None:
    """The fate -1..1 of a string by readings with its own colour and the other first; None if time runs out."""
    stones = board.reshape(-1)
    colour = int(stones[chain[0]])
    marks = np.zeros(MARKS + board.size, np.int32)
    marks[POINT], marks[COLOUR] = chain[0], colour
    around = connected(touches(mask_of(chain, len(board))), board == opponent(colour))
    marks[MARKS:][around.reshape(-1)] = BESIDE
    first = np.concatenate([_bare(game.initial.copy()), marks])
    reading = replace(game, initial=first, outcome=fate_outcome, thinkable=None)
    found = []
    for to_play in (colour, opponent(colour)):
        state = np.concatenate([_bare(game.set_up(stones, to_play)), marks])
        search = Search(reading, RolloutEvaluator(reading), READING, seed=SEED)
        search.begin(0, SearchRequest(state, np.array([game.hash_of(state)], np.uint64), READING_VISITS))
        search.run(deadline, should_stop)
        if should_stop() or time.monotonic() >= deadline:
            return None
        value = search.result(0).value
        found.append(value if to_play == colour else -value)
    return found[0], found[1]


def agree(
    game: Game, board: np.ndarray, searched: Sequence[np.ndarray], deadline: float, should_stop: Callable[[], bool]
) -> list[np.ndarray]:
    """The expected owners float32 [P], + for Black, with Black and with White to move first, by playouts and a
    search's, ``searched`` or nothing. For a string of disputed fate a reading decides, or it is in doubt.
    """
    stones = board.reshape(-1)
    owners, fates = run_playouts(game, board)
    safe, shaped = area.owners_of(area.pass_alive_owners, board), in_seki(board)
    found = [np.mean([owners[side], *searched[side : side + 1]], axis=0) for side in (0, 1)]
    readings, kos = MOST_READINGS, _kos(board)
    for chain in sorted(chains_of(board), key=len, reverse=True):
        if safe[chain[0]] != EMPTY or chain in shaped:
            continue
        sign = 1 if stones[chain[0]] == BLACK else -1
        opinions = [[float(fate[chain[0]]) for fate in fates]]
        opinions += [[sign * float(owner[chain].mean()) for owner in searched]] if searched else []
        fate = np.mean(opinions, axis=0)
        if _is_disputed(opinions):
            readable = readings > 0 and time.monotonic() < deadline and not _hangs_on_kos(board, chain, kos)
            readings -= readable
            fate = _judged(read(game, board, chain, deadline, should_stop) if readable else None, opinions)
        for side in (0, 1):
            found[side][chain] = sign * fate[side]
    return found


def _is_disputed(opinions: list[list[float]]) -> bool:
    """Whether a string has to be read, by the fates of each source, + where it lives, for either side first."""
    dead = [max(opinion) <= -SURE for opinion in opinions]
    if len(opinions) > 1 and all(dead):
        return False
    return any(dead) or float(np.mean(opinions)) < 0


def _judged(verdict: tuple[float, float] | None, opinions: list[list[float]]) -> np.ndarray:
    """The fates float [2] by a verdict, even an unclear one if a source is sure and none differs; without any, the mean
    of the sources, limited to doubt.
    """
    if verdict is not None:
        is_clear = max(verdict) <= -READ or min(verdict) >= READ
        is_backed = len({bool(fate > 0) for each in (*opinions, verdict) for fate in each}) == 1
        if is_clear or (is_backed and any(min(map(abs, opinion)) >= SURE for opinion in opinions)):
            return np.full(2, np.sign(verdict[0]))
    return np.clip(np.mean(opinions, axis=0), -DOUBT, DOUBT)


def _kos(board: np.ndarray) -> list[np.ndarray]:
    """Masks of the board's kos: an empty point that one colour surrounds and the single stone that it captures."""
    found, liberties = [], liberties_of(board)
    for point in points(board == EMPTY):
        empty = mask_of([point], len(board))
        beside = touches(empty)
        caught = beside & (liberties == 1)
        surrounded = len(np.unique(board[beside])) == 1 and board[beside][0] != EMPTY
        if surrounded and caught.sum() == 1 and not (touches(caught) & (board == board[caught][0])).any():
            found.append(caught | empty)
    return found


def _hangs_on_kos(board: np.ndarray, chain: Chain, kos: list[np.ndarray]) -> bool:
    """Whether a string's group touches two kos: what lives by one or the other is dead to playouts and readings."""
    if len(kos) < FEWEST_KOS:
        return False
    own = board == board.reshape(-1)[chain[0]]
    group = connected(mask_of(chain, len(board)), own | (board == EMPTY) & ~touches(~own & (board != EMPTY)))
    return sum(bool((ko & (group | touches(group))).any()) for ko in kos) >= FEWEST_KOS


def _bare(state: np.ndarray) -> np.ndarray:
    """A state without a limit of moves and with simple ko: superko would kill what lives by a double ko."""
    state[go.MOVE_LIMIT], state[go.KO_RULE] = 0, SIMPLE
    return state


@kernel()
def _relieve(labels, point, size, relieved):  # type: ignore[no-untyped-def]
    """Note that a string around those beside this point was captured."""
    row, col = point // size, point % size
    for beside, inside in ((-size, row > 0), (size, row < size - 1), (-1, col > 0), (1, col < size - 1)):
        if inside and labels[point + beside] not in (-1, labels[point]):
            relieved[labels[point + beside]] = True


@kernel(types.void(STATE, STATE, HISTORY, HISTORY, types.int64, types.int64, _LABELS, _TOTALS), allocates=True)
def play_out(initial, state, history, generator, playouts, plies, labels, totals):  # type: ignore[no-untyped-def]
    """Add to totals int64 [2, P] the points' owners at the end, + for Black, and the fates by labels int64 [P]."""
    size = np.int64(initial[chains.SIZE])
    owner = np.empty(labels.shape[0], np.int8)
    strings = labels.max() + 1
    captured, alive, relieved = np.empty(strings, np.bool_), np.empty(strings, np.bool_), np.empty(strings, np.bool_)
    for _ in range(playouts):
        copy_row(state, initial)
        playout(go.step, go.outcome, go.sample, state, history, generator, plies)
        go.owner(state, owner)
        black = 1 if state[TO_PLAY] == BLACK else -1
        relieved[:] = False
        for point in range(labels.shape[0]):
            totals[0, point] += black * owner[point]
            if labels[point] >= 0:
                sign = black if chains.colour_at(initial, chains.cell_of(point, size)) == BLACK else -black
                alive[labels[point]] = owner[point] == sign
                captured[labels[point]] = chains.is_touched(state, chains.cell_of(point, size)) != 0
        for point in range(labels.shape[0]):
            if labels[point] >= 0 and captured[labels[point]]:
                _relieve(labels, point, size, relieved)
        for string in range(strings):
            totals[1, string] += 1 if alive[string] and (relieved[string] or not captured[string]) else -1


@kernel(OUTCOME.signature, allocates=True)
def fate_outcome(state):  # type: ignore[no-untyped-def]
    """+1 or -1 for the side to move after two passes, by the fate of the string at the row's end, else NOT_OVER."""
    if state[go.PASSES] < 2:
        return NOT_OVER
    size = np.int64(state[chains.SIZE])
    end = chains.state_ints(size)
    cell = chains.cell_of(np.int64(state[end + POINT]), size)
    colours = np.empty(chains.cell_count(size), np.int8)
    for index in range(colours.shape[0]):
        colours[index] = chains.colour_at(state, chains.HEADER + index * chains.RECORD)
    lives = area.area_owners(colours, size)[chains.index_of(cell)] == state[end + COLOUR]
    if lives and chains.is_touched(state, cell):
        relieved = False
        for point in range(size * size):
            if state[end + MARKS + point] == BESIDE:
                relieved |= chains.is_touched(state, chains.cell_of(point, size)) != 0
        lives = relieved
    return np.int64(1) if lives == (state[TO_PLAY] == state[end + COLOUR]) else np.int64(-1)
