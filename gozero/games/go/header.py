"""The header of Go's state row: its fields, and how rules, komi and marks are written into them.

The fields besides those of `gozero.games.go.chains`:

  KO          cell that simple ko forbids to the side to move, or 0
  PASSES      passes in a row up to now; two end the game
  PASS_BITS   bit k set: the ply k plies ago was a pass (bit 0 is the newest; 5 bits are stored)
  KO_RULE     SIMPLE, POSITIONAL or SITUATIONAL (gozero.games.go.rules)
  SUICIDE     1 where suicide is legal
  BONUS       points that White gets beside komi: the handicap bonus, and with TERRITORY what `go.white_bonus` says
  KOMI        thousandths of a point, within ±2,000,000 points
  MOVE_LIMIT  ply at which the game ends and is counted, or 0 for none
  TERRITORY   1 where territory and prisoners count, 0 for area
  FILTER      the first of 32 words, the filter of `gozero.games.go.superko`
"""

from __future__ import annotations

import numpy as np

from gozero.games.go import chains
from gozero.games.go.rules import RuleSet

KO, PASSES, PASS_BITS, KO_RULE, SUICIDE, BONUS, KOMI, MOVE_LIMIT, TERRITORY = 5, 6, 7, 8, 9, 10, 11, 12, 13
FILTER = 16
KOMI_UNITS = 1000
MAX_KOMI = 2_000_000.0


def set_komi(state: np.ndarray, komi: float) -> None:
    """Write komi (points, finite; rounded to a thousandth) into the header of state int32 [S]."""
    state[KOMI] = round(min(max(komi, -MAX_KOMI), MAX_KOMI) * KOMI_UNITS)


def set_rules(state: np.ndarray, rules: RuleSet, komi: float, handicap: int = 0) -> None:
    """Write rules, komi (points, finite) and the bonus for `handicap` stones into the header of state int32 [S],
    an empty board with Black to move.
    """
    state[KO_RULE] = rules.ko
    state[SUICIDE] = rules.suicide
    state[BONUS] = rules.handicap_bonus(handicap)
    state[TERRITORY] = rules.territory
    set_komi(state, komi)


def marks(state: np.ndarray) -> tuple[int | None, int]:
    """(the point that simple ko forbids or None, passes in a row)."""
    ko = int(chains.action_of(int(state[KO]), int(state[chains.SIZE]))) if state[KO] else None
    return ko, int(state[PASSES])


def set_marks(state: np.ndarray, ko: int | None, passes: int) -> None:
    """Write what `marks` reads into state int32 [S], a position without history."""
    state[PASSES] = passes
    state[PASS_BITS] = (1 << min(passes, 5)) - 1
    if ko is not None:
        state[KO] = chains.cell_of(ko, int(state[chains.SIZE]))
