"""Hex by definition: a slow, plain-Python referee to hold the kernels against. It searches the chain anew each time."""

from __future__ import annotations

BLACK, WHITE = 1, 2


class NaiveHex:
    """One game on a size x size board."""

    def __init__(self, size: int) -> None:
        self.size, self.plies, self.to_play = size, 0, BLACK
        self.stones: dict[tuple[int, int], int] = {}

    def legal(self) -> set[int]:
        """The empty points; in answer to the first move all, since its own point is the swap."""
        if self.over():
            return set()
        every = {(row, col) for row in range(self.size) for col in range(self.size)}
        return {row * self.size + col for row, col in (every if self.plies == 1 else every - self.stones.keys())}

    def play(self, action: int) -> None:
        row, col = divmod(action, self.size)
        if (row, col) in self.stones:
            del self.stones[row, col]
            row, col = col, row
        self.stones[row, col] = self.to_play
        self.plies += 1
        self.to_play = BLACK + WHITE - self.to_play

    def connects(self, colour: int) -> bool:
        """Whether stones of a colour lead from its first edge to its last."""
        axis = 0 if colour == BLACK else 1
        own = {point for point, stone in self.stones.items() if stone == colour}
        reached = [point for point in own if point[axis] == 0]
        for row, col in reached:  # grows on the way
            in_line = {(row, col - 1), (row, col + 1), (row - 1, col), (row + 1, col)}
            beside = in_line | {(row - 1, col + 1), (row + 1, col - 1)}
            reached += (beside & own) - set(reached)
        return any(point[axis] == self.size - 1 for point in reached)

    def over(self) -> bool:
        return self.connects(BLACK) or self.connects(WHITE)

    def result(self) -> int:
        """Who moved last has won."""
        return -1
