"""Games won by a line, by definition: a slow, plain-Python referee for tic-tac-toe, gomoku and Connect-4.

Every line of the board is listed once and looked at after every move; nothing is incremental and nothing is shared with
the engine.
"""

from __future__ import annotations

from functools import cache

from tests.naive.go import BLACK, EMPTY, WHITE, diagram, other

Line = tuple[int, ...]
DIRECTIONS = ((0, 1), (1, -1), (1, 0), (1, 1))


@cache
def lines(rows: int, cols: int, length: int) -> tuple[tuple[Line, Line], ...]:
    """Every set of `length` points in a line, with the points, at most two, by which it could be prolonged."""

    def on_board(row: int, col: int) -> bool:
        return 0 <= row < rows and 0 <= col < cols

    found = []
    for row, col in ((row, col) for row in range(rows) for col in range(cols)):
        for down, right in DIRECTIONS:
            reach = [(row + k * down, col + k * right) for k in range(-1, length + 1)]
            if all(on_board(*point) for point in reach[1:-1]):
                numbers = [r * cols + c for r, c in reach]
                ends = [
                    number
                    for number, point in zip(numbers, reach, strict=True)
                    if on_board(*point) and point in (reach[0], reach[-1])
                ]
                found.append((tuple(numbers[1:-1]), tuple(ends)))
    return tuple(found)


class NaiveLines:
    """One game on a rows x cols board: `length` in a line win, no more than that where `exact`; with `gravity` stones
    fall down.
    """

    def __init__(self, rows: int, cols: int, length: int, *, exact: bool = False, gravity: bool = False) -> None:
        self.rows, self.cols, self.exact, self.gravity = rows, cols, exact, gravity
        self.lines = lines(rows, cols, length)
        self.board = [EMPTY] * (rows * cols)
        self.to_play = BLACK

    def legal(self) -> set[int]:
        """The empty points; with gravity only those with the edge or a stone below."""
        if self.over():
            return set()
        empty = {point for point, colour in enumerate(self.board) if colour == EMPTY}
        return {point for point in empty if point + self.cols not in empty} if self.gravity else empty

    def play(self, action: int) -> None:
        """Plays a legal action for the side to move."""
        assert self.board[action] == EMPTY, f"{action} in\n{self}"
        self.board[action] = self.to_play
        self.to_play = other(self.to_play)

    def has_line(self, colour: int) -> bool:
        """Whether the colour fills a line; where `exact`, one that it does not prolong."""
        return any(
            all(self.board[point] == colour for point in line)
            and not (self.exact and any(self.board[end] == colour for end in ends))
            for line, ends in self.lines
        )

    def over(self) -> bool:
        """Whether someone has a line or the board is full."""
        return self.has_line(BLACK) or self.has_line(WHITE) or EMPTY not in self.board

    def result(self) -> int:
        """+1, 0 or -1 for the side to move."""
        return self.has_line(self.to_play) - self.has_line(other(self.to_play))

    def __str__(self) -> str:
        return f"{diagram(self.board, self.cols)}\n{'?XO'[self.to_play]} to play"


def naive_tictactoe() -> NaiveLines:
    return NaiveLines(3, 3, 3)


def naive_gomoku(size: int = 9, rules: str = "freestyle") -> NaiveLines:
    return NaiveLines(size, size, 5, exact=rules == "exact")


def naive_connect4() -> NaiveLines:
    return NaiveLines(6, 7, 4, gravity=True)
