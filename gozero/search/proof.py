"""Proven results: a position whose moves have been searched to the end of the game is worth what they prove.

A node is *decided* where the game is over, where one move is known to win, or where every move is decided; its value is
then that of the best one, and a simulation that comes there ends (MCTS-Solver: Winands, Bjornsson and Saito 2008). The
root itself is searched on, but a move that is proven to lose is not played while there is another, and one that is
proven to win is played at once, however few visits it has.

Only for games in which the search considers every legal move (`SearchSettings.solve`): not Go, where it leaves out
some.
"""

from __future__ import annotations

import numpy as np

from gozero.search.tree import DECIDED
from gozero.system.jit import kernel

WIN, LOSS = 1.0, -1.0


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
    """Decide the nodes above a decided one, as far as it proves them, but for the root."""
    nodes = forest.nodes[t]
    index = np.int64(nodes[decided]["parent"])
    while index > 0 and nodes[index]["status"] != DECIDED:
        value = _proven_value(forest, t, index)
        if np.isnan(value):
            return
        nodes[index]["value"] = value
        nodes[index]["status"] = DECIDED
        index = np.int64(nodes[index]["parent"])
