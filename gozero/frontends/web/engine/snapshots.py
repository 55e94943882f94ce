"""What a game is restored from: a snapshot, plain JSON values of which every type and every move is checked."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Mapping, Sequence
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
def _types(kind: Any) -> dict[str, Any]:
    """The types of a class's fields."""
    return get_type_hints(kind)


def read(kind: Any, value: Any) -> Any:
    """A plain value as this type. TypeError if it is of another one, or no finite number; ValueError or LookupError for
    a table without a field, or with one that the type does not have.
    """
    container, inner = get_origin(kind) or kind, get_args(kind)
    if NoneType in inner:  # X | None
        return None if value is None else read(inner[0], value)
    if isinstance(kind, type) and is_dataclass(kind):
        return kind(**{name: read(_types(kind)[name], each) for name, each in value.items()})
    if hasattr(kind, "_fields"):  # a named tuple
        return kind(*(read(_types(kind)[name], each) for name, each in zip(kind._fields, value, strict=True)))
    if container in (list, Sequence) or inner[1:] == (...,):
        return (tuple if container is tuple else list)(read(inner[0], each) for each in value)
    if container is tuple:
        return tuple(read(part, each) for part, each in zip(inner, value, strict=True))
    if container in (dict, Mapping):  # whose keys are texts in JSON
        return {inner[0](key): read(inner[1], each) for key, each in value.items()}
    if type(value) is int and kind is float:
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
    """Play all moves of a tree on a new game. ValueError if one cannot be played, or if a node is of no such board."""
    nodes, points = dict(tree.in_order()), range(game.definition.points)
    for number, node in nodes.items():
        sides = (EMPTY, BLACK, WHITE) if number == START else (BLACK, WHITE)
        line = () if node.estimate is None else node.estimate.line
        is_sound = (
            node.colour in sides
            and node.next_to_play in (EMPTY, BLACK, WHITE)
            and all(map(is_mark, node.marks.values()))
            and all(point in points for point in (*node.marks, *chain.from_iterable(node.dead or ())))
            and all(action in range(game.definition.actions) for action in line)
        )
        if not is_sound:
            raise ValueError(f"node {number} is no position of {game.name}")
    del nodes[START]
    if playable(game, nodes, START)[1]:
        raise ValueError("a move cannot be played")


def playable(game: CurrentGame, moves: Mapping[int, Node | Branch], start: int) -> tuple[list[int], list[int]]:
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
        try:
            game.play(move.colour, move.action)
        except ValueError:  # IllegalMove or TurnError
            refused.append(number)
            continue
        if move.next_to_play:
            game.position.give_turn(move.next_to_play)
        if waiting[number]:
            positions[number] = game.position
        played.append(number)
    return played, refused
