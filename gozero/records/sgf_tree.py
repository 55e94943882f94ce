"""A game with its variations, comments and marks, from SGF, and back into its file. No rules are known here.

A mark on a point is the name of its property, such as `TR` for a triangle; a label is `LB:` and its text. One mark is
read of a point, its label if it has one.
"""

from __future__ import annotations

import math
from collections.abc import Collection, Iterable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field, replace
from itertools import pairwise

from gozero.games import coords
from gozero.records.sgf import COLOURS_OF_SGF, GameRecord, RecordError, SgfGame, add_move
from gozero.records.sgf_nodes import SgfNode
from gozero.records.sgf_reading import is_set_up, main_line, move_of, player_of, points_of
from gozero.records.sgf_text import escaped, line

MOST_BRANCHES = 20_000
SHAPES = ("TR", "SQ", "CR", "MA")  # triangle, square, circle, cross
LABEL = "LB:"


@dataclass
class Branch:
    """A move in a tree."""

    parent: int  # the index of the branch before it; -1 for the start of the game
    colour: int
    action: int
    comment: str = ""  # on the position after it
    marks: dict[int, str] = field(default_factory=dict)  # on its points
    next_to_play: int | None = None  # if the file says so
    # the nodes of the file that it stands for, by their places in `SgfNode.below` of the root
    sources: list[int] = field(default_factory=list, compare=False)


@dataclass(frozen=True)
class GameWithVariations:
    """A game of a file and its variations."""

    record: GameRecord  # how the game began, without its moves
    # every move; parents come before children, and the first child of each is its main continuation
    branches: Sequence[Branch]
    start: Branch  # its comment, its marks, its nodes in the file
    left_out: int  # variations that set up stones, or have a point off the board: they were not read
    skipped: int  # moves before the stones of the main line that begin the game


def read(game: SgfGame, kinds: Sequence[str] = ("go",)) -> GameWithVariations:
    """A game, one of ``kinds``. RecordError as in `SgfGame.record`, and where it has more than `MOST_BRANCHES` moves.

    As there, stones that are set up in the middle of the main line begin a new game.
    """
    game.check(kinds)
    record = replace(game.record(), moves=(), next_to_play=None)
    start = [node for node in main_line(game.root) if node is game.root or is_set_up(node)][-1]
    numbers = {id(node): number for number, node in enumerate(game.root.below())}
    branches: list[Branch] = []
    left_out = 0
    first = Branch(-1, 0, -1)
    pending = [(start, -1)]
    while pending:
        node, parent = pending.pop()
        try:
            move = game.move(node)
            is_read = node is start or not is_set_up(node)
        except RecordError:  # not of the main line: `record` would have raised it
            is_read = False
        if not is_read:
            left_out += 1
            continue
        if move is not None:
            branches.append(Branch(parent, *move))
            parent = len(branches) - 1
            if len(branches) > MOST_BRANCHES:
                raise RecordError(f"the game has more than {MOST_BRANCHES:,} moves, variations included")
        branch = branches[parent] if parent >= 0 else first
        branch.sources.append(numbers[id(node)])
        branch.comment = "\n".join(filter(None, (branch.comment, node.text("C"))))
        branch.marks |= marks_of([node], game.size)
        if player := player_of(node):
            branch.next_to_play = COLOURS_OF_SGF[player]
        pending += [(child, parent) for child in reversed(node.children)]
    total, behind = (sum(move_of(node) is not None for node in root.below()) for root in (game.root, start))
    return GameWithVariations(record, branches, first, left_out, total - behind)


def write(
    start: Sequence[SgfNode], known: Sequence[SgfNode], branches: Iterable[tuple[int, Branch]], size: int
) -> list[list[SgfNode]]:
    """Let a tree hold these branches with comments and marks: numbered, parents first, and before them the start, which
    the nodes ``start`` stand for. What has no source among ``known``, the nodes of the tree as in `Branch.sources`,
    becomes a new node. Returns the nodes of each.
    """
    nodes: dict[int, list[SgfNode]] = {}
    for number, branch in branches:
        own = [known[source] for source in branch.sources] if nodes else list(start)
        own = own or [add_move(nodes[branch.parent][0], branch.colour, branch.action, size)]
        set_comment(own, branch.comment)
        set_marks(own, branch.marks, size)
        nodes[number] = own
    return list(nodes.values())


def set_comment(nodes: Sequence[SgfNode], comment: str) -> None:
    """Let nodes that stand for one position have this comment; they are left as they are where they have it."""
    texts = [text for node in nodes if (text := node.text("C"))]
    if comment in ("\n".join(texts), "\n\n".join(dict.fromkeys(texts))):
        return
    for node in nodes:
        node.set("C", comment if node is nodes[0] else "")


def prune(root: SgfNode, gone: Collection[SgfNode], unplayable: Collection[SgfNode]) -> None:
    """Take the nodes ``gone``, and what follows them, out of a tree. Where a variation that sets up stones would become
    the main line, and so begin a new game, or one that cannot be played, an empty node stands before it.
    """
    for node in root.below():
        left = [child for child in node.children if child not in gone]
        is_new = bool(left) and left[0] is not node.children[0]
        if is_new and (left[0] in unplayable or any(map(is_set_up, main_line(left[0])))):
            left.insert(0, SgfNode())
        node.children = left


def arrange(start: SgfNode, nodes: Sequence[Sequence[SgfNode]]) -> None:
    """Let the variations behind a node have the order of these branches, given by their nodes; those that are no branch
    come last. Where the main line would go on with stones that are set up, an empty node stands before them.
    """
    places: dict[int, float] = {id(node): place for place, own in enumerate(nodes) for node in own}
    firsts: dict[int, float] = {}  # the first branch that ends behind each node
    for node in reversed(list(start.below())):
        own = places.get(id(node), -1.0)
        behind = {id(child): firsts[id(child)] for child in node.children}
        # what continues the same position, or is no branch, says nothing of the order
        rank = {child: place if place > own else math.inf for child, place in behind.items()}
        node.children.sort(key=lambda child, rank=rank: rank[id(child)])  # type: ignore[misc]
        firsts[id(node)] = min((place for place in rank.values() if place < math.inf), default=own)
    for node, follower in pairwise(main_line(start)):
        if is_set_up(follower):
            node.children.insert(0, SgfNode())
            break


def is_mark(value: object) -> bool:
    return isinstance(value, str) and (value in SHAPES or value.startswith(LABEL))


def marks_of(nodes: Sequence[SgfNode], size: int) -> dict[int, str]:
    """The marks of nodes that stand for one position, by action; those off the board are left out."""
    found: dict[int, str] = {}
    for node in nodes:
        for name in (*SHAPES, "LB"):
            for value in node.properties.get(name, ()):
                points, text = _value(name, value, size)
                found |= dict.fromkeys(points, f"{LABEL}{text}" if name == "LB" else name)
    return found


def set_marks(nodes: Sequence[SgfNode], marks: Mapping[int, str], size: int) -> None:
    """Let nodes that stand for one position have these marks; what a file says of other points stays as it is."""
    known = marks_of(nodes, size)
    changed = {point for point in known.keys() | marks.keys() if known.get(point) != marks.get(point)}
    for node in nodes:
        for name in (*SHAPES, "LB"):
            if left := [value for old in node.properties.pop(name, ()) for value in _without(name, old, changed, size)]:
                node.properties[name] = left
    for point in sorted(changed & marks.keys()):
        name, colon, text = marks[point].partition(":")
        value = coords.to_sgf(point, size) + colon + escaped(text).replace(":", "\\:")
        nodes[0].properties.setdefault(name, []).append(value)


def _value(name: str, value: str, size: int) -> tuple[set[int], str]:
    """The points of a value, none if they are not on the board, and its text."""
    where, _, text = value.partition(":") if name == "LB" else (value, "", "")
    with suppress(ValueError):
        return points_of(SgfNode({name: [where]}), name, size), line(text)
    return set(), ""


def _without(name: str, value: str, changed: set[int], size: int) -> list[str]:
    """A value without these points; as it was where it has none of them."""
    points, _ = _value(name, value, size)
    return [coords.to_sgf(point, size) for point in sorted(points - changed)] if points & changed else [value]
