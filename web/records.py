"""Games as files: SGF with variations and comments for the games that SGF knows; for the others a list of moves, one a
line, whose first line names the game and its board.

The page sends and receives texts; nothing here opens a file.
"""

from __future__ import annotations

import re
from dataclasses import replace
from typing import Any

from gozero import coords, sgf_tree
from gozero.colours import COLOUR_WORDS, WHITE
from gozero.games import GO_FAMILY
from gozero.position import Position
from gozero.sgf import GameRecord, RecordError
from gozero.sgf_tree import Branch, GameWithVariations
from gozero.weights import WEIGHTS
from web.game_tree import START
from web.setups import MOST_HANDICAP, MOST_KOMI, Setup
from web.table import RefusedError, Table

READ = ("go", "nogo", "othello", "gomoku")  # games of SGF files
LONGEST, LONGEST_COMMENT = 1_000_000, 10_000  # characters of a record, of a comment
_CHARSET = re.compile(r"\bCA\s*\[[^\]]*\]")
_HEADER = re.compile(rf"\s*# ({'|'.join(WEIGHTS)}) (\d{{1,2}})x\d{{1,2}}\s*$", re.MULTILINE)
_COLOURS = {word: colour for colour, word in COLOUR_WORDS.items()}


def save(table: Table, result: str) -> tuple[str, str]:
    """(name of the file, its text)."""
    if table.start is None:
        lines = [f"# {table.game.name} {table.game.kind.dimensions}"]
        moves = table.tree.moves(table.line[-1])
        lines += [f"{COLOUR_WORDS[colour]} {table.vertex(action)}" for colour, action in moves]
        return f"{table.game.name}.txt", "\n".join(lines) + "\n"
    places = {START: -1}
    branches: list[Branch] = []
    for number, node in table.tree.in_order():
        places[number] = len(branches)
        branches.append(Branch(places[node.parent], node.colour, node.action, node.comment))
    record = replace(table.start, result=table.start.result or result)
    if table.live is not None:
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
        if game != setup.game:
            setup = replace(setup, weights=None, engine="", rules=None, komi=None)
        return replace(setup, game=game, size=size), None
    if setup.game not in GO_FAMILY and not text.lstrip().startswith("("):
        return setup, None
    found = read_sgf(text)
    game = found.record.game
    if game != setup.game and not (game == "go" and setup.game in GO_FAMILY):
        setup = replace(setup, game=game, weights=None, engine="", rules=None, komi=None)
    return replace(setup, size=found.record.size), found


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
    return str("" if text is None else text).encode(errors="replace").decode()


def comment_of(text: Any) -> str:
    """A page's comment. RefusedError where it is too long."""
    text = clean(text)
    if len(text) > LONGEST_COMMENT:
        raise RefusedError(f"A comment has at most {LONGEST_COMMENT:,} characters; this one has {len(text):,}.")
    return text


def _check_length(text: str) -> None:
    if len(text) > LONGEST:
        raise RefusedError(f"This file has {len(text):,} characters; a record has at most {LONGEST:,}.")


def _data_of(text: str) -> bytes:
    """An SGF file's text as UTF-8 that says so: the browser has decoded it, whatever it was."""
    text = _CHARSET.sub("", text)
    return text.replace(";", ";CA[UTF-8]", 1).encode()


def read_sgf(text: str) -> GameWithVariations:
    """The game of an SGF file. RefusedError where it is none, or too long."""
    _check_length(text)
    try:
        return sgf_tree.read(_data_of(text), READ)
    except RecordError as error:
        raise RefusedError(f"This is no game in SGF that can be opened: {error}.") from None


def _load_game(table: Table, game: GameWithVariations) -> str:
    record, remarks = _in_bounds(game.record)
    try:
        table.begin_from(record)
    except ValueError as error:
        raise RefusedError(f"This game cannot be shown: {error}.") from None
    nodes: list[int] = []
    for branch in game.branches:
        parent = START if branch.parent < 0 else nodes[branch.parent]
        nodes.append(table.tree.add(parent, branch.colour, branch.action))
        table.tree[nodes[-1]].comment = branch.comment
    table.tree[START].comment = game.comment
    table.go_to(table.tree.line(START)[-1])  # every move of the main line can be played
    table.go_to(START)
    if game.left_out:
        plural = "s were" if game.left_out > 1 else " was"
        remarks.append(f"{game.left_out} variation{plural} left out: stones are set up in the middle of them.")
    return " ".join(remarks)


def _in_bounds(record: GameRecord) -> tuple[GameRecord, list[str]]:
    """A record whose komi and handicap can be, and remarks on what was left out."""
    remarks = []
    if record.komi is not None and not abs(record.komi) <= MOST_KOMI:
        remarks.append(f"The file's komi, {record.komi:g}, was left out: it is beyond {MOST_KOMI} points.")
        record = replace(record, komi=None)
    if record.handicap > max(MOST_HANDICAP, len(record.black_stones)):
        remarks.append(f"The file's handicap, {record.handicap} stones, was left out: no such stones are set up.")
        record = replace(record, handicap=0)
    return record, remarks


def _load_moves(table: Table, text: str) -> None:
    kind = table.game.kind
    position = Position(kind)
    lines = [line.strip() for line in text.splitlines() if line.strip() and not line.startswith("#")]
    if not lines:
        raise RefusedError("This file holds no moves.")
    for number, line in enumerate(lines, start=1):
        colour, _, vertex = line.partition(" ")
        try:
            position.play(coords.parse_vertex(vertex, kind.cols, kind.rows), _COLOURS[colour.lower()])
        except (KeyError, ValueError):
            where = f"{table.game.name} on {kind.dimensions}"
            raise RefusedError(f"Move {number} of this file, {line[:40]!r}, cannot be played in {where}.") from None
    table.begin_review()
    parent = START
    for move in position.moves:
        parent = table.tree.add(parent, move.colour, move.action)
