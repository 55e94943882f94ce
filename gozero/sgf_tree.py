"""A game with its variations and comments, from and to SGF.

Vocabulary. A *branch* is a move with what may follow it, its comment and its place in the tree. `gozero.sgf` reads one
line of moves and writes one; this module keeps them all together. Moves are taken as they stand: no rules are known
here.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace

from sgfmill.sgf import Sgf_game, Tree_node

from gozero import coords, sgf
from gozero.sgf import COLOURS_OF_SGF, SGF_COLOURS, GameRecord, RecordError
from gozero.sgf_text import text_of

MOST_BRANCHES = 20_000


@dataclass
class Branch:
    """A move in a tree.

    Attributes:
        parent: the index of the branch before it; -1 for the start of the game.
        colour, action: the move.
        comment: on the position after it.
    """

    parent: int
    colour: int
    action: int
    comment: str = ""


@dataclass(frozen=True)
class GameWithVariations:
    """A game and its variations.

    Attributes:
        record: how the game began, without its moves.
        branches: every move; parents come before children, and the first child of each is its main continuation.
        comment: on the start.
        left_out: variations that were not read, because stones are set up in the middle of them.
        skipped: moves before the stones of the main line that begin the game, those of variations there included.
    """

    record: GameRecord
    branches: Sequence[Branch] = field(default_factory=list)
    comment: str = ""
    left_out: int = 0
    skipped: int = 0


def read(data: bytes, games: Sequence[str] = ("go",), encoding: str | None = None) -> GameWithVariations:
    """The first game in ``data``, one of ``games``, in an encoding, see `sgf.read_tree`. RecordError as in `sgf.parse`,
    and where it has more than `MOST_BRANCHES` moves.

    As there, stones that are set up in the middle of the main line begin a new game.
    """
    tree = sgf.read_tree(data, games, encoding)
    record = replace(sgf.record_of(tree), moves=())
    start = [node for node in tree.get_main_sequence() if node is tree.get_root() or node.has_setup_stones()][-1]
    try:
        found = _grown(record, start)
        return replace(found, skipped=_moves_beside(tree.get_root(), start))
    except ValueError as error:
        if isinstance(error, RecordError):
            raise
        raise RecordError(f"the file names a point off the {record.size}x{record.size} board") from None


def _moves_beside(root: Tree_node, start: Tree_node) -> int:
    """The moves of a tree that do not stand behind `start`, which is the root or on its main line."""
    found, pending = 0, [] if start is root else [root]
    while pending:
        node = pending.pop()
        found += node.get_move()[0] is not None
        pending += [child for child in node if child is not start]
    return found


def _grown(record: GameRecord, start: Tree_node) -> GameWithVariations:
    branches: list[Branch] = []
    left_out = 0
    comments: dict[int, str] = {}
    pending = [(start, -1)]
    while pending:
        node, parent = pending.pop()
        if node is not start and node.has_setup_stones():
            left_out += 1
            continue
        colour, move = node.get_move()
        if colour is not None:
            branches.append(Branch(parent, COLOURS_OF_SGF[colour], coords.from_sgf(move, record.size)))
            parent = len(branches) - 1
            if len(branches) > MOST_BRANCHES:
                raise RecordError(f"the game has more than {MOST_BRANCHES:,} moves, variations included")
        if text := text_of(node, "C"):
            comments[parent] = f"{comments[parent]}\n{text}" if parent in comments else text
        pending += [(child, parent) for child in reversed(list(node))]
    for number, text in comments.items():
        if number >= 0:
            branches[number].comment = text
    return GameWithVariations(record, branches, comments.get(-1, ""), left_out)


def write(game: GameWithVariations) -> bytes:
    """The game as an SGF file (UTF-8, FF[4]), main line first."""
    tree = Sgf_game.from_bytes(sgf.serialise(game.record), override_encoding="UTF-8")
    root = tree.get_root()
    if game.comment:
        root.set("C", game.comment)
    nodes: list[Tree_node] = []
    for branch in game.branches:
        parent = root if branch.parent < 0 else nodes[branch.parent]
        node = parent.new_child()
        node.set_move(SGF_COLOURS[branch.colour], coords.to_sgf(branch.action, game.record.size))
        if branch.comment:
            node.set("C", branch.comment)
        nodes.append(node)
    return bytes(tree.serialise())
