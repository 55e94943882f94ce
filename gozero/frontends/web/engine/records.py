"""Games as files: SGF with variations and comments for the games that SGF knows; for the others a list of moves, one a
line, whose first line names the game and its board.

To open a file: `games_in` lists its games, `setup_for` gives the setup for one of them, `load` puts that on the session
and returns the remarks. The data are the file's bytes, or its text. Nothing here opens a file.
"""

from __future__ import annotations

import datetime
import re
from bisect import bisect_left
from dataclasses import replace
from typing import Any

from gozero.frontends.web.catalogue import rule_sets
from gozero.frontends.web.engine.game_tree import START, MoveTree, SourceFile
from gozero.frontends.web.engine.session import GameSession, RefusedError
from gozero.frontends.web.setups import Setup
from gozero.games import GO_FAMILY, coords, make
from gozero.games.colours import BLACK, COLOUR_NAMES, COLOUR_WORDS, WHITE
from gozero.games.go.rules import named_rules, same_rules, written_name
from gozero.nets.locations import WEIGHTS
from gozero.records import move_list, sgf, sgf_nodes, sgf_tree
from gozero.records.sgf import RecordError, SgfGame
from gozero.records.sgf_text import decoded, writable
from gozero.records.sgf_tree import Branch, GameWithVariations
from gozero.system.words import counted

READ = ("go", "nogo", "othello", "gomoku")  # games of SGF files
LONGEST, LONGEST_COMMENT = 1_000_000, 10_000  # characters of a record, of a comment
_HEADER = re.compile(rf"\s*# ({'|'.join(WEIGHTS)}) (\d{{1,2}})x\d{{1,2}}\s*$", re.MULTILINE)
_MOVES = re.compile(r"(?:\s*#.*\n)*\s*(?:black|white) +(?:pass|[a-z]\d{1,2})\s*$", re.MULTILINE | re.IGNORECASE)
NEITHER = "This file is neither SGF nor a list of moves, a line each, such as 'black D4'."
_COLOURS = {word: colour for colour, word in COLOUR_WORDS.items()}


def save(
    session: GameSession, result: str, level: int | None = None, today: datetime.date | None = None
) -> tuple[str, str]:
    """(name of the file, its text). A game that was read from a file goes back into that file, which keeps everything
    else: its other games, and every property. ``level`` is the engine's, None: the setup's.
    """
    today, level = today or datetime.date.today(), session.setup.level if level is None else level
    side = {BLACK: WHITE, WHITE: BLACK}.get(session.person)  # the engine's
    against = "" if side is None else f"-{COLOUR_NAMES[session.person]}-vs-level-{level}"
    name = f"gozero-{today}-{session.game.name}{session.game.size}{against}"
    if session.start is None:
        return f"{name}.txt", move_list.written(session.game.kind, session.tree.moves(session.line[-1]))
    if session.tree.origin is not None:
        return session.tree.origin.name or f"{name}.sgf", _into_file(session.tree, session.tree.origin)
    record = replace(session.start, result=result, date=str(today))
    if side is not None:
        names = {BLACK: "person", WHITE: "person", side: f"gozero, level {level}"}
        record = replace(record, black_name=names[BLACK], white_name=names[WHITE])
    game = GameWithVariations(record, _branches(session.tree), session.tree[START].comment)
    return f"{name}.sgf", sgf_nodes.write([sgf_tree.tree(game)])


def _branches(tree: MoveTree) -> list[Branch]:
    places: dict[int, int] = {START: -1}
    branches: list[Branch] = []
    for number, node in tree.in_order():
        places[number] = len(branches)
        branches.append(Branch(places[node.parent], node.colour, node.action, node.comment, sources=node.sources))
    return branches


def _into_file(tree: MoveTree, origin: SourceFile) -> str:
    """The file that a game was read from, with what has changed since."""
    games = sgf.games(origin.text)
    root = games[origin.number].root
    known = list(root.below())
    begun = sgf_tree.read(games[origin.number], READ)
    branches = _branches(tree)
    kept = {source for branch in branches for source in branch.sources} | set(origin.unplayable)
    gone = [known[branch.sources[0]] for branch in begun.branches if branch.sources[0] not in kept]
    start = [known[source] for source in begun.sources]
    sgf_tree.set_comment(start, tree[START].comment)
    sgf_tree.add_branches(start[0], known, branches, begun.record.size)
    sgf_tree.prune(root, gone)
    for game in games:
        game.root.properties = {"FF": ["4"], "AP": [sgf.PROGRAM], **game.root.properties, "CA": ["UTF-8"]}
    return sgf_nodes.write(game.root for game in games)


def games_in(data: str | bytes) -> list[str]:
    """A line for each game of a file, for people to choose from: one only where the file is no collection. RefusedError
    where it is no file of games, or too long.
    """
    text = _text(data)
    if _HEADER.match(text) or _MOVES.match(text):
        return [text.strip().partition("\n")[0][:40]]
    return [game.title for game in _games(text)]


def setup_for(data: str | bytes, setup: Setup, number: int = 0) -> tuple[Setup, SgfGame | None]:
    """The setup for the review of a record that is opened in a game of ``setup``, and the file's game of that number
    if it is SGF. RefusedError if there is none.
    """
    setup, text = replace(setup, person="both", handicap=0, record_rules=None), _text(data)
    if named := _HEADER.match(text):
        game, size = named[1], int(named[2])
        if size < 2:
            raise RefusedError(f"The record names a board of {size}: there is none.")
        if game != setup.game:
            setup = replace(setup, weights=None, engine="", rules=None, komi=None)
        return replace(setup, game=game, size=size), None
    if _MOVES.match(text):
        return setup, None
    games = _games(data)
    if not 0 <= number < len(games):
        raise RefusedError(f"This file has no game {number + 1}: it has {len(games)}.")
    found = games[number]
    try:
        found.check(READ)
    except RecordError as error:
        raise _unreadable(error) from None
    game = found.kind or "go"
    if game != setup.game and not (game == "go" and _plays(setup.game, found.size)):
        setup = replace(setup, game=game, weights=None, engine="", rules=None, komi=None)
    written = found.root.line("RU")
    rules = named_rules(written) if setup.game == "go" else None
    if rules is not None or written_name(written) in rule_sets(setup.game):
        setup = replace(setup, record_rules=rules.name if rules is not None else written_name(written))
    return replace(setup, size=found.size), found


def _plays(name: str, size: int) -> bool:
    """Whether a game is Go, or one of its family that has boards of this size."""
    if name not in GO_FAMILY:
        return False
    try:
        make(name, size=size)
    except ValueError:
        return False
    return True


def load(session: GameSession, data: str | bytes, game: SgfGame | None, number: int = 0, name: str = "") -> str:
    """Take a record over, for review; remarks for the page, or "". RefusedError where it cannot be used.

    ``game`` is what `setup_for` found in the data under that number; ``name`` is the file's, to save it under again.
    """
    if game is not None:
        remarks = _load_game(session, game)
        cut, unplayable = _cut(session, game)
        session.tree.origin = SourceFile(game.text, number, name, unplayable)
        others = len(_games(game.text)) - 1
        return " ".join(filter(None, [f"Game {number + 1} of {others + 1}." if others else "", remarks, cut]))
    _load_moves(session, _text(data))
    return ""


def clean(text: Any) -> str:
    """A page's text, without halves of characters that no file can hold."""
    return writable("" if text is None else str(text))


def comment_of(text: Any) -> str:
    """A page's comment. RefusedError where it is too long."""
    text = clean(text)
    if len(text) > LONGEST_COMMENT:
        raise RefusedError(f"A comment has at most {LONGEST_COMMENT:,} characters; this one has {len(text):,}.")
    return text


def _text(data: str | bytes) -> str:
    """The text of a file. RefusedError where it is too long."""
    text = decoded(data)[0] if isinstance(data, bytes) else data
    if len(text) > LONGEST:
        raise RefusedError(f"This file has {len(text):,} characters; a record has at most {LONGEST:,}.")
    return text


def _is_sgf(text: str) -> bool:
    return text.lstrip("\ufeff \t\r\n")[:1] in ("(", ";")


def _games(data: str | bytes) -> list[SgfGame]:
    try:
        return sgf.games(data)
    except RecordError as error:
        text = _text(data)
        raise _unreadable(error) if "(;" in text or _is_sgf(text) else RefusedError(NEITHER) from None


def _unreadable(error: RecordError) -> RefusedError:
    return RefusedError(f"This is no game in SGF that can be opened: {error}.")


def _load_game(session: GameSession, found: SgfGame) -> str:
    try:
        game = sgf_tree.read(found, READ)
    except RecordError as error:
        raise _unreadable(error) from None
    record = game.record
    remarks = [f"{remark[:1].upper()}{remark[1:]}." for remark in record.remarks]
    rules = session.rules  # "" where the game has only one set
    if record.rules.strip() and rules and not same_rules(rules, record.rules):
        remarks.append(f"The file's rules, {record.rules[:40]}, are not played here: {session.rules} rules are.")
    try:
        session.begin_from(record)
    except ValueError as error:
        raise RefusedError(f"This game cannot be shown: {error}.") from None
    nodes: list[int] = []
    for branch in game.branches:
        parent = START if branch.parent < 0 else nodes[branch.parent]
        nodes.append(session.tree.add(parent, branch.colour, branch.action))
        node = session.tree[nodes[-1]]  # of an earlier branch too, where that has the same move here
        if branch.comment != node.comment:
            node.comment = "\n\n".join(filter(None, (node.comment, branch.comment)))
        node.next_to_play = branch.next_to_play or node.next_to_play
        node.sources += branch.sources
    session.tree[START].comment = game.comment
    if game.skipped:
        skipped = counted(game.skipped, "move")
        remarks.append(f"{skipped} left out: the game begins where stones are set up after them.")
    if game.left_out:
        left_out = f"{counted(game.left_out, 'variation')} {'were' if game.left_out > 1 else 'was'}"
        remarks.append(f"{left_out} left out: stones are set up in the middle of them.")
    return " ".join(remarks)


def _cut(session: GameSession, game: SgfGame) -> tuple[str, list[int]]:
    """End the main line before its first move that cannot be played: a remark, "" where there is none, and the nodes of
    the file that were left out. RefusedError where that is its first one.
    """
    line = session.tree.line(START)

    def is_refused(node: int) -> bool:
        try:
            session.go_to(node)
        except RefusedError:
            return True
        return False

    remark, left_out = "", []
    if is_refused(line[-1]):
        number = bisect_left(line, True, key=is_refused)
        where = game.unplayable(number)
        remark = f"{where[:1].upper()}{where[1:]} in {session.game.name} on {session.game.kind.dimensions}"
        if number == 1:
            raise RefusedError(f"{remark}.")
        remark += ": the game was read up to there."
        left_out = [source for node in session.tree.remove(line[number]) for source in node.sources]
    session.go_to(START)
    return remark, left_out


def _unplayable(session: GameSession, number: int, move: str) -> RefusedError:
    where = f"{session.game.name} on {session.game.kind.dimensions}"
    return RefusedError(f"Move {number} of this file, {move[:40]!r}, cannot be played in {where}.")


def _load_moves(session: GameSession, text: str) -> None:
    kind = session.game.kind
    lines = [line.strip() for line in text.splitlines() if line.strip() and not line.startswith("#")]
    if not lines:
        raise RefusedError("This file holds no moves.")
    session.begin_review()
    for number, line in enumerate(lines, start=1):
        colour, _, vertex = line.partition(" ")
        try:
            session.game.play(_COLOURS[colour.lower()], coords.parse_vertex(vertex, kind.cols, kind.rows))
        except (KeyError, ValueError):
            raise _unplayable(session, number, line) from None
        session.follow()
    session.go_to(START)
