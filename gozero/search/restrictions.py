"""Moves that an analysis leaves out, or to which it is restricted, in the first plies of every line."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import numpy as np


@dataclass(frozen=True)
class Restriction:
    """Moves that a side's search leaves out or, if `alone`, the only ones that it considers."""

    colour: int  # the side
    actions: frozenset[int]
    plies: int = 1  # of a line in which this holds, below 2**31; 1 is the move at the root, less than 1 no move
    alone: bool = False  # several of these for one side count as one, with the moves of all and the most plies


def left_out(restrictions: Sequence[Restriction], to_play: int, actions: int) -> np.ndarray:
    """int32 [2, A]: in how many plies each action is left out, for the side to move and for the other."""
    import numpy as np

    plies = np.zeros((2, actions), np.int32)
    for row, of_mover in zip(plies, (True, False), strict=True):
        own = [restriction for restriction in restrictions if (restriction.colour == to_play) == of_mover]
        avoided = [(restriction.actions, restriction.plies) for restriction in own if not restriction.alone]
        alone = [restriction for restriction in own if restriction.alone]
        if alone:
            allowed = frozenset[int]().union(*(restriction.actions for restriction in alone))
            avoided.append((frozenset(range(actions)) - allowed, max(restriction.plies for restriction in alone)))
        for named, most in avoided:
            row[list(named)] = np.maximum(row[list(named)], most)
    return plies
