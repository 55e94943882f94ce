"""The search's kernels: select leaves, expand and back up what an evaluator said, or do it all with a row evaluator.

A descent follows one line from the root to a leaf, replaying the moves on the leaf's state; it ends

  FOUND      at an unevaluated node: state, legal actions and node wait in a slot of `Leaves`
  KNOWN      at a node whose value stands: it is decided, no move is left in it, or it lies as deep as a line may reach
  COLLISION  at a node another descent of this wave waits for; the tree then gets no further leaf in this wave
  FULL       where it would add a node for which there is no room: nothing is backed up, and the tree's search ends
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numba import types

from gozero.evaluators.rollout import EVALUATE_ROW, OPTIONS
from gozero.games.game import NOT_OVER, PLY, TO_PLAY, Game
from gozero.search.gumbel import best_root_edge, count_simulation
from gozero.search.puct import NO_EDGE, PARAMS, best_edge, forced_edge
from gozero.search.root import prepare_root
from gozero.search.tree import (
    DECIDED,
    EVALUATED,
    FOREST,
    NO_NODE,
    UNEVALUATED,
    add_child,
    add_edges,
    back_up,
    prove,
    release,
)  # fmt: skip
from gozero.system.jit import LEGAL, OUTCOME, SAMPLE, SCORE, STEP, copy_row, kernel

FOUND, KNOWN, COLLISION, FULL = 0, 1, 2, 3
LEAST_DESCENTS = 64  # of a tree in one wave, where they keep ending at known values


class Leaves(NamedTuple):
    """K slots for leaves that wait for the evaluator."""

    states: np.ndarray  # int32 [K, S]
    legal: np.ndarray  # uint8 [K, A]
    trees: np.ndarray  # int64 [K]
    nodes: np.ndarray  # int64 [K]


LEAVES = types.NamedTuple([types.int32[:, ::1], types.uint8[:, ::1], types.int64[::1], types.int64[::1]], Leaves)
_F32_1, _F32_2, _I64_1 = types.float32[::1], types.float32[:, ::1], types.int64[::1]


def new_leaves(game: Game, slots: int) -> Leaves:
    """K = slots empty slots."""
    states, legal = np.zeros((slots, game.state_ints), np.int32), np.zeros((slots, game.actions), np.uint8)
    return Leaves(states, legal, trees=np.zeros(slots, np.int64), nodes=np.zeros(slots, np.int64))


@kernel(SCORE.signature)
def no_score(state):
    """In the place of a game's score where there is none."""
    return np.float64(np.nan)


@kernel(OUTCOME.signature)
def unsolved(state):
    """In the place of a game's solver where there is none."""
    return np.int64(NOT_OVER)


@kernel()
def _choose_edge(forest, t, index, params):
    if index == 0 and forest.trees[t]["gumbel"]:
        level = forest.trees[t]["level"]
        edge = best_root_edge(forest, t, params, level, level)
        if edge != NO_EDGE:
            return edge
    if index == 0 and forest.trees[t]["forced"] > 0:
        edge = forced_edge(forest, t)
        if edge != NO_EDGE:
            return edge
    return best_edge(forest, t, index, params)


@kernel()
def _leave_out(forest, t, state, actions):
    """Clear the actions uint8 [A] of a state that tree t leaves out there. Returns how many remain."""
    root = forest.roots[t]
    depth = state[PLY] - root[PLY]
    if depth < forest.trees[t]["restricted"]:
        left_out = forest.left_out[t, np.int64(state[TO_PLAY] != root[TO_PLAY])]
        for action in range(actions.shape[0]):
            actions[action] &= left_out[action] <= depth
    left = 0
    for action in range(actions.shape[0]):
        left += actions[action]
    return left


@kernel()
def _meet(legal, thinkable, outcome, solved, score, forest, t, index, leaves, slot):
    """Come to a new node: KNOWN if its result is, with the count of a game that is over or else as many points as its
    parent's score for the side that wins, or FOUND.
    """
    node = forest.nodes[t, index]
    state = leaves.states[slot]
    result, points = outcome(state), np.nan
    depth = state[PLY] - forest.roots[t, PLY]
    if result != NOT_OVER:
        points = score(state)
    elif depth > 0 and depth >= forest.trees[t]["restricted"]:  # the root needs moves, and a solver leaves none out
        result = solved(state)
    if result != NOT_OVER:
        node["status"] = DECIDED
        node["value"] = result
        parent = np.int64(node["parent"])
        if np.isnan(points):
            points = result * abs(np.float64(forest.nodes[t, parent]["score"])) if parent != NO_NODE else 0.0
        node["score"] = points
        return KNOWN
    thinkable(state, forest.histories[t], leaves.legal[slot])
    left = _leave_out(forest, t, state, leaves.legal[slot])
    if left == 0 and index == 0:  # the caller allows only actions that the search would leave out by itself
        legal(state, forest.histories[t], leaves.legal[slot])
        _leave_out(forest, t, state, leaves.legal[slot])
    leaves.trees[slot] = t
    leaves.nodes[slot] = index
    return FOUND


@kernel()
def _descend(step, legal, thinkable, outcome, solved, score, forest, t, params, leaves, slot):
    """Follow a line of tree t to its leaf, each node pending. Returns (how it ended, node, root action or -1)."""
    nodes, history, state = forest.nodes[t], forest.histories[t], leaves.states[slot]
    copy_row(state, forest.roots[t])
    index = np.int64(0)
    first_action = np.int64(-1)
    while True:
        node = nodes[index]
        node["pending"] += 1
        if node["status"] == DECIDED:
            return KNOWN, index, first_action
        if node["status"] == UNEVALUATED:
            if node["pending"] > 1:
                return COLLISION, index, first_action
            ended = _meet(legal, thinkable, outcome, solved, score, forest, t, index, leaves, slot)
            return ended, index, first_action
        if state[PLY] >= forest.trees[t]["last_ply"]:
            return KNOWN, index, first_action
        edge = _choose_edge(forest, t, index, params)
        if edge == NO_EDGE:
            return KNOWN, index, first_action
        if edge >= node["edge_start"] + node["child_count"]:
            if forest.trees[t]["node_count"] == nodes.shape[0]:
                return FULL, index, first_action
            edge, child = add_child(forest, t, index, edge)
        else:
            child = np.int64(forest.children[t, edge])
        action = np.int64(forest.actions[t, edge])
        if index == 0:
            first_action = action
        step(state, history, action)
        index = child


@kernel()
def _simulate(step, legal, thinkable, outcome, solved, score, forest, t, params, leaves, slot):
    """One descent of tree t, backed up at once unless it found a leaf. Returns how it ended."""
    nodes = forest.nodes[t]
    ended, index, action = _descend(step, legal, thinkable, outcome, solved, score, forest, t, params, leaves, slot)
    if ended in (COLLISION, FULL):
        release(nodes, index)
        forest.trees[t]["full"] = ended == FULL
        return ended
    if action >= 0:
        count_simulation(forest, t, action)
    if ended == KNOWN:
        back_up(nodes, index, np.float64(nodes[index]["value"]), np.float64(nodes[index]["score"]))
        if params.solve > 0 and nodes[index]["status"] == DECIDED:
            prove(forest, t, index)
    return ended


@kernel()
def _expand(forest, leaves, slot, logits, value, score):
    """Give the leaf in a slot its edges and back its value up."""
    t, index = leaves.trees[slot], leaves.nodes[slot]
    add_edges(forest, t, index, leaves.legal[slot], logits)
    node = forest.nodes[t, index]
    node["value"] = value
    node["score"] = score
    node["status"] = EVALUATED
    back_up(forest.nodes[t], index, value, np.float64(score))
    if index == 0:
        prepare_root(forest, t)


@kernel()
def _retire(forest, finished):
    """Write the active trees that are done into finished int64 [B]; they become inactive. Returns how many."""
    count = 0
    for t in range(forest.trees.shape[0]):
        tree = forest.trees[t]
        if tree["active"] and (tree["full"] or forest.nodes[t, 0]["visits"] >= tree["budget"]):
            tree["active"] = 0
            finished[count] = t
            count += 1
    return count


@kernel(types.int64(STEP, LEGAL, LEGAL, OUTCOME, OUTCOME, SCORE, FOREST, PARAMS, LEAVES, types.int64))
def collect(step, legal, thinkable, outcome, solved, score, forest, params, leaves, leaves_per_tree):
    """Fill slots with leaves of all active trees. Returns the number of slots filled."""
    count = 0
    for t in range(forest.trees.shape[0]):
        tree = forest.trees[t]
        root = forest.nodes[t, 0]
        end = count + leaves_per_tree
        for _ in range(max(4 * leaves_per_tree, LEAST_DESCENTS)):
            if not tree["active"] or count == end or root["visits"] + root["pending"] >= tree["budget"]:
                break
            ended = _simulate(step, legal, thinkable, outcome, solved, score, forest, t, params, leaves, count)
            if ended in (COLLISION, FULL):
                break
            if ended == FOUND:
                count += 1
            if params.whole_rounds > 0 and tree["gumbel"] and tree["place"] == 0:
                break
    return count


@kernel(types.int64(FOREST, LEAVES, types.int64, _F32_2, _F32_1, _F32_1, _I64_1))
def absorb(forest, leaves, count, logits, values, scores, finished):
    """Expand and back up the leaves in the first `count` slots. Writes the trees that finished; returns how many."""
    for slot in range(count):
        _expand(forest, leaves, slot, logits[slot], np.float64(values[slot]), scores[slot])
    return _retire(forest, finished)


_RULES = STEP, LEGAL, OUTCOME, SCORE, SAMPLE, EVALUATE_ROW


@kernel(types.int64(*_RULES, FOREST, PARAMS, LEAVES, OPTIONS, types.int64, _F32_1, _I64_1))
def simulate_rows(
    step, legal, outcome, score, sample, evaluate, forest, params, leaves, options, simulations, logits, finished
):
    """Up to `simulations` whole simulations of every active tree with a row evaluator; the second slot is scratch."""
    for t in range(forest.trees.shape[0]):
        tree = forest.trees[t]
        root = forest.nodes[t, 0]
        for _ in range(simulations):
            if not tree["active"] or root["visits"] >= tree["budget"]:
                break
            ended = _simulate(step, legal, legal, outcome, unsolved, score, forest, t, params, leaves, 0)
            if ended == FULL:
                break
            if ended == FOUND:
                state, spare = leaves.states[0], leaves.states[1]
                history, generator = forest.histories[t], forest.generators[t]
                value = evaluate(step, outcome, sample, state, spare, history, options, generator, logits)
                _expand(forest, leaves, 0, logits, value, np.float32(0.0))
    return _retire(forest, finished)
