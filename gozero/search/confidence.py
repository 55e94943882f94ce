"""Lower confidence bounds: the move to play, from what a PUCT root has found.

    bound(a) = Q(a) - deviations * sigma(a) / sqrt(N(a))

sigma(a) is the standard deviation of the values backed up through the move, with one visit of `FIRST_DEVIATION` among
them. The most visited move is the one that looked best for longest; when a rival has just turned out better, or the
leader worse, visits follow slowly. The move of the highest bound is played, of those tried well enough
(`LEAST_SHARE`), with the points that it gains as in `gozero.search.puct`. So does KataGo ("LCB" in its configuration);
docs/search.md has the matches.
"""

from __future__ import annotations

import math

import numpy as np

from gozero.search.puct import points_gained
from gozero.search.tree import DECIDED
from gozero.system.jit import kernel

FIRST_DEVIATION = 0.4  # of values, assumed before any visit (KataGo's prior of its utility's deviation)
LEAST_SHARE = 0.15  # of the most visited move's visits; a move with fewer is not played (KataGo's)


@kernel()
def lower_bound(child, deviations):
    """The bound of a visited child for its parent, before points. It may lie below -1, so that lost moves compare; where
    the child is decided it is what that is worth, a loss below all others.
    """
    if child["status"] == DECIDED:
        return -np.float64(child["value"]) if child["value"] < 1 else -np.inf
    visits = np.float64(child["visits"])
    mean = child["value_sum"] / visits
    spread = max(child["square_sum"] - visits * mean * mean, 0.0) + FIRST_DEVIATION * FIRST_DEVIATION
    return -mean - deviations * math.sqrt(spread / (visits + 1.0) / visits)


@kernel()
def _is_proven(child, value, params):
    """Whether a child is known to be worth this to the side to move there, in a game where results are proven."""
    return params.solve > 0 and child["status"] == DECIDED and child["value"] == value


@kernel()
def edge_of_highest_bound(forest, t, most, params):
    """The root edge of the highest bound, `most` being the most visited one, which is visited.

    A move that is proven to lose is left out where another has a visit.
    """
    nodes, children, root = forest.nodes[t], forest.children[t], forest.nodes[t, 0]
    start, end = np.int64(root["edge_start"]), np.int64(root["edge_start"] + root["child_count"])
    expected = root["score_sum"] / root["visits"]
    least = 0.0
    for edge in range(start, end):
        child = nodes[children[edge]]
        if not _is_proven(child, 1.0, params):
            least = max(least, LEAST_SHARE * child["visits"])
    best, highest = most, -np.inf
    for edge in range(start, end):
        child = nodes[children[edge]]
        if child["visits"] == 0 or _is_proven(child, 1.0, params):
            continue
        if child["visits"] < least and not _is_proven(child, -1.0, params):
            continue
        bound = lower_bound(child, params.lcb)
        if params.score_weight > 0:
            bound += points_gained(child, expected, params)
        if bound > highest:
            highest = bound
            best = np.int64(edge)
    return best
