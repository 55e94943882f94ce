"""What a game is restored from: a snapshot, plain JSON values of which every type and every move is checked."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, is_dataclass
from functools import cache
from itertools import chain
from types import NoneType
from typing import Any, get_args, get_origin, get_type_hints

from gozero.frontends.web.engine.game_tree import START, Ended, Mistake, MoveTree, Node, SourceFile
from gozero.games.colours import BLACK, EMPTY, WHITE
from gozero.play.current_game import CurrentGame
from gozero.records.sgf import GameRecord
from gozero.records.sgf_tree import Branch, is_mark


@cache
def reader(kind: Any) -> Callable[[Any], Any]:
    """What makes a value of this type from a plain one. It raises TypeError for another type and for a number that is
    not finite, ValueError or LookupError for a table that lacks a field, or has one that the type does not have.
    """
    container, inner = get_origin(kind) or kind, get_args(kind)
    if NoneType in inner:  # X | None
        some = reader(inner[0])
        return lambda value: None if value is None else some(value)
    if is_dataclass(kind) or hasattr(kind, "_fields"):  # a named tuple is a list in JSON
        fields = {name: reader(hint) for name, hint in get_type_hints(kind).items()}

        def read_fields(value: Any) -> Any:
            given = value if isinstance(value, dict) else dict(zip(fields, value, strict=True))
            return kind(**{name: fields[name](each) for name, each in given.items()})

        return read_fields
    if container is tuple and inner[-1] is not ...:
        parts = [reader(part) for part in inner]
        return lambda value: tuple(part(each) for part, each in zip(parts, value, strict=True))
    if container in (dict, Mapping):  # whose keys are texts in JSON
        key, found = inner[0], reader(inner[1])
        return lambda value: {key(name): found(each) for name, each in value.items()}
    if container in (tuple, list, Sequence):
        sequence, item = tuple if container is tuple else list, reader(inner[0])
        return lambda value: sequence(map(item, value))
    return lambda value: _plain(kind, value)


def _plain(kind: Any, value: Any) -> Any:
    """A number, a text or a bool."""
    if kind is float and type(value) is int:
        return float(value)
    if type(value) is not kind or (kind is float and not math.isfinite(value)):
        raise TypeError(f"{value!r:.40} is no {kind.__name__}")
    return value


@dataclass(frozen=True)
class SavedSession:
    """The fields of a `GameSession` and its tree, and both clocks."""

    identity: str
    start: GameRecord | None
    nodes: list[tuple[int, Node]]
    next: int
    origin: SourceFile | None
    at: int
    leaf: int
    live: int | None
    ended: Ended | None
    unchecked: int | None
    mistake: Mistake | None
    clock: tuple[float, float]
    played: float
    result: str


def check(tree: MoveTree, game: CurrentGame) -> None:
    """Play all moves of a tree on a new game. ValueError if one cannot be played, or a node is of no such
    board, or of no file.
    """
    nodes, points = dict(tree.in_order()), range(game.definition.points)
    for number, node in nodes.items():
        sides = (EMPTY, BLACK, WHITE) if number == START else (BLACK, WHITE)
        line = () if node.estimate is None else node.estimate.line
        is_sound = (
            node.colour in sides
            and node.next_to_play in (None, BLACK, WHITE)
            and all(map(is_mark, node.marks.values()))
            and all(node.dead or ())
            and all(point in points for point in (*node.marks, *chain.from_iterable(node.dead or ())))
            and all(action in range(game.definition.actions) for action in line)
            and all(source >= 0 for source in node.sources)
        )
        if not is_sound:
            raise ValueError(f"node {number} is no position of {game.name}")
    if (origin := tree.origin) is not None and min(origin.number, *origin.unplayable, 0) < 0:
        raise ValueError("a number of the file is negative")
    del nodes[START]
    if playable(game, nodes, START)[1]:
        raise ValueError("a move cannot be played")


def playable(game: CurrentGame, moves: Mapping[int, Branch], start: int) -> tuple[list[int], list[int]]:
    """The numbers of the moves that can be played from the game's position, whose number is ``start``, and of those that
    are refused; what follows these is left out. Parents come before children. The game's position changes.
    """
    waiting = Counter(move.parent for move in moves.values())
    positions, played, refused = {start: game.position}, list[int](), list[int]()
    for number, move in moves.items():
        if move.parent not in positions:
            continue
        waiting[move.parent] -= 1
        is_last = not waiting[move.parent]
        game.position = positions.pop(move.parent) if is_last else positions[move.parent].copy()
        if move.parent in moves and moves[move.parent].next_to_play:  # branches with the same moves may differ in it
            game.position.give_turn(move.colour)
        try:
            game.play(move.colour, move.action)
        except ValueError:  # IllegalMove or TurnError
            refused.append(number)
            continue
        if waiting[number]:
            positions[number] = game.position
        played.append(number)
    return played, refused
