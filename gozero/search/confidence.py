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

from gozero.jit import kernel
from gozero.search.puct import points_gained

FIRST_DEVIATION = 0.4  # of values, assumed before any visit (KataGo's prior of its utility's deviation)
LEAST_SHARE = 0.15  # of the most visited move's visits; a move with fewer is not played (KataGo's)


@kernel()
def lower_bound(child, deviations):
    """The bound of a visited child for its parent, before points; at least -1."""
    visits = np.float64(child["visits"])
    mean = child["value_sum"] / visits
    spread = max(child["square_sum"] - visits * mean * mean, 0.0) + FIRST_DEVIATION * FIRST_DEVIATION
    return max(-mean - deviations * math.sqrt(spread / (visits + 1.0) / visits), -1.0)


@kernel()
def edge_of_highest_bound(forest, t, most, params):
    """The root edge of the highest bound; `most` visits has the most visited one. The root has a visited child."""
    nodes, children, root = forest.nodes[t], forest.children[t], forest.nodes[t, 0]
    expected = root["score_sum"] / root["visits"]
    best, highest = np.int64(root["edge_start"]), -np.inf
    for edge in range(np.int64(root["edge_start"]), np.int64(root["edge_start"] + root["child_count"])):
        child = nodes[children[edge]]
        if child["visits"] == 0 or child["visits"] < LEAST_SHARE * most:
            continue
        bound = lower_bound(child, params.lcb)
        if params.score_weight > 0:
            bound += points_gained(child, expected, params)
        if bound > highest:
            highest = bound
            best = np.int64(edge)
    return best
