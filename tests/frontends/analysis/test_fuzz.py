"""Whatever is sent, each line is answered, every turn comes to its end, and no query meets a bug."""

import json
import random
from collections import Counter
from typing import Any

from tests.frontends.analysis.talk import SIZE, Talk, query

LINES = 1500
VALUES: dict[str, list[Any]] = {
    "moves": [
        [], [["B", "C3"]], [["b", "(1,1)"], ["W", "D4"]], [["B", "pass"], ["W", "pass"], ["B", "A1"]],
        [["B", "A1"]] * 2, [["W"]], "C3", None,
    ],
    "initialStones": [
        [], [["B", "A1"], ["W", "A2"], ["W", "B1"]], [["B", "B2"], ["B", "D4"]], [["W", "pass"]], [[]], 3,
    ],
    "initialPlayer": ["B", "white", "", 1],
    "rules": [
        "chinese", "Japanese", "AGA", {"ko": "SIMPLE", "suicide": True}, '{"tax":"ALL"}', {"ko": []}, "x", [], None,
    ],
    "komi": [7.5, -3, "6.5", 1e300, "x", None],
    "whiteHandicapBonus": ["0", "N", "N-1", "x", 0],
    "boardXSize": [SIZE, 7, 6, 0, "5", -1, 1.5, [], 10**30],
    "boardYSize": [SIZE, 7, 19, None],
    "analyzeTurns": [[0], [1, 0], [], [5], ["1"], [0, 0], 0],
    "priorities": [[1], [1, 2], [], ["a"]],
    "priority": [1, -5, 1e300, "2", None],
    "maxVisits": [1, 2, 9, 0, 2**50 + 1, "3", False],
    "rootPolicyTemperature": [0.5, 2, 0, "x"],
    "includeOwnership": [True, False, 1],
    "includeMovesOwnership": [True, None],
    "includePolicy": [True, "yes"],
    "includePVVisits": [True],
    "avoidMoves": [
        [], [{"player": "B", "moves": ["A1"], "untilDepth": 1}], [{"player": "W", "moves": []}], [{}], [3], "A1",
    ],
    "allowMoves": [
        [{"player": "B", "moves": ["A1", "pass"], "untilDepth": 3}],
        [{"player": "B", "moves": []}],
        [{}],
        {},
    ],
    "reportDuringSearchEvery": [0.001, 5, 0, None],
    "firstReportDuringSearchAfter": [0.001, -1],
    "overrideSettings": [
        {}, {"maxTime": 0.001}, {"maxVisits": 3, "wideRootNoise": 1}, {"reportAnalysisWinratesAs": "WHITE"},
        {"maxTime": []}, 3,
    ],
    "action": ["query_version", "query_models", "clear_cache", "terminate", "terminate_all", "", None, 3],
    "terminateId": ["q", "", 3],
    "turnNumbers": [[0], [1], [], ["x"], 3],
    "id": ["q", "q", "", "\ud800", 3, None],
    "unknown": [1],
}  # fmt: skip


def line_of(lot: random.Random, number: int) -> str:
    """A query with some fields that make sense and some that do not, or a line that is none at all."""
    if lot.random() < 0.05:
        return lot.choice(["", "{", "[]", "null", "{}", "\x00", '{"id":"q",}', "NaN", '"q"'])
    fields = query(id=str(number), maxVisits=lot.choice([1, 2, 9]))
    names = [name for name in VALUES if lot.random() < (0.15 if name not in ("action", "id") else 0.05)]
    return json.dumps(fields | {name: lot.choice(VALUES[name]) for name in names})


def test_every_line_is_answered() -> None:
    lot, talk = random.Random(1), Talk(positions=3)
    accepted: Counter[str] = Counter()
    refused = 0
    for number in range(LINES):
        line, before = line_of(lot, number), len(talk.answers)
        talk.server.take(line)
        told = talk.answers[before:]
        assert not any("internal" in answer.get("error", "") for answer in told), line
        is_done = any("error" in answer or "action" in answer for answer in told) or not line
        refused += is_done
        if not is_done:
            fields = json.loads(line)
            accepted[fields["id"]] += len(set(fields.get("analyzeTurns", [0])))
        if lot.random() < 0.5:
            talk.server.wave()
    finals = Counter(answer["id"] for answer in talk.finish() if answer.get("isDuringSearch") is False)
    assert finals == accepted
    assert min(refused, len(accepted)) > LINES / 10
