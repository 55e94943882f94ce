"""What a query may say, and the one error for what it may not."""

import math
from typing import Any

import pytest

from gozero.frontends.analysis.queries import LONGEST_LINE, AnalysisSettings, QueryError, read_query
from gozero.games import coords
from gozero.games.game import BLACK, WHITE
from gozero.games.go.rules import BONUS_N, NO_BONUS, POSITIONAL, RULES, SIMPLE
from gozero.nets.weights import Header
from gozero.search.settings import Restriction
from tests.frontends.analysis.talk import SIZE, query

USUAL = AnalysisSettings(), Header("go")
MOVES = [["B", "C3"], ["w", "b2"], ["B", "pass"]]


def read(**fields: Any) -> Any:
    return read_query(query(**fields), *USUAL)


def at(vertex: str) -> int:
    return coords.parse_vertex(vertex, SIZE)


def test_what_is_not_said() -> None:
    usual = AnalysisSettings(visits=7, time=2.0, report_winrates_as="white"), Header("go")
    found = read_query({"id": "", "moves": [], "rules": "tromp-taylor", "boardXSize": 9, "boardYSize": 9}, *usual)
    assert (found.id, found.size, found.rules, found.komi, found.visits) == ("", 9, RULES["tromp-taylor"], 7.5, 7)
    assert (found.stones, found.to_play, found.moves, found.priorities, found.restrictions) == (
        {}, BLACK, (), {0: 0}, (),
    )  # fmt: skip
    assert (found.seconds, found.temperature, found.first_report, found.report_interval) == (
        2.0, None, math.inf, math.inf,
    )  # fmt: skip
    assert (found.perspective, found.ownership, found.line_length, found.warnings) == ("white", False, LONGEST_LINE, ())


def test_a_game_and_its_turns() -> None:
    found = read(
        moves=MOVES, analyzeTurns=[3, 0], priorities=[7, -1], initialStones=[["B", "A1"], ["B", "E5"]], komi=0.5
    )
    assert found.moves == ((BLACK, at("C3")), (WHITE, at("B2")), (BLACK, at("pass")))
    assert found.stones == {at("A1"): BLACK, at("E5"): BLACK}
    assert (found.priorities, found.handicap, found.komi, found.to_play) == ({3: 7, 0: -1}, 2, 0.5, BLACK)
    assert read(moves=MOVES, priority=-5).priorities == {3: -5}
    assert read(moves=[["B", "(3,0)"], ["W", "(0, 4)"]]).moves == ((BLACK, at("D5")), (WHITE, at("A1")))


def test_who_begins() -> None:
    assert read(initialStones=[["B", "A1"], ["B", "C3"]]).to_play == WHITE
    for stones in ([["B", "A1"], ["W", "C3"]], [["B", "A1"]]):
        assert (read(initialStones=stones).to_play, read(initialStones=stones).handicap) == (BLACK, 0)
    assert read(moves=[["W", "C3"]]).to_play == WHITE
    assert read(moves=[["W", "C3"]], initialPlayer="B").to_play == BLACK


def test_rules_have_their_meaning_from_katago() -> None:
    assert (read(rules="chinese").rules.ko, read(rules="chinese-kgs").rules.ko) == (SIMPLE, POSITIONAL)
    assert read(rules="chinese").rules.bonus == BONUS_N
    assert {read(rules="chinese", whiteHandicapBonus=zero).rules.bonus for zero in ("0", 0)} == {NO_BONUS}
    assert read(rules="japanese").rules == read(rules="korean").rules == RULES["japanese"]
    assert not read(rules="japanese").warnings
    assert (read(rules="japanese").komi, read(rules="ing").komi) == (6.5, 7.5)
    assert [field for field, _ in read(rules="stone-scoring").warnings] == ["rules"]


def test_what_answers_tell() -> None:
    flags = ("includeOwnership", "includeMovesOwnership", "includePolicy", "includePVVisits")
    found = read(**dict.fromkeys(flags, True), analysisPVLen=3)
    assert (found.ownership, found.moves_ownership, found.policy, found.line_visits) == (True, True, True, True)
    assert found.line_length == 3
    assert read(reportDuringSearchEvery=0.5).first_report == 0.5
    assert read(reportDuringSearchEvery=0.5, firstReportDuringSearchAfter=0.1).first_report == 0.1


def test_settings_of_one_query() -> None:
    settings = {
        "maxVisits": "30", "maxTime": 2.5, "reportAnalysisWinratesAs": "SIDE_TO_MOVE", "rootPolicyTemperature": 1.5,
        "analysisPVLen": 2, "wideRootNoise": 0.1,
    }  # fmt: skip
    found = read_query({**query(overrideSettings=settings), "rootPolicyTemperature": 2}, *USUAL)
    assert (found.visits, found.seconds, found.temperature) == (20, 2.5, 2)
    assert (found.perspective, found.line_length, found.wide_root_noise) == ("side_to_move", 2, 0.1)
    without = query(overrideSettings=settings)
    del without["maxVisits"]
    assert (read_query(without, *USUAL).visits, read_query(without, *USUAL).temperature) == (30, 1.5)


def test_moves_left_out_and_moves_alone() -> None:
    item = {"player": "B", "moves": ["C3", "pass"]}
    actions = frozenset({at("C3"), at("pass")})
    assert read(avoidMoves=[item]).restrictions == (Restriction(BLACK, actions),)
    assert read(allowMoves=[item]).restrictions == (Restriction(BLACK, actions, alone=True),)
    deep = read(avoidMoves=[item | {"untilDepth": 4}])
    assert (deep.restrictions, deep.warnings) == ((Restriction(BLACK, actions, plies=4),), ())


def test_what_is_unknown_is_a_warning() -> None:
    warnings = read(
        priority_=1, rootFpuReductionMax=0.1, overrideSettings={"antiMirror": True, "cpuctExploration": 1}
    ).warnings
    assert [field for field, _ in warnings] == ["priority_", "rootFpuReductionMax", "overrideSettings"]
    assert "antiMirror, cpuctExploration" in warnings[-1][1]


def test_a_board_that_the_weights_never_learned_is_a_warning() -> None:
    found = {
        size: read_query(query(boardXSize=size, boardYSize=size), USUAL[0], Header("go", trained=(7, 9))).warnings
        for size in (5, 9)
    }
    assert [field for field, _ in found[5]] == ["boardXSize"]
    assert found[5][0][1].startswith("board size 5 was never trained: these weights learned from 7 and 9;")
    assert found[9] == ()


@pytest.mark.parametrize(
    ("fields", "field", "message"),
    [
        ({"boardXSize": 20}, "boardXSize", "expected a whole number from 5 to 19, not 20"),
        ({"boardYSize": 9}, "boardYSize", "a board of 5x9 is not supported; only square ones are"),
        ({"moves": 3}, "moves", "expected a list of"),
        ({"moves": [["B"]]}, "moves", "not ['B']"),
        ({"moves": [["X", "C3"]]}, "moves", "expected the player B or W, not 'X'"),
        ({"moves": [["B", "F3"]]}, "moves", "invalid vertex 'F3': expected A1 to E5"),
        ({"moves": [["B", "(5,0)"]]}, "moves", "invalid vertex"),
        ({"moves": [["B", "resign"]]}, "moves", "resign is no move"),
        ({"initialStones": [["B", "pass"]]}, "initialStones", "a pass is no stone"),
        ({"initialStones": [["B", "A1"], ["W", "A1"]]}, "initialStones", "a point is named twice"),
        ({"initialPlayer": "G"}, "initialPlayer", "not 'G'"),
        ({"rules": "house"}, "rules", "unknown rules 'house': expected one of chinese, chinese-simple,"),
        ({"rules": {"ko": "NONE"}}, "rules", "ko = 'NONE'"),
        ({"rules": 3}, "rules", "not 3"),
        ({"komi": "nan"}, "komi", "expected a number"),
        ({"komi": None}, "komi", "not None"),
        ({"whiteHandicapBonus": "2"}, "whiteHandicapBonus", "expected one of 0, n, n-1"),
        ({"analyzeTurns": [1]}, "analyzeTurns", "turn 1: expected 0 to 0"),
        ({"analyzeTurns": [-1]}, "analyzeTurns", "turn -1: expected 0 to 0"),
        ({"analyzeTurns": []}, "analyzeTurns", "expected at least one turn"),
        ({"analyzeTurns": ["a"]}, "analyzeTurns", "expected whole numbers, not 'a'"),
        ({"analyzeTurns": [0], "priorities": [1, 2]}, "priorities", "as many as"),
        ({"priorities": [1]}, "priorities", "as many as"),
        ({"analyzeTurns": [0], "priorities": [1], "priority": 1}, "priority", "either"),
        ({"maxVisits": 0}, "maxVisits", "expected a whole number from 1"),
        ({"maxVisits": True}, "maxVisits", "not True"),
        ({"maxVisits": 1.5}, "maxVisits", "not 1.5"),
        ({"includePolicy": 1}, "includePolicy", "expected true or false, not 1"),
        ({"reportDuringSearchEvery": 0}, "reportDuringSearchEvery", "expected a number from 0.001"),
        ({"overrideSettings": []}, "overrideSettings", "expected an object"),
        ({"overrideSettings": {"maxTime": "soon"}}, "overrideSettings", "maxTime: expected a number"),
        ({"avoidMoves": [], "allowMoves": []}, "allowMoves", "either"),
        ({"avoidMoves": ["C3"]}, "avoidMoves", "player: missing"),
        ({"avoidMoves": [{"player": "B", "moves": ["Z9"]}]}, "avoidMoves", "moves: invalid vertex"),
        ({"allowMoves": [{"player": "B", "moves": []}] * 2}, "allowMoves", "expected one object"),
    ],
)
def test_what_cannot_be_used_names_its_field(fields: dict[str, Any], field: str, message: str) -> None:
    with pytest.raises(QueryError) as caught:
        read(**fields)
    assert caught.value.field == field
    assert message in str(caught.value)
    assert len(str(caught.value)) < 250


@pytest.mark.parametrize("field", ["moves", "rules", "boardXSize", "boardYSize"])
def test_what_must_be_said(field: str) -> None:
    fields = query()
    del fields[field]
    with pytest.raises(QueryError, match="missing") as caught:
        read_query(fields, *USUAL)
    assert caught.value.field == field
