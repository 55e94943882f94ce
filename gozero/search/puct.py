"""PUCT: which child to follow (Silver et al. 2017, "Mastering the game of Go without human knowledge").

    score(a) = Q(a) + c_puct * P(a) * sqrt(sum of N) / (1 + N(a))

An unvisited move has no Q; first-play urgency lends it the parent's value less `fpu` * sqrt(prior mass already visited),
as KataGo does (Wu 2019). Visits in flight count as visits, each with a loss of `virtual_loss`.
"""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np
from numba import types

from gozero.jit import kernel

NO_EDGE = -1


class Params(NamedTuple):
    """The numbers of `SearchSettings` that kernels need, as floats."""

    c_puct: float
    fpu: float
    virtual_loss: float
    c_visit: float
    c_scale: float


PARAMS = types.NamedUniTuple(types.float64, 5, Params)


@kernel()
def best_edge(forest, t, index, params, may_grow):
    """The edge of highest score below a node; a visited one only, unless `may_grow`. NO_EDGE where there is none."""
    nodes, priors, children = forest.nodes[t], forest.priors[t], forest.children[t]
    node = nodes[index]
    start = np.int64(node["edge_start"])
    end = start + node["child_count"]
    exploration = params.c_puct * math.sqrt(max(node["visits"] + node["pending"] - 2, 0))
    best = np.int64(NO_EDGE)
    highest = -np.inf
    visited_mass = 0.0
    for edge in range(start, end):
        child = nodes[children[edge]]
        count = child["visits"] + child["pending"]
        lost = child["value_sum"] + params.virtual_loss * child["pending"]
        score = exploration * priors[edge] / (1 + count) - lost / count
        visited_mass += priors[edge]
        if score > highest:
            highest = score
            best = np.int64(edge)
    if may_grow and node["child_count"] < node["edge_count"]:
        urgency = node["value_sum"] / max(node["visits"], 1) - params.fpu * math.sqrt(visited_mass)
        if urgency + exploration * priors[end] > highest:
            best = end
    return best
