"""Queries of KataGo's analysis protocol: a JSON object, read and checked.

Vocabulary. A *query* asks for the analysis of some *turns* of one game: turn 0 is the position before the first move,
turn n the one after n moves. An *action* asks something of the engine itself. A *field* is a name in the object: one
that cannot be used is an error, one that is unknown or cannot be followed is a *warning*, and the query is answered
without it.

This module plays no move: whether the moves are legal is seen by `gozero.frontends.analysis.positions`.
"""

from __future__ import annotations

import math
import re
from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any

from gozero.frontends.analysis.fields import Fields
from gozero.games import coords
from gozero.games.colours import BLACK, COLOURS, WHITE
from gozero.games.go.kata_rules import BONUS, KataRules, kata_rules
from gozero.games.go.rules import RuleSet
from gozero.play.engine import beyond_training
from gozero.search.restrictions import Restriction
from gozero.system.errors import shown

ACTIONS = ("query_version", "query_models", "clear_cache", "terminate", "terminate_all")
PAIRS = 'a list of [player, vertex] such as ["B", "D4"]'
USUAL_KOMI = 7.5
MOST_VISITS = 2**50
LONGEST_LINE = 1000
_PERSPECTIVES = {"black": "black", "white": "white", "sidetomove": "side_to_move"}
_POINT = re.compile(r"\(\s*(\d{1,2})\s*,\s*(\d{1,2})\s*\)")
_UNFOLLOWED = {
    "rootFpuReductionMax": "gozero has no setting of its own for the root; ignored",
    "includeOwnershipStdev": "gozero does not know how much ownership varies; ignored",
    "includeMovesOwnershipStdev": "gozero does not know how much ownership varies; ignored",
}
"""KataGo's fields that are not supported, and why."""


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
        wishes: what answers tell.
        warnings: (field, text) of what could not be followed.
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
    warnings: tuple[tuple[str, str], ...]

    @property
    def handicap(self) -> int:
        """Black's handicap stones at the first position."""
        return _handicap(self.stones)


def read_action(values: Mapping[str, Any]) -> Action:
    """The action that an object with a field `action` asks for. QueryError for an invalid field."""
    fields = Fields(values)
    name = fields.take("action", f"one of {', '.join(ACTIONS)}", lambda name: name if name in ACTIONS else None, "")
    if not name.startswith("terminate"):
        return Action(name)
    terminated = None
    if name == "terminate":
        terminated = fields.required(
            "terminateId", "a text, the id of a query", lambda value: value if isinstance(value, str) else None
        )
    turns = None
    if "turnNumbers" in fields:
        turns = frozenset(fields.whole_numbers("turnNumbers"))
    return Action(name, terminated, turns)


def read_query(values: Mapping[str, Any], defaults: Defaults) -> Query:
    """The query that an object asks for. QueryError for the first invalid field."""
    fields = Fields(values)
    query_id = fields.required("id", "a text", lambda value: value if isinstance(value, str) else None)
    size = _size(fields, defaults.sizes)
    rules, komi, warnings = _rules(fields)
    placed = [_move(fields, "initialStones", pair, size)[::-1] for pair in fields.items("initialStones", PAIRS)]
    stones = dict(placed)
    if len(stones) < len(placed):
        raise fields.error("initialStones", "a point is named twice")
    if coords.pass_action(size) in stones:
        raise fields.error("initialStones", "a pass is no stone")
    fields.check_present("moves", PAIRS)
    moves = tuple(_move(fields, "moves", pair, size) for pair in fields.items("moves", PAIRS))
    settings = Fields(fields.object("overrideSettings"), "overrideSettings")
    visits = settings.whole("maxVisits", 1, MOST_VISITS, defaults.visits)
    temperature = settings.number("rootPolicyTemperature", 0.01, 100, math.nan)
    temperature = fields.number("rootPolicyTemperature", 0.01, 100, temperature)
    interval = fields.number("reportDuringSearchEvery", 0.001, 1e6, math.inf)
    query = Query(
        id=query_id,
        size=size,
        rules=rules,
        komi=komi,
        stones=stones,
        to_play=fields.choice("initialPlayer", COLOURS, _first_player(moves, stones)),
        moves=moves,
        priorities=_priorities(fields, len(moves)),
        visits=fields.whole("maxVisits", 1, MOST_VISITS, visits),
        seconds=settings.number("maxTime", 0, 1e20, defaults.seconds),
        temperature=None if math.isnan(temperature) else temperature,
        restrictions=_restrictions(fields, size),
        first_report=fields.number("firstReportDuringSearchAfter", 0.001, 1e6, interval),
        report_interval=interval,
        wishes=_wishes(fields, settings, defaults),
        warnings=(),
    )
    untrained = [("boardXSize", line)] if (line := beyond_training(defaults.trained, size)) else []
    return replace(query, warnings=(*untrained, *warnings, *_ignored(fields, settings)))


def _size(fields: Fields, sizes: tuple[int, ...]) -> int:
    """Points a side: both sizes, equal, and a board that the weights play."""
    for name in ("boardXSize", "boardYSize"):
        fields.check_present(name, "a whole number, the size of the board")
    columns, rows = (fields.whole(name, 1, 1000, 0) for name in ("boardXSize", "boardYSize"))
    if columns not in sizes:
        raise fields.error(
            "boardXSize", f"board size {columns} is not supported; these weights play {', '.join(map(str, sizes))}"
        )
    if rows != columns:
        raise fields.error("boardYSize", f"a board of {columns}x{rows} is not supported; only square ones are")
    return columns


def _rules(fields: Fields) -> tuple[RuleSet, float, list[tuple[str, str]]]:
    """The rules, the komi and a warning where they differ from the request."""

    def check(value: Any) -> KataRules | None:
        try:
            return kata_rules(value)
        except ValueError as error:
            raise fields.error("rules", str(error)) from None

    wanted = fields.required("rules", "the name of a rule set, such as chinese, or an object", check)
    rules = replace(
        wanted, bonus=fields.choice("whiteHandicapBonus", {name.lower(): name for name in BONUS}, wanted.bonus)
    )
    warnings = (
        []
        if rules.is_played
        else [("rules", "only area scoring without tax and button is played here; counted by area instead")]
    )
    return rules.nearest(), fields.number("komi", -1e6, 1e6, USUAL_KOMI), warnings


def _move(fields: Fields, name: str, pair: Any, size: int) -> tuple[int, int]:
    """(colour, action) of a pair of texts."""
    if not (isinstance(pair, list) and len(pair) == 2 and all(isinstance(part, str) for part in pair)):
        raise fields.error(name, f"expected {PAIRS}, not {shown(pair)}")
    return _colour(fields, name, pair[0]), _action(fields, name, pair[1], size)


def _colour(fields: Fields, name: str, text: Any) -> int:
    if not isinstance(text, str) or text.lower() not in COLOURS:
        raise fields.error(name, f"expected the player B or W, not {shown(text)}")
    return COLOURS[text.lower()]


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
    """The side to begin where the query does not say: that of the first move; without moves, White after handicap
    stones.
    """
    if moves:
        return moves[0][0]
    return WHITE if _handicap(stones) else BLACK


def _handicap(stones: Mapping[int, int]) -> int:
    """How many handicap stones these are: Black's, if they are alone on the board and more than one."""
    return len(stones) if WHITE not in stones.values() and len(stones) > 1 else 0


def _priorities(fields: Fields, moves: int) -> dict[int, int]:
    """Turn → priority of those to analyse: by default the last one."""
    turns = fields.whole_numbers("analyzeTurns") if "analyzeTurns" in fields else [moves]
    for turn in turns:
        if not 0 <= turn <= moves:
            raise fields.error("analyzeTurns", f"turn {turn}: expected 0 to {moves}, the number of moves")
    if not turns:
        raise fields.error("analyzeTurns", "expected at least one turn")
    if "priorities" not in fields:
        return dict.fromkeys(turns, fields.whole("priority", -(2**62), 2**62, 0))
    if "priority" in fields:
        raise fields.error("priority", "give either priority or priorities")
    priorities = fields.whole_numbers("priorities")
    if "analyzeTurns" not in fields or len(priorities) != len(turns):
        raise fields.error("priorities", "expected as many as there are analyzeTurns")
    return dict(zip(turns, priorities, strict=True))


def _restrictions(fields: Fields, size: int) -> tuple[Restriction, ...]:
    """The moves to leave out, or the only ones to consider."""
    if "avoidMoves" in fields and "allowMoves" in fields:
        raise fields.error("allowMoves", "give either avoidMoves or allowMoves")
    name = "allowMoves" if "allowMoves" in fields else "avoidMoves"
    items = fields.items(name, 'a list of objects such as {"player": "B", "moves": ["D4"], "untilDepth": 1}')
    if name == "allowMoves" and len(items) > 1:
        raise fields.error(name, f"expected one object, not {len(items)}")
    found = []
    for item in items:
        part = Fields(item if isinstance(item, dict) else {}, name)
        colour = part.required(
            "player", "B or W", lambda value: COLOURS.get(value.lower()) if isinstance(value, str) else None
        )
        actions = frozenset(
            _action(part, "moves", vertex, size) for vertex in part.items("moves", "a list of vertices")
        )
        found.append(Restriction(colour, actions, part.whole("untilDepth", 1, 10**9, 1), alone=name == "allowMoves"))
    return tuple(found)


def _wishes(fields: Fields, settings: Fields, defaults: Defaults) -> Wishes:
    length = settings.whole("analysisPVLen", 1, LONGEST_LINE, LONGEST_LINE)
    return Wishes(
        perspective=settings.choice("reportAnalysisWinratesAs", _PERSPECTIVES, defaults.perspective),
        ownership=fields.flag("includeOwnership"),
        moves_ownership=fields.flag("includeMovesOwnership"),
        policy=fields.flag("includePolicy"),
        line_visits=fields.flag("includePVVisits"),
        line_length=fields.whole("analysisPVLen", 1, LONGEST_LINE, length),
    )


def _ignored(fields: Fields, settings: Fields) -> list[tuple[str, str]]:
    """A warning for each ignored field, and one for all ignored settings."""
    warnings = [(name, _UNFOLLOWED.get(name, "unknown field; ignored")) for name in fields.unused]
    if settings.unused:
        warnings.append(("overrideSettings", f"gozero has no {', '.join(settings.unused)}; ignored"))
    return warnings
