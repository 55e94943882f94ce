"""Ladders, chains that are taken by ataris alone, read out on a board of their own; and the liberties of chains,
counted.

The hunter plays on a chain's liberties only, with atari each time; the runner, whose chain is in atari, extends or
takes chains that touch it. A frame is one position of the line being read: its moves, and the next to try. A padded
board is int8 [(size + 2) * (size + 1) + 1], a colour for every cell number of `gozero.games.go.chains`.

A chain with one liberty is caught if the runner comes to three liberties by no move; one with two, if the hunter can
begin so. A ko is not taken back at once. A reading of HUNTS moves is broken off, and the chain counts as free.
"""

from __future__ import annotations

import numpy as np

from gozero.games.game import BLACK, EMPTY, WHITE
from gozero.games.go import chains
from gozero.games.go.chains import HEAD, HEADER, LIBERTIES, NEXT, RECORD, SIZE, action_of, at, cell_of, colour_at
from gozero.system.jit import STONES, kernel

MANY_LIBERTIES = 4  # from here on they are not counted further
HUNTS = 100
FREE = 3  # liberties
MOVES = 6  # of one frame, at most: an extension and captures

CAUGHT, CATCHES = 1, 2  # bits of `ladders`; CATCHES times the hunter's colour, which is one bit (BLACK 1, WHITE 2)

# fields of a frame: the next move's number, how many there are, notes of `_set` before it, ko's forbidden cell, moves
_NEXT, _COUNT, _UNDO, _KO, _FIRST = 0, 1, 2, 3, 4


@kernel()
def _count_chain(state, head, size):
    """Liberties of the chain at `head`, at most MANY_LIBERTIES; the first few found are remembered and count once."""
    down = chains.row_step(size)
    first = second = third = count = 0
    stone = head
    while True:
        for offset in (-down, -RECORD, RECORD, down):
            beside = stone + offset
            if colour_at(state, beside) == EMPTY and beside != first and beside != second and beside != third:
                first, second, third = beside, first, second
                count += 1
                if count == MANY_LIBERTIES:
                    return count
        stone = at(state, stone + NEXT)
        if stone == head:
            return count


@kernel(STONES.signature)
def chain_liberties(state, out):
    """Write the liberties of the chain on each point, at most MANY_LIBERTIES, 0 if empty, into out uint8 [points]."""
    size = np.int64(state[SIZE])
    for action in range(size * size):
        out[action] = 0
    for action in range(size * size):
        cell = cell_of(action, size)
        if colour_at(state, cell) in (BLACK, WHITE) and at(state, cell + HEAD) == cell:
            count = _count_chain(state, cell, size)
            stone = cell
            while True:
                out[action_of(stone, size)] = count
                stone = at(state, stone + NEXT)
                if stone == cell:
                    break


@kernel()
def _stamp(marks):
    """A number that no mark has: marks int32 [cells] keep the last one where there is never a stone."""
    marks[0] += 1
    return marks[0]


@kernel()
def _liberties(board, cell, most, width, marks, queue, found):
    """Liberties of the chain at `cell`, at most `most`, listed in found int32 [≥ most + 3]."""
    stamp, colour = _stamp(marks), board[cell]
    marks[cell] = stamp
    queue[0] = cell
    length, k, count = 1, 0, 0
    while k < length and count < most:
        for offset in (-width, -1, 1, width):
            beside = queue[k] + offset  # nobody can foretell what is there, so nothing branches
            new = marks[beside] != stamp
            marks[beside] = stamp
            queue[length] = found[count] = beside
            length += new & (board[beside] == colour)
            count += new & (board[beside] == EMPTY)
        k += 1
    return min(count, most)


@kernel()
def _chain(board, cell, width, marks, stones):
    """List the stones of the chain at `cell` in stones int32 [cells]. Returns how many there are."""
    stamp, colour = _stamp(marks), board[cell]
    marks[cell] = stamp
    stones[0] = cell
    length, k = 1, 0
    while k < length:
        for offset in (-width, -1, 1, width):
            beside = stones[k] + offset
            if board[beside] == colour and marks[beside] != stamp:
                marks[beside] = stamp
                stones[length] = beside
                length += 1
        k += 1
    return length


@kernel()
def _set(board, cell, colour, undo):
    """Give a cell a colour and note what it had; undo int32 [n], whose first number counts the notes."""
    undo[0] += 1
    undo[undo[0]] = cell << 2 | board[cell]
    board[cell] = colour


@kernel()
def _take_back(board, undo, count):
    """Undo all changes but the first `count`."""
    while undo[0] > count:
        board[undo[undo[0]] >> 2] = undo[undo[0]] & 3
        undo[0] -= 1


@kernel()
def _play(board, cell, colour, width, marks, queue, found, undo):
    """Put a stone and take what has no liberty then. Returns (its chain's liberties, at most 2; the ko's cell or 0)."""
    before = undo[0]
    _set(board, cell, colour, undo)
    rival = BLACK + WHITE - colour
    for offset in (-width, -1, 1, width):
        if board[cell + offset] == rival and _liberties(board, cell + offset, 1, width, marks, queue, found) == 0:
            for k in range(_chain(board, cell + offset, width, marks, queue)):
                _set(board, queue[k], EMPTY, undo)
    own = _liberties(board, cell, 2, width, marks, queue, found)
    alone = undo[0] == before + 2 and own == 1 and found[0] == undo[undo[0]] >> 2
    for offset in (-width, -1, 1, width):
        alone &= board[cell + offset] != colour
    return own, found[0] if alone else 0


@kernel()
def _escapes(board, cell, liberty, width, marks, queue, found, stones, frame):
    """Fill a frame with the runner's moves: the captures, then the extension at its one liberty."""
    length, count = _chain(board, cell, width, marks, stones), 0
    rival = BLACK + WHITE - np.int64(board[cell])
    for k in range(length):
        for offset in (-width, -1, 1, width):
            beside = stones[k] + offset
            if board[beside] != rival or count == MOVES - 1:
                continue
            if _liberties(board, beside, 2, width, marks, queue, found) == 1 and found[0] != liberty:
                known = False
                for other in range(count):
                    known |= frame[_FIRST + other] == found[0]
                if not known:
                    frame[_FIRST + count] = found[0]
                    count += 1
    frame[_FIRST + count] = liberty
    frame[_COUNT] = count + 1
    frame[_NEXT] = 0


@kernel()
def _is_caught(board, cell, liberty, ko, width, marks, queue, found, undo, stones, frames):
    """Whether the chain at `cell`, of one liberty and to move, is taken whatever it does; turns by frames."""
    before, runner = undo[0], np.int64(board[cell])
    hunter = BLACK + WHITE - runner
    _escapes(board, cell, liberty, width, marks, queue, found, stones, frames[0])
    frames[0, _KO] = ko
    depth, hunts, caught = 0, 0, False  # frames of even depth are the runner's
    while hunts < HUNTS:
        frame, flees = frames[depth], depth & 1 == 0
        if frame[_NEXT] == frame[_COUNT]:
            depth -= 2
            if depth < 0:
                caught = flees
                break
            _take_back(board, undo, frames[depth, _UNDO])
            continue
        frame[_UNDO] = undo[0]
        move = frame[_FIRST + frame[_NEXT]]
        frame[_NEXT] += 1
        if move == frame[_KO]:
            continue
        hunts += not flees
        own, frames[depth + 1, _KO] = _play(board, move, runner if flees else hunter, width, marks, queue, found, undo)
        liberties = _liberties(board, cell, FREE, width, marks, queue, found) if own > 0 else 0
        if flees and liberties == FREE:
            depth -= 1
            if depth < 0:
                break
            _take_back(board, undo, frames[depth, _UNDO])
        elif flees and liberties == 2:
            depth += 1
            frames[depth, _FIRST], frames[depth, _FIRST + 1] = found[0], found[1]
            frames[depth, _NEXT], frames[depth, _COUNT] = 0, 2
        elif not flees and liberties == 1:
            depth += 1
            _escapes(board, cell, found[0], width, marks, queue, found, stones, frames[depth])
        else:
            _take_back(board, undo, frame[_UNDO])
    _take_back(board, undo, before)
    return caught


@kernel()
def _catching(board, cell, width, marks, queue, found, undo, stones, frames):
    """At which of its two liberties, in `found`, the hunter begins to catch the chain at `cell`: bit 0, bit 1."""
    first, second = found[0], found[1]
    hunter = BLACK + WHITE - np.int64(board[cell])
    works = 0
    for k in range(2):
        start, left = (first, second) if k == 0 else (second, first)
        own, ko = _play(board, start, hunter, width, marks, queue, found, undo)
        if own > 0 and _liberties(board, cell, FREE, width, marks, queue, found) == 1:
            works |= _is_caught(board, cell, left, ko, width, marks, queue, found, undo, stones, frames) << k
        _take_back(board, undo, 0)
    return works


@kernel(STONES.signature, allocates=True)
def ladders(state, out):
    """Write into out uint8 [points] CAUGHT on caught stones, CATCHES * colour where that colour begins to catch."""
    size = np.int64(state[SIZE])
    width, cells = size + 1, chains.cell_count(size)
    board, marks = chains.padded_board(state, size), np.zeros(cells, np.int32)
    queue, stones, found = np.empty(cells, np.int32), np.empty(cells, np.int32), np.empty(FREE + 4, np.int32)
    undo = np.empty(4 * HUNTS + 8 + cells, np.int32)
    undo[0] = 0
    frames = np.empty((2 * HUNTS + 2, _FIRST + MOVES), np.int32)
    for action in range(size * size):
        out[action] = 0
    for action in range(size * size):
        record = cell_of(action, size)
        if colour_at(state, record) not in (BLACK, WHITE) or at(state, record + HEAD) != record:
            continue
        if at(state, record + LIBERTIES) > 4 * (FREE - 1):
            continue  # so many pairs of a stone and an empty point need three of these
        cell = chains.index_of(record)
        count = _liberties(board, cell, FREE, width, marks, queue, found)
        caught = np.int64(0)
        if count == 1:
            caught = np.int64(_is_caught(board, cell, found[0], 0, width, marks, queue, found, undo, stones, frames))
        elif count == 2:
            liberties = found[0], found[1]
            caught = _catching(board, cell, width, marks, queue, found, undo, stones, frames)
            for k in range(2):
                if (caught >> k) & 1:
                    point = action_of(HEADER + liberties[k] * RECORD, size)
                    out[point] |= CATCHES * (BLACK + WHITE - np.int64(board[cell]))
        if caught:
            for k in range(_chain(board, cell, width, marks, queue)):
                out[action_of(HEADER + queue[k] * RECORD, size)] = CAUGHT
