"""Simplified Go on 5x5: simple ko, no suicide, no komi, counted by area after two passes or 100 plies, so that draws
exist.

The kernels and the state row are those of `gozero.games.go.go`.
"""

from __future__ import annotations

from dataclasses import replace

from gozero.games.game import Game, check_size
from gozero.games.go import go
from gozero.system.errors import ChoiceError

SIZE = 5
RULES = "chinese-simple"
MOVE_LIMIT = 100


def make(size: int = SIZE, rules: str = RULES) -> Game:
    """Simplified Go; there is one board and one set of rules."""
    check_size(size, "simple_go", SIZE, SIZE)
    if rules != RULES:
        raise ChoiceError(f"unknown rules {rules!r}: expected {RULES}")
    return replace(go.make(size, rules, komi=0.0, move_limit=MOVE_LIMIT), name="simple_go")
