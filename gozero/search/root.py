"""The root of a tree: the request that a search begins with, what is special there, and the result that is read off it
at the end. Its prior may be tempered and mixed with Dirichlet noise (AlphaGo Zero), actions may be excluded; a Gumbel
root has its schedule.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numba import types

from gozero.games.game import PLY, Game
from gozero.search.gumbel import best_root_edge, improved_policy, start_halving
from gozero.search.puct import PARAMS, Params, edge_of_highest_bound, lower_bound, pruned_policy
from gozero.search.settings import Restriction, SearchSettings
from gozero.search.tree import (
    DECIDED,
    EVALUATED,
    FOREST,
    NO_NODE,
    Forest,
    add_node,
    bring_best_forward,
    find_child,
    swap_edges,
)  # fmt: skip
from gozero.system.jit import copy_row, kernel
from gozero.system.rng import gamma, gumbel, mix

NO_ACTION = -1
_F32_1 = types.float32[::1]


@dataclass(frozen=True, eq=False)
class SearchRequest:
    """A position to search. The game must not be over there."""

    state: np.ndarray  # int32 [S]
    history: np.ndarray  # uint64 [H], H > state[PLY]
    visits: int  # of the root, at which the tree is finished, 1 to 2**30 (more mean that); kept visits count
    noise: bool = False  # explore as the settings say: Gumbel variables, or Dirichlet noise and forced playouts
    temperature: float | None = None  # of a PUCT root's prior with noise; None: the settings' `root_policy_temperature`
    # standard deviation, in value, of the noise that spreads a PUCT root's visits over more moves, see puct.py (KataGo
    # 0.04 in analyses; 0 off); its prior is flattened too, as with a temperature of 1 + 4 * this
    wide_root_noise: float = 0.0
    gumbel: np.ndarray | None = None  # float32 [A], the Gumbel variables to use instead
    root_mask: np.ndarray | None = None  # bool [A], actions that may be searched at the root; None: all that are legal
    # int32 [2, A], in how many plies of every line an action is left out, for the root's side to move and for the other
    # one; 1 is the root alone. None: 0 everywhere
    left_out: np.ndarray | None = None
    # build on the tree that `Search.advance` left, if its root is this very state, has all moves that are allowed now,
    # and nothing was or is left out below a root
    keep: bool = False
    on_top: bool = False  # the visits come on top of those in the tree
    seed: int | None = None  # below 2**64, of its noise and playouts; None: another each time, by the `Search`'s seed

    def check(self, game: Game) -> None:
        """ValueError for a budget below 1 and for what would make a kernel read or write beyond an array."""
        if self.visits < 1:
            raise ValueError(f"{self.visits} visits: expected at least 1")
        if not 0 <= self.wide_root_noise < math.inf:
            raise ValueError(f"wide_root_noise {self.wide_root_noise}: expected a number not below 0")
        mask = (game.actions,)
        shapes = {"state": (game.state_ints,), "gumbel": mask, "root_mask": mask, "left_out": (2, game.actions)}
        for name, shape in shapes.items():
            array: np.ndarray | None = getattr(self, name)
            if array is not None and array.shape != shape:
                raise ValueError(f"{name} of shape {array.shape}: {game.name} on {game.dimensions} needs {shape}")
        ply = self.state[PLY]
        if len(self.history) <= ply:
            raise ValueError(f"history of {len(self.history)} entries: ply {ply} needs at least {ply + 1}")

    def plies_left_out(self, actions: int) -> np.ndarray:
        """int32 [2, A]: `left_out`, with what `root_mask` excludes at the root."""
        plies = np.zeros((2, actions), np.int32) if self.left_out is None else np.array(self.left_out, np.int32)
        if self.root_mask is not None:
            plies[0] = np.maximum(plies[0], np.logical_not(self.root_mask))
        return plies


@kernel()
def set_root_prior(forest, t):
    """Store the root's prior in `root_priors`; search with it after temperature and noise, and store its logarithm."""
    tree = forest.trees[t]
    root = forest.nodes[t, 0]
    actions, priors, logits = forest.actions[t], forest.priors[t], forest.root_logits[t]
    start = np.int64(root["edge_start"])
    end = start + root["edge_count"]
    forest.root_priors[t, :] = 0.0
    logits[:] = -np.inf
    total = 0.0
    noise_total = 0.0
    alpha = tree["noise_total"] / max(root["edge_count"], 1)
    if tree["noise_alpha"] > 0:
        alpha = np.float64(tree["noise_alpha"])
    highest = np.float32(1.0)
    if tree["temperature"] != 1:  # low ones raise to high powers: that of the highest prior must not vanish
        highest = np.float32(1e-30)
        for edge in range(start, end):
            highest = max(highest, priors[edge])
    for edge in range(start, end):
        forest.root_priors[t, actions[edge]] = priors[edge]
        priors[edge] = max(priors[edge] / highest, np.float32(1e-30)) ** (np.float32(1.0) / tree["temperature"])
        total += priors[edge]
        if tree["noise_weight"] > 0:
            logits[actions[edge]] = gamma(forest.generators[t], alpha)
            noise_total += logits[actions[edge]]
    for edge in range(start, end):
        prior = priors[edge] / total
        if tree["noise_weight"] > 0:
            prior += tree["noise_weight"] * (logits[actions[edge]] / noise_total - prior)
        priors[edge] = prior
        logits[actions[edge]] = math.log(prior)
    tree["mixed"] = 1
    if root["child_count"] < root["edge_count"]:
        bring_best_forward(forest, t, 0)


@kernel()
def prepare_root(forest, t):
    """Ready an evaluated root for this search: its prior, and a Gumbel root's schedule."""
    set_root_prior(forest, t)
    start_halving(forest, t)


@kernel()
def _restore_prior(forest, t):
    """Undo `set_root_prior` at a root that is searched again: temperature and noise are those of one search."""
    root = forest.nodes[t, 0]
    for edge in range(root["edge_start"], root["edge_start"] + root["edge_count"]):
        forest.priors[t, edge] = forest.root_priors[t, forest.actions[t, edge]]


@kernel()
def _move_edges(forest, t, node):
    """Move a node's edges down to the end of those moved so far. Edges lie in the order of their nodes."""
    tree = forest.trees[t]
    target = np.int64(tree["edge_count"])
    source = np.int64(node["edge_start"])
    for k in range(node["edge_count"]):
        forest.actions[t, target + k] = forest.actions[t, source + k]
        forest.priors[t, target + k] = forest.priors[t, source + k]
        forest.children[t, target + k] = forest.children[t, source + k]
    tree["edge_count"] += node["edge_count"]
    node["edge_start"] = target


@kernel()
def _keep_below(forest, t, root, count):
    """Make one of the first `count` nodes of tree t its root and drop what does not lie below it, in place."""
    tree, nodes, renumbered = forest.trees[t], forest.nodes[t], forest.renumbered
    tree["node_count"] = 0
    tree["edge_count"] = 0
    for index in range(root):
        renumbered[index] = NO_NODE
    for index in range(root, count):
        above = np.int64(nodes[index]["parent"])
        parent = renumbered[above] if index != root and above != NO_NODE else NO_NODE
        if index != root and parent == NO_NODE:
            renumbered[index] = NO_NODE
            continue
        place = np.int64(tree["node_count"])
        nodes[place] = nodes[index]
        nodes[place]["parent"] = parent
        _move_edges(forest, t, nodes[place])
        renumbered[index] = place
        tree["node_count"] += 1
    for index in range(tree["node_count"]):
        start = nodes[index]["edge_start"]
        for edge in range(start, start + nodes[index]["child_count"]):
            forest.children[t, edge] = renumbered[forest.children[t, edge]]


@kernel(types.boolean(FOREST, types.int64, types.int64))
def reroot(forest, t, action):
    """Make the child that `action` leads to the root of tree t, in place. False if there is none to keep."""
    tree = forest.trees[t]
    nodes = forest.nodes[t]
    count = np.int64(tree["node_count"])
    root = find_child(forest, t, 0, action) if count > 0 else np.int64(NO_NODE)
    tree["node_count"] = 0
    tree["edge_count"] = 0
    tree["active"] = 0
    tree["mixed"] = 0
    if root == NO_NODE or nodes[root]["status"] != EVALUATED:
        return False
    _keep_below(forest, t, root, count)
    return True


@kernel()
def _drop_excluded(forest, t):
    """Remove the root's edges that are left out, with their nodes, their visits and their share of the prior."""
    root, priors = forest.nodes[t, 0], forest.priors[t]
    count, edge = np.int64(root["edge_count"]), np.int64(root["edge_start"])
    while edge < root["edge_start"] + root["edge_count"]:
        if forest.left_out[t, 0, forest.actions[t, edge]] == 0:
            edge += 1
            continue
        last_child = np.int64(root["edge_start"] + root["child_count"] - 1)
        if edge <= last_child:
            child = forest.nodes[t, forest.children[t, edge]]
            root["visits"] -= child["visits"]
            root["value_sum"] += child["value_sum"]
            root["score_sum"] += child["score_sum"]
            root["square_sum"] -= child["square_sum"]
            child["parent"] = NO_NODE
            swap_edges(forest, t, edge, last_child)
            root["child_count"] -= 1
            swap_edges(forest, t, last_child, np.int64(root["edge_start"] + root["edge_count"] - 1))
        else:
            swap_edges(forest, t, edge, np.int64(root["edge_start"] + root["edge_count"] - 1))
        root["edge_count"] -= 1
    start, end = np.int64(root["edge_start"]), np.int64(root["edge_start"] + root["edge_count"])
    if end - start < count:
        mass = 1e-30
        for place in range(start, end):
            mass += priors[place]
        for place in range(start, end):
            priors[place] /= mass
        _keep_below(forest, t, np.int64(0), np.int64(forest.trees[t]["node_count"]))
    bring_best_forward(forest, t, 0)


def apply_request(forest: Forest, t: int, request: SearchRequest, settings: SearchSettings) -> bool:
    """Write a request into tree t, for `plant` to begin. Returns whether the present tree is to be kept."""
    tree, explore = forest.trees[t], request.noise and settings.root == "puct"
    tree["gumbel"] = settings.root == "gumbel"
    tree["considered"] = settings.gumbel_m
    tree["noise_weight"] = settings.dirichlet_weight if explore else 0.0
    tree["noise_total"] = settings.dirichlet_total
    tree["noise_alpha"] = settings.dirichlet_alpha
    temperature = (request.temperature or settings.root_policy_temperature) if explore else 1.0
    tree["temperature"] = temperature * (1 + 4 * request.wide_root_noise)
    tree["wide"] = request.wide_root_noise
    tree["forced"] = settings.forced_playouts if explore else 0.0
    left_out = request.plies_left_out(forest.left_out.shape[2])
    lacks = bool(tree["mixed"]) and bool(((forest.left_out[t, 0] > 0) & (left_out[0] == 0)).any())  # allowed moves
    forest.left_out[t] = left_out
    deepest = max(int(left_out.max()), int(tree["restricted"]))
    tree["restricted"] = left_out.max()
    keep = request.keep and not lacks and deepest <= 1 and bool((forest.roots[t] == request.state).all())
    past = int(request.state[PLY]) + 1
    forest.roots[t] = request.state
    forest.histories[t, :past] = request.history[:past]
    forest.gumbels[t] = 0.0 if request.gumbel is None else request.gumbel
    return keep


@kernel(types.void(FOREST, types.int64, types.int64, types.uint64, types.boolean, types.boolean))
def plant(forest, t, budget, seed, keep, on_top):
    """Begin a search of tree t at the state in `roots`; with `keep` on the tree it has, unless its root has no action
    that is allowed now. The budget counts the visits in the tree, or with `on_top` comes on top.
    """
    tree = forest.trees[t]
    forest.generators[t, 0] = mix(seed)
    tree["budget"] = budget + on_top
    tree["active"] = 1
    tree["full"] = 0
    if keep and tree["node_count"] > 0:
        if tree["mixed"]:
            _restore_prior(forest, t)
        _drop_excluded(forest, t)
        if forest.nodes[t, 0]["edge_count"] > 0:
            if on_top:
                tree["budget"] = forest.nodes[t, 0]["visits"] + budget
            prepare_root(forest, t)
            tree["active"] = forest.nodes[t, 0]["visits"] < tree["budget"]
            return
    tree["node_count"] = 0
    tree["edge_count"] = 0
    tree["mixed"] = 0
    add_node(forest, t, NO_NODE)


@kernel(types.void(FOREST, types.int64))
def draw_gumbels(forest, t):
    """Give tree t fresh Gumbel variables."""
    for action in range(forest.gumbels.shape[1]):
        forest.gumbels[t, action] = gumbel(forest.generators[t])


@kernel(types.int64(FOREST, types.int64, PARAMS, types.int32[::1], _F32_1, _F32_1, _F32_1))
def read_root(forest, t, params, visits, q, bound, policy):
    """Write the root's visits, q, lower bound and policy [A], all 0 on entry, and return the best move, -1 if there is
    none. Gumbel root: the improved policy and the halving's winner. PUCT root: shares of visits (the prior if there are
    none), forced ones left out, and the move of the highest bound, or the most visited one.
    """
    root = forest.nodes[t, 0]
    if forest.trees[t]["node_count"] == 0 or root["edge_count"] == 0:
        return np.int64(NO_ACTION)
    start = np.int64(root["edge_start"])
    total = 0
    best = start
    for edge in range(start, start + root["child_count"]):
        action = forest.actions[t, edge]
        child = forest.nodes[t, forest.children[t, edge]]
        visits[action] = child["visits"]
        total += child["visits"]
        if child["visits"] > 0:
            q[action] = -child["value_sum"] / child["visits"]
            bound[action] = max(lower_bound(child, params.lcb), -1.0)
        if child["visits"] > visits[forest.actions[t, best]]:
            best = np.int64(edge)
    if forest.trees[t]["gumbel"]:
        improved_policy(forest, t, params, policy)
        best = best_root_edge(forest, t, params, forest.trees[t]["level"], forest.trees[t]["planned"])
        return np.int64(forest.actions[t, best])
    if total > 0 and params.lcb > 0:
        best = edge_of_highest_bound(forest, t, best, params)
    if total == 0:
        copy_row(policy, forest.root_priors[t])
    elif forest.trees[t]["forced"] > 0:
        pruned_policy(forest, t, params, policy)
    else:
        for action in range(policy.shape[0]):
            policy[action] = visits[action] / np.float32(total)
    return np.int64(forest.actions[t, best])


@dataclass(frozen=True)
class RootResult:
    """What a search found, for the side to move at the root. Actions that were not searched have 0 everywhere."""

    visits: np.ndarray  # int32 [A], of the root's children
    q: np.ndarray  # float32 [A], mean value after each visited action
    # float32 [A], lower confidence bound of q, at least -1; q itself without `lcb`, and the result where it is known
    bound: np.ndarray
    prior: np.ndarray  # float32 [A], without noise and temperature; sums to 1 over the allowed actions
    policy: np.ndarray  # float32 [A], the training target, which sums to 1; see `read_root`
    best: int  # the action to play, see `read_root`
    # mean of all visits; where weak moves are visited too, of the improved policy at a Gumbel root, and of the best
    # move's visits at a root with wide noise
    value: float
    score: float  # mean points of all visits, or of the best move's; 0 if the evaluator knows none
    root_visits: int  # of the root itself, one more than its children's
    refuted: np.ndarray | None = None  # bool [A], actions proven to lose; None if no results are proven

    def ranked(self) -> list[int]:
        """The actions that were tried or could be: the best one, then by visits, then by prior."""
        actions = np.flatnonzero((self.visits > 0) | (self.prior > 0))
        order = np.lexsort((-self.prior[actions], -self.visits[actions], actions != self.best))
        return [int(action) for action in actions[order]]


def root_result(forest: Forest, tree: int, params: Params) -> RootResult:
    """What the search of a tree has found. ValueError if its root has no move."""
    actions = forest.root_priors.shape[1]
    visits = np.zeros(actions, np.int32)
    q, bound, policy = (np.zeros(actions, np.float32) for _ in range(3))
    best = read_root(forest, tree, params, visits, q, bound, policy)
    if best < 0:
        raise ValueError(f"tree {tree} has no move: not searched, or over, or root_mask leaves no legal action")
    root = forest.nodes[tree, 0]
    count = int(root["visits"])
    value, score = float(root["value_sum"]) / count, float(root["score_sum"]) / count
    if forest.trees[tree]["gumbel"]:  # a move without a visit gets the evaluator's value of the position
        value = float(policy @ np.where(visits > 0, q, root["value"]))
    if forest.trees[tree]["wide"] > 0 and visits[best] > 0:
        child = forest.nodes[tree, find_child(forest, tree, 0, best)]
        value, score = float(q[best]), -float(child["score_sum"]) / int(child["visits"])
    refuted = _refuted(forest, tree) if params.solve > 0 else None
    return RootResult(visits, q, bound, forest.root_priors[tree].copy(), policy, best, value, score, count, refuted)


def _refuted(forest: Forest, tree: int) -> np.ndarray:
    """bool [A]: the root's actions that are proven to lose."""
    root = forest.nodes[tree, 0]
    edges = slice(root["edge_start"], root["edge_start"] + root["child_count"])
    children = forest.nodes[tree, forest.children[tree, edges]]
    losing = (children["status"] == DECIDED) & (children["value"] == 1.0)
    refuted = np.zeros(forest.root_priors.shape[1], np.bool_)
    refuted[forest.actions[tree, edges][losing]] = True
    return refuted


def left_out(restrictions: Sequence[Restriction], to_play: int, actions: int) -> np.ndarray:
    """int32 [2, A]: in how many plies each action is left out, for the side to move and for the other."""
    plies = np.zeros((2, actions), np.int32)
    for row, of_mover in zip(plies, (True, False), strict=True):
        own = [restriction for restriction in restrictions if (restriction.colour == to_play) == of_mover]
        avoided = [(restriction.actions, restriction.plies) for restriction in own if not restriction.alone]
        alone = [restriction for restriction in own if restriction.alone]
        if alone:
            allowed = frozenset[int]().union(*(restriction.actions for restriction in alone))
            avoided.append((frozenset(range(actions)) - allowed, max(restriction.plies for restriction in alone)))
        for named, most in avoided:
            row[list(named)] = np.maximum(row[list(named)], most)
    return plies
