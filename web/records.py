"""Games as files: SGF with variations and comments for games of Go's family, one move a line for the others.

The page sends and receives texts; nothing here opens a file.
"""

from __future__ import annotations

import re
from dataclasses import replace

from gozero import coords, sgf_tree
from gozero.colours import COLOUR_WORDS, WHITE
from gozero.games import GO_FAMILY
from gozero.position import Position
from gozero.sgf import RecordError
from gozero.sgf_tree import Branch, GameWithVariations
from web.game_tree import START
from web.table import RefusedError, Table

LONGEST = 1_000_000  # characters of a record
_CHARSET = re.compile(r"\bCA\s*\[[^\]]*\]")
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
    record = replace(table.start, result=result or table.start.result)
    if table.live is not None:
        by_engine = "black_name" if table.person == WHITE else "white_name"
        record = replace(record, **{by_engine: "gozero"})  # type: ignore[arg-type]
    game = GameWithVariations(record, branches, table.tree[START].comment)
    return f"{table.game.name}.sgf", sgf_tree.write(game).decode()


def load(table: Table, text: str, game: GameWithVariations | None = None) -> str:
    """Take a record over, for review; a remark for the page, or "". RefusedError where it cannot be used.

    ``game`` is what `read_sgf` found in the text, where that was called already.
    """
    if table.game.name in GO_FAMILY:
        return _load_game(table, game or read_sgf(text))
    _check_length(text)
    _load_moves(table, text)
    return ""


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
        return sgf_tree.read(_data_of(text))
    except RecordError as error:
        raise RefusedError(f"This is no game of Go in SGF: {error}.") from None


def _load_game(table: Table, game: GameWithVariations) -> str:
    try:
        table.begin_from(game.record)
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
    if not game.left_out:
        return ""
    plural = "s were" if game.left_out > 1 else " was"
    return f"{game.left_out} variation{plural} left out: stones are set up in the middle of them."


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
