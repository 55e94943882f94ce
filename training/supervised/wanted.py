"""Which games and positions of a collection are learned from."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class Wanted:
    """The choice of games and rows."""

    sizes: tuple[int, ...] = ()  # board sizes; empty: all
    variations: bool = False  # all lines, not only the main one
    require_result: bool = False  # only games whose result can be learned
    held_out: float = 0.05  # share of games
    most: int = 1_000_000  # rows
    seed: int = 1
    features: int = 1  # version of the input features
