"""Othello by definition: a slow, plain-Python referee to hold the kernels against.

Vocabulary: a *board* is a tuple of 0 (empty), 1 (Black) and 2 (White), row-major from the top left; a disc *encloses*
the straight unbroken lines of the opponent's discs that it closes off at one end and another disc of its colour at the
other. Actions are numbered as in the engine: points, then pass, then resign (which is never a move here).

Every question is answered by walking over the board, point by point; nothing is shared with the engine.
"""

from __future__ import annotations

from tests.naive.go import BLACK, EMPTY, WHITE, diagram, other

DIRECTIONS = [(down, right) for down in (-1, 0, 1) for right in (-1, 0, 1) if (down, right) != (0, 0)]


class NaiveOthello:
    """One game of Othello on a size x size board, remembered as the list of all its boards and sides to move."""

    def __init__(self, size: int) -> None:
        self.size = size
        self.pass_action = size * size
        middle = size // 2
        board = [EMPTY] * size * size
        for row, col, colour in [(-1, -1, BLACK), (-1, 0, WHITE), (0, -1, WHITE), (0, 0, BLACK)]:
            board[(middle + row) * size + middle + col] = colour
        self.past = [(tuple(board), BLACK)]

    @property
    def board(self) -> tuple[int, ...]:
        """The current board."""
        return self.past[-1][0]

    @property
    def to_play(self) -> int:
        """The side to move."""
        return self.past[-1][1]

    def enclosed(self, point: int, colour: int) -> list[int]:
        """The points of the discs that a disc of `colour` on the empty `point` would turn over."""
        found: list[int] = []
        for down, right in DIRECTIONS:
            line: list[int] = []
            row, col = divmod(point, self.size)
            while True:
                row, col = row + down, col + right
                if not (0 <= row < self.size and 0 <= col < self.size) or self.board[row * self.size + col] == EMPTY:
                    break
                if self.board[row * self.size + col] == colour:
                    found += line
                    break
                line.append(row * self.size + col)
        return found

    def moves(self, colour: int) -> set[int]:
        """The empty points on which a disc of `colour` would turn over another."""
        return {point for point, disc in enumerate(self.board) if disc == EMPTY and self.enclosed(point, colour)}

    def legal(self) -> set[int]:
        """All legal actions: the moves of the side to move, or else a pass; empty once the game is over."""
        return set() if self.over() else self.moves(self.to_play) or {self.pass_action}

    def play(self, action: int) -> None:
        """Plays a legal action for the side to move."""
        assert action in self.legal(), f"{action} in\n{self}"
        board, colour = list(self.board), self.to_play
        if action != self.pass_action:
            for point in [action, *self.enclosed(action, colour)]:
                board[point] = colour
        self.past.append((tuple(board), other(colour)))

    def undo(self) -> None:
        """Takes the last ply back."""
        self.past.pop()

    def over(self) -> bool:
        """Whether neither side can move."""
        return not self.moves(BLACK) and not self.moves(WHITE)

    def owner(self) -> list[int]:
        """For every point: +1 a disc of the side to move, -1 of the other side, else 0."""
        return [(disc == self.to_play) - (disc == other(self.to_play)) for disc in self.board]

    def score(self) -> int:
        """Discs of the side to move above the other's."""
        return self.board.count(self.to_play) - self.board.count(other(self.to_play))

    def result(self) -> int:
        """+1, 0 or -1 for the side to move."""
        return (self.score() > 0) - (self.score() < 0)

    def __str__(self) -> str:
        """The board as a diagram, with the side to move."""
        return f"{diagram(self.board, self.size)}\n{'?XO'[self.to_play]} to play"
