"""NoGo by definition: a slow, plain-Python referee to hold the kernels against.

Vocabulary as in `tests.naive.go`, without pass: actions are points, row-major from the top left. Nothing is incremental
and nothing is shared with the engine: whether a move is legal is found by putting the stone and filling every chain of
the board.
"""

from __future__ import annotations

from tests.naive.go import BLACK, EMPTY, diagram, neighbours, other


class NaiveNoGo:
    """One game of NoGo on a size x size board: the board, the side to move and the moves so far."""

    def __init__(self, size: int) -> None:
        self.size, self.points = size, size * size
        self.beside = neighbours(size, size)
        self.board = [EMPTY] * self.points
        self.moves: list[int] = []
        self.to_play = BLACK

    def playable(self, colour: int) -> set[int]:
        """The points where `colour` may play, were it to move: empty, and every chain has a liberty afterwards."""
        return {
            point
            for point in range(self.points)
            if self.board[point] == EMPTY and self._all_breathe_after(point, colour)
        }

    def legal(self) -> set[int]:
        """All legal actions."""
        return self.playable(self.to_play)

    def over(self) -> bool:
        """Whether the side to move cannot move."""
        return not self.legal()

    def result(self) -> int:
        """Of a finished game, for the side to move: it has lost."""
        return -1

    def play(self, action: int) -> None:
        """Plays a legal action for the side to move."""
        assert action in self.legal(), f"{action} in\n{self}"
        self.board[action] = self.to_play
        self.moves.append(action)
        self.to_play = other(self.to_play)

    def undo(self) -> None:
        """Takes the last move back."""
        self.board[self.moves.pop()] = EMPTY
        self.to_play = other(self.to_play)

    def owner(self) -> list[int]:
        """For every point: +1 where only the side to move may play, -1 where only the other side may, else 0."""
        mine, theirs = self.playable(self.to_play), self.playable(other(self.to_play))
        return [(point in mine) - (point in theirs) for point in range(self.points)]

    def score(self) -> int:
        """The side to move's moves less the other side's, less one."""
        return len(self.playable(self.to_play)) - len(self.playable(other(self.to_play))) - 1

    def _all_breathe_after(self, point: int, colour: int) -> bool:
        self.board[point] = colour
        breathe = all(self._breathes(stone) for stone in range(self.points) if self.board[stone] != EMPTY)
        self.board[point] = EMPTY
        return breathe

    def _breathes(self, point: int) -> bool:
        """Whether the chain on `point` has a liberty."""
        chain, reached = [point], {point}
        for stone in chain:
            for beside in self.beside[stone]:
                if self.board[beside] == EMPTY:
                    return True
                if self.board[beside] == self.board[point] and beside not in reached:
                    reached.add(beside)
                    chain.append(beside)
        return False

    def __str__(self) -> str:
        """The board as a diagram, the side to move and the moves so far."""
        moves = " ".join(map(str, self.moves)) or "no move"
        return f"{diagram(self.board, self.size)}\n{'?BW'[self.to_play]} to play, after {moves}"
