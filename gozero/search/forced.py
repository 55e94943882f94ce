"""Forced playouts and policy-target pruning at a PUCT root that explores (Wu 2019, "Accelerating self-play learning in
Go", section 3.2).

    forced(a) = sqrt(k * P(a) * sum of N)

A move that noise brought up is soon given up by PUCT, before its value is known. So a root move that has been tried
gets at least forced(a) simulations. They are the price of exploring, not an opinion of the search: afterwards each move
but the most visited loses up to forced(a) of them, as long as PUCT still prefers the most visited one (by the same
values, points gained included). A move left with a single visit is no part of the policy.

P is the prior searched with, noise included. The tree itself keeps all visits; below the root the search is PUCT.
"""

from __future__ import annotations

import math

import numpy as np

from gozero.search.puct import NO_EDGE, points_gained
from gozero.system.jit import kernel


@kernel()
def forced_edge(forest, t):
    """A child of the root that has fewer visits, those in flight included, than it must get; NO_EDGE if there is none."""
    nodes, priors, children = forest.nodes[t], forest.priors[t], forest.children[t]
    root = nodes[0]
    factor = forest.trees[t]["forced"] * max(root["visits"] + root["pending"] - 2, 0)
    for edge in range(np.int64(root["edge_start"]), np.int64(root["edge_start"] + root["child_count"])):
        child = nodes[children[edge]]
        if (child["visits"] + child["pending"]) ** 2 < factor * priors[edge]:
            return edge
    return np.int64(NO_EDGE)


@kernel()
def _worth(forest, t, edge, params):
    """Q of a visited root child, with the points it gains, as `best_edge` takes it."""
    root, child = forest.nodes[t, 0], forest.nodes[t, forest.children[t, edge]]
    q = -child["value_sum"] / child["visits"]
    return q if params.score_weight == 0 else q + points_gained(child, root["score_sum"] / root["visits"], params)


@kernel()
def _earned(forest, t, edge, params, exploration, forced, best):
    """Visits of a root child that PUCT would have given it: it loses up to `forced`, while its score stays below
    `best`.
    """
    child = forest.nodes[t, forest.children[t, edge]]
    kept = np.int64(child["visits"])
    if kept == 0:
        return kept
    least = kept - forced
    q = _worth(forest, t, edge, params)
    while kept >= 1 and kept - 1 >= least and q + exploration * forest.priors[t, edge] / kept < best:
        kept -= 1
    return kept if kept > 1 else np.int64(0)


@kernel()
def pruned_policy(forest, t, params, policy):
    """Write the shares of the visits that were earned into policy float32 [A], which is 0 on entry. The root has a
    visited child.
    """
    nodes, priors, children = forest.nodes[t], forest.priors[t], forest.children[t]
    start, end = np.int64(nodes[0]["edge_start"]), np.int64(nodes[0]["edge_start"] + nodes[0]["child_count"])
    visits, most = 0, start
    for edge in range(start, end):
        visits += nodes[children[edge]]["visits"]
        if nodes[children[edge]]["visits"] > nodes[children[most]]["visits"]:
            most = np.int64(edge)
    exploration = params.c_puct * math.sqrt(visits)
    chosen = nodes[children[most]]
    best = exploration * priors[most] / (1 + chosen["visits"]) + _worth(forest, t, most, params)
    total = 0.0
    for edge in range(start, end):
        kept = np.int64(chosen["visits"])
        if edge != most:
            kept = _earned(
                forest, t, edge, params, exploration, math.sqrt(forest.trees[t]["forced"] * priors[edge] * visits), best
            )
        policy[forest.actions[t, edge]] = kept
        total += kept
    for edge in range(start, end):
        policy[forest.actions[t, edge]] /= total
