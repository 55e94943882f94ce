"""Queries of KataGo's analysis protocol: a JSON object, read and checked.

A query asks for the analysis of some turns of one game: turn 0 is the position before the first move, turn n the one
after n moves. An action asks something of the engine itself. A field that cannot be used is an error; one that is
unknown or not supported is a warning, and the query is answered without it. No move is played here.
"""

from __future__ import annotations

import math
import re
from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any

from gozero.frontends.analysis.fields import FLAG, OBJECT, TEXT, Fields, Kind, choice, number, of_type, whole
from gozero.games import coords
from gozero.games.colours import BLACK, COLOURS, WHITE
from gozero.games.go.rules import BONUS, KataRules, RuleSet, kata_rules
from gozero.play.engine import beyond_training
from gozero.search.restrictions import Restriction
from gozero.system.errors import shown

ACTIONS = ("query_version", "query_models", "clear_cache", "terminate", "terminate_all")
PERSPECTIVES = {"black": "black", "white": "white", "sidetomove": "side_to_move"}
USUAL_KOMI = 7.5
MOST_VISITS = 2**50
LONGEST_LINE = 1000
UNSUPPORTED = {
    "rootFpuReductionMax": "gozero has no setting of its own for the root; ignored",
    "includeOwnershipStdev": "gozero does not know how much ownership varies; ignored",
    "includeMovesOwnershipStdev": "gozero does not know how much ownership varies; ignored",
}
"""KataGo's fields that are not supported, and why."""

_POINT = re.compile(r"\(\s*(\d{1,2})\s*,\s*(\d{1,2})\s*\)")
PAIRS = of_type(list, 'a list of [player, vertex] such as ["B", "D4"]')
VERTICES = of_type(list, "a list of vertices")
RESTRICTIONS = of_type(list, 'a list of objects such as {"player": "B", "moves": ["D4"], "untilDepth": 1}')
VISITS, SECONDS, LENGTH = whole(1, MOST_VISITS), number(0.001, 1e6), whole(1, LONGEST_LINE)
TEMPERATURE = number(0.01, 100)
PLAYER = Kind("B or W", choice(COLOURS).read)


@dataclass(frozen=True)
class Action:
    """A request to the engine itself.

    Attributes:
        name: of the action.
        terminated: the id whose analyses are to end, None: all.
        turns: those that are to end, None: all.
    """

    name: str
    terminated: str | None = None
    turns: frozenset[int] | None = None


@dataclass(frozen=True)
class Defaults:
    """Default values for queries.

    Attributes:
        sizes: boards that can be played, points a side.
        visits: of a position.
        seconds: that a position is searched at most.
        perspective: the side that numbers are reported for, "black", "white" or "side_to_move".
        trained: boards that the weights learned from, ascending; () where that is not known.
    """

    sizes: tuple[int, ...]
    visits: int = 500
    seconds: float = math.inf
    perspective: str = "black"
    trained: tuple[int, ...] = ()


@dataclass(frozen=True)
class Wishes:
    """Optional parts of the answers."""

    perspective: str = "black"
    ownership: bool = False
    moves_ownership: bool = False
    policy: bool = False
    line_visits: bool = False
    line_length: int = LONGEST_LINE  # moves of a line after the first


@dataclass(frozen=True)
class Query:
    """The analysis of some turns of a game.

    Attributes:
        id: the client's name for it.
        size: points a side.
        rules: the rule set.
        komi: points for White; the bonus for handicap stones is the rules' business.
        stones: colour by action, of the first position.
        to_play: who moves there.
        moves: (colour, action), oldest first.
        priorities: turn → priority, the highest first; its keys are the turns to analyse.
        visits: of each position.
        seconds: that each is searched at most.
        temperature: of the prior at the root, None: as the network says.
        restrictions: of what is thought of, in lines that begin at each position.
        first_report, report_interval: seconds until the first look at a search under way, and between two; infinite:
            none.
        wishes: the optional parts of the answers.
        warnings: (field, text) of what is not supported.
    """

    id: str
    size: int
    rules: RuleSet
    komi: float
    stones: Mapping[int, int]
    to_play: int
    moves: tuple[tuple[int, int], ...]
    priorities: Mapping[int, int]
    visits: int
    seconds: float
    temperature: float | None
    restrictions: tuple[Restriction, ...]
    first_report: float
    report_interval: float
    wishes: Wishes
    warnings: tuple[tuple[str, str], ...] = ()

    @property
    def handicap(self) -> int:
        """Black's handicap stones at the first position."""
        return _handicap(self.stones)


def read_action(values: Mapping[str, Any]) -> Action:
    """The action that an object with a field `action` asks for. QueryError for an invalid field."""
    fields = Fields(values)
    name = fields.take("action", Kind(f"one of {', '.join(ACTIONS)}", lambda name: name if name in ACTIONS else None))
    if not name.startswith("terminate"):
        return Action(name)
    terminated = fields.take("terminateId", TEXT) if name == "terminate" else None
    return Action(name, terminated, frozenset(fields.numbers("turnNumbers")) if "turnNumbers" in fields else None)


def read_query(values: Mapping[str, Any], defaults: Defaults) -> Query:
    """The query that an object asks for. QueryError for the first invalid field."""
    fields = Fields(values)
    query_id = fields.take("id", TEXT)
    size = _size(fields, defaults.sizes)
    rules = _rules(fields)
    stones = _stones(fields, size)
    moves = tuple(_move(fields, "moves", pair, size) for pair in fields.take("moves", PAIRS))
    settings = Fields(fields.take("overrideSettings", OBJECT, {}), "overrideSettings")
    interval = fields.take("reportDuringSearchEvery", SECONDS, math.inf)
    query = Query(
        id=query_id,
        size=size,
        rules=rules.nearest(),
        komi=fields.take("komi", number(-1e6, 1e6), USUAL_KOMI),
        stones=stones,
        to_play=fields.take("initialPlayer", choice(COLOURS), _first_player(moves, stones)),
        moves=moves,
        priorities=_priorities(fields, len(moves)),
        visits=_either(fields, settings, "maxVisits", VISITS, defaults.visits),
        seconds=settings.take("maxTime", number(0, 1e20), defaults.seconds),
        temperature=_either(fields, settings, "rootPolicyTemperature", TEMPERATURE, None),
        restrictions=_restrictions(fields, size),
        first_report=fields.take("firstReportDuringSearchAfter", SECONDS, interval),
        report_interval=interval,
        wishes=Wishes(
            perspective=settings.take("reportAnalysisWinratesAs", choice(PERSPECTIVES), defaults.perspective),
            ownership=fields.take("includeOwnership", FLAG, False),
            moves_ownership=fields.take("includeMovesOwnership", FLAG, False),
            policy=fields.take("includePolicy", FLAG, False),
            line_visits=fields.take("includePVVisits", FLAG, False),
            line_length=_either(fields, settings, "analysisPVLen", LENGTH, LONGEST_LINE),
        ),
    )
    return replace(query, warnings=tuple(_warnings(fields, settings, rules, beyond_training(defaults.trained, size))))


def _either(fields: Fields, settings: Fields, name: str, kind: Kind, default: Any) -> Any:
    """A value that the query may give as a field of its own or, less important, among its settings."""
    return fields.take(name, kind, settings.take(name, kind, default))


def _warnings(fields: Fields, settings: Fields, rules: KataRules, untrained: str) -> list[tuple[str, str]]:
    """(field, text) of what differs from the request."""
    warnings = [("boardXSize", untrained)] if untrained else []
    if not rules.is_played:
        warnings.append(("rules", "only area scoring without tax and button is played here; counted by area instead"))
    warnings += [(name, UNSUPPORTED.get(name, "unknown field; ignored")) for name in fields.unused]
    if settings.unused:
        warnings.append(("overrideSettings", f"gozero has no {', '.join(settings.unused)}; ignored"))
    return warnings


def _size(fields: Fields, sizes: tuple[int, ...]) -> int:
    """Points a side: both sizes, equal, and a board that the weights play."""
    columns, rows = (fields.take(name, whole(1, 1000)) for name in ("boardXSize", "boardYSize"))
    if columns not in sizes:
        these = ", ".join(map(str, sizes))
        raise fields.error("boardXSize", f"board size {columns} is not supported; these weights play {these}")
    if rows != columns:
        raise fields.error("boardYSize", f"a board of {columns}x{rows} is not supported; only square ones are")
    size: int = columns
    return size


def _rules(fields: Fields) -> KataRules:
    def read(value: Any) -> KataRules:
        try:
            return kata_rules(value)
        except ValueError as error:
            raise fields.error("rules", str(error)) from None

    rules: KataRules = fields.take("rules", Kind("the name of a rule set, such as chinese, or an object", read))
    bonuses = {name.lower(): name for name in BONUS}
    return replace(rules, bonus=fields.take("whiteHandicapBonus", choice(bonuses), rules.bonus))


def _stones(fields: Fields, size: int) -> dict[int, int]:
    placed = [_move(fields, "initialStones", pair, size)[::-1] for pair in fields.take("initialStones", PAIRS, [])]
    stones = dict(placed)
    if len(stones) < len(placed):
        raise fields.error("initialStones", "a point is named twice")
    if coords.pass_action(size) in stones:
        raise fields.error("initialStones", "a pass is no stone")
    return stones


def _move(fields: Fields, name: str, pair: Any, size: int) -> tuple[int, int]:
    """(colour, action) of a pair of texts."""
    if not (isinstance(pair, list) and len(pair) == 2 and all(isinstance(part, str) for part in pair)):
        raise fields.error(name, f"expected {PAIRS.expected}, not {shown(pair)}")
    if pair[0].lower() not in COLOURS:
        raise fields.error(name, f"expected the player B or W, not {shown(pair[0])}")
    return COLOURS[pair[0].lower()], _action(fields, name, pair[1], size)


def _action(fields: Fields, name: str, text: Any, size: int) -> int:
    """The action of a vertex, or of KataGo's "(column,row)", which counts from 0 at the top left."""
    if not isinstance(text, str):
        raise fields.error(name, f"expected a vertex such as D4, not {shown(text)}")
    if point := _POINT.fullmatch(text.strip()):
        column, row = int(point[1]), int(point[2])
        if column < size and row < size:
            return coords.action(row, column, size)
    try:
        action = coords.parse_vertex(text, size)
    except ValueError:
        last = coords.vertex(size - 1, size)
        raise fields.error(name, f"invalid vertex {shown(text)}: expected A1 to {last}, or pass") from None
    if action == coords.resign_action(size):
        raise fields.error(name, "resign is no move to analyse")
    return action


def _first_player(moves: tuple[tuple[int, int], ...], stones: Mapping[int, int]) -> int:
    """The side to begin if the query does not say: that of the first move; without moves, White after a handicap."""
    if moves:
        return moves[0][0]
    return WHITE if _handicap(stones) else BLACK


def _handicap(stones: Mapping[int, int]) -> int:
    """How many handicap stones these are: Black's, if they are alone on the board and more than one."""
    return len(stones) if WHITE not in stones.values() and len(stones) > 1 else 0


def _priorities(fields: Fields, moves: int) -> dict[int, int]:
    """Turn → priority of those to analyse: by default the last one."""
    turns = fields.numbers("analyzeTurns") if "analyzeTurns" in fields else [moves]
    for turn in turns:
        if not 0 <= turn <= moves:
            raise fields.error("analyzeTurns", f"turn {turn}: expected 0 to {moves}, the number of moves")
    if not turns:
        raise fields.error("analyzeTurns", "expected at least one turn")
    if "priorities" not in fields:
        return dict.fromkeys(turns, fields.take("priority", whole(-(2**62), 2**62), 0))
    if "priority" in fields:
        raise fields.error("priority", "give either priority or priorities")
    priorities = fields.numbers("priorities")
    if "analyzeTurns" not in fields or len(priorities) != len(turns):
        raise fields.error("priorities", "expected as many as there are analyzeTurns")
    return dict(zip(turns, priorities, strict=True))


def _restrictions(fields: Fields, size: int) -> tuple[Restriction, ...]:
    """The moves to leave out, or the only ones to consider."""
    if "avoidMoves" in fields and "allowMoves" in fields:
        raise fields.error("allowMoves", "give either avoidMoves or allowMoves")
    name = "allowMoves" if "allowMoves" in fields else "avoidMoves"
    items = fields.take(name, RESTRICTIONS, [])
    if name == "allowMoves" and len(items) > 1:
        raise fields.error(name, f"expected one object, not {len(items)}")
    found = []
    for item in items:
        part = Fields(item if isinstance(item, dict) else {}, name)
        colour = part.take("player", PLAYER)
        actions = frozenset(_action(part, "moves", vertex, size) for vertex in part.take("moves", VERTICES, []))
        found.append(Restriction(colour, actions, part.take("untilDepth", whole(1, 10**9), 1), name == "allowMoves"))
    return tuple(found)
