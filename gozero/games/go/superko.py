"""Superko: whether a move brings back an earlier position of a game of Go, by the Zobrist hashes in its history.

A Bloom filter (1970) of 1024 bits in the header has bit h mod 1024 set for the hash h of every position before the
present one, so hardly a move needs the search through the history; a state must have been stepped through all of it.
Exact up to collisions of 64-bit hashes.
"""

from __future__ import annotations

import numpy as np

from gozero.games.game import PLY
from gozero.games.go import chains
from gozero.games.go.chains import BLACK, HEAD, RECORD, WHITE, at, colour_at, liberties_at, put
from gozero.games.go.header import FILTER, KO_RULE
from gozero.games.go.rules import SITUATIONAL
from gozero.system.jit import kernel

WHITE_TO_PLAY = np.uint64(0x5BF03635DD6A9A4F)
_BITS = np.uint64(1023)


@kernel()
def note(state, position):
    """Set the filter's bit of a hash."""
    bit = np.int64(position & _BITS)
    word = FILTER + (bit >> 5)
    put(state, word, at(state, word) | np.int32(1 << (bit & 31)))


@kernel()
def _is_noted(state, position):
    bit = np.int64(position & _BITS)
    return (at(state, FILTER + (bit >> 5)) >> (bit & 31)) & 1


@kernel()
def _hash_of_dead(state, cell, colour, size):
    """XOR of the Zobrist words of the chains of a colour whose last liberty is an empty cell."""
    down = chains.row_step(size)
    chains.count_liberty(state, cell, -1, size)
    words = np.uint64(0)
    seen_1, seen_2, seen_3 = 0, 0, 0
    for offset in (-down, -RECORD, RECORD, down):
        beside = cell + offset
        if colour_at(state, beside) == colour and liberties_at(state, beside) == 0:
            head = at(state, beside + HEAD)
            if head not in (seen_1, seen_2, seen_3):
                words ^= chains.chain_hash(state, head)
                seen_1, seen_2, seen_3 = head, seen_1, seen_2
    chains.count_liberty(state, cell, 1, size)
    return words


@kernel()
def repeats(state, history, cell, colour, size, suicide, dead):
    """Whether a stone of `colour` on an empty cell would bring back an earlier position. `suicide`: whether it would be
    one; `dead`: the colours, as a set, of which chains beside it lose their last liberty.
    """
    ply = state[PLY]
    position = at(history, ply)
    if state[KO_RULE] == SITUATIONAL:
        position ^= WHITE_TO_PLAY
    vanishing = colour if suicide else BLACK + WHITE - colour
    if not suicide:
        position ^= chains.zobrist(colour, cell)
    if dead & vanishing:
        position ^= _hash_of_dead(state, cell, vanishing, size)
    if position != at(history, ply) and not _is_noted(state, position):
        return False
    found = 0
    for k in range(ply + 1):
        found += history[k] == position
    return found > 0
