"""The simplified 5x5 Go by definition: the slow referee of Go, with simple ko, no komi and an end after 100 plies."""

from __future__ import annotations

from tests.naive.go import NaiveGo


class NaiveSimpleGo(NaiveGo):
    """One game of it."""

    def __init__(self) -> None:
        super().__init__(5, rules="chinese-simple", komi=0)

    def over(self) -> bool:
        """Whether the last two moves were passes, or the hundredth ply is played."""
        return super().over() or len(self.moves) == 100
