"""A search tree as text: its principal variations, and the tree itself.

A line of the text is one move: its vertex, visits, q for the side that plays it, prior, and how the search would go on.
Plain Python over the arrays of `gozero.search.tree`; nothing here is fast or needs to be.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

import numpy as np

from gozero.games.coords import vertex
from gozero.games.game import Game
from gozero.search.tree import NO_NODE, Forest, find_child

WIDTH = 5  # moves of one node in the text


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
    score: (
        float  # mean score after the first action, for the side to move at the root; 0 where the evaluator knows none
    )


def principal_variation(forest: Forest, tree: int, action: int, length: int) -> PrincipalVariation:
    """The line of `action` at the root, at most `length` actions, at least one."""
    index = int(find_child(forest, tree, 0, action)) if forest.trees[tree]["node_count"] else NO_NODE
    if index == NO_NODE:
        return PrincipalVariation([action], [0], 0.0)
    first = forest.nodes[tree, index]
    line = PrincipalVariation(
        [action], [int(first["visits"])], -float(first["score_sum"]) / max(1, int(first["visits"]))
    )
    while len(line.actions) < length:
        following = next(children_of(forest, tree, index), None)
        if following is None:
            break
        index = following[2]
        line.actions.append(following[0])
        line.visits.append(int(forest.nodes[tree, index]["visits"]))
    return line


def tree_text(game: Game, forest: Forest, tree: int, depth: int) -> str:
    """The root and its most visited lines, `depth` plies deep."""
    if not forest.trees[tree]["node_count"] or not forest.nodes[tree, 0]["visits"]:
        return "not searched\n"
    root = forest.nodes[tree, 0]
    head = f"root   visits {root['visits']}   value {root['value_sum'] / root['visits']:+.3f}   nodes {forest.trees[tree]['node_count']}\n"
    return head + "".join(f"{line}\n" for line in _lines(game, forest, tree, 0, depth, "  "))


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
        reply = f"  then {_name(game, follow[0])}" if follow else ""
        yield f"{indent}{_name(game, action):<5} visits {node['visits']:<6} q {q:+.3f}  prior {prior:.3f}{reply}"
        yield from _lines(game, forest, tree, child, depth - 1, indent + "  ")


def _name(game: Game, action: int) -> str:
    return vertex(action, game.cols, game.rows)
