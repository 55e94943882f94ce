"""The tree of moves as a page draws it, and what a page does to it: variations deleted and promoted, points marked."""

from __future__ import annotations

import string
from typing import Any

from gozero.frontends.web.engine.game_tree import START
from gozero.frontends.web.engine.review import MISTAKE, judged, measure_of
from gozero.frontends.web.engine.session import GameSession
from gozero.records.sgf_tree import LABEL, SHAPES
from gozero.system.errors import InputError

HAS_COMMENT, IS_MISTAKE = 1, 2  # bits of a node's sign; marks count as a comment
LETTER = "LB"  # asks for a label, the first letter that is free


def shape(session: GameSession) -> dict[str, Any]:
    """The report of all nodes, parents before children, main line first: their numbers, the places of their parents in
    this list, and, as texts with a digit for each, colours and signs, see `HAS_COMMENT`.
    """
    nodes, measure = dict(session.tree.in_order()), measure_of(session)
    places = {number: place for place, number in enumerate(nodes)}
    return {
        "is": "tree",
        "identity": session.identity,
        "nodes": list(nodes),
        "parents": [places.get(node.parent, -1) for node in nodes.values()],
        "colours": "".join(str(node.colour) for node in nodes.values()),
        "signs": "".join(str(_sign(session, number, measure)) for number in nodes),
    }


def _sign(session: GameSession, number: int, measure: str) -> int:
    """What a page draws beside a node."""
    node, move = session.tree[number], None if number == START else judged(session, number, measure)
    comment = HAS_COMMENT if node.comment or node.marks else 0
    return comment | (IS_MISTAKE if move is not None and move.grade >= MISTAKE else 0)


def delete(session: GameSession, number: Any) -> None:
    """Drop a node and all that follows it. InputError for the start, or a move of the game that is being played."""
    tree, parent = session.tree, session.node(number).parent
    if number == START:
        raise InputError("The first position cannot be deleted.")
    if session.is_going_on and number in tree.path(session.end):
        raise InputError("This move cannot be deleted while the game is being played. Undo takes a move back.")
    if number in tree.path(session.at):
        session.go_to(parent)
    tree.remove(number)
    if session.ended is not None and session.ended.node not in tree:
        session.ended = None
    if session.live is not None and session.live not in tree:
        session.review()


def promote(session: GameSession, number: Any) -> None:
    """Let the variation of a node be the main line. InputError if another one is being played."""
    session.node(number)
    if session.is_going_on and number not in session.tree.path(session.end):
        raise InputError("This variation cannot become the main line while the game is being played.")
    session.tree.promote(number)


def mark(session: GameSession, number: Any, point: Any, name: Any) -> None:
    """Put a mark of `SHAPES` or `LETTER` on a node's point, or take it off. InputError if one of these is unknown."""
    marks = session.node(number).marks
    if type(point) is not int or not 0 <= point < session.game.definition.points:
        raise InputError("This board has no such point.")
    if name not in (*SHAPES, LETTER):
        raise InputError(f"There is no mark {str(name)[:20]!r}: reload this page.")
    known = marks.get(point, "")
    if name == LETTER:
        name = known if known.startswith(LABEL) else LABEL + _free_letter(marks)
    marks.pop(point, None)
    if known != name:
        marks[point] = name


def _free_letter(marks: dict[int, str]) -> str:
    taken = set(marks.values())
    free = [letter for letter in string.ascii_uppercase + string.ascii_lowercase if LABEL + letter not in taken]
    if not free:
        raise InputError("All letters are on the board already.")
    return free[0]
