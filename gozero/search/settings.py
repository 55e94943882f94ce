"""The settings of a search, each with its unit and the source of its usual value, and the moves that it leaves out.

Budgets, deadlines and noise on or off belong to one search of one position, see `root.SearchRequest` and `Search.run`.
"""

from __future__ import annotations

from dataclasses import dataclass, fields

from gozero.system.errors import ChoiceError

ROOTS = ("puct", "gumbel")
VISITS_PER_LEAF = 25  # a tree of fewer for each leaf in flight suffers from leaves chosen before others are known


@dataclass(frozen=True)
class SearchSettings:
    """Frozen settings of a `Search`. Noise, temperature and forced playouts apply if a request asks for noise."""

    root: str = "puct"  # how moves are tried at the root: "puct" as below it, or "gumbel" (Danihelka et al. 2022)
    c_puct: float = 1.1  # weight of the prior against the value (KataGo 1.1, Leela Zero about 0.8)
    # above 0, UCB1 in place of PUCT with this constant (Kocsis and Szepesvari 2006: sqrt(8) for values of -1 to 1)
    c_uct: float = 0.0
    fpu: float = 0.2  # how far below its parent an unvisited child is, in value, at full prior mass (KataGo 0.2)
    leaves: int = 1  # collected from one tree in one wave; above 1, virtual loss makes them differ
    # up to which the wave of a single tree grows, one for every `VISITS_PER_LEAF` visits, if the evaluator prefers more
    most_leaves: int = 1
    # whether a wave takes a leaf of every move of a Gumbel root's round, instead of `leaves`: they lie below different
    # moves, so none has to be chosen before another is known
    whole_rounds: bool = False
    virtual_loss: float = 1.0  # losses charged for each visit in flight (AlphaGo Zero 1; 0: only the visit counts)
    dirichlet_weight: float = 0.0  # share of Dirichlet noise in the root's prior (AlphaGo Zero 0.25; 0 off)
    dirichlet_total: float = 10.83  # sum of its parameters over the legal moves (AlphaGo Zero on 19x19: 0.03 * 361)
    dirichlet_alpha: float = 0.0  # parameter of each legal move in place of that total (0: the total is shared)
    root_policy_temperature: float = 1.0  # the root's prior is raised to 1/this and renormalised (KataGo 1.25 to 1.1)
    forced_playouts: float = 0.0  # k of `puct`'s forced playouts (KataGo 2; 0 off)
    gumbel_m: int = 16  # moves considered at a Gumbel root (16 in the paper)
    # the paper's sigma(q) = (c_visit + max visits) * c_scale * q, with q in 0 to 1 (50 and 1)
    c_visit: float = 50.0
    c_scale: float = 1.0
    # of points beside the result: a move's value rises by this * 2/pi * atan(gain / (2 * sqrt(area))), its gain being
    # how much more its mean score is than the position's (KataGo 0.1, and 0.3 with 0.75 in place of 2; 0: off)
    score_weight: float = 0.0
    # above 0, a PUCT root plays the move of the highest lower confidence bound, that many standard deviations of its
    # mean below its value (KataGo 5, of another estimate); 0: the most visited move
    lcb: float = 0.0
    # whether results searched to the end of the game are proven, see `tree.prove`; not for Go. Only with `lcb` does the
    # best move respect them
    solve: bool = False
    max_nodes: int = 50_000  # of one tree
    max_depth: int = 256  # plies below the root that a line may reach

    def __post_init__(self) -> None:
        if self.root not in ROOTS:
            raise ChoiceError(f"search root {self.root!r} is unknown: expected one of {', '.join(ROOTS)}")
        for name in ("leaves", "most_leaves", "gumbel_m", "max_nodes", "max_depth"):
            if getattr(self, name) < 1:
                raise ChoiceError(f"search setting {name} is {getattr(self, name)}: expected at least 1")
        for item in (item for item in fields(self) if item.type == "float"):
            value, above = getattr(self, item.name), item.name in ("dirichlet_total", "root_policy_temperature")
            if not 0 <= value < float("inf") or (above and value == 0):
                expected = "above 0" if above else "not below 0"
                raise ChoiceError(f"search setting {item.name} is {value}: expected a number {expected}")
        if self.dirichlet_weight > 1:
            raise ChoiceError(f"search setting dirichlet_weight is {self.dirichlet_weight}: expected 0 to 1")


@dataclass(frozen=True)
class Restriction:
    """Moves that a side's search leaves out or, if `alone`, the only ones that it considers."""

    colour: int  # the side
    actions: frozenset[int]
    plies: int = 1  # of a line in which this holds, below 2**31; 1 is the move at the root, less than 1 no move
    alone: bool = False  # several of these for one side count as one, with the moves of all and the most plies
