"""Breakthrough by definition: a slow, plain-Python referee to hold the kernels against.

Pieces are two sets of (row, col), row 0 at the top. An action is where from, and in which of six directions: up to the
left, up, up to the right, then the same down. Nothing is shared with the engine.
"""

from __future__ import annotations

BLACK, WHITE = 1, 2


class NaiveBreakthrough:
    """One game on a size x size board."""

    def __init__(self, size: int) -> None:
        self.size = size
        rows = {BLACK: (size - 2, size - 1), WHITE: (0, 1)}
        self.pieces = {colour: {(row, col) for row in rows[colour] for col in range(size)} for colour in rows}
        self.to_play = BLACK

    def moves(self) -> dict[int, tuple[tuple[int, int], tuple[int, int]]]:
        """Where from and where to, by action."""
        own, other = self.pieces[self.to_play], self.pieces[BLACK + WHITE - self.to_play]
        ahead = -1 if self.to_play == BLACK else 1
        found = {}
        for row, col in own:
            for side in (-1, 0, 1):
                to = row + ahead, col + side
                is_on_board = 0 <= to[0] < self.size and 0 <= to[1] < self.size
                if is_on_board and to not in own and (side != 0 or to not in other):
                    direction = side + 1 + (0 if self.to_play == BLACK else 3)
                    found[(direction * self.size + row) * self.size + col] = (row, col), to
        return found

    def legal(self) -> set[int]:
        return set() if self.over() else set(self.moves())

    def play(self, action: int) -> None:
        origin, to = self.moves()[action]
        self.pieces[self.to_play] = self.pieces[self.to_play] - {origin} | {to}
        self.to_play = BLACK + WHITE - self.to_play
        self.pieces[self.to_play] = self.pieces[self.to_play] - {to}

    def over(self) -> bool:
        """Whether a piece has arrived, or a side has none."""
        arrived = any(row == 0 for row, _ in self.pieces[BLACK]) or any(
            row == self.size - 1 for row, _ in self.pieces[WHITE]
        )
        return arrived or not all(self.pieces.values())

    def result(self) -> int:
        """Who moved last has won."""
        return -1
