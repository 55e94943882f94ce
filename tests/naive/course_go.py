"""The course's simplified 5x5 Go by definition, on the boards of the slow referee of Go: eyes, not area, decide."""

from __future__ import annotations

from tests.naive.go import EMPTY, NaiveGo, other


class NaiveCourseGo(NaiveGo):
    """One game of it."""

    def __init__(self) -> None:
        super().__init__(5, rules="chinese-simple", komi=0)

    def over(self) -> bool:
        """Whether neither side could move, or the fiftieth ply is played."""
        return super().over() or len(self.moves) == 50

    def legal(self) -> set[int]:
        """The points that may be played, or the pass alone."""
        if self.over():
            return set()
        return {point for point in range(self.points) if self.is_legal_point(point)} or {self.pass_action}

    def is_legal_point(self, point: int) -> bool:
        """As in Go, but for own eyes: these may be filled only where the other side's stone would capture."""
        if not super().is_legal_point(point):
            return False
        return not self.is_eye(point, self.to_play) or self.captures(point, other(self.to_play))

    def is_eye(self, point: int, colour: int) -> bool:
        """Whether the point is empty and all its neighbours have stones of the colour."""
        return self.board[point] == EMPTY and all(self.board[beside] == colour for beside in self.beside[point])

    def captures(self, point: int, colour: int) -> bool:
        """Whether a stone of the colour on an empty point would take a neighbour's chain."""
        board = list(self.board)
        board[point] = colour
        return any(
            board[beside] == other(colour) and self._remove_if_dead(board, beside) for beside in self.beside[point]
        )

    def owner(self) -> list[int]:
        """For every point: +1 an eye of the side to move, -1 of the other side, else 0."""
        own, rival = self.to_play, other(self.to_play)
        return [self.is_eye(point, own) - self.is_eye(point, rival) for point in range(self.points)]

    def score(self) -> int:
        """Eyes of the side to move above the other's."""
        return sum(self.owner())

    def result(self) -> int:
        """+1, 0 or -1 for the side to move."""
        return (self.score() > 0) - (self.score() < 0)
