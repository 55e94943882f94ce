"""Games as files: SGF with variations and comments for the games that SGF knows; for the others a list of moves, one a
line, whose first line names the game and its board.

The page sends and receives texts; nothing here opens a file.
"""

from __future__ import annotations

import re
from bisect import bisect_left
from dataclasses import replace
from typing import Any

from gozero import coords, move_list, sgf_tree
from gozero.colours import COLOUR_WORDS, EMPTY, WHITE
from gozero.games import GO_FAMILY, MOST_KOMI, make
from gozero.games.rules import written_name
from gozero.locations import WEIGHTS
from gozero.sgf import RecordError
from gozero.sgf_text import writable
from gozero.sgf_tree import Branch, GameWithVariations
from web.catalogue import rule_sets
from web.game_tree import START
from web.setups import Setup
from web.table import RefusedError, Table

READ = ("go", "nogo", "othello", "gomoku")  # games of SGF files
LONGEST, LONGEST_COMMENT = 1_000_000, 10_000  # characters of a record, of a comment
_HEADER = re.compile(rf"\s*# ({'|'.join(WEIGHTS)}) (\d{{1,2}})x\d{{1,2}}\s*$", re.MULTILINE)
_COLOURS = {word: colour for colour, word in COLOUR_WORDS.items()}


def save(table: Table, result: str) -> tuple[str, str]:
    """(name of the file, its text)."""
    if table.start is None:
        return f"{table.game.name}.txt", move_list.written(table.game.kind, table.tree.moves(table.line[-1]))
    places = {START: -1}
    branches: list[Branch] = []
    for number, node in table.tree.in_order():
        places[number] = len(branches)
        branches.append(Branch(places[node.parent], node.colour, node.action, node.comment))
    record = replace(table.start, result=table.start.result or result)
    if table.person != EMPTY:
        by_engine = "black_name" if table.person == WHITE else "white_name"
        record = replace(record, **{by_engine: "gozero"})  # type: ignore[arg-type]
    game = GameWithVariations(record, branches, table.tree[START].comment)
    return f"{table.game.name}.sgf", sgf_tree.write(game).decode()


def setup_for(text: str, setup: Setup) -> tuple[Setup, GameWithVariations | None]:
    """The setup for the review of a record that is opened at a game of ``setup``, and what its SGF holds, if it is
    SGF. RefusedError where it is none.
    """
    setup = replace(setup, person="both", handicap=0)
    if named := _HEADER.match(text):
        game, size = named[1], int(named[2])
        if size < 2:
            raise RefusedError(f"The record names a board of {size}: there is none.")
        if game != setup.game:
            setup = replace(setup, weights=None, engine="", rules=None, komi=None)
        return replace(setup, game=game, size=size), None
    if setup.game not in GO_FAMILY and not text.lstrip().startswith("("):
        return setup, None
    found = read_sgf(text)
    game = found.record.game
    if game != setup.game and not (game == "go" and _plays(setup.game, found.record.size)):
        setup = replace(setup, game=game, weights=None, engine="", rules=None, komi=None)
    rules = written_name(found.record.rules)
    if rules in rule_sets(setup.game):
        setup = replace(setup, rules=rules)
    return replace(setup, size=found.record.size), found


def _plays(name: str, size: int) -> bool:
    """Whether a game is Go, or one of its family that has boards of this size."""
    if name not in GO_FAMILY:
        return False
    try:
        make(name, size=size)
    except ValueError:
        return False
    return True


def load(table: Table, text: str, game: GameWithVariations | None) -> str:
    """Take a record over, for review; a remark for the page, or "". RefusedError where it cannot be used.

    ``game`` is what `setup_for` found in the text.
    """
    if game is not None:
        return _load_game(table, game)
    _check_length(text)
    _load_moves(table, text)
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


def _check_length(text: str) -> None:
    if len(text) > LONGEST:
        raise RefusedError(f"This file has {len(text):,} characters; a record has at most {LONGEST:,}.")


def read_sgf(text: str) -> GameWithVariations:
    """The game of an SGF file, which the browser has decoded. RefusedError where it is none, or too long."""
    _check_length(text)
    try:
        return sgf_tree.read(text.encode(), READ, "UTF-8")
    except RecordError as error:
        raise RefusedError(f"This is no game in SGF that can be opened: {error}.") from None


def _load_game(table: Table, game: GameWithVariations) -> str:
    record, remarks = game.record, []
    if record.unread_komi:
        remarks.append(f"The file's komi, {record.unread_komi[:40]}, was left out: it is no number.")
    if record.komi is not None and not abs(record.komi) <= MOST_KOMI:
        remarks.append(f"The file's komi, {record.komi:g}, was left out: it is beyond {MOST_KOMI} points.")
        record = replace(record, komi=None)
    if record.rules and written_name(table.rules) not in ("", written_name(record.rules)):
        remarks.append(f"The file's rules, {record.rules[:40]}, are not played here: {table.rules} rules are.")
    try:
        table.begin_from(record)
    except ValueError as error:
        raise RefusedError(f"This game cannot be shown: {error}.") from None
    nodes: list[int] = []
    for branch in game.branches:
        parent = START if branch.parent < 0 else nodes[branch.parent]
        nodes.append(table.tree.add(parent, branch.colour, branch.action))
        node = table.tree[nodes[-1]]  # of an earlier branch too, where that has the same move here
        if branch.comment != node.comment:
            node.comment = "\n\n".join(filter(None, (node.comment, branch.comment)))
    table.tree[START].comment = game.comment
    _check_main_line(table)
    if game.skipped:
        plural = "s" if game.skipped > 1 else ""
        remarks.append(f"{game.skipped} move{plural} left out: the game begins where stones are set up after them.")
    if game.left_out:
        plural = "s were" if game.left_out > 1 else " was"
        remarks.append(f"{game.left_out} variation{plural} left out: stones are set up in the middle of them.")
    return " ".join(remarks)


def _check_main_line(table: Table) -> None:
    """RefusedError that names the first move of the main line that cannot be played, if there is one."""
    line = table.tree.line(START)

    def is_refused(node: int) -> bool:
        try:
            table.go_to(node)
        except RefusedError:
            return True
        return False

    if is_refused(line[-1]):
        number = bisect_left(line, True, key=is_refused)
        move = table.tree[line[number]]
        raise _unplayable(table, number, f"{COLOUR_WORDS[move.colour]} {table.vertex(move.action)}")
    table.go_to(START)


def _unplayable(table: Table, number: int, move: str) -> RefusedError:
    where = f"{table.game.name} on {table.game.kind.dimensions}"
    return RefusedError(f"Move {number} of this file, {move[:40]!r}, cannot be played in {where}.")


def _load_moves(table: Table, text: str) -> None:
    kind = table.game.kind
    lines = [line.strip() for line in text.splitlines() if line.strip() and not line.startswith("#")]
    if not lines:
        raise RefusedError("This file holds no moves.")
    table.begin_review()
    for number, line in enumerate(lines, start=1):
        colour, _, vertex = line.partition(" ")
        try:
            table.game.play(_COLOURS[colour.lower()], coords.parse_vertex(vertex, kind.cols, kind.rows))
        except (KeyError, ValueError):
            raise _unplayable(table, number, line) from None
        table.follow()
    table.go_to(START)
