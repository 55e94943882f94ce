"""PUCT: which child to follow (Silver et al. 2017, "Mastering the game of Go without human knowledge").

    score(a) = Q(a) + c_puct * P(a) * sqrt(sum of N) / (1 + N(a))

With a `c_uct` it is UCB1, which makes the search UCT (Kocsis and Szepesvari 2006): every move once, then the highest of

    score(a) = Q(a) + c_uct * sqrt(ln(sum of N) / N(a))

An unvisited move has no Q; first-play urgency lends it the parent's value less `fpu` * sqrt(prior mass already
visited), as KataGo does (Wu 2019). Visits in flight count as visits, each with a loss of `virtual_loss`.

Where the result is all that counts, a side that is winning plays anything that wins, and one that is losing anything at
all. With a `score_weight` the Q of a visited move also rises with the points it gains against the position's mean
score, as in KataGo's score utility (Wu 2019), but by the mean scores of the two nodes: no distribution of scores is
known here. Values backed up stay pure.
"""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np
from numba import types

from gozero.search.tree import DECIDED
from gozero.system.jit import kernel

NO_EDGE = -1
FAR = 1e9  # below every score


class Params(NamedTuple):
    """The numbers of `SearchSettings` that kernels need, as floats."""

    c_puct: float
    fpu: float
    virtual_loss: float
    c_visit: float
    c_scale: float
    score_weight: float
    score_scale: float  # points
    c_uct: float
    lcb: float
    solve: float  # 1: see tree.prove


PARAMS = types.NamedUniTuple(types.float64, 10, Params)


@kernel()
def points_gained(child, expected, params):
    """The bonus that points add to the value of a visited child for its parent, whose mean score is `expected`."""
    gain = -child["score_sum"] / child["visits"] - expected
    return params.score_weight * (2 / math.pi) * math.atan(gain / params.score_scale)


@kernel()
def best_by_ucb1(forest, t, index, params):
    """The same by UCB1: the first unvisited edge where there is one."""
    nodes, children, node = forest.nodes[t], forest.children[t], forest.nodes[t, index]
    start = np.int64(node["edge_start"])
    end = start + node["child_count"]
    if node["child_count"] < node["edge_count"]:
        return end
    tries = math.log(max(node["visits"] + node["pending"] - 2, 1))
    best = np.int64(NO_EDGE)
    highest = -np.inf
    for edge in range(start, end):
        child = nodes[children[edge]]
        count = child["visits"] + child["pending"]
        lost = child["value_sum"] + params.virtual_loss * child["pending"]
        score = params.c_uct * math.sqrt(tries / count) - lost / count
        if score > highest:
            highest = score
            best = np.int64(edge)
    return best


@kernel()
def best_edge(forest, t, index, params):
    """The edge of highest score below a node, visited or the first unvisited one. NO_EDGE where there is none."""
    if params.c_uct > 0:
        return best_by_ucb1(forest, t, index, params)
    nodes, priors, children = forest.nodes[t], forest.priors[t], forest.children[t]
    node = nodes[index]
    start = np.int64(node["edge_start"])
    end = start + node["child_count"]
    exploration = params.c_puct * math.sqrt(max(node["visits"] + node["pending"] - 2, 0))
    best = np.int64(NO_EDGE)
    highest = -np.inf
    visited_mass = 0.0
    expected = node["score_sum"] / max(node["visits"], 1)
    for edge in range(start, end):
        child = nodes[children[edge]]
        count = child["visits"] + child["pending"]
        lost = child["value_sum"] + params.virtual_loss * child["pending"]
        score = exploration * priors[edge] / (1 + count) - lost / count
        visited_mass += priors[edge]
        if params.score_weight > 0 and child["visits"] > 0:
            score += points_gained(child, expected, params)
        if params.solve > 0 and child["status"] == DECIDED and child["value"] == 1:
            score -= FAR  # proven to lose: only where nothing else is left
        if score > highest:
            highest = score
            best = np.int64(edge)
    if node["child_count"] < node["edge_count"]:
        urgency = node["value_sum"] / max(node["visits"], 1) - params.fpu * math.sqrt(visited_mass)
        if urgency + exploration * priors[end] > highest:
            best = end
    return best
