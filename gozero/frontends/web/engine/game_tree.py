"""The moves of a game with its variations, and what searches found of each position.

A position, or *node*, has a number that never changes: 0 is the start. Nothing here knows rules.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, field
from typing import Any

START = 0


@dataclass(frozen=True)
class Estimate:
    """What a search found of a position, all of it for Black.

    Attributes:
        visits: of the search.
        chance: Black's expected result, 0 to 1.
        score: Black's expected lead in points, None where none is known.
        line: the expected moves, as actions.
    """

    visits: int
    chance: float
    score: float | None = None
    line: tuple[int, ...] = ()


@dataclass
class Node:
    """A position after a move.

    Attributes:
        parent: the number of the node before, -1 for the start.
        colour, action: the move that leads here; of the start, 0 and -1.
        children: numbers of the nodes that follow, the main one first.
        comment: free text.
        estimate: the best one known.
        next_to_play: who plays next where a file says so, else 0.
        sources: the nodes of its file, see `gozero.records.sgf_tree.Branch`.
    """

    parent: int
    colour: int
    action: int
    children: list[int] = field(default_factory=list)
    comment: str = ""
    estimate: Estimate | None = None
    next_to_play: int = 0
    sources: list[int] = field(default_factory=list)


@dataclass(frozen=True)
class SourceFile:
    """The file that a game was read from: its text, the number of the game in it from 0, its name, if known, and the
    nodes of the game, as in `Node.sources`, that cannot be played and stay in the file alone.
    """

    text: str
    number: int = 0
    name: str = ""
    unplayable: Sequence[int] = ()


class MoveTree:
    """All nodes of a game; `origin` where it was read from a file of SGF."""

    def __init__(self) -> None:
        self.origin: SourceFile | None = None
        self._nodes: dict[int, Node] = {START: Node(-1, 0, -1)}
        self._next = START + 1

    def __getitem__(self, number: int) -> Node:
        return self._nodes[number]

    def __contains__(self, number: object) -> bool:
        return number in self._nodes

    def __len__(self) -> int:
        return len(self._nodes)

    def add(self, parent: int, colour: int, action: int) -> int:
        """The number of the node after this move, a new one where the move is new."""
        for number in self._nodes[parent].children:
            if (self._nodes[number].colour, self._nodes[number].action) == (colour, action):
                return number
        number, self._next = self._next, self._next + 1
        self._nodes[number] = Node(parent, colour, action)
        self._nodes[parent].children.append(number)
        return number

    def remove(self, number: int) -> list[Node]:
        """Drop a node and all that follows it; they are returned."""
        self._nodes[self._nodes[number].parent].children.remove(number)
        pending, dropped = [number], []
        while pending:
            dropped.append(self._nodes.pop(pending.pop()))
            pending += dropped[-1].children
        return dropped

    def learn(self, number: int, estimate: Estimate) -> None:
        """Keep an estimate unless a larger search is known."""
        known = self._nodes[number].estimate
        if known is None or known.visits <= estimate.visits:
            self._nodes[number].estimate = estimate

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
        """Every node but the start, main line first, parents before children."""
        pending = self._nodes[START].children[::-1]
        while pending:
            number = pending.pop()
            yield number, self._nodes[number]
            pending += self._nodes[number].children[::-1]

    def to_values(self) -> dict[str, Any]:
        """As plain JSON values."""
        return {
            "next": self._next,
            "nodes": [[number, asdict(node)] for number, node in self._nodes.items()],
            "origin": self.origin and asdict(self.origin),
        }

    @classmethod
    def from_values(cls, values: Mapping[str, Any]) -> MoveTree:
        """The tree of `to_values`."""
        tree = cls()
        tree._next = values["next"]
        tree.origin = SourceFile(**values["origin"]) if values.get("origin") else None
        for number, found in values["nodes"]:
            known = found["estimate"]
            estimate = None if known is None else Estimate(**{**known, "line": tuple(known["line"])})
            tree._nodes[number] = Node(**{**found, "estimate": estimate})
        return tree
