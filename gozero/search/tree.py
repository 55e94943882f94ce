"""Search trees as flat arrays: many trees side by side, no object for each node.

For B trees of at most N nodes and E edges in a game with A actions and S state ints:

- Node 0 is the root; a child's index is larger than its parent's.
- An edge (action, prior, child) is a legal action of an evaluated node. A node's edges lie together, its children, the
  visited actions, first, and then the highest prior of the others, which differ for PUCT in their prior alone.
- A node is decided if the game is over there or its value is proven (`prove`).
- Visits are pending from their selection to their evaluation.
- A value is the expected result for the side to move at that node, -1 … 1; a score likewise in points.

States are not stored: a descent replays its line from the root's state, with the tree's own history.
"""

from __future__ import annotations

from typing import NamedTuple

import numba
import numpy as np
from numba import types

from gozero.games.game import Game
from gozero.system.jit import kernel

UNEVALUATED, EVALUATED, DECIDED = 0, 1, 2
WIN, LOSS = 1.0, -1.0
NO_NODE = -1
EDGE_BYTES = 2 + 4 + 4  # action, prior, child

NODE = np.dtype(
    [
        ("value_sum", np.float64),  # of all visits
        ("score_sum", np.float64),
        ("square_sum", np.float64),  # of the values' squares
        ("value", np.float32),  # the evaluator's, or what a decided node is worth
        ("score", np.float32),
        ("visits", np.int32),  # including the node's own evaluation
        ("pending", np.int32),
        ("parent", np.int32),
        ("edge_start", np.int32),
        ("edge_count", np.int16),
        ("child_count", np.int16),
        ("status", np.int32),
    ],
    align=True,
)

TREE = np.dtype(
    [
        ("node_count", np.int32),
        ("edge_count", np.int32),
        ("budget", np.int32),  # root visits wanted
        ("active", np.int32),  # 1 until the budget is spent or the room used up
        ("full", np.int32),  # 1: its search ended because there was no room for a node
        ("last_ply", np.int32),  # where its lines end
        ("restricted", np.int32),  # plies of a line in which actions may be left out
        ("gumbel", np.int32),  # 1: Gumbel root
        ("noise_weight", np.float32),  # share of Dirichlet noise in the root's prior
        ("noise_total", np.float32),  # sum of its parameters, shared by the moves
        ("noise_alpha", np.float32),  # parameter of each move; 0: its share of the sum
        ("temperature", np.float32),  # of the root's prior
        ("mixed", np.int32),  # 1: the root's edges have the prior searched with; `root_priors` has the evaluator's
        ("wide", np.float32),  # standard deviation of the noise in the values of the root's moves, see puct.py
        ("forced", np.float32),  # k of the root's forced playouts, 0: none, see puct.py
        # sequential halving, see gumbel.py
        ("considered", np.int32),
        ("planned", np.int32),
        ("phases", np.int32),
        ("width", np.int32),
        ("level", np.int32),
        ("place", np.int32),
        ("rounds", np.int32),
    ],
    align=True,
)


class Forest(NamedTuple):
    """B trees. Row t of every array belongs to tree t."""

    trees: np.ndarray  # TREE [B]
    nodes: np.ndarray  # NODE [B, N]
    actions: np.ndarray  # int16 [B, E]
    priors: np.ndarray  # float32 [B, E]
    children: np.ndarray  # int32 [B, E]; set for visited edges only
    roots: np.ndarray  # int32 [B, S]: the roots' states
    histories: np.ndarray  # uint64 [B, H]: hashes up to the root, then of the line being replayed
    # int32 [B, 2, A]: plies of a line in which an action is left out, for the root's side to move and the other
    left_out: np.ndarray
    root_priors: np.ndarray  # float32 [B, A]: the root's prior without temperature and noise
    root_logits: np.ndarray  # float32 [B, A]: logarithm of the prior searched with, -inf where there is no edge
    gumbels: np.ndarray  # float32 [B, A]
    assigned: np.ndarray  # int32 [B, A]: simulations a Gumbel root gave each action
    generators: np.ndarray  # uint64 [B, 1]: each tree's random numbers
    renumbered: np.ndarray  # int32 [N]: scratch of `reroot`


def new_forest(game: Game, trees: int, max_nodes: int) -> Forest:
    """B = trees empty trees of N = max_nodes nodes. What they do not grow into is reserved, but takes no memory."""
    return _forest(trees, max_nodes, max_nodes * (game.actions - 1), game.actions, game.state_ints)


def _forest(trees: int, max_nodes: int, edges: int, actions: int, state_ints: int) -> Forest:
    return Forest(
        trees=np.zeros(trees, TREE),
        nodes=np.empty((trees, max_nodes), NODE),
        actions=np.empty((trees, edges), np.int16),
        priors=np.empty((trees, edges), np.float32),
        children=np.empty((trees, edges), np.int32),
        roots=np.zeros((trees, state_ints), np.int32),
        histories=np.zeros((trees, 1), np.uint64),
        left_out=np.zeros((trees, 2, actions), np.int32),
        root_priors=np.zeros((trees, actions), np.float32),
        root_logits=np.zeros((trees, actions), np.float32),
        gumbels=np.zeros((trees, actions), np.float32),
        assigned=np.zeros((trees, actions), np.int32),
        generators=np.zeros((trees, 1), np.uint64),
        renumbered=np.empty(max_nodes, np.int32),
    )


FOREST = numba.typeof(_forest(1, 1, 1, 1, 1))


def node_bytes(game: Game) -> int:
    """Bytes of a node of a tree with all its edges."""
    return NODE.itemsize + (game.actions - 1) * EDGE_BYTES + np.dtype(np.int32).itemsize  # the last: `renumbered`


def most_nodes(game: Game) -> int:
    """The largest N for which edges can be counted."""
    return int(np.iinfo(np.int32).max) // (game.actions - 1)


@kernel()
def add_node(forest, t, parent):
    """Append an unevaluated node to tree t; the caller has checked that there is room. Returns its index."""
    tree = forest.trees[t]
    index = np.int64(tree["node_count"])
    tree["node_count"] = index + 1
    node = forest.nodes[t, index]
    node["visits"] = 0
    node["pending"] = 0
    node["value_sum"] = 0.0
    node["score_sum"] = 0.0
    node["square_sum"] = 0.0
    node["parent"] = parent
    node["edge_start"] = 0
    node["edge_count"] = 0
    node["child_count"] = 0
    node["status"] = UNEVALUATED
    return index


@kernel()
def swap_edges(forest, t, first, second):
    actions, priors, children = forest.actions[t], forest.priors[t], forest.children[t]
    actions[first], actions[second] = actions[second], actions[first]
    priors[first], priors[second] = priors[second], priors[first]
    children[first], children[second] = children[second], children[first]


@kernel()
def bring_best_forward(forest, t, index):
    """Keep the order of edges: put the highest prior among a node's unvisited edges right after its children."""
    node = forest.nodes[t, index]
    priors = forest.priors[t]
    first = node["edge_start"] + node["child_count"]
    best = first
    for edge in range(first + 1, node["edge_start"] + node["edge_count"]):
        if priors[edge] > priors[best]:
            best = np.int64(edge)
    if best != first:
        swap_edges(forest, t, first, best)


@kernel()
def add_child(forest, t, index, edge):
    """Make an unvisited edge of a node a child of it. Returns (the edge's new place, the child's index)."""
    node = forest.nodes[t, index]
    place = np.int64(node["edge_start"]) + node["child_count"]
    if edge != place:
        swap_edges(forest, t, edge, place)
    child = add_node(forest, t, index)
    forest.children[t, place] = child
    node["child_count"] += 1
    if node["child_count"] < node["edge_count"]:
        bring_best_forward(forest, t, index)
    return place, child


@kernel()
def add_edges(forest, t, index, legal, logits):
    """Give a node its edges: the legal actions uint8 [A], with the softmax of their logits float32 [A] as prior."""
    tree = forest.trees[t]
    node = forest.nodes[t, index]
    actions, priors = forest.actions[t], forest.priors[t]
    start = np.int64(tree["edge_count"])
    end = start
    highest = np.float32(-np.inf)
    for action in range(legal.shape[0]):
        if legal[action]:
            actions[end] = action
            highest = max(highest, logits[action])
            end += 1
    total = np.float32(0.0)
    best = start
    for edge in range(start, end):
        prior = np.exp(logits[actions[edge]] - highest)
        priors[edge] = prior
        total += prior
        if prior > priors[best]:
            best = np.int64(edge)
    for edge in range(start, end):
        priors[edge] /= total
    if best != start:
        swap_edges(forest, t, start, best)
    node["edge_start"] = start
    node["edge_count"] = end - start
    tree["edge_count"] = end


@kernel()
def back_up(nodes, leaf, value, score):
    """Count a visit, of this value and score for the side to move at `leaf`, on the line from the leaf to the root."""
    index = leaf
    while index != NO_NODE:
        node = nodes[index]
        node["visits"] += 1
        node["pending"] -= 1
        node["value_sum"] += value
        node["score_sum"] += score
        node["square_sum"] += value * value
        value, score = -value, -score
        index = np.int64(node["parent"])


@kernel()
def release(nodes, leaf):
    """Take back the pending visit of a line that reached a leaf already taken."""
    index = leaf
    while index != NO_NODE:
        nodes[index]["pending"] -= 1
        index = np.int64(nodes[index]["parent"])


@kernel()
def _proven_value(forest, t, index):
    """The value of a node by its decided children; nan while it is open."""
    nodes, children, node = forest.nodes[t], forest.children[t], forest.nodes[t, index]
    is_open = node["child_count"] < node["edge_count"]
    best = LOSS
    for edge in range(node["edge_start"], node["edge_start"] + node["child_count"]):
        child = nodes[children[edge]]
        if child["status"] != DECIDED:
            is_open = True
        elif -child["value"] > best:
            best = -np.float64(child["value"])
    return np.nan if is_open and best < WIN else best


@kernel()
def prove(forest, t, decided):
    """Decide the nodes above a decided one, but for the root, by a winning move or once every move is decided
    (MCTS-Solver: Winands, Bjornsson and Saito 2008): only if the search considers every legal move, not in Go.
    """
    nodes = forest.nodes[t]
    index = np.int64(nodes[decided]["parent"])
    while index > 0 and nodes[index]["status"] != DECIDED:
        value = _proven_value(forest, t, index)
        if np.isnan(value):
            return
        nodes[index]["value"] = value
        nodes[index]["status"] = DECIDED
        index = np.int64(nodes[index]["parent"])


@kernel(types.int64(FOREST, types.int64, types.int64, types.int64))
def find_child(forest, t, index, action):
    """Index of the child an action leads to, or NO_NODE if it was never visited."""
    node = forest.nodes[t, index]
    for edge in range(node["edge_start"], node["edge_start"] + node["child_count"]):
        if forest.actions[t, edge] == action:
            return np.int64(forest.children[t, edge])
    return np.int64(NO_NODE)
