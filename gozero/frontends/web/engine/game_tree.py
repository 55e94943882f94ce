"""The moves of a game with its variations, and what is known of each position.

A position, or *node*, has a number that never changes: 0 is the start. Nothing here knows rules.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, NamedTuple

from gozero.records.sgf_tree import Branch

START = 0


class Estimate(NamedTuple):
    """What a search found of a position, all of it for Black."""

    visits: int
    chance: float  # Black's expected result, 0 to 1
    score: float | None = None  # Black's expected lead in points, None if none is known
    line: tuple[int, ...] = ()  # the expected moves, as actions


class Ended(NamedTuple):
    """A game that ended before the rules ended it."""

    node: int
    winner: int
    how: str  # "resignation" or "time"


class Mistake(NamedTuple):
    """A move of the person's that lost much: a share of the chance to win, and points if they are many."""

    node: int
    chance: float
    points: float | None


@dataclass
class Node(Branch):
    """A position after a move, with what a file has of it; of the start, parent and action are -1."""

    children: list[int] = field(default_factory=list)  # numbers of the nodes that follow, the main one first
    estimate: Estimate | None = None  # the best one known
    dead: list[list[int]] | None = None  # the chains that the players agreed to be dead, None if they did not
    clock: tuple[float, float] | None = None  # both as they stood when the turn here began, see `SessionClock.saved`


@dataclass(frozen=True)
class SourceFile:
    """The file that a game was read from."""

    text: str
    number: int = 0  # of the game in it, from 0
    name: str = ""  # if known
    unplayable: Sequence[int] = ()  # nodes, as in `Node.sources`, that cannot be played and stay in the file alone
    is_rearranged: bool = False  # whether its variations have another order since


class MoveTree:
    """All nodes of a game."""

    def __init__(self) -> None:
        self.origin: SourceFile | None = None  # the file of SGF that it was read from, if any
        self.changes = 0  # how often a node or an estimate has changed
        self.is_scored = True  # whether every estimate has a lead in points
        self._nodes: dict[int, Node] = {START: Node(-1, 0, -1)}
        self.next = START + 1  # the number of the next new node

    def __getitem__(self, number: int) -> Node:
        return self._nodes[number]

    def __contains__(self, number: object) -> bool:
        return type(number) is int and number in self._nodes

    def add(self, parent: int, colour: int, action: int) -> int:
        """The number of the node after this move, a new one if the move is new."""
        for number in self._nodes[parent].children:
            if (self._nodes[number].colour, self._nodes[number].action) == (colour, action):
                return number
        number, self.next = self.next, self.next + 1
        self._enter(number, Node(parent, colour, action))
        return number

    def _enter(self, number: int, node: Node) -> None:
        self._nodes[node.parent].children.append(number)
        self._nodes[number] = node
        self.changes += 1

    def remove(self, number: int) -> int:
        """Drop a node and all that follows it; the number of the one before it."""
        parent = self._nodes[number].parent
        self._nodes[parent].children.remove(number)
        pending = [number]
        while pending:
            pending += self._nodes.pop(pending.pop()).children
        self.changes += 1
        return parent

    def promote(self, number: int) -> None:
        """Let the path to a node be the main line."""
        for step in self.path(number)[1:]:
            siblings = self._nodes[self._nodes[step].parent].children
            if siblings[0] != step:
                siblings.insert(0, siblings.pop(siblings.index(step)))
                self.origin = self.origin and replace(self.origin, is_rearranged=True)
                self.changes += 1

    def learn(self, number: int, estimate: Estimate) -> None:
        """Keep an estimate unless a larger search is known, or the node was deleted meanwhile."""
        node = self._nodes.get(number)
        if node is not None and (node.estimate is None or node.estimate.visits <= estimate.visits):
            node.estimate = estimate
            self.is_scored &= estimate.score is not None
            self.changes += 1

    def path(self, number: int) -> list[int]:
        """The nodes from the start to this one."""
        found = [number]
        while (number := self._nodes[number].parent) >= START:
            found.append(number)
        return found[::-1]

    def line(self, number: int) -> list[int]:
        """The path, then the main continuation."""
        found = self.path(number)
        while children := self._nodes[found[-1]].children:
            found.append(children[0])
        return found

    def moves(self, number: int) -> list[tuple[int, int]]:
        """(colour, action) of each move that leads to a node."""
        return [(self._nodes[step].colour, self._nodes[step].action) for step in self.path(number)[1:]]

    def in_order(self) -> Iterator[tuple[int, Node]]:
        """Every node, main line first, parents before children."""
        pending = [START]
        while pending:
            number = pending.pop()
            yield number, self._nodes[number]
            pending += self._nodes[number].children[::-1]

    def saved(self) -> list[list[Any]]:
        """Every node with its number, as plain JSON values; see `of`."""
        return [[number, {**vars(node), "children": []}] for number, node in self.in_order()]

    @classmethod
    def of(cls, nodes: Sequence[tuple[int, Node]], next: int) -> MoveTree:
        """The tree of these numbered nodes: parents come before children, and children in their order; ``next`` is the
        number of a new one. ValueError or LookupError if they are no tree.
        """
        tree = cls()
        (start, tree._nodes[START]), *others = nodes
        if start != START or (tree[START].parent, tree[START].action) != (-1, -1) or any(node.children for _, node in nodes):
            raise ValueError("the first node is not the start, or one has children already")
        for number, node in others:
            if number in tree or number < START:
                raise ValueError(f"there cannot be a node {number}")
            tree._enter(number, node)
        tree.is_scored = all(node.estimate is None or node.estimate.score is not None for _, node in nodes)
        tree.next = max(next, max(tree._nodes) + 1)
        return tree
