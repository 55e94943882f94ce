"""Gumbel root (Danihelka et al. 2022, "Policy improvement by planning with Gumbel").

The m moves of highest gumbel + logit are considered; sequential halving divides the simulations among them: in each of
ceil(log2 m) phases every move still in the running gets the same number, then the worse half leaves. Moves rank by

    g(a) + logit(a) + sigma(completed q(a)),    sigma(q) = (c_visit + max N) * c_scale * q

with q in 0 … 1 (half of value + 1; mctx stretches the q it sees, which makes mere noise look decisive). Unvisited moves
are completed with v_mix (the paper's appendix D). The improved policy, softmax(logit + sigma(completed q)), is what a
network learns. Without noise g is 0. The schedule counts the simulations of this search only (`assigned`); the q that a
kept tree has counts from the start, also in the choice of the m moves.
"""

from __future__ import annotations

import math

import numpy as np

from gozero.search.puct import NO_EDGE, worth
from gozero.system.jit import kernel


@kernel()
def start_halving(forest, t):
    """Plan the simulations left in the budget of a tree whose root has its edges."""
    tree = forest.trees[t]
    root = forest.nodes[t, 0]
    forest.assigned[t, :] = 0
    tree["planned"] = max(tree["budget"] - root["visits"], 1)
    tree["width"] = max(min(tree["considered"], root["edge_count"], tree["planned"]), 1)
    tree["phases"] = max(math.ceil(math.log2(tree["width"])), 1)
    tree["level"] = 0
    tree["place"] = 0
    tree["rounds"] = max(tree["planned"] // (tree["phases"] * tree["width"]), 1)


@kernel()
def count_simulation(forest, t, action):
    """Count a simulation of a root move and advance the schedule: next place, round, or phase with half the moves."""
    tree = forest.trees[t]
    forest.assigned[t, action] += 1
    tree["place"] += 1
    if tree["place"] < tree["width"]:
        return
    tree["place"] = 0
    tree["level"] += 1
    tree["rounds"] -= 1
    if tree["rounds"] <= 0:
        if tree["width"] > 2:
            tree["width"] = max(tree["width"] // 2, 2)
        tree["rounds"] = max(tree["planned"] // (tree["phases"] * tree["width"]), 1)


@kernel()
def mixed_value(forest, t):
    """v_mix: the root's evaluation and the prior-weighted mean of its children's q, weighted 1 to the sum of visits."""
    nodes, priors, children = forest.nodes[t], forest.priors[t], forest.children[t]
    root = nodes[0]
    visits = 0
    mass = 0.0
    weighted = 0.0
    for edge in range(root["edge_start"], root["edge_start"] + root["child_count"]):
        child = nodes[children[edge]]
        if child["visits"] > 0:
            visits += child["visits"]
            mass += priors[edge]
            weighted -= priors[edge] * child["value_sum"] / child["visits"]
    own = np.float64(root["value"])
    if mass <= 0.0:
        return own
    return (own + visits * weighted / mass) / (1 + visits)


@kernel()
def sigma_scale(forest, t, params):
    """The factor of q in sigma, for q in -1 … 1."""
    nodes, children = forest.nodes[t], forest.children[t]
    root = nodes[0]
    most = 0
    for edge in range(root["edge_start"], root["edge_start"] + root["child_count"]):
        most = max(most, nodes[children[edge]]["visits"])
    return 0.5 * (params.c_visit + most) * params.c_scale


@kernel()
def completed_value(forest, t, edge, params, mixed):
    """q of a root edge, with the points it gains; v_mix for an edge without a finished visit."""
    root = forest.nodes[t, 0]
    if edge < root["edge_start"] + root["child_count"]:
        child = forest.nodes[t, forest.children[t, edge]]
        if child["visits"] > 0:
            return worth(root, child, params)
    return mixed


@kernel()
def best_root_edge(forest, t, params, least, most):
    """The root edge of highest g + logit + sigma(q) among those given `least` to `most` simulations, or NO_EDGE."""
    root = forest.nodes[t, 0]
    actions, assigned = forest.actions[t], forest.assigned[t]
    mixed = mixed_value(forest, t)
    scale = sigma_scale(forest, t, params)
    best = np.int64(NO_EDGE)
    highest = -np.inf
    for edge in range(np.int64(root["edge_start"]), np.int64(root["edge_start"] + root["edge_count"])):
        action = actions[edge]
        if least <= assigned[action] <= most:
            score = forest.gumbels[t, action] + forest.root_logits[t, action]
            score += scale * completed_value(forest, t, edge, params, mixed)
            if score > highest or best == NO_EDGE:
                highest = score
                best = np.int64(edge)
    return best


@kernel()
def improved_policy(forest, t, params, policy):
    """Write softmax(logit + sigma(completed q)) into policy float32 [A], which is 0 on entry."""
    root = forest.nodes[t, 0]
    start = np.int64(root["edge_start"])
    end = start + root["edge_count"]
    actions = forest.actions[t]
    mixed = mixed_value(forest, t)
    scale = sigma_scale(forest, t, params)
    highest = -np.inf
    for edge in range(start, end):
        logit = forest.root_logits[t, actions[edge]] + scale * completed_value(forest, t, edge, params, mixed)
        policy[actions[edge]] = logit
        highest = max(highest, logit)
    total = 0.0
    for edge in range(start, end):
        policy[actions[edge]] = math.exp(policy[actions[edge]] - highest)
        total += policy[actions[edge]]
    for edge in range(start, end):
        policy[actions[edge]] /= total
