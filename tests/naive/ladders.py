"""Ladders by definition: a slow, recursive reader to hold the kernel against.

Boards and colours are those of `tests.naive.go`; a board is a tuple here too. The hunter plays on the liberties of the
chain that it hunts, the runner on its own last liberty or on that of a chain beside it in atari; a stone that took one
stone, alone and in atari, is not taken back at once.
"""

from __future__ import annotations

from tests.naive.go import EMPTY, Board, Points, neighbours, other

FREE = 3  # liberties


class TooLongError(Exception):
    """A reading of more moves than were allowed, counted along all lines to their ends."""


class Reader:
    """Reads the ladders of one board, each with at most `most` moves of the hunter."""

    def __init__(self, board: Board, size: int, most: int) -> None:
        self.board, self.size, self.most, self.spent = board, size, most, 0

    def ladders(self) -> tuple[Points, dict[int, Points]]:
        """(the stones that are caught, for each colour the points where it begins to catch a chain of two liberties).
        TooLongError.
        """
        caught, begins = set[int](), {1: set[int](), 2: set[int]()}
        for point in range(self.size**2):
            liberties = chain(self.board, point, self.size)[1] if self.board[point] else frozenset[int]()
            self.spent = 0
            if len(liberties) == 1 and not self.flees(self.board, point):
                caught.add(point)
            for move in liberties if len(liberties) == FREE - 1 else ():
                self.spent = 0
                if self.catches(self.board, None, point, move):
                    caught.add(point)
                    begins[other(self.board[point])].add(move)
        return frozenset(caught), {colour: frozenset(moves) for colour, moves in begins.items()}

    def flees(self, board: Board, point: int, ko: int | None = None) -> bool:
        """Whether the chain on a point, in atari and to move, gets away. Every line is read, also where one is enough."""
        stones, liberties = chain(board, point, self.size)
        moves = set(liberties)
        for beside in {beside for stone in stones for beside in neighbours(self.size, self.size)[stone]}:
            if board[beside] == other(board[point]):
                last = chain(board, beside, self.size)[1]
                moves |= last if len(last) == 1 else frozenset()
        saved = [self._escapes(play(board, move, board[point], self.size, ko), point) for move in sorted(moves)]
        return any(saved)

    def _escapes(self, found: tuple[Board, int | None] | None, point: int) -> bool:
        """Whether a move of the runner's, by what `play` made of it, saves the chain."""
        liberties = chain(found[0], point, self.size)[1] if found else frozenset[int]()
        if found is None or len(liberties) != FREE - 1:
            return len(liberties) >= FREE
        caught = [self.catches(*found, point, hunt) for hunt in sorted(liberties)]
        return not any(caught)

    def catches(self, board: Board, ko: int | None, point: int, move: int) -> bool:
        """Whether the hunter, to move, catches the chain on a point by this move."""
        self.spent += 1
        if self.spent > self.most:
            raise TooLongError
        found = play(board, move, other(board[point]), self.size, ko)
        return (
            found is not None
            and len(chain(found[0], point, self.size)[1]) == 1
            and not self.flees(found[0], point, found[1])
        )


def chain(board: Board, point: int, size: int) -> tuple[Points, Points]:
    """(stones, liberties) of the chain on a point."""
    stones, liberties, waiting = {point}, set[int](), [point]
    while waiting:
        for beside in neighbours(size, size)[waiting.pop()]:
            if board[beside] == EMPTY:
                liberties.add(beside)
            elif board[beside] == board[point] and beside not in stones:
                stones.add(beside)
                waiting.append(beside)
    return frozenset(stones), frozenset(liberties)


def play(board: Board, point: int, colour: int, size: int, ko: int | None) -> tuple[Board, int | None] | None:
    """(the board after a move, the point that ko forbids next); None: it is illegal."""
    if point == ko:
        return None
    after, taken = list(board), set[int]()
    after[point] = colour
    for beside in neighbours(size, size)[point]:
        if after[beside] == other(colour):
            stones, liberties = chain(tuple(after), beside, size)
            taken |= stones if not liberties else frozenset()
    for stone in taken:
        after[stone] = EMPTY
    stones, liberties = chain(tuple(after), point, size)
    if not liberties:
        return None
    return tuple(after), next(iter(taken)) if len(taken) == len(stones) == 1 and liberties == taken else None
