"""PUCT: which child to follow (Silver et al. 2017, "Mastering the game of Go without human knowledge"), which
simulations exploration forces at the root, and the move and policy that come of them.

    score(a) = Q(a) + c_puct * P(a) * sqrt(sum of N) / (1 + N(a))
    score(a) = Q(a) + c_uct * sqrt(ln(sum of N) / N(a)), every move once, with a `c_uct`: UCB1 (Kocsis, Szepesvari 2006)

An unvisited move has no Q; first-play urgency lends it the parent's value less `fpu` * sqrt(prior mass already
visited), as KataGo does (Wu 2019). Visits in flight count as visits, each with a loss of `virtual_loss`. With a
`score_weight` Q also rises with the points that a move gains against the position's mean score, as in KataGo's score
utility, but by the mean scores of the two nodes. Values backed up stay pure.

Forced playouts and policy-target pruning (Wu 2019, section 3.2), with the prior P that has noise:

    forced(a) = sqrt(k * P(a) * sum of N)

A root move that has been tried gets at least forced(a) simulations. Afterwards each move but the most visited loses up
to forced(a) of them, as long as PUCT still prefers the most visited one; a single visit left is no part of the policy.

Wide root noise, for analyses (KataGo's analysisWideRootNoise): at the root, each time a move is chosen, the score of
about half of the moves rises by the size of a normal variable, so that several moves get enough visits to be compared.

The move to play has the highest lower confidence bound, as in KataGo ("LCB"; docs/search.md has the matches):

    bound(a) = Q(a) - deviations * sigma(a) / sqrt(N(a))

sigma(a) is the standard deviation of the values backed up through the move, one of `FIRST_DEVIATION` among them.
"""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np
from numba import types

from gozero.search.tree import DECIDED
from gozero.system.jit import kernel
from gozero.system.rng import normal, uniform

NO_EDGE = -1
FAR = 1e9  # below every score
FIRST_DEVIATION = 0.4  # of values, assumed before any visit (KataGo's prior of its utility's deviation)
LEAST_SHARE = 0.15  # of the most visited move's visits; a move with fewer is not played (KataGo's)


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
    whole_rounds: float  # 1: see SearchSettings


PARAMS = types.NamedUniTuple(types.float64, 11, Params)


@kernel()
def points_gained(child, expected, params):
    """The bonus that points add to the value of a visited child for its parent, whose mean score is `expected`."""
    gain = -child["score_sum"] / child["visits"] - expected
    return params.score_weight * (2 / math.pi) * math.atan(gain / params.score_scale)


@kernel()
def best_by_ucb1(forest, t, index, params):
    """The edge of the highest UCB1 score, or the first unvisited one."""
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
def _widening(forest, t, index):
    """What wide root noise adds to the score of a move at this node."""
    wide = forest.trees[t]["wide"]
    if index > 0 or wide == 0 or uniform(forest.generators[t]) < 0.5:
        return 0.0
    return wide * abs(normal(forest.generators[t]))


@kernel()
def best_edge(forest, t, index, params):
    """The edge of highest score below a node, visited or the first unvisited one. NO_EDGE if there is none."""
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
        score += _widening(forest, t, index)
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
        if urgency + exploration * priors[end] + _widening(forest, t, index) > highest:
            best = end
    return best


@kernel()
def lower_bound(child, deviations):
    """The bound of a visited child for its parent, before points: below -1 if need be, a loss below all others."""
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
    """The root edge of the highest bound, `most` the most visited one; a proven loss only if nothing else is left."""
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


@kernel()
def forced_edge(forest, t):
    """A child of the root that has fewer visits, those in flight included, than it must get, or NO_EDGE."""
    nodes, priors, children = forest.nodes[t], forest.priors[t], forest.children[t]
    root = nodes[0]
    factor = forest.trees[t]["forced"] * max(root["visits"] + root["pending"] - 2, 0)
    for edge in range(np.int64(root["edge_start"]), np.int64(root["edge_start"] + root["child_count"])):
        child = nodes[children[edge]]
        if (child["visits"] + child["pending"]) ** 2 < factor * priors[edge]:
            return edge
    return np.int64(NO_EDGE)


@kernel()
def worth(root, child, params):
    """Q of a visited child of the root, with the points it gains."""
    q = -child["value_sum"] / child["visits"]
    if params.score_weight == 0:
        return q
    return q + points_gained(child, root["score_sum"] / root["visits"], params)


@kernel()
def _earned(forest, t, edge, params, exploration, forced, best):
    """Visits that PUCT would have given a root child: it loses up to `forced`, while its score stays below `best`."""
    child = forest.nodes[t, forest.children[t, edge]]
    earned = np.int64(child["visits"])
    if earned == 0:
        return earned
    least = earned - forced
    q = worth(forest.nodes[t, 0], child, params)
    while earned >= 1 and earned - 1 >= least and q + exploration * forest.priors[t, edge] / earned < best:
        earned -= 1
    return earned if earned > 1 else np.int64(0)


@kernel()
def pruned_policy(forest, t, params, policy):
    """Write the shares of the earned visits into policy float32 [A], 0 on entry. The root has a visited child."""
    nodes, priors, children = forest.nodes[t], forest.priors[t], forest.children[t]
    start, end = np.int64(nodes[0]["edge_start"]), np.int64(nodes[0]["edge_start"] + nodes[0]["child_count"])
    visits, most = 0, start
    for edge in range(start, end):
        visits += nodes[children[edge]]["visits"]
        if nodes[children[edge]]["visits"] > nodes[children[most]]["visits"]:
            most = np.int64(edge)
    exploration = params.c_puct * math.sqrt(visits)
    chosen = nodes[children[most]]
    best = exploration * priors[most] / (1 + chosen["visits"]) + worth(nodes[0], chosen, params)
    total = 0.0
    for edge in range(start, end):
        earned = np.int64(chosen["visits"])
        if edge != most:
            forced = math.sqrt(forest.trees[t]["forced"] * priors[edge] * visits)
            earned = _earned(forest, t, edge, params, exploration, forced, best)
        policy[forest.actions[t, edge]] = earned
        total += earned
    for edge in range(start, end):
        policy[forest.actions[t, edge]] /= total
