"""A table as plain JSON values, from which an engine process takes its game up again."""

from __future__ import annotations

from typing import Any

from gozero.frontends.web.engine.clock import RoomClock
from gozero.frontends.web.engine.game_tree import START, MoveTree
from gozero.frontends.web.engine.table import Ended, Table
from gozero.records.sgf import GameRecord

LISTS = ("moves", "black_stones", "white_stones", "comments")  # of a record, which are tuples


def to_values(table: Table, now: float) -> dict[str, Any]:
    """Plain JSON values from which `take_up` makes this game again; ``now`` is of time.monotonic."""
    start = None if table.start is None else {**table.start.__dict__, "moves": (), "comments": ()}
    return {
        "start": start,
        "tree": table.tree.to_values(),
        "at": table.at,
        "leaf": table.leaf,
        "live": table.live,
        "ended": table.ended,
        "agreed": list(table.agreed.items()),
        "clock": table.clock.saved(now) if table.setup.clock.is_limited else None,
        "clocks": list(table.clocks.items()),
    }


def take_up(table: Table, values: dict[str, Any]) -> None:
    """Bring a new table to where an earlier one stood."""
    start = values["start"]
    if start is not None:
        table.begin_from(GameRecord(**{**start, **{name: tuple(start[name]) for name in LISTS}}))
    table.tree = _tree(values["tree"], table.game.kind.actions)
    table.ended = None if values["ended"] is None else Ended(*values["ended"])
    table.agreed, table.clocks = dict(values["agreed"]), dict(values["clocks"])
    if values["live"] is not None:
        table.clock = RoomClock(table.setup.clock)
        if values["clock"] is not None:
            table.clock.restore(values["clock"])
        table.go_to(values["live"])
        table.live_here()
    else:
        table.review()
    table.leaf = values["leaf"]
    table.go_to(values["at"])


def _tree(values: dict[str, Any], actions: int) -> MoveTree:
    """The tree of these values. ValueError, LookupError or TypeError where they are none."""
    numbers = {number for number, _ in values["nodes"]}
    for number, node in values["nodes"]:
        is_known = number == START or (node["parent"] in numbers and node["parent"] < number)
        goes_on = all(child in numbers and child > number for child in node["children"])
        if not (is_known and goes_on and -1 <= node["action"] < actions and START in numbers):
            raise ValueError(f"node {number} is none of a tree")
    return MoveTree.from_values(values)
