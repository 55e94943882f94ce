"""What the page shows of a review, in the list of games and in the dialog for a new one."""

import json
import re

import pytest

pytest.importorskip("playwright")

from playwright.sync_api import expect

from gozero.frontends.web.engine.game_tree import START, Estimate
from gozero.frontends.web.engine.session import GameSession
from gozero.frontends.web.engine.variations import shape
from gozero.frontends.web.engine.views import title
from tests.frontends.web.sessions import opened, played
from tests.frontends.web.site import enter
from tests.frontends.web.stage import Stage, Values, game

pytestmark = pytest.mark.chromium


def reviewed() -> GameSession:
    """Moves of Black that lost 8, 0 and 3 points, and moves of White that lost 0 and 4."""
    session = opened("(;SZ[9]KM[7.5];B[ee];W[cc];B[gg];W[cg];B[gc])")[0]
    scores = {0: 4.0, 1: -4.0, 2: -4.0, 3: -4.0, 4: 0.0, 5: -3.0}
    for node, score in scores.items():
        session.tree.learn(node, Estimate(100, 0.5 + score / 20, score, (80, 79)))
    return session


def test_a_review(stage: Stage) -> None:
    session = reviewed()

    def show(node: int) -> None:
        session.go_to(node)
        stage.show(session)

    show(2)
    points = stage.page.locator("polyline.chance").get_attribute("points")
    assert points == "4.0 33.0 66.4 77.0 128.8 77.0 191.2 77.0 253.6 55.0 316.0 71.5"
    scores = stage.page.locator("polyline.score").get_attribute("points")
    assert scores == "4.0 12.8 66.4 97.2 128.8 97.2 191.2 97.2 253.6 55.0 316.0 86.7"
    dots = stage.page.locator("path.graded").evaluate_all(
        "all => all.map(one => [one.className.baseVal, one.getAttribute('d')])"
    )
    assert dots == [
        ["graded grade-4", "M66.4 77.0h0"],
        ["graded grade-3", "M253.6 55.0h0"],
        ["graded grade-3", "M316.0 71.5h0"],
    ]
    expect(stage.page.locator("figcaption")).to_contain_text("Move 2: Black wins 30 %; White is ahead by 4.0 points")
    stage.has(".walk output", "2 / 5")
    assert stage.page.locator(".here").get_attribute("x1") == "128.8"
    stage.has(
        ".grades tr", "Black White", "Mean loss, points 3.7 2.0", "Best moves 33 % 50 %", "12 points or more 0 0",
        "6 to 12 points 1 0", "3 to 6 points 1 1", "1.5 to 3 points 0 0", "0.5 to 1.5 points 0 0",
    )  # fmt: skip
    stage.has(
        ".worst li", "1. Black E5: −40 % win chance, −8.0 points", "4. White C3: −20 % win chance, −4.0 points",
        "5. Black G7: −15 % win chance, −3.0 points",
    )  # fmt: skip
    expect(stage.page.locator("[class*=shudan-heat_dot]")).to_have_count(2)  # the last moves
    stage.page.keyboard.press("n")
    assert stage.request("goto") == {"node": 3}
    show(3)
    stage.has(".notices .loss", "White played C3: −20 % win chance, −4.0 points. Better: J1 H1")
    stage.has(".shudan-heatlabel", "−4.0")
    stage.press("Previous mistake")
    assert stage.request("goto") == {"node": 0}
    show(0)
    stage.page.keyboard.press("Shift+N")  # round and round
    assert stage.request("goto") == {"node": 4}
    show(4)
    stage.press("Next mistake")
    assert stage.request("goto") == {"node": 0}
    show(0)
    show(5)
    expect(stage.page.locator("figcaption")).to_contain_text("Move 5: Black wins 35 %; White is ahead by 3.0 points")
    stage.has(".notices .loss", "Black G7: −15 % win chance, −3.0 points")
    stage.page.get_by_label("Moves of").select_option("white")
    stage.has(".worst li", "4. White C3: −20 % win chance, −4.0 points")
    assert stage.page.locator("path.graded").count() == stage.page.locator(".grades thead th").count() == 1
    stage.page.get_by_label("Moves of").select_option("both")
    for button, node in (("First position", 0), ("Back one move", 4)):
        stage.press(button)
        assert stage.request("goto") == {"node": node}
        show(node)
        show(5)
    for button in ("Forward one move", "Last position"):
        expect(stage.page.get_by_role("button", name=button)).to_be_disabled()
    stage.page.get_by_role("slider", name="Move").fill("1")
    assert stage.request("goto") == {"node": 1}
    show(1)
    box = stage.page.locator(".graph svg").bounding_box()
    assert box is not None
    stage.page.locator(".graph svg").click(position={"x": box["width"] - 6, "y": 20})
    assert stage.request("goto") == {"node": 5}
    show(5)


def test_a_mistake_without_points(stage: Stage) -> None:
    session = played("tictactoe", 3, "A1", "B2")
    session.tree.learn(1, Estimate(100, 0.5, None, (1,)))
    session.tree.learn(2, Estimate(100, 0.75))
    stage.show(session)
    sides = stage.page.get_by_label("Moves of")
    sides.select_option("black")
    expect(stage.page.get_by_role("button", name="Next mistake")).to_be_disabled()
    sides.select_option("both")
    stage.press("Next mistake")
    session.go_to(stage.request("goto")["node"])
    stage.show(session)
    stage.has(".shudan-heatlabel", "−25%")
    stage.has(".grades tr:nth-child(1)", "Black White", "Mean loss, win chance – 25 %")
    stage.has(".notices .loss", "White played B2: −25 % win chance. Better: B3")


@pytest.mark.parametrize(
    ("visits", "speed", "told"),
    [
        (100, 50, "All positions are analysed this well."),
        (40, None, "How long it takes is measured at the first analysis."),
        (40, 60, "2 positions take about 2 seconds on this machine."),
        (40, 120, "2 positions take about a second on this machine."),
        (40, 1, "2 positions take about 2 minutes on this machine."),
        (25, 1.5, "2 positions take about 2 minutes on this machine."),
        (64, 0.81, "2 positions take about 89 seconds on this machine."),
    ],
)
def test_what_an_analysis_of_all_positions_costs(stage: Stage, visits: int, speed: float | None, told: str) -> None:
    session = played("tictactoe", 3, "A1")
    for node in (START, 1):
        session.tree.learn(node, Estimate(visits, 0.5))
    stage.show(session, speed=speed)
    expect(stage.page.locator(".review")).to_contain_text(told)


@pytest.mark.parametrize(
    ("progress", "told"),
    [({"share": 0.25, "seconds": None}, "25 %"), ({"share": 0.25, "seconds": 240}, "25 %, about 4 minutes left")],
)
def test_the_progress_of_an_analysis(stage: Stage, progress: Values, told: str) -> None:
    session = played("tictactoe", 3, "A1")
    report = stage.show(session, batch=True)
    found = {"black": 0.5, "score": None, "visits": 9}
    stage.send({"is": "progress", "graph": [found] * 2, "review": report["review"], **progress})
    expect(stage.page.locator("polyline.chance")).to_have_count(1)
    stage.has(".review .quiet", told)
    stage.press("Stop")
    stage.request("stop")


USUAL = {"played": 1e9, "game": "go", "cols": 9, "rows": 9, "person": "white", "level": 3, "engine": "", "record": "",
         "moves": 2, "goesOn": False, "result": "W+R"}  # fmt: skip


@pytest.mark.parametrize(
    ("changes", "outcome", "about"),
    [
        ({}, "won (W+R)", "You are White, against level 3 · 2 moves"),
        ({"result": "B+2"}, "lost (B+2)", "You are White, against level 3"),
        ({"result": "0", "moves": 1}, "a draw", "You are White, against level 3 · 1 move"),
        ({"goesOn": True, "result": ""}, "in progress", "You are White, against level 3"),
        ({"result": ""}, "not finished", "You are White, against level 3"),
        ({"person": "both"}, "W+R", "No opponent · 2 moves"),
        ({"person": "both", "record": "Ann – Bo", "result": ""}, "", "Record: Ann – Bo"),
        ({"engine": "best.pt"}, "won (W+R)", "You are White, against level 3 of best.pt"),
    ],
)
def test_how_a_game_is_listed(stage: Stage, changes: Values, outcome: str, about: str) -> None:
    stage.show(game())
    listed = [{**USUAL, **changes, "identity": "b"}, {**USUAL, "identity": "c", "played": 2e9, "game": "hex"}]
    stage.send({"is": "list", "games": listed})
    stage.has(".my-games a", "Hex on 9×9", "Go on 9×9")  # the newest first
    stage.has(".my-games li:last-child .outcome", outcome)
    expect(stage.page.locator(".my-games li:last-child .quiet")).to_have_text(
        re.compile(rf"^{re.escape(about)}.* · .*2001$")
    )
    stage.page.get_by_role("button", name="Delete Go").click()
    stage.page.get_by_role("button", name="Really delete Go").click()
    assert stage.request("delete-game") == {"identity": "b"}
    stage.press("Close")


def test_a_game_that_the_server_does_not_have_is_given_to_it(stage: Stage) -> None:
    session = played("tictactoe", 3, "B2")
    saved = {"setup": {}, "game": session.snapshot(0.0), "title": title(session)}
    restored = "The server did not have this game. Your browser restored it."
    stage.show(session)
    stage.send({"is": "snapshot", "saved": saved})
    statuses = [200, 401]
    stage.page.route(re.compile("/$"), lambda route: route.fulfill(status=statuses.pop(0)))
    for told in ("trying again. This page keeps the game.", "Open the address that it prints."):
        stage.go_away()
        stage.shows(told)
        stage.page.evaluate("attempt()")
        assert stage.request("restore") == {"saved": json.loads(json.dumps(saved))}
    stage.page.unroute(re.compile("/$"))
    stage.show(session)
    stage.has(".notice.message", restored)
    stage.show(game())
    stage.send({"is": "list", "games": []})
    with stage.page.expect_navigation(url=f"**/?game={session.identity}"):
        stage.page.get_by_role("link", name="Tic-tac-toe on 3×3").click()
    stage.request("restore")
    stage.show(session)
    stage.has(".notice.message", restored)
    stage.show(game())
    stage.send({"is": "list", "games": []})
    for button in ("Delete", "Really delete"):
        stage.press(f"{button} Tic-tac-toe on 3×3")
    expect(stage.page.get_by_role("dialog").get_by_role("listitem")).to_have_count(0)
    stage.request("delete-game")
    stage.press("Close")
    with stage.page.expect_navigation(url=f"**/?game={session.identity}"):
        stage.send({"is": "known", "identity": session.identity})
    expect(stage.page.locator(".page")).to_be_visible()
    stage.greet(is_lost=True)
    stage.has(".notice.warning", re.compile("^The game at this address was not found"))
    stage.faults.clear()  # Chromium tells of every attempt


LENGTH, EVERY = 320, 4  # moves of the main line, and from one variation to the next
STEP = 26  # pixels from node to node
POINTS = "abcdefghijklmnopqrs"


def large_record() -> str:
    """A long game with many variations of three moves, each on points that the main line leaves free."""
    text = ""
    for number in range(LENGTH - 1, -1, -1):
        colour, other = "BW" if number % 2 == 0 else "WB"
        text = f";{colour}[{POINTS[number % 19]}{POINTS[number // 19]}]{text}"
        if number and number % EVERY == 0:
            text = f"({text})(;{colour}[as];{other}[cs];{colour}[es])"
    return f"(;GM[1]SZ[19]{text})"


def test_a_large_tree_shows_where_one_is_and_is_clicked(stage: Stage) -> None:
    session = opened(large_record())[0]
    tree, line = stage.page.locator(".tree"), session.line
    stage.send(shape(session))
    for node in (START, line[-1]):
        session.go_to(node)
        stage.show(session)
        ring, frame = tree.locator(".ring").bounding_box(), tree.bounding_box()
        assert ring and frame
        assert frame["x"] < ring["x"] < frame["x"] + frame["width"] - ring["width"]
    session.go_to(START)
    stage.show(session)
    tree.locator("svg").click(position={"x": 5.5 * STEP, "y": 0.5 * STEP})
    assert stage.request("goto") == {"node": line[5]}
    session.go_to(line[5])
    stage.show(session)
    tree.press("ArrowDown")
    other = stage.request("goto")["node"]
    assert (session.tree[other].parent, other) == (line[4], session.tree[line[4]].children[1])
    session.go_to(other)
    stage.show(session)


def clock(main: int, period: int, periods: int) -> Values:
    return {"main": main, "period": period, "periods": periods}


@pytest.mark.parametrize(
    ("kind", "fields", "asked"),
    [
        ("Go", {}, {"game": "go", "size": 9, "person": "black", "komi": 7.5, "handicap": 0, "rules": "chinese"}),
        ("Go", {"handicap": "3", "size": "13", "clock": "1"}, {"handicap": 3, "komi": 0.5, "size": 13, "clock": clock(0, 10, 1)}),
        ("Go", {"handicap": "9", "size": "7", "clock": "2"}, {"handicap": 4, "komi": 0.5, "size": 7, "clock": clock(300, 10, 5)}),
        ("Go", {"handicap": "4", "rules": "japanese", "clock": "3"},
         {"handicap": 4, "komi": 0.5, "rules": "japanese", "clock": clock(600, 30, 5)}),
        ("Go", {"handicap": "4", "rules": "japanese", "size": "5"}, {"handicap": 0, "komi": 6.5, "size": 5, "clock": clock(0, 0, 0)}),
        ("Go", {"komi": "5.5", "person": "white", "level": "17"}, {"komi": 5.5, "person": "white", "level": 17}),
        ("Go", {"komi": "5.5", "rules": "japanese"}, {"rules": "japanese", "komi": 6.5}),
        ("Hex", {"clock": "4"}, {"clock": clock(1200, 0, 0), "komi": None, "game": "hex"}),
    ],
)  # fmt: skip
def test_what_a_new_game_is_asked_with(stage: Stage, kind: str, fields: dict[str, str], asked: Values) -> None:
    stage.show(game(level=4))
    stage.press("New game")
    dialog = stage.page.get_by_role("dialog")
    dialog.get_by_role("radio", name=kind, exact=True).check()
    dialog.locator(".more summary").click()
    enter(dialog, fields)
    stage.press("Start")
    setup = stage.request("new")["setup"]
    assert {name: setup[name] for name in asked} == asked
    assert setup["level"] == int(fields.get("level", 4))
