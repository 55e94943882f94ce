"""Snapshots: what a game is restored from, and what is refused in one line."""

import json
from dataclasses import asdict
from typing import Any

import pytest

from gozero.frontends.web.engine.game_tree import Estimate
from gozero.frontends.web.engine.handler import LOST, RequestHandler, RequestQueue
from gozero.frontends.web.engine.records import RecordFile
from gozero.frontends.web.engine.session import GameSession
from gozero.frontends.web.settings import EngineProcessSettings
from gozero.frontends.web.setups import setup_of
from gozero.games.colours import WHITE
from gozero.system.errors import InputError
from gozero.system.options import SettingsError


def saved() -> dict[str, Any]:
    """A game with a clock, a comment, a mark, an estimate and a variation."""
    session = GameSession(setup_of({"game": "tictactoe", "clock": {"main": 300}}), 3, [3])
    session.run_clock(0.0)
    session.play(4)
    session.tree[1].comment, session.tree[1].marks = "the middle", {4: "TR"}
    session.tree.learn(1, Estimate(10, 0.5, None, (0, 8)))
    session.reply(WHITE, 0)
    session.resign(session.person)
    session.go_to(1)
    session.play(2)
    return kept(session)


def read() -> dict[str, Any]:
    """A game from a file."""
    session, file = GameSession(setup_of({"person": "both"}), 9, [9]), RecordFile("(;SZ[9];B[ee];W[cc])")
    file.load(session)
    return kept(session)


def kept(session: GameSession) -> dict[str, Any]:
    return json.loads(json.dumps({"setup": asdict(session.setup), "game": session.snapshot(0.0)}))


def restored(values: dict[str, Any]) -> dict[str, Any]:
    """The view of the restored game. InputError if it is refused."""
    reports: list[dict[str, Any]] = []
    handler = RequestHandler(EngineProcessSettings(), RequestQueue(), reports.append, lambda: None)
    handler.do({"do": "restore", "saved": values})
    return reports[-1]


def test_a_game_is_restored() -> None:
    values = saved()
    values["game"]["clock"] = [300, 300]  # as a browser writes whole numbers
    view = restored(values)
    assert (view["identity"], view["at"], view["live"], view["over"]) == (values["game"]["identity"], 3, 2, False)
    assert (view["line"], view["clock"]["running"]) == ([0, 1, 3], None)


@pytest.mark.parametrize(
    ("path", "value"),
    [
        (("setup",), {"game": "chess"}),
        (("setup",), None),
        (("game",), {}),
        (("game",), []),
        (("game", "at"), 99),
        (("game", "live"), "x"),
        (("game", "start"), {"size": "x"}),
        (("game", "start"), {"size": 3, "black_name": 5, "black_stones": []}),
        (("game", "nodes"), [[1, 2]]),
        (("game", "ended"), [77, 1, "resignation"]),
        (("game", "ended"), [2, 0, "resignation"]),
        (("game", "nodes", 0, 1, "estimate"), [1, float("nan"), None, []]),
        (("game", "nodes", 0, 1, "action"), 0),
        (("game", "nodes", 1, 1, "parent"), 1),
        (("game", "nodes", 1, 1, "children"), [1]),
        (("game", "nodes", 1, 1, "action"), 99),
        (("game", "nodes", 1, 1, "colour"), 5),
        (("game", "nodes", 2, 1, "action"), 4),
        (("game", "nodes", 1, 1, "comment"), float("inf")),
        (("game", "nodes", 1, 1, "marks"), {"x": "TR"}),
        (("game", "nodes", 1, 1, "marks"), {"4": "XX"}),
        (("game", "nodes", 1, 1, "estimate"), ["x", 0.5, None, []]),
        (("game", "nodes", 1, 1, "estimate"), [1, 0.5, None, [99]]),
        (("game", "nodes", 1, 1, "dead"), [["x"]]),
        (("game", "nodes", 1, 1, "dead"), [[]]),
        (("game", "nodes", 2, 1, "clock"), "x"),
        (("game", "nodes", 2, 1, "comment"), 5),
        (("game", "nodes", 2, 1, "next_to_play"), 7),
    ],
)
def test_what_cannot_be_a_game_is_refused(path: tuple[Any, ...], value: Any) -> None:
    refuses(saved(), path, value)


@pytest.mark.parametrize(
    ("path", "value"),
    [
        (("game", "origin", "text"), "("),
        (("game", "origin", "text"), "(;SZ[19];B[ee];W[cc])"),
        (("game", "origin", "number"), 1),
        (("game", "origin", "unplayable"), [-1]),
        (("game", "nodes", 1, 1, "sources"), [99]),
        (("game", "start", "to_play"), 0),
        (("game", "start", "black_stones"), [-1]),
        (("game", "start", "white_stones"), [81]),
    ],
)
def test_what_cannot_be_the_file_of_a_game_is_refused(path: tuple[Any, ...], value: Any) -> None:
    assert restored(read())["size"] == 9
    refuses(read(), path, value)


def refuses(values: dict[str, Any], path: tuple[Any, ...], value: Any) -> None:
    place: Any = values
    for step in path[:-1]:
        place = place[step]
    place[path[-1]] = value
    with pytest.raises((InputError, SettingsError)) as refused:
        restored(values)
    assert path[0] == "setup" or str(refused.value) == LOST


def test_a_damaged_game_is_called_so_as_long_as_there_is_no_other() -> None:
    handler = RequestHandler(EngineProcessSettings(), RequestQueue(), lambda report: None, lambda: None)
    depths = []
    for request in ({"do": "restore", "saved": {**saved(), "game": {}}}, {"do": "view"}, {"do": "view"}):
        with pytest.raises(InputError, match=LOST) as refused:
            handler.do(request)
        depths.append(len(refused.traceback))
    assert depths[1] == depths[2], "its traceback grows"
    handler.do({"do": "restore", "saved": saved()})
    handler.do({"do": "view"})


def test_a_game_that_no_engine_plays_in_is_restored_for_review() -> None:
    values = saved()
    values["setup"]["person"] = "both"
    values["game"]["ended"] = None
    assert restored(values)["live"] is None


@pytest.mark.parametrize("order", [(0, 1), (1, 0)])
def test_branches_that_differ_only_in_whose_turn_it_is_are_restored(order: tuple[int, int]) -> None:
    branches = ["(;B[ee]PL[B];B[ff])", "(;B[ee]PL[W];W[gg])"]
    session = GameSession(setup_of({"game": "gomoku", "person": "both"}), 9, [9])
    file = RecordFile(f"(;GM[4]SZ[9]{branches[order[0]]}{branches[order[1]]})")
    file.load(session)
    assert len(restored(kept(session))["line"]) == 3


def test_a_game_of_weights_that_are_gone_goes_on_with_the_usual_ones() -> None:
    values = saved()
    values["setup"]["engine"] = "gone.pt"
    view = restored(values)
    assert (view["engine"], view["identity"]) == ("", values["game"]["identity"])
