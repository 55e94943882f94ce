"""What a search found: the result at its root, the move to play, the principal variations, and the tree as text.

Plain Python over the arrays of `gozero.search.tree`; nothing here is fast or needs to be.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from gozero.games.game import Game
from gozero.search.puct import Params
from gozero.search.root import read_root
from gozero.search.tree import DECIDED, NO_NODE, WIN, Forest, find_child

WIDTH = 5  # moves of one node in the text


@dataclass(frozen=True)
class RootResult:
    """What a search found, for the side to move at the root. Actions that were not searched have 0 everywhere."""

    visits: np.ndarray  # int32 [A], of the root's children
    q: np.ndarray  # float32 [A], mean value after each visited action
    bound: np.ndarray  # float32 [A], lower confidence bound of q, at least -1; q itself without `lcb`
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


def choose(result: RootResult, temperature: float, rng: np.random.Generator, *, undrawn: int | None = None) -> int:
    """The action to play: at temperature 0 the best one, otherwise drawn by visits ** (1 / temperature), or by the
    prior's power if none has a visit. A proven win is played at once, a proven loss only if nothing else has a visit.
    `undrawn`, the pass, is played if it is the best, but never drawn in another's place.
    """
    weights = result.visits if result.visits.any() else result.prior
    if temperature == 0 or result.best == undrawn or not weights.any():
        return result.best
    if result.refuted is not None:
        weights = np.where(result.refuted, 0, weights)
        if result.bound[result.best] == WIN or not weights.any():
            return result.best
    if undrawn is not None:
        weights = np.where(np.arange(len(weights)) == undrawn, 0, weights)
        if not weights.any():
            return result.best
    return draw(weights, temperature, rng)


def draw(weights: np.ndarray, temperature: float, rng: np.random.Generator) -> int:
    """An action drawn by weights [A] ** (1 / temperature), of which one is above 0; at 0 the heaviest."""
    if temperature < 0:
        raise ValueError(f"temperature {temperature}: expected 0 or above")
    if temperature == 0:
        return int(weights.argmax())
    powers = (weights / weights.max()) ** (1.0 / temperature)
    return int(rng.choice(len(powers), p=powers / powers.sum()))


def children_of(forest: Forest, tree: int, index: int) -> Iterator[tuple[int, float, int]]:
    """(action, prior, child) of a node's visited moves, most visits first, the higher prior among equals."""
    node = forest.nodes[tree, index]
    edges = np.arange(node["edge_start"], node["edge_start"] + node["child_count"])
    visits = forest.nodes["visits"][tree, forest.children[tree, edges]]
    for edge in edges[np.lexsort((-forest.priors[tree, edges], -visits))]:
        yield int(forest.actions[tree, edge]), float(forest.priors[tree, edge]), int(forest.children[tree, edge])


class PrincipalVariation(NamedTuple):
    """A move at the root and the most visited moves after it."""

    actions: list[int]
    visits: list[int]  # of each action; [0] where the first was never tried
    score: float  # mean points after the first action, for the root's side to move; 0 if the evaluator knows none


def principal_variation(forest: Forest, tree: int, action: int, length: int) -> PrincipalVariation:
    """`action` at the root and the most visited moves after it, at most `length` >= 1 actions in all."""
    index = int(find_child(forest, tree, 0, action)) if forest.trees[tree]["node_count"] else NO_NODE
    if index == NO_NODE:
        return PrincipalVariation([action], [0], 0.0)
    first = forest.nodes[tree, index]
    visits = int(first["visits"])
    line = PrincipalVariation([action], [visits], -float(first["score_sum"]) / max(1, visits))
    while len(line.actions) < length:
        following = next(children_of(forest, tree, index), None)
        if following is None:
            break
        index = following[2]
        line.actions.append(following[0])
        line.visits.append(int(forest.nodes[tree, index]["visits"]))
    return line


def tree_text(game: Game, forest: Forest, tree: int, depth: int) -> str:
    """The root and its most visited lines, `depth` plies deep: vertex, visits, q for its side, prior, reply."""
    if not forest.trees[tree]["node_count"] or not forest.nodes[tree, 0]["visits"]:
        return "not searched\n"
    root = forest.nodes[tree, 0]
    value, nodes = root["value_sum"] / root["visits"], forest.trees[tree]["node_count"]
    head = f"root   visits {root['visits']}   value {value:+.3f}   nodes {nodes}"
    return "".join(f"{line}\n" for line in (head, *_lines(game, forest, tree, 0, depth, "  ")))


def _lines(game: Game, forest: Forest, tree: int, index: int, depth: int, indent: str) -> Iterator[str]:
    if depth == 0:
        return
    for k, (action, prior, child) in enumerate(children_of(forest, tree, index)):
        if k == WIDTH:
            yield f"{indent}... {forest.nodes[tree, index]['child_count'] - WIDTH} more"
            return
        node = forest.nodes[tree, child]
        q = -node["value_sum"] / max(node["visits"], 1)
        follow = next(children_of(forest, tree, child), None)
        reply = f"  then {game.vertex(follow[0])}" if follow else ""
        yield f"{indent}{game.vertex(action):<5} visits {node['visits']:<6} q {q:+.3f}  prior {prior:.3f}{reply}"
        yield from _lines(game, forest, tree, child, depth - 1, indent + "  ")
