"""Queries of KataGo's analysis protocol: a JSON object, read and checked.

A query asks for the analysis of some turns of one game: turn 0 is the position before the first move, turn n the one
after n moves. A field that cannot be used is an error; one that is unknown or not supported is a warning, and the query
is answered without it. No move is played here.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, NamedTuple

from gozero.games import coords
from gozero.games.colours import BLACK, COLOURS, WHITE
from gozero.games.go.rules import BONUS, RuleSet, kata_rules
from gozero.nets.weights import Header
from gozero.play.engine import EngineSettings, beyond_training, supported_sizes
from gozero.search.settings import Restriction
from gozero.system.errors import shown
from gozero.system.options import number_of, option

_REQUIRED = object()


class QueryError(Exception):
    """A field cannot be used; the message says why."""

    def __init__(self, field: str, message: str) -> None:
        super().__init__(message)
        self.field = field


class Kind(NamedTuple):
    """What a field may be: in words, and a function that reads a JSON value; None: it is something else."""

    expected: str
    read: Callable[[Any], Any]


def _number(value: Any) -> float | None:
    """A finite number, also as text; None for anything else."""
    try:
        return None if isinstance(value, bool) else number_of(str(value))
    except ValueError:
        return None


def number(low: float, high: float) -> Kind:
    def read(value: Any) -> float | None:
        found = _number(value)
        return found if found is not None and low <= found <= high else None

    return Kind(f"a number from {low:,g} to {high:,g}", read)


def whole(low: int, high: int) -> Kind:
    def read(value: Any) -> int | None:
        found = _number(value)
        return int(found) if found is not None and found == int(found) and low <= found <= high else None

    return Kind(f"a whole number from {low:,} to {high:,}", read)


def choice(choices: Mapping[str, Any]) -> Kind:
    """What a word, or a number, stands for; letter case and underscores do not matter."""
    return Kind(f"one of {', '.join(choices)}", lambda value: choices.get(str(value).lower().replace("_", "")))


def of_type(kind: type, expected: str) -> Kind:
    return Kind(expected, lambda value: value if isinstance(value, kind) else None)


TEXT, FLAG, OBJECT = of_type(str, "a text"), of_type(bool, "true or false"), of_type(dict, "an object")
NUMBERS = of_type(list, "a list of whole numbers")


class Fields:
    """The values of a JSON object, each checked when it is taken; `unused` are the names of the others.

    With `blame`, errors name that field instead of the value's own.
    """

    def __init__(self, values: Mapping[str, Any], blame: str | None = None) -> None:
        self._values, self._blame = values, blame
        self._taken: set[str] = set()

    def __contains__(self, name: str) -> bool:
        return name in self._values

    @property
    def unused(self) -> list[str]:
        return [name for name in self._values if name not in self._taken]

    def error(self, name: str, message: str) -> QueryError:
        return QueryError(self._blame or name, f"{name}: {message}" if self._blame else message)

    def take(self, name: str, kind: Kind, default: Any = _REQUIRED) -> Any:
        """A field's value. QueryError if it is of another kind, or missing and without a default."""
        if name not in self._values:
            if default is _REQUIRED:
                raise self.error(name, f"missing: expected {kind.expected}")
            return default
        self._taken.add(name)
        value = kind.read(self._values[name])
        if value is None:
            raise self.error(name, f"expected {kind.expected}, not {shown(self._values[name])}")
        return value

    def numbers(self, name: str) -> list[int]:
        """A list of whole numbers."""
        items = self.take(name, NUMBERS)
        found = [_number(item) for item in items]
        for item, value in zip(items, found, strict=True):
            if value is None or value % 1:
                raise self.error(name, f"expected whole numbers, not {shown(item)}")
        return [int(value) for value in found if value is not None]


# Queries

PERSPECTIVES = {"black": "black", "white": "white", "sidetomove": "side_to_move"}
MOST_VISITS = 2**50
LONGEST_LINE = 1000
PAIRS = of_type(list, 'a list of [player, vertex] such as ["B", "D4"]')
VERTICES = of_type(list, "a list of vertices")
RESTRICTIONS = of_type(list, 'a list of objects such as {"player": "B", "moves": ["D4"], "untilDepth": 1}')
VISITS, SECONDS, LENGTH = whole(1, MOST_VISITS), number(0.001, 1e6), whole(1, LONGEST_LINE)
TEMPERATURE = number(0.01, 100)
ACTIONS = ("query_version", "query_models", "clear_cache", "terminate", "terminate_all")
ACTION = Kind(f"one of {', '.join(ACTIONS)}", lambda name: name if name in ACTIONS else None)
PLAYER = Kind("B or W", choice(COLOURS).read)


@dataclass(frozen=True)
class AnalysisSettings(EngineSettings):
    """What the user may choose, for queries that do not say; None: the program chooses."""

    weights: str | None = option(
        None,
        "weights file of Go, searched in the working directory and among the shipped ones (default best.pt)",
        metavar="FILE",
    )
    visits: int = option(
        500, "visits for a position where the query does not say (default 500)", low=1, high=100_000_000
    )
    time: float | None = option(
        None, "most seconds for a position where the query does not say (default: no limit)", low=0.01, high=1e6,
        metavar="SECONDS",
    )  # fmt: skip
    positions: int = option(
        16, "positions searched at once; more of them fill a GPU, fewer are answered sooner (default 16)",
        low=1, high=4096,
    )  # fmt: skip
    report_winrates_as: str = option(
        "black", f"side for which win rate, lead and ownership are given: {', '.join(PERSPECTIVES.values())} (default black)",
        choices=tuple(PERSPECTIVES.values()), metavar="SIDE",
    )  # fmt: skip
    quit_without_waiting: bool = option(
        False, "stop at once at the end of the input, without answering the remaining queries"
    )
    log: str | None = option(None, "append all input and output of the protocol to this file", metavar="FILE")


@dataclass(frozen=True)
class Query:
    """The analysis of some turns of a game."""

    id: str
    size: int  # points a side
    rules: RuleSet
    komi: float  # without the bonus for handicap stones, which is the rules' business
    stones: Mapping[int, int]  # colour by action, of the first position
    to_play: int
    moves: tuple[tuple[int, int], ...]  # (colour, action), oldest first
    priorities: Mapping[int, int]  # turn → priority, the highest first; its keys are the turns to analyse
    visits: int
    seconds: float  # that each position is searched at most
    temperature: float | None  # of the prior at the root, None: as the network says
    wide_root_noise: float  # that spreads the visits over more moves at the root, see `SearchRequest`
    restrictions: tuple[Restriction, ...]  # of what is thought of, in lines that begin at each position
    first_report: float  # seconds until the first look at a search under way; infinite: none
    report_interval: float
    perspective: str  # one of `PERSPECTIVES`
    ownership: bool
    moves_ownership: bool
    policy: bool
    line_visits: bool
    line_length: int  # moves of a line after the first
    warnings: tuple[tuple[str, str], ...]  # (field, text) of what is not supported

    @property
    def handicap(self) -> int:
        """Black's handicap stones at the first position."""
        return _handicap(self.stones)


def read_query(values: Mapping[str, Any], usual: AnalysisSettings, header: Header) -> Query:
    """The query that an object asks for, of the weights with this header. QueryError for the first invalid field."""
    fields = Fields(values)
    query_id = fields.take("id", TEXT)
    size = _size(fields, supported_sizes(header))
    rules = _rules(fields)
    stones = _stones(fields, size)
    moves = tuple(_move(fields, "moves", pair, size) for pair in fields.take("moves", PAIRS))
    first = moves[0][0] if moves else WHITE if _handicap(stones) else BLACK  # if the query does not say
    settings = Fields(fields.take("overrideSettings", OBJECT, {}), "overrideSettings")
    interval = fields.take("reportDuringSearchEvery", SECONDS, math.inf)
    return Query(
        id=query_id,
        size=size,
        rules=rules,
        komi=fields.take("komi", number(-1e6, 1e6), rules.komi),
        stones=stones,
        to_play=fields.take("initialPlayer", choice(COLOURS), first),
        moves=moves,
        priorities=_priorities(fields, len(moves)),
        visits=_either(fields, settings, "maxVisits", VISITS, usual.visits),
        seconds=settings.take("maxTime", number(0, 1e20), math.inf if usual.time is None else usual.time),
        temperature=_either(fields, settings, "rootPolicyTemperature", TEMPERATURE, None),
        wide_root_noise=settings.take("wideRootNoise", number(0, 5), 0.0),
        restrictions=_restrictions(fields, size),
        first_report=fields.take("firstReportDuringSearchAfter", SECONDS, interval),
        report_interval=interval,
        perspective=settings.take("reportAnalysisWinratesAs", choice(PERSPECTIVES), usual.report_winrates_as),
        ownership=fields.take("includeOwnership", FLAG, False),
        moves_ownership=fields.take("includeMovesOwnership", FLAG, False),
        policy=fields.take("includePolicy", FLAG, False),
        line_visits=fields.take("includePVVisits", FLAG, False),
        line_length=_either(fields, settings, "analysisPVLen", LENGTH, LONGEST_LINE),
        # last: it names the fields that were not taken
        warnings=tuple(_warnings(fields, settings, rules, beyond_training(header.trained, size))),
    )


def _either(fields: Fields, settings: Fields, name: str, kind: Kind, default: Any) -> Any:
    """A value that the query may give as a field of its own or, less important, among its settings."""
    return fields.take(name, kind, settings.take(name, kind, default))


def _warnings(fields: Fields, settings: Fields, rules: RuleSet, untrained: str) -> list[tuple[str, str]]:
    """(field, text) of what differs from the request."""
    warnings = [("boardXSize", untrained)] if untrained else []
    if not rules.is_played:
        warnings.append(("rules", "neither a tax on groups nor the button is played here; counted without them"))
    warnings += [(name, "not supported; ignored") for name in fields.unused]
    if settings.unused:
        warnings.append(("overrideSettings", f"gozero has no {', '.join(settings.unused)}; ignored"))
    return warnings


def _size(fields: Fields, sizes: Sequence[int]) -> int:
    """Points a side: both sizes, equal, and a board that the weights play: one, or all from the smallest on."""
    columns, rows = (fields.take(name, whole(sizes[0], sizes[-1])) for name in ("boardXSize", "boardYSize"))
    if rows != columns:
        raise fields.error("boardYSize", f"a board of {columns}x{rows} is not supported; only square ones are")
    return columns


def _rules(fields: Fields) -> RuleSet:
    def read(value: Any) -> RuleSet:
        try:
            return kata_rules(value)
        except ValueError as error:
            raise fields.error("rules", str(error)) from None

    rules: RuleSet = fields.take("rules", Kind("the name of a rule set, such as chinese, or an object", read))
    bonuses = {name.lower(): bonus for name, bonus in BONUS.items()}
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
    if not isinstance(text, str):
        raise fields.error(name, f"expected a vertex such as D4, not {shown(text)}")
    try:
        action = coords.parse_vertex(text, size)
    except ValueError:
        last = coords.vertex(size - 1, size)
        raise fields.error(name, f"invalid vertex {shown(text)}: expected A1 to {last}, or pass") from None
    if action == coords.resign_action(size):
        raise fields.error(name, "resign is no move to analyse")
    return action


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
