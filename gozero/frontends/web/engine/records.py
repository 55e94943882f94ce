"""Games as files: SGF with variations, comments and marks for the games in `GAME_NUMBERS`; for the others a list of moves, one a
line, whose first line names the game and its board.

`RecordFile` is a file that a page opens, `save` makes one. Nothing here touches the disk.
"""

from __future__ import annotations

import datetime
import re
from collections.abc import Sequence
from dataclasses import replace
from typing import Any

from gozero.frontends.web.catalogue import rule_sets
from gozero.frontends.web.engine.game_tree import START, SourceFile
from gozero.frontends.web.engine.session import GameSession
from gozero.frontends.web.engine.snapshots import playable
from gozero.frontends.web.setups import Setup
from gozero.games import GAMES, GO_FAMILY
from gozero.games.colours import BLACK, COLOUR_NAMES, COLOURS, WHITE, opponent
from gozero.games.go.rules import named_rules, same_rules, written_name
from gozero.nets.weights import Header
from gozero.play.engine import supported_sizes
from gozero.records import move_list, sgf, sgf_nodes, sgf_tree
from gozero.records.sgf import SgfGame
from gozero.records.sgf_text import decoded, writable
from gozero.records.sgf_tree import Branch
from gozero.system.errors import InputError
from gozero.system.words import counted

READ = ("go", "nogo", "othello", "gomoku")  # games of SGF files
LONGEST, LONGEST_COMMENT = 1_000_000, 10_000  # characters of a record, of a comment
_HEADER = re.compile(rf"\s*# ({'|'.join(GAMES)}) (\d{{1,2}})x\d{{1,2}}\s*$", re.MULTILINE)
LIST_ONLY = "A list of moves cannot hold variations, comments or marks: the file is without them."
NEITHER = "This file is neither SGF nor a list of moves, whose first line is such as '# hex 11x11'."


def save(session: GameSession, result: str, today: datetime.date | None = None) -> tuple[str, str, str]:
    """(name of the file, its text, a sentence on what it does not have, or ""). A game that was read from a file goes
    back into that file, which keeps everything else: its other games, and every property.
    """
    tree, person, level, today = session.tree, session.person, session.setup.level, today or datetime.date.today()
    against = f"-{COLOUR_NAMES[person]}-vs-level-{level}" if person else ""
    name = f"gozero-{today}-{session.game.name}{session.game.size}{against}"
    if session.start is None:
        text = move_list.written(session.game.definition, tree.moves(session.line[-1]))
        nodes = [node for _, node in tree.in_order()]
        has_more = len(nodes) > len(session.line) or any(node.comment or node.marks for node in nodes)
        return f"{name}.txt", text, LIST_ONLY if has_more else ""
    if tree.origin is not None:
        return tree.origin.name or f"{name}.sgf", _into_file(session, tree.origin), ""
    record = replace(session.start, result=result, date=str(today))
    if person:
        names = {person: "person", opponent(person): f"gozero, level {level}"}
        record = replace(record, black_name=names[BLACK], white_name=names[WHITE])
    root = sgf.tree_of(record)
    sgf_tree.write([root], [], tree.in_order(), record.size)
    return f"{name}.sgf", sgf_nodes.write([root]), ""


def _into_file(session: GameSession, origin: SourceFile) -> str:
    """The file that a game was read from, with what has changed since. ValueError or LookupError if it is another."""
    tree = session.tree
    games = sgf.games(origin.text)
    root = games[origin.number].root
    known = list(root.below())
    begun = sgf_tree.read(games[origin.number], READ)
    if begun.record.size != session.game.size:
        raise ValueError("this is not the file that the game was read from")
    present = {source for _, node in tree.in_order() for source in node.sources} | set(origin.unplayable)
    gone = {known[branch.sources[0]] for branch in begun.branches if branch.sources[0] not in present}
    start = [known[source] for source in begun.start.sources]
    nodes = sgf_tree.write(start, known, tree.in_order(), begun.record.size)
    if origin.is_rearranged:
        sgf_tree.arrange(start[0], nodes)
    sgf_tree.prune(root, gone, {known[source] for source in origin.unplayable})
    for game in games:
        game.root.properties = {"FF": ["4"], "AP": [sgf.PROGRAM], **game.root.properties, "CA": ["UTF-8"]}
    return sgf_nodes.write(game.root for game in games)


class RecordFile:
    """A file that a page opens: SGF, or a list of moves, as bytes or as text. InputError if it is no file of games, or
    too long; RecordError, also from the methods, if it is SGF that cannot be read.
    """

    def __init__(self, data: str | bytes) -> None:
        self._text = decoded(data)[0] if isinstance(data, bytes) else data
        if len(self._text) > LONGEST:
            raise InputError(f"This file has {len(self._text):,} characters; a record has at most {LONGEST:,}.")
        self._named = _HEADER.match(self._text)
        if not (self._named or "(;" in self._text or self._text.lstrip("\ufeff \t\r\n").startswith(("(", ";"))):
            raise InputError(NEITHER)
        self.games: list[SgfGame] = [] if self._named else sgf.games(data)  # none if it is a list of moves

    def setup(self, setup: Setup, number: int = 0) -> Setup:
        """The setup for a review that follows a game of ``setup``. InputError for a number or a kind that is not known."""
        setup = replace(setup, person="both", handicap=0, komi=None)
        if not self._named:
            return self._sgf_setup(setup, number)
        name, size = self._named[1], int(self._named[2])
        if size < 2:
            raise InputError(f"The record names a board of {size}: there is none.")
        return replace(setup if name == setup.game else _of_game(setup, name), size=size)

    def _sgf_setup(self, setup: Setup, number: int) -> Setup:
        if not 0 <= number < len(self.games):
            raise InputError(f"This file has no game {number + 1}: it has {len(self.games)}.")
        found = self.games[number]
        found.check(READ)
        name = found.kind or "go"
        if name != setup.game and not (name == "go" and _plays(setup.game, found.size)):
            setup = _of_game(setup, name)
        written = found.root.line("RU")
        known = named_rules(written) if setup.game == "go" else None
        rules = written_name(written) if known is None else known.name
        return replace(setup, size=found.size, rules=rules if rules in rule_sets(setup.game) else None)

    def load(self, session: GameSession, number: int = 0, name: str = "") -> str:
        """Put a game on a new session of its `setup`; remarks for the page, or "". InputError if it cannot be played.
        ``name`` is the file's, to save it under again.
        """
        if not self.games:
            _load_moves(session, self._text)
            return ""
        game = self.games[number]
        remarks, unplayable = _load_game(session, game)
        session.tree.origin = SourceFile(game.text, number, name, unplayable)
        if len(self.games) > 1:
            remarks.insert(0, f"Game {number + 1} of {len(self.games)}.")
        return " ".join(remarks)


def _of_game(setup: Setup, name: str) -> Setup:
    """The same for another game, with its own engine."""
    return replace(setup, game=name, engine="", rules=None, komi=None)


def _plays(name: str, size: int) -> bool:
    """Whether a game is Go, or one of its family that has boards of this size."""
    return name in GO_FAMILY and size in supported_sizes(Header(name))


def comment_of(text: Any) -> str:
    """A page's comment, without halves of characters that no file can hold. InputError if it is too long."""
    text = writable("" if text is None else str(text))
    if len(text) > LONGEST_COMMENT:
        raise InputError(f"A comment has at most {LONGEST_COMMENT:,} characters; this one has {len(text):,}.")
    return text


def _load_game(session: GameSession, found: SgfGame) -> tuple[list[str], list[int]]:
    """Put a game of SGF on the session: remarks, and the nodes of the file that cannot be played."""
    game = sgf_tree.read(found, READ)
    record = game.record
    remarks = [f"{remark[:1].upper()}{remark[1:]}." for remark in record.remarks]
    rules = session.rules  # "" if the game has only one set
    if record.rules.strip() and rules and not same_rules(rules, record.rules):
        remarks.append(f"The file's rules, {record.rules[:40]}, are not played here: {session.rules} rules are.")
    try:
        session.begin_from(record)
    except ValueError as error:
        raise InputError(f"This game cannot be shown: {error}.") from None
    left_out, cuts = _add_branches(session, game.branches)
    session.tree[START].comment, session.tree[START].marks = game.start.comment, game.start.marks
    if game.skipped:
        skipped = counted(game.skipped, "move")
        remarks.append(f"{skipped} left out: the game begins where stones are set up after them.")
    main = len(found.record().moves)  # which are the first branches
    if cuts and cuts[0] < main:
        where = found.unplayable(cuts[0] + 1)
        where = f"{where[:1].upper()}{where[1:]} in {session.game.name} on {session.game.definition.dimensions}"
        if not session.tree[START].children:
            raise InputError(f"{where}.")
        remarks.append(f"{where}: the game was read up to there.")
    if variations := game.left_out + sum(place >= main for place in cuts):
        were = f"{counted(variations, 'variation')} {'were' if variations > 1 else 'was'}"
        remarks.append(f"{were} left out or cut short: they set up stones, or have a move that cannot be played.")
    return remarks, left_out


def _add_branches(session: GameSession, branches: Sequence[Branch]) -> tuple[list[int], list[int]]:
    """Add what can be played of a file: its nodes that are left out, and the places of moves that are refused."""
    tree, nodes = session.tree, {-1: START}
    played, refused = playable(session.game, dict(enumerate(branches)), -1)
    session.go_to(START)
    for place in played:
        branch = branches[place]
        nodes[place] = tree.add(nodes[branch.parent], branch.colour, branch.action)
        node = tree[nodes[place]]  # of an earlier branch too, if that has the same move here
        if branch.comment != node.comment:
            node.comment = "\n\n".join(filter(None, (node.comment, branch.comment)))
        node.next_to_play = branch.next_to_play or node.next_to_play
        node.sources += branch.sources
        node.marks |= branch.marks
    left_out = [source for place, branch in enumerate(branches) if place not in nodes for source in branch.sources]
    return left_out, refused


def _load_moves(session: GameSession, text: str) -> None:
    kind = session.game.definition
    lines = [line.strip() for line in text.splitlines() if line.strip() and not line.startswith("#")]
    if not lines:
        raise InputError("This file holds no moves.")
    for number, line in enumerate(lines, start=1):
        colour, _, vertex = line.partition(" ")
        try:
            session.enter(COLOURS[colour.lower()], kind.action(vertex))
        except (KeyError, ValueError):
            where = f"{session.game.name} on {kind.dimensions}"
            raise InputError(f"Move {number} of this file, {line[:40]!r}, cannot be played in {where}.") from None
    session.go_to(START)
