"""What is answered: the numbers, for whom they are told, in which order, and what ends early."""

from typing import Any

import numpy as np
import pytest

from gozero import __version__, games
from gozero.evaluators.base import Evaluation
from gozero.frontends.analysis import answers
from gozero.frontends.analysis.queries import AnalysisSettings, read_query
from gozero.frontends.analysis.tasks import tasks
from gozero.games import coords
from gozero.nets.weights import Header
from gozero.play.engine import search_settings
from gozero.play.player import PlayerSettings, make_player
from gozero.play.searcher import Limits
from gozero.search.tree import node_bytes
from tests.frontends.analysis.talk import SIZE, Answer, Opinionated, Talk, query

MOVES = [["B", "C3"], ["W", "B2"], ["B", "D2"], ["W", "C2"]]


class Silent(Opinionated):
    """Knows no points and no owners."""

    def evaluate(self, states: np.ndarray) -> Evaluation:
        return super().evaluate(states)._replace(score=None, ownership=None)


class Wide(Opinionated):
    """Prefers batches of 64, as on a GPU."""

    preferred_batch = 64


@pytest.mark.parametrize(("kind", "largest", "visits"), [(Opinionated, 8, 400), (Wide, 64, 2000)])
def test_a_search_brings_the_batches_that_the_evaluator_prefers(
    kind: type[Opinionated], largest: int, visits: int
) -> None:
    """As its own tree grows, so that it has the same numbers in company as alone."""
    asked: dict[str, Any] = {"boardXSize": 9, "boardYSize": 9, "maxVisits": visits}
    alone, together = Talk(positions=1, evaluator=kind), Talk(positions=3, evaluator=kind)
    answer = alone.analyse(**asked)
    assert answer["rootInfo"]["visits"] == visits
    assert 0.8 * largest <= max(alone.evaluators[9].batches) <= largest
    for name, others in (("long", visits), ("short", 300), ("shorter", 20)):
        together.send(**query(id=name, **{**asked, "maxVisits": others}))
    told = {answer["id"]: answer for answer in together.finish()}
    assert told["long"]["moveInfos"] == answer["moveInfos"]


def test_every_turn_gets_one_answer() -> None:
    talk = Talk()
    talk.send(**query(id="game", moves=MOVES, analyzeTurns=[4, 0, 1, 2, 3]))
    answers = talk.finish()
    assert sorted(answer["turnNumber"] for answer in answers) == [0, 1, 2, 3, 4]
    assert [answer["rootInfo"]["currentPlayer"] for answer in sorted(answers, key=turn)] == ["B", "W", "B", "W", "B"]
    for answer in answers:
        assert (answer["id"], answer["isDuringSearch"], answer["rootInfo"]["visits"]) == ("game", False, 20)
        assert sum(move["visits"] for move in answer["moveInfos"]) == 19
        assert [move["order"] for move in answer["moveInfos"]] == list(range(len(answer["moveInfos"])))
        assert all(move["pv"][0] == move["move"] for move in answer["moveInfos"])
        assert not {"ownership", "policy"} & answer.keys() and "pvVisits" not in answer["moveInfos"][0]


def turn(answer: Answer) -> int:
    number: int = answer["turnNumber"]
    return number


def kata_analyze(moves: list[list[str]], visits: int, colour: int) -> Any:
    """The last look of the player that stands behind kata-analyze."""
    settings = PlayerSettings(rules="chinese-simple", search=search_settings(visits, "go"))
    player = make_player("go", [SIZE], Opinionated, settings, size=SIZE)
    for side, vertex in moves:
        player.game.play(1 if side == "B" else 2, coords.parse_vertex(vertex, SIZE))
    from gozero.play.searcher import Observer

    looks: list[Any] = []
    player.analyse(colour, Limits(visits), Observer(looks.append, ownership=True, moves_ownership=True))
    return looks[-1]


@pytest.mark.parametrize("count", [0, 3, 4])
def test_the_numbers_are_those_of_kata_analyze(count: int) -> None:
    colour = 1 + count % 2
    look = kata_analyze(MOVES[:count], 100, colour)
    wanted = {"overrideSettings": {"reportAnalysisWinratesAs": "SIDETOMOVE"}, "maxVisits": 100, "includePVVisits": True}
    told = Talk().analyse(moves=MOVES[:count], includeOwnership=True, includeMovesOwnership=True, **wanted)
    assert told["rootInfo"]["visits"] == look.visits == 100
    assert told["rootInfo"]["winrate"] == pytest.approx((1 + look.value) / 2, abs=1e-5)
    assert told["rootInfo"]["scoreLead"] == pytest.approx(look.score, abs=1e-4)
    assert told["ownership"] == pytest.approx(look.ownership, abs=1e-5)
    assert len(told["moveInfos"]) == len(look.moves)
    for info, move in zip(told["moveInfos"], look.moves, strict=True):
        assert (info["move"], info["visits"]) == (coords.vertex(move.action, SIZE), move.visits)
        assert (info["winrate"], info["lcb"]) == pytest.approx(((1 + move.value) / 2, (1 + move.bound) / 2), abs=1e-5)
        assert (info["utility"], info["utilityLcb"]) == pytest.approx((move.value, move.bound), abs=1e-5)
        assert (info["prior"], info["scoreLead"], info["scoreMean"]) == pytest.approx(
            (move.prior, move.score, move.score), abs=1e-4
        )
        assert info["pv"] == [coords.vertex(action, SIZE) for action in move.line]
        assert info["pvVisits"] == list(move.line_visits)
        assert info["ownership"] == pytest.approx(move.ownership, abs=1e-5)


def test_for_whom_numbers_are_told() -> None:
    """White is to move: what is told for White is what the side to move gets, and Black's is its opposite."""
    answers = {
        side: Talk().analyse(
            moves=MOVES[:3],
            includeOwnership=True,
            includeMovesOwnership=True,
            overrideSettings={"reportAnalysisWinratesAs": side},
        )
        for side in ("BLACK", "WHITE", "SIDETOMOVE")
    }
    assert answers["WHITE"] == answers["SIDETOMOVE"]
    black, white = answers["BLACK"], answers["WHITE"]
    for one, other in [
        (black["rootInfo"], white["rootInfo"]),
        *zip(black["moveInfos"], white["moveInfos"], strict=True),
    ]:
        for name in one.keys() & {"winrate", "lcb", "rawWinrate"}:
            assert one[name] == pytest.approx(1 - other[name], abs=1e-5)
        for name in one.keys() & {"scoreLead", "scoreMean", "utility", "utilityLcb", "rawLead"}:
            assert one[name] == pytest.approx(-other[name], abs=1e-5)
    assert black["ownership"] == pytest.approx([-owner for owner in white["ownership"]])
    assert black["moveInfos"][0]["ownership"] == pytest.approx([-owner for owner in white["moveInfos"][0]["ownership"]])
    assert Talk(report_winrates_as="white").analyse(moves=MOVES[:3])["rootInfo"] == white["rootInfo"]


def test_the_policy_is_the_networks_also_where_moves_are_left_out() -> None:
    avoid = [
        {"player": "W", "moves": ["A1", "pass"], "untilDepth": 1},
        {"player": "B", "moves": ["E5"], "untilDepth": 1},
    ]
    free, told = (
        Talk().analyse(moves=MOVES[:3], includePolicy=True, **fields) for fields in ({}, {"avoidMoves": avoid})
    )
    assert told["policy"] == free["policy"] and len(told["policy"]) == SIZE * SIZE + 1
    illegal = [coords.parse_vertex(vertex, SIZE) for vertex in ("C3", "B2", "D2")]
    assert [action for action, share in enumerate(told["policy"]) if share == -1] == sorted(illegal)
    assert sum(share for share in told["policy"] if share >= 0) == pytest.approx(1, abs=1e-6)
    thought_of = 1 - free["policy"][-1]  # no search thinks of a pass on an open board
    for move in free["moveInfos"]:
        assert move["prior"] == pytest.approx(
            free["policy"][coords.parse_vertex(move["move"], SIZE)] / thought_of, abs=1e-5
        )
    assert not {"A1", "pass"} & {move["move"] for move in told["moveInfos"]}


@pytest.mark.parametrize("fields", [{"rootPolicyTemperature": 3}, {"overrideSettings": {"wideRootNoise": 1}}])
def test_temperature_and_noise_spread_the_visits(fields: dict[str, Any]) -> None:
    plain, wide = (Talk().analyse(maxVisits=200, **more)["moveInfos"] for more in ({}, fields))
    assert max(move["visits"] for move in wide) < max(move["visits"] for move in plain)


def test_moves_alone() -> None:
    told = Talk().analyse(allowMoves=[{"player": "B", "moves": ["A1", "B1"], "untilDepth": 1}])
    assert {move["move"] for move in told["moveInfos"]} == {"A1", "B1"}


def test_moves_left_out_of_the_lines() -> None:
    corner = [f"{column}{row}" for column in "ABCDE" for row in (1, 2)]

    def lines(depth: int) -> list[list[str]]:
        item = {"player": "W", "moves": [*corner, "pass"], "untilDepth": depth}
        return [move["pv"] for move in Talk().analyse(avoidMoves=[item], maxVisits=300)["moveInfos"]]

    replies = {depth: {line[1] for line in lines(depth) if len(line) > 1} for depth in (1, 2)}
    assert not replies[2] & {*corner, "pass"} and replies[2]
    assert replies[1] & {*corner, "pass"}


def test_a_network_without_points_tells_of_none() -> None:
    told = Talk(evaluator=Silent).analyse(includeOwnership=True, includeMovesOwnership=True)
    assert not {"scoreLead", "scoreMean", "rawLead"} & (told["rootInfo"].keys() | told["moveInfos"][0].keys())
    assert "ownership" not in told and "ownership" not in told["moveInfos"][0]


@pytest.mark.parametrize("allowed", [["A1", "E4"], ["pass"], None])
def test_a_single_visit_tells_of_the_networks_best_move(allowed: list[str] | None) -> None:
    only = {} if allowed is None else {"allowMoves": [{"player": "B", "moves": allowed, "untilDepth": 1}]}
    told = Talk().analyse(maxVisits=1, includePolicy=True, includePVVisits=True, **only)
    root, (move,) = told["rootInfo"], told["moveInfos"]
    candidates = range(SIZE * SIZE) if allowed is None else [coords.parse_vertex(vertex, SIZE) for vertex in allowed]
    best = coords.vertex(max(candidates, key=lambda action: told["policy"][action]), SIZE)
    assert (move["move"], move["order"], move["visits"], move["pv"], move["pvVisits"]) == (best, 0, 0, [best], [0])
    assert (root["visits"], root["winrate"]) == (1, root["rawWinrate"])
    assert (move["winrate"], move["scoreLead"], move["lcb"]) == (root["winrate"], root["scoreLead"], 0)


def test_lines_are_cut() -> None:
    told = Talk().analyse(maxVisits=200, analysisPVLen=1, includePVVisits=True)
    assert (
        max(len(move["pv"]) for move in told["moveInfos"])
        == 2
        == max(len(move["pvVisits"]) for move in told["moveInfos"])
    )


def test_after_two_passes_the_game_goes_on() -> None:
    told = Talk().analyse(moves=[["B", "C3"], ["W", "pass"], ["B", "pass"]])
    assert told["rootInfo"]["currentPlayer"] == "W" and len(told["moveInfos"]) > 1


def test_a_move_that_only_superko_forbids_is_taken() -> None:
    """A ko that is retaken after two passes brings back the board."""
    stones = [["B", "C4"], ["B", "B3"], ["B", "C2"], ["W", "D4"], ["W", "E3"], ["W", "D2"], ["W", "C3"]]
    moves = [["B", "D3"], ["W", "pass"], ["B", "pass"], ["W", "C3"]]
    told = Talk().analyse(initialStones=stones, moves=moves, rules="tromp-taylor", includePolicy=True)
    assert told["turnNumber"] == 4
    assert told["policy"][coords.parse_vertex("D3", SIZE)] == -1


def test_komi_rules_and_handicap_reach_the_board() -> None:
    stones = [["B", "A1"], ["B", "C3"]]
    for fields, bonus in (({}, 2), ({"whiteHandicapBonus": "N-1"}, 1), ({"rules": "tromp-taylor"}, 0)):
        (task,) = tasks(read_query(query(initialStones=stones, komi=0.5, **fields), AnalysisSettings(), Header("go")))
        assert task.root.score() == 25 - 0.5 - bonus


@pytest.mark.parametrize(
    ("fields", "field", "message"),
    [
        ({"moves": [["B", "C3"], ["W", "C3"]]}, "moves", "Illegal move 1: C3"),
        ({"initialStones": [["B", "A1"], ["W", "A2"], ["W", "B1"]]}, "initialStones", ""),
        ({"allowMoves": [{"player": "B", "moves": []}]}, "allowMoves", "no legal move is left at turn 0"),
        (
            {"moves": [["B", "C3"]], "allowMoves": [{"player": "W", "moves": ["C3"]}]},
            "allowMoves",
            "no legal move is left at turn 1",
        ),
    ],
)
def test_what_the_board_refuses(fields: dict[str, Any], field: str, message: str) -> None:
    talk = Talk()
    (answer,) = talk.send(**query(analyzeTurns=[0], **fields) if "moves" not in fields else query(**fields))
    assert (answer["field"], answer["id"], talk.server.is_idle) == (field, "q", True)
    assert message in answer["error"]


@pytest.mark.parametrize(
    "line",
    [
        "nonsense", "[1]", "3", "{}", '{"id": 3}', "[" * 100_000, '{"id":"a","moves":' + "9" * 5000 + "}",
        '{"id":"a","x":NaN}', '{"id":"a","action":"query_version","x":1e999}',
    ],
)  # fmt: skip
def test_lines_that_are_no_query(line: str) -> None:
    talk = Talk()
    talk.server.take(line)
    assert len(talk.answers) == 1 and talk.answers[0]["error"]


def test_blank_lines_are_nothing() -> None:
    talk = Talk()
    talk.server.take(" \r\n")
    assert talk.answers == []


def test_warnings_come_first_and_the_query_is_answered() -> None:
    talk = Talk()
    told = talk.send(**query(colour="blue"))
    assert told == [{"warning": "not supported; ignored", "field": "colour", "id": "q"}]
    assert [answer.get("turnNumber") for answer in talk.finish()] == [None, 0]


def test_actions_are_echoed() -> None:
    talk = Talk(positions=3)
    assert talk.send(id="v", action="query_version", x=1) == [
        {"id": "v", "action": "query_version", "x": 1, "version": __version__, "git_hash": "<omitted>"}
    ]
    assert talk.send(id="c", action="clear_cache") == [{"id": "c", "action": "clear_cache"}]
    assert talk.cleared == 1
    (models,) = talk.send(id="m", action="query_models")
    assert (models["models"][0]["name"], models["models"][0]["maxBatchSize"]) == ("net.pt", 24)
    assert talk.send(id="t", action="terminate", terminateId="nobody") == [
        {"id": "t", "action": "terminate", "terminateId": "nobody"}
    ]
    for fields, field in (
        ({"action": "dance"}, "action"),
        ({"action": 1}, "action"),
        ({"action": "terminate"}, "terminateId"),
    ):
        (refused,) = talk.send(id="d", **fields)
        assert refused["field"] == field


def test_termination_answers_what_there_is() -> None:
    talk = Talk(positions=1)
    talk.send(**query(id="a", moves=MOVES, analyzeTurns=[0, 1, 2], maxVisits=10_000))
    talk.send(**query(id="b", maxVisits=10))
    talk.server.wave()
    assert talk.answers == []
    told = talk.send(id="t", action="terminate", terminateId="a", turnNumbers=[0, 2])
    assert [(answer["id"], answer.get("turnNumber"), answer.get("noResults")) for answer in told] == [
        ("a", 0, None),
        ("a", 2, True),
        ("t", None, None),
    ]
    assert told[0]["rootInfo"]["visits"] < 10_000 and told[0]["isDuringSearch"] is False
    assert told[1] == {"id": "a", "turnNumber": 2, "isDuringSearch": False, "noResults": True}
    told = talk.send(id="u", action="terminate_all", turnNumbers=[1])
    assert [answer["id"] for answer in told] == ["a", "u"]
    assert talk.finish()[-1]["id"] == "b"


def test_what_never_began_is_told_in_the_order_of_its_coming() -> None:
    talk = Talk(positions=1)
    talk.send(**query(moves=MOVES, analyzeTurns=[0, 1, 2, 3], priorities=[3, 0, 1, 2]))
    talk.server.wave()
    told = talk.send(id="t", action="terminate_all")
    assert [(answer.get("turnNumber"), answer.get("noResults")) for answer in told] == [
        (0, None), (1, True), (2, True), (3, True), (None, None),
    ]  # fmt: skip
    assert talk.server.is_idle


def test_the_highest_priority_comes_first() -> None:
    talk = Talk(positions=1)
    talk.send(**query(id="low", moves=MOVES, analyzeTurns=[0, 1], priorities=[0, 2]))
    talk.send(**query(id="high", priority=1))
    talk.send(**query(id="later", priority=1))
    assert [(answer["id"], answer["turnNumber"]) for answer in talk.finish()] == [
        ("low", 1), ("high", 0), ("later", 0), ("low", 0),
    ]  # fmt: skip


def test_many_positions_fill_the_batch_and_change_nothing() -> None:
    alone, together = Talk(positions=1), Talk(positions=8)
    for talk in (alone, together):
        talk.send(**query(moves=MOVES, analyzeTurns=[0, 1, 2, 3, 4], maxVisits=60, includeOwnership=True))
        talk.send(**query(id="r", rules="aga", komi=3.5, maxVisits=60))
        talk.send(**query(id="s", boardXSize=7, boardYSize=7, maxVisits=60))
        talk.finish()
    by_name = [{(answer["id"], answer["turnNumber"]): answer for answer in talk.answers} for talk in (alone, together)]
    assert len(by_name[0]) == 7 and by_name[0] == by_name[1]
    batches = together.evaluators[SIZE].batches
    assert np.median(batches) >= 10 and max(alone.evaluators[SIZE].batches) <= 2
    assert sum(batches) == sum(alone.evaluators[SIZE].batches)


class Clock:
    """Time that passes a second at each look."""

    def __init__(self) -> None:
        self.now = 100.0

    def __call__(self) -> float:
        self.now += 1
        return self.now


def studied(**fields: Any) -> list[tuple[bool, int]]:
    """(whether it goes on, visits) of each answer to one query, with a clock that counts looks at it."""
    talk = Talk()
    talk.server.clock = Clock()
    talk.send(**query(**fields))
    return [(answer["isDuringSearch"], answer["rootInfo"]["visits"]) for answer in talk.finish()]


def test_reports_during_the_search() -> None:
    seen = studied(maxVisits=20, reportDuringSearchEvery=3, firstReportDuringSearchAfter=1)
    assert [goes_on for goes_on, _ in seen] == [True] * (len(seen) - 1) + [False] and len(seen) > 2
    visits = [count for _, count in seen]
    assert visits == sorted(visits) and visits[0] == 1 and visits[-1] == 20
    assert [goes_on for goes_on, _ in studied(maxVisits=20)] == [False]
    rarely = studied(maxVisits=20, reportDuringSearchEvery=1000, firstReportDuringSearchAfter=1)
    assert [goes_on for goes_on, _ in rarely] == [True, False]


def test_time_ends_a_search() -> None:
    ((goes_on, visits),) = studied(maxVisits=10_000, overrideSettings={"maxTime": 4})
    assert not goes_on and 1 < visits < 100


def test_positions_share_the_memory_and_its_end_is_told_once(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(AnalysisSettings, "tree_memory", 400 * node_bytes(games.make("go", size=SIZE)))
    talk = Talk()
    for name in "ab":
        talk.send(**query(id=name, maxVisits=10**6))
    answers = {answer["id"]: answer for answer in talk.finish()}
    visits = [answers[name]["rootInfo"]["visits"] for name in "ab"]
    assert visits == [100, 100], "each of the four has as much, also if fewer are searched"
    assert all(
        sum(move["visits"] for move in answers[name]["moveInfos"]) == answers[name]["rootInfo"]["visits"] - 1
        for name in "ab"
    )
    (warning,) = talk.warnings
    assert "--max-memory" in warning


class Failing(Opinionated):
    """On the 7x7 board there is no memory for its third batch, and for the one after it."""

    def evaluate(self, states: np.ndarray) -> Evaluation:
        if self.game.size == 7 and len(self.batches) in (2, 3):
            self.batches.append(len(states))
            raise MemoryError("no room")
        return super().evaluate(states)


def test_a_search_that_fails_is_answered_and_the_others_go_on(capsys: pytest.CaptureFixture[str]) -> None:
    talk = Talk(evaluator=Failing)
    for name, size in (("a", SIZE), ("b", 7), ("c", SIZE), ("d", 7)):
        talk.send(**query(id=name, boardXSize=size, boardYSize=size, maxVisits=100))
    told = {answer["id"]: answer for answer in talk.finish()}
    assert told["b"] == {"error": "out of memory; no room", "id": "b", "turnNumber": 0}
    assert [told[name]["rootInfo"]["visits"] for name in "acd"] == [100] * 3
    assert not capsys.readouterr().err, "nothing to report"


def test_an_answer_that_cannot_be_made_is_an_error_and_the_others_are_given(monkeypatch: pytest.MonkeyPatch) -> None:
    made = answers.answer

    def fail(task: Any, *rest: Any, **options: Any) -> Any:
        if task.query.id == "a":
            raise RuntimeError("a bug")
        return made(task, *rest, **options)

    monkeypatch.setattr(answers, "answer", fail)
    talk = Talk(positions=2)
    for name in "abc":
        talk.send(**query(id=name, maxVisits=10**6))
    talk.server.wave()
    told = talk.send(id="x", action="terminate_all")
    assert [answer["id"] for answer in told] == ["a", "b", "c", "x"]
    assert told[0] == {"error": "internal error: RuntimeError: a bug", "id": "a", "turnNumber": 0}
    assert told[1]["rootInfo"]["visits"] > 0 and told[2]["noResults"] and talk.server.is_idle


def test_no_depth_of_nesting_is_an_internal_error(capsys: pytest.CaptureFixture[str]) -> None:
    talk = Talk()
    for depth in range(900, 1000):
        nest = "[" * depth + "]" * depth
        talk.server.take(f'{{"id": "a", "action": "query_version", "x": {nest}}}')
        talk.server.take(f'{{"id": "a", "moves": [], "rules": {nest}, "boardXSize": {SIZE}, "boardYSize": {SIZE}}}')
    assert not any("internal" in answer.get("error", "") for answer in talk.answers)
    assert capsys.readouterr().err == ""


def test_rules_that_are_none_are_shown_shortened() -> None:
    (answer,) = Talk().send(**query(rules="x" * 3000))
    assert answer["error"].startswith("unknown rules 'xxx") and len(answer["error"]) < 300


def test_a_position_whose_lines_all_end_needs_no_evaluation() -> None:
    """Two moves alone, both passes: waves without leaves do not hang."""
    told = Talk().analyse(moves=[["B", "pass"]], allowMoves=[{"player": "W", "moves": ["pass"]}], maxVisits=30)
    assert (told["rootInfo"]["visits"], [move["move"] for move in told["moveInfos"]]) == (30, ["pass"])
