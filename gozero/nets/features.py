"""Positions as network input: planes and numbers. Each layout has a version; weights name the one they learned.

Always from the side to move's view. The layout of Go, version 1, for a board of size N:

  planes float32 [11, N, N]
    0 … 4   own stones now and 1 … 4 plies ago
    5 … 9   the other side's stones, likewise
    10      1 everywhere if Black is to move, else 0
  globals float32 [7]
    0       komi and bonus (`go.expected_bonus`) for the side to move, points / 20
    1       (N - 13) / 6
    2 … 6   whether the ply 0 … 4 plies ago was a pass

The planes are those of AlphaGo Zero (Silver et al. 2017) with five positions. Before the first ply and behind a set-up
position the past boards repeat the first one. The layout of every other game, version 1:

  planes float32 [5, H, W]
    0, 1    own stones, the other side's stones
    2       points that the side to move may play, or move from
    3       points that the other side could play, or move from, were it to move
    4       1 everywhere if Black is to move, else 0
  globals float32 [2]
    0       plies played / points of the board
    1       ((H + W) / 2 - 13) / 6

Version 2 has a second tensor beside the planes and globals of version 1. In the games with chains (Go and NoGo) it is

  tactics float32 [3, N, N]
    0       stones of chains with one liberty, of either colour
    1, 2    likewise with two liberties, and with three

These three save more than a third of the steps of learning (docs/experiments/input-features.md). In the games won by
a line (Connect-4, Gomoku and tic-tac-toe) it is

  tactics float32 [4, H, W]
    0, 1    empty points that make a line of the side to move, and of the other side; in Connect-4 those in the air too
    2, 3    empty points after which one more stone would make one (gozero.games.lines)

Version 3, of Go alone, adds what takes reading:

  tactics float32 [8, N, N]
    0 … 2   as in version 2
    3       stones of chains, of either colour, that a ladder catches (gozero.games.go.ladders)
    4, 5    points where the side to move begins to catch a chain of two liberties so, and where the other side does
    6, 7    points that are the side to move's for good, and the other side's (Benson; gozero.games.go.area)

A packed position, which a GPU is sent and an evaluation is cached by, is int32 [10 words + 3], 292 bytes at 13x13;
`gozero.evaluators.cuda_evaluator` makes the planes and numbers of it on the GPU, bit for bit:

  10 boards  planes 0 … 9 in turn, each a bit set over the cells of the padded board: point (row, col) is bit (row +
             1)(N + 1) + col + 1
  3 boards   the tactics, likewise; 8 in version 3, none in version 1
  komi       White's komi, thousandths of a point, half a point more where territory counts
  bonus      what White gets beside it, points
  flags      bits 0 … 4: globals 2 … 6; bit 5: Black is to move
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cache, lru_cache
from typing import Any

import numpy as np
from numba import types

from gozero.games import GO_FAMILY
from gozero.games.game import BLACK, EMPTY, PLY, TO_PLAY, WHITE, Game
from gozero.games.go import chains
from gozero.games.go.chains import PAST_BOARDS
from gozero.games.go.go import expected_bonus, pass_alive
from gozero.games.go.header import BONUS, KOMI, KOMI_UNITS, PASS_BITS, TERRITORY
from gozero.games.go.ladders import CATCHES, CAUGHT, chain_liberties, ladders
from gozero.games.lines import THREATENS, WINS, line_threats
from gozero.system.errors import ChoiceError
from gozero.system.jit import LEGAL, STONES, as_argument, kernel


@dataclass(frozen=True)
class Layout:
    """The input tensors of a network for one game."""

    version: int
    planes: tuple[str, ...]  # what each shows; the last says whether Black is to move
    globals: tuple[str, ...]
    own: int  # plane of the side to move's stones as they stand
    other: int  # plane of the other side's
    tactics: tuple[str, ...] = ()  # planes of the second tensor; none in version 1

    @property
    def counts(self) -> dict[str, Any]:
        """How many planes, globals and tactics there are."""
        return {"planes": len(self.planes), "globals": len(self.globals), "tactics": len(self.tactics)}


def _by_age(what: str) -> tuple[str, ...]:
    return (f"{what} stones", *(f"{what} stones, {age} ago" for age in range(1, PAST_BOARDS)))


_COUNTED = ("komi", "size", *(f"pass {age} plies ago" for age in range(PAST_BOARDS)))
GO = Layout(1, (*_by_age("own"), *_by_age("other's"), "Black to move"), _COUNTED, own=0, other=PAST_BOARDS)
_BOARD = ("own stones", "other's stones", "own moves", "other's moves", "Black to move")
BOARD = Layout(1, _BOARD, ("plies", "size"), own=0, other=1)

CHAIN_TACTICS: tuple[str, ...] = ("chains of 1 liberty", "chains of 2 liberties", "chains of 3 liberties")
_READ = ("chains in ladders", "own ladders", "other's ladders", "own pass-alive points", "other's pass-alive points")
GO_TACTICS: tuple[str, ...] = (*CHAIN_TACTICS, *_READ)
LINE_TACTICS: tuple[str, ...] = ("own lines", "other's lines", "own threats", "other's threats")
CHAIN_GAMES = (*GO_FAMILY, "course_go", "nogo")  # whose state rows are those of gozero.games.go.chains
LINE_GAMES = ("connect4", "gomoku", "tictactoe")  # of gozero.games.lines


@cache
def layouts(game: str) -> tuple[Layout, ...]:
    """The layouts of a game, by its name; the index is the version less one."""
    first = GO if game in GO_FAMILY else BOARD
    tactics = [CHAIN_TACTICS] * (game in CHAIN_GAMES) + [LINE_TACTICS] * (game in LINE_GAMES)
    tactics += [GO_TACTICS] * (game in GO_FAMILY)
    return first, *(replace(first, version=2 + k, tactics=names) for k, names in enumerate(tactics))


def version_of(tactics: int) -> int:
    """The version of the layout with this many planes of tactics."""
    return 1 if tactics == 0 else 3 if tactics == len(GO_TACTICS) else 2


def layout(game: str, version: int = 1) -> Layout:
    """A game's layout of that version; ChoiceError if it has none, or the version is no number."""
    known = layouts(game)
    if not (isinstance(version, int) and 1 <= version <= len(known)):
        versions = ", ".join(str(shown.version) for shown in known)
        raise ChoiceError(f"{game} has no input features of version {version}; it has {versions}")
    return known[version - 1]


PLANES, GLOBALS = len(GO.planes), len(GO.globals)
OWN_MOVES = 2  # plane of BOARD

KOMI_SCALE = 20.0
MIDDLE_SIZE, SIZE_SCALE = 13.0, 6.0

_LIBERTY_BITS = np.array([0, 1, 2, 4, 0], np.uint8)  # of GO_TACTICS, by a chain's liberties

PACKED_KOMI, PACKED_BONUS, PACKED_FLAGS = -3, -2, -1  # the last numbers of a packed position
BLACK_FLAG = 1 << PAST_BOARDS

_STATES = types.Array(types.int32, 2, "C")
_PLANES = types.Array(types.float32, 4, "C")
_GLOBALS = types.Array(types.float32, 2, "C")


@kernel()
def _encode_stones(state, size, planes):
    own = state[TO_PLAY]
    for row in range(size):
        for col in range(size):
            colours = chains.past_colours(state, chains.cell_at(row, col, size), state[PLY])
            for age in range(PAST_BOARDS):
                colour = (colours >> 2 * age) & 3
                planes[age, row, col] = colour == own
                planes[PAST_BOARDS + age, row, col] = colour == BLACK + WHITE - own


@kernel(types.void(_STATES, _PLANES, _GLOBALS))
def encode_into(states: np.ndarray, planes: np.ndarray, numbers: np.ndarray) -> None:
    """Encode states int32 [n, S] into all of planes float32 [n, 11, N, N] and numbers float32 [n, 7]."""
    size = planes.shape[2]
    for n in range(states.shape[0]):
        state = states[n]
        _encode_stones(state, size, planes[n])
        black = state[TO_PLAY] == BLACK
        for row in range(size):
            for col in range(size):
                planes[n, PLANES - 1, row, col] = black
        komi = expected_bonus(state)
        numbers[n, 0] = (-komi if black else komi) / KOMI_SCALE
        numbers[n, 1] = (size - MIDDLE_SIZE) / SIZE_SCALE
        for age in range(PAST_BOARDS):
            numbers[n, 2 + age] = (state[PASS_BITS] >> age) & 1


@kernel(types.void(STONES, LEGAL, _STATES, types.int64, _PLANES, _GLOBALS), allocates=True)
def encode_boards_into(
    stones: Any, legal: Any, states: np.ndarray, actions: int, planes: np.ndarray, numbers: np.ndarray
) -> None:
    """Encode states int32 [n, S] of any game into all of planes float32 [n, 5, H, W] and numbers float32 [n, 2]."""
    height, width = planes.shape[2], planes.shape[3]
    points = height * width
    colours, moves = np.empty(points, np.uint8), np.empty((2, actions), np.uint8)
    for n in range(states.shape[0]):
        state = states[n].copy()
        history = np.zeros(state[PLY] + 2, np.uint64)
        own = state[TO_PLAY]
        stones(state, colours)
        legal(state, history, moves[0])
        state[TO_PLAY] = BLACK + WHITE - own
        legal(state, history, moves[1])
        for action in range(points, actions - 2):  # of the other directions, where pieces move
            moves[0, action % points] |= moves[0, action]
            moves[1, action % points] |= moves[1, action]
        for row in range(height):
            for col in range(width):
                point = row * width + col
                colour = colours[point]
                planes[n, 0, row, col] = colour == own
                planes[n, 1, row, col] = colour == BLACK + WHITE - own
                planes[n, 2, row, col] = moves[0, point]
                planes[n, 3, row, col] = moves[1, point]
                planes[n, 4, row, col] = own == BLACK
        numbers[n, 0] = state[PLY] / points
        numbers[n, 1] = ((height + width) / 2 - MIDDLE_SIZE) / SIZE_SCALE


@kernel(types.void(_STATES, _PLANES), allocates=True)
def encode_threats_into(states: np.ndarray, tactics: np.ndarray) -> None:
    """Encode states int32 [n, S] of a game won by a line into tactics float32 [n, 4, H, W], every element written."""
    height, width = tactics.shape[2], tactics.shape[3]
    threats = np.empty(height * width, np.uint8)
    for n in range(states.shape[0]):
        line_threats(states[n], threats)
        own = np.int64(states[n, TO_PLAY])
        other = BLACK + WHITE - own
        for k, bit in enumerate((WINS * own, WINS * other, THREATENS * own, THREATENS * other)):
            for row in range(height):
                for col in range(width):
                    tactics[n, k, row, col] = (threats[row * width + col] & bit) != 0


@kernel()
def mark_chains(state, count, seen, owners, out):
    """Write the first `count` planes of GO_TACTICS, plane k as bit k, into out uint8 [points]; the rest is scratch."""
    points = np.int64(state[chains.SIZE]) ** 2
    chain_liberties(state, seen)
    for point in range(points):
        out[point] = _LIBERTY_BITS[seen[point]]
    if count == len(CHAIN_TACTICS):
        return
    own = np.int64(state[TO_PLAY])
    ladders(state, seen)
    pass_alive(state, owners)
    for point in range(points):
        out[point] |= ((seen[point] & CAUGHT) != 0) << 3
        out[point] |= ((seen[point] & CATCHES * own) != 0) << 4
        out[point] |= ((seen[point] & CATCHES * (BLACK + WHITE - own)) != 0) << 5
        out[point] |= (owners[point] > 0) << 6 | (owners[point] < 0) << 7


@kernel(types.void(_STATES, _PLANES), allocates=True)
def encode_chains_into(states: np.ndarray, tactics: np.ndarray) -> None:
    """Encode states int32 [n, S] of a game with chains into all of tactics float32 [n, 3 or 8, N, N]."""
    count, size = tactics.shape[1], tactics.shape[2]
    seen, marked = np.empty(size * size, np.uint8), np.empty(size * size, np.uint8)
    owners = np.empty(size * size, np.int8)
    for n in range(states.shape[0]):
        mark_chains(states[n], count, seen, owners, marked)
        for k in range(count):
            for row in range(size):
                for col in range(size):
                    tactics[n, k, row, col] = (marked[row * size + col] >> k) & 1


@lru_cache(maxsize=64)
def _arguments(game: Game) -> tuple[Any, Any]:
    return as_argument(game.stones, STONES), as_argument(game.legal, LEGAL)


def encode(game: Game, states: np.ndarray, version: int = 1) -> tuple[np.ndarray, ...]:
    """float32 planes [n, C, H, W], globals [n, G], from version 2 on tactics [n, K, H, W], of states [n, S]."""
    shown = layout(game.name, version)
    rows = np.require(states, requirements=["C", "W"])  # kernels take no read-only array
    planes = np.empty((len(states), len(shown.planes), *game.shape), np.float32)
    numbers = np.empty((len(states), len(shown.globals)), np.float32)
    if game.name in GO_FAMILY:
        encode_into(rows, planes, numbers)
    else:
        encode_boards_into(*_arguments(game), rows, game.actions, planes, numbers)
    if not shown.tactics:
        return planes, numbers
    tactics = np.empty((len(states), len(shown.tactics), *game.shape), np.float32)
    (encode_threats_into if shown.tactics == LINE_TACTICS else encode_chains_into)(rows, tactics)
    return planes, numbers, tactics


@kernel()
def words(size):
    """int32 words of a bit set over the cells of the padded board: 7 at 13x13."""
    return (chains.cell_count(size) + 31) >> 5


@cache
def packed_ints(size: int, tactics: int = 0) -> int:
    """Length of a packed position on a board of `size` with this many planes of tactics."""
    return (2 * PAST_BOARDS + tactics) * words(size) + 3


@kernel()
def _pack_present(state, row, size):
    """Write the stones as they stand into all ten boards of a packed row."""
    length, cells = words(size), chains.cell_count(size)
    for word in range(length):
        own, other = np.int64(0), np.int64(0)
        for bit in range(min(32, cells - 32 * word)):
            colour = chains.colour_at(state, chains.HEADER + (32 * word + bit) * chains.RECORD)
            own |= np.int64(colour == state[TO_PLAY]) << bit
            other |= np.int64(colour == BLACK + WHITE - state[TO_PLAY]) << bit
        for age in range(PAST_BOARDS):
            row[age * length + word] = np.int32(own)
            row[(PAST_BOARDS + age) * length + word] = np.int32(other)


@kernel()
def _flip(state, row, cell, colour, age, size):
    """Add a stone to the board of its colour and age in a packed row, or take it off."""
    bit = chains.index_of(cell)
    board = np.int64(colour != state[TO_PLAY]) * PAST_BOARDS + age
    row[board * words(size) + (bit >> 5)] ^= np.int32((colour != EMPTY) << (bit & 31))


@kernel()
def _pack_stones(state, row, size):
    """Write the ten boards of stones into a packed row: the present ones, and what changed in the last plies."""
    _pack_present(state, row, size)
    for point in range(size * size):
        cell = chains.cell_of(point, size)
        if chains.plies_stood(state, cell, state[PLY]) < PAST_BOARDS - 1:
            colours = chains.past_colours(state, cell, state[PLY])
            for age in range(1, PAST_BOARDS):
                _flip(state, row, cell, colours & 3, age, size)
                _flip(state, row, cell, (colours >> 2 * age) & 3, age, size)


@kernel()
def _pack_tactics(row, start, count, marked, size):
    """Write `count` boards of tactics, marked by `mark_chains`, into a packed row from `start` on."""
    length = words(size)
    for k in range(count * length):
        row[start + k] = 0
    for point in range(size * size):
        bit = chains.index_of(chains.cell_of(point, size))
        for k in range(count if marked[point] else 0):
            row[start + k * length + (bit >> 5)] |= np.int32((marked[point] >> k & 1) << (bit & 31))


@kernel(types.void(_STATES, _STATES, types.int64, types.int64), allocates=True)
def pack_into(states: np.ndarray, packed: np.ndarray, size: int, tactics: int) -> None:
    """Pack states int32 [n, S] of one size into the first n rows of packed int32 [≥ n, packed_ints(size, tactics)]."""
    length = words(size)
    seen, marked = np.empty(size * size, np.uint8), np.empty(size * size, np.uint8)
    owners = np.empty(size * size, np.int8)
    for n in range(states.shape[0]):
        state, row = states[n], packed[n]
        _pack_stones(state, row, size)
        if tactics > 0:
            mark_chains(state, tactics, seen, owners, marked)
            _pack_tactics(row, 2 * PAST_BOARDS * length, tactics, marked, size)
        end = row.shape[0]
        row[end + PACKED_KOMI] = state[KOMI] + state[TERRITORY] * KOMI_UNITS // 2
        row[end + PACKED_BONUS] = state[BONUS]
        row[end + PACKED_FLAGS] = state[PASS_BITS] | (BLACK_FLAG if state[TO_PLAY] == BLACK else 0)


def keys(game: Game, states: np.ndarray) -> list[bytes]:
    """For each of the game's states int32 [n, S] a key: states of one key give the same inputs."""
    rows = np.require(states, requirements=["C", "W"])  # kernels take no read-only array
    if game.name in GO_FAMILY:
        packed = np.empty((len(states), packed_ints(game.size)), np.int32)
        pack_into(rows, packed, game.size, 0)
        rows = packed
    return [row.tobytes() for row in rows]
