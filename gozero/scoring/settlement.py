"""The owner of each point of a Go board, for counting and for passing: which strings are dead, and which are in seki.

Three sources, the surer one first: Benson's pass-alive strings and territory (1976); strings that are in seki by their
shape; and the expected owner of a point, -1..1 and + for Black, for either side to move first
(`gozero.scoring.life_and_death`). By that a string is dead only if both are sure of it; an empty point between the
colours belongs to the side that the two favour together. In doubt all stays as it stands.

Boards are uint8 [size, size], arrays of points are [P] in action order. The functions at the end find connected sets of
points, as masks bool [size, size].
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace

import numpy as np

from gozero.games.colours import opponent
from gozero.games.game import BLACK, EMPTY, WHITE
from gozero.games.go import area

SURE = 0.6  # of -1..1, for a string to be dead
LIKELY = 0.3  # of -1..1, for a point between both colours; dame stay well below. benchmarks/scoring.py measures the two
SMALL_EYE = 2  # points; from more an eye could be made into two
SMALL_GAP = 4  # points; a larger empty area between strings is not their last common liberties

Chain = list[int]  # the actions of a string's stones, ascending


@dataclass(frozen=True)
class Settlement:
    """The judgement on one board; each of its strings is alive, dead or in seki."""

    board: np.ndarray  # uint8 [size, size]
    owner: np.ndarray  # uint8 [P], BLACK, WHITE or EMPTY; a dead stone's point belongs to the other colour
    alive: tuple[Chain, ...]
    dead: tuple[Chain, ...]
    seki: tuple[Chain, ...]
    open: np.ndarray  # bool [P], points that a move might still gain or lose

    @property
    def area(self) -> int:
        """Black's points above White's, without komi."""
        return int((self.owner == BLACK).sum()) - int((self.owner == WHITE).sum())

    @property
    def is_complete(self) -> bool:
        """Whether nothing is left to gain except capturing dead stones."""
        return not self.open.any()

    def territory(self, colour: int) -> list[int]:
        """The points of a colour that its own stones do not occupy."""
        return points((self.owner == colour) & (self.board.reshape(-1) != colour))

    @property
    def dame(self) -> list[int]:
        """Neutral empty points."""
        return points(self.owner == EMPTY)

    def dead_of(self, colour: int) -> list[int]:
        """The points of all dead stones of a colour."""
        stones = self.board.reshape(-1)
        return [point for chain in self.dead if stones[chain[0]] == colour for point in chain]


def settle(board: np.ndarray, expected: Sequence[np.ndarray] = ()) -> Settlement:
    """The settlement of a board uint8 [size, size] by expected owners, float [P], one for each side to move, if any."""
    stones = board.reshape(-1)
    safe = area.owners_of(area.pass_alive_owners, board)
    black, white = (np.min(expected, axis=0) >= SURE, np.max(expected, axis=0) <= -SURE) if expected else (False, False)
    chains = chains_of(board)
    shaped = in_seki(board)
    dead = [chain for chain in chains if chain not in shaped and _is_dead(chain, int(stones[chain[0]]), safe, expected)]
    cleaned = _without(board, dead)
    seki, quiet = _seki(cleaned)
    owner = area.owners_of(area.area_owners, cleaned)
    between = (owner == EMPTY) & ~quiet
    leaning = np.mean([*expected] or [np.zeros(len(stones))], axis=0)
    owner[between & (leaning >= LIKELY)] = BLACK
    owner[between & (leaning <= -LIKELY)] = WHITE
    _leave_liberties(cleaned, owner, between)
    for chain in dead:
        owner[chain] = opponent(stones[chain[0]])
    owner[safe != EMPTY] = safe[safe != EMPTY]
    open_points = (safe == EMPTY) & ~quiet & ~((owner == BLACK) & black | (owner == WHITE) & white)
    for chain in chains:
        if chain in dead or chain in seki or _is_sure(chain, int(stones[chain[0]]), expected):
            open_points[chain] = False
    alive = [chain for chain in chains if chain not in dead and chain not in seki]
    return Settlement(board, owner, tuple(alive), tuple(dead), tuple(seki), open_points)


def in_seki(board: np.ndarray) -> list[Chain]:
    """The strings that are in seki by their shape alone, once what is dead for certain is taken off."""
    stones, safe = board.reshape(-1), area.owners_of(area.pass_alive_owners, board)
    certain = [chain for chain in chains_of(board) if safe[chain[0]] not in (EMPTY, stones[chain[0]])]
    return _seki(_without(board, certain))[0]


def _without(board: np.ndarray, taken: Sequence[Chain]) -> np.ndarray:
    cleaned = board.copy()
    cleaned.reshape(-1)[[point for chain in taken for point in chain]] = EMPTY
    return cleaned


def _leave_liberties(board: np.ndarray, owner: np.ndarray, between: np.ndarray) -> None:
    """Make points ``between``, bool [P], neutral if else a string would have only the other side's liberties."""
    for chain in chains_of(board):
        liberties = (touches(mask_of(chain, len(board))) & (board == EMPTY)).reshape(-1)
        colour = board.reshape(-1)[chain[0]]
        if (owner[liberties] == opponent(colour)).all():
            owner[liberties & between] = EMPTY


def as_it_stands(board: np.ndarray) -> Settlement:
    """The same where no stone is ever taken off, as under rules without agreement about dead stones."""
    seki, quiet = _seki(board)
    owner = area.owners_of(area.area_owners, board)
    alive = tuple(chain for chain in chains_of(board) if chain not in seki)
    return Settlement(board, owner, alive, (), tuple(seki), (owner == EMPTY) & ~quiet)


def agreed(board: np.ndarray, dead: Sequence[Chain]) -> Settlement:
    """The same where the players have agreed that these strings, and no others, are dead."""
    standing = as_it_stands(_without(board, dead))
    for chain in dead:
        standing.owner[chain] = opponent(board.reshape(-1)[chain[0]])
    return replace(standing, board=board, dead=tuple(dead))


def by_territory(settlement: Settlement) -> Settlement:
    """The same where territory counts: what strings in seki surround belongs to nobody."""
    stones = mask_of((point for chain in settlement.seki for point in chain), len(settlement.board))
    owner = settlement.owner.copy()
    for region in components(_without(settlement.board, settlement.dead) == EMPTY):
        if (touches(region) & stones).any():
            owner[region.reshape(-1)] = EMPTY
    return replace(settlement, owner=owner)


def _is_dead(chain: Chain, colour: int, safe: np.ndarray, expected: Sequence[np.ndarray]) -> bool:
    """Whether the other side holds the points of a chain, for certain or by all that is expected."""
    if safe[chain[0]] != EMPTY:
        return bool(safe[chain[0]] != colour)
    return _is_sure(chain, opponent(colour), expected)


def _is_sure(chain: Chain, colour: int, expected: Sequence[np.ndarray]) -> bool:
    """Whether a colour is surely expected to own a chain's points in the end."""
    sign = 1 if colour == BLACK else -1
    return bool(expected) and all(sign * owners[chain].mean() >= SURE for owners in expected)


@dataclass(frozen=True)
class _Group:
    """Strings of one colour, connected through empty areas that touch no other colour; masks bool [size, size]."""

    stones: np.ndarray
    eyes: list[np.ndarray]
    liberties: np.ndarray  # empty points that are not in its eyes


def _seki(board: np.ndarray) -> tuple[list[Chain], np.ndarray]:
    """(the strings in seki, bool [P] their common liberties and their eyes) on a board without dead stones: no eye and
    two common liberties or more on either side, or one small eye each and a common liberty or more.
    """
    gaps = [gap for gap in components(board == EMPTY) if len(np.unique(board[touches(gap) & (board != EMPTY)])) == 2]
    blacks, whites = (_weak_groups(board, colour, gaps) for colour in (BLACK, WHITE))
    stones, quiet = np.zeros(board.shape, np.bool_), np.zeros(board.shape, np.bool_)
    for black in blacks:
        for white in whites:
            shared = black.liberties & white.liberties
            if _is_seki(black, white, shared):
                stones |= black.stones | white.stones
                quiet |= np.logical_or.reduce([shared, *black.eyes, *white.eyes])
    return [chain for chain in chains_of(board) if stones.reshape(-1)[chain[0]]], quiet.reshape(-1)


def _is_seki(one: _Group, other: _Group, shared: np.ndarray) -> bool:
    """Whether neither of two weak groups may fill the liberties that they share."""
    if not shared.any() or len(one.eyes) != len(other.eyes) or (one.liberties ^ other.liberties).any():
        return False
    if one.eyes:
        return True
    inside, outside = sorted((one, other), key=lambda group: int(group.stones.sum()))
    enclosed = not (touches(inside.stones) & ~inside.stones & ~shared & ~outside.stones).any()
    return bool(shared.sum() >= 2) and not (enclosed and _threatens(inside, shared))


def _threatens(inside: _Group, shared: np.ndarray) -> bool:
    """Whether stones inside a group may be sacrificed so that one eye, or a ko in the corner, is left: what one move
    kills is known by the numbers of neighbours that the points have.
    """
    size = len(shared)
    for action in points(shared):
        offered = inside.stones | mask_of([action], size)
        neighbours = sorted(int((touches(mask_of([at], size)) & offered).sum()) for at in points(offered))
        has_corner = offered[[0, 0, -1, -1], [0, -1, 0, -1]].any()
        if len(neighbours) <= 3 or neighbours in _KILLED or (len(neighbours) == 4 and has_corner):
            return True
    return False


_KILLED = ([2, 2, 2, 2], [1, 1, 1, 3], [1, 1, 1, 1, 4], [1, 2, 2, 2, 3], [1, 1, 2, 2, 2, 4])


def _weak_groups(board: np.ndarray, colour: int, gaps: list[np.ndarray]) -> list[_Group]:
    """The groups of a colour that have at most one small eye, and no room outside it to make another."""
    between = np.logical_or.reduce([np.zeros(board.shape, np.bool_), *gaps])
    foreign = (board == opponent(colour)) | between
    own, empty = board == colour, board == EMPTY
    areas = [part for part in components(~foreign) if (part & own).any()]
    groups = [_Group(part & own, components(part & empty), touches(part) & between) for part in areas]
    return [group for group in groups if _is_weak(group, gaps)]


def _is_weak(group: _Group, gaps: list[np.ndarray]) -> bool:
    eye_points = sum(int(eye.sum()) for eye in group.eyes)
    room = sum(int(gap.sum()) for gap in gaps if (gap & group.liberties).any())
    return len(group.eyes) <= 1 and eye_points <= SMALL_EYE and room <= SMALL_GAP


def mask_of(actions: Iterable[int], size: int) -> np.ndarray:
    """A mask of these points."""
    mask = np.zeros(size * size, np.bool_)
    mask[list(actions)] = True
    return mask.reshape(size, size)


def touches(mask: np.ndarray) -> np.ndarray:
    """The points with a neighbour in ``mask``."""
    touched = np.zeros_like(mask)
    touched[1:] |= mask[:-1]
    touched[:-1] |= mask[1:]
    touched[:, 1:] |= mask[:, :-1]
    touched[:, :-1] |= mask[:, 1:]
    return touched


def connected(start: np.ndarray, within: np.ndarray) -> np.ndarray:
    """All points of ``within`` that are connected with ``start`` through ``within``."""
    reached = start & within
    while True:
        grown = (reached | touches(reached)) & within
        if (grown == reached).all():
            return reached
        reached = grown


def components(mask: np.ndarray) -> list[np.ndarray]:
    """The connected parts of a mask, in the order of their first points."""
    labels = area.applied(area.regions_of_one_colour, mask).reshape(mask.shape)
    return [labels == first for first in np.unique(labels[mask])]


def points(mask: np.ndarray) -> Chain:
    """The actions of a mask of any shape."""
    return [int(point) for point in np.flatnonzero(mask)]


def chains_of(board: np.ndarray) -> list[Chain]:
    """Every chain of a board uint8 [size, size], in the order of their first points."""
    labels = area.applied(area.regions_of_one_colour, board)
    return [points(labels == first) for first in np.unique(labels[board.reshape(-1) != EMPTY])]


def liberties_of(board: np.ndarray) -> np.ndarray:
    """Liberties of the chain on each point of a board uint8 [size, size], int64 [size, size]; 0 on empty points."""
    counts = np.zeros(board.shape, np.int64)
    for colour in (BLACK, WHITE):
        for chain in components(board == colour):
            counts[chain] = np.count_nonzero(touches(chain) & (board == EMPTY))
    return counts
