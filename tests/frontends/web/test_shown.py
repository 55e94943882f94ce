"""What the page shows of a position and of a search, and what a click asks for."""

import re
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

pytest.importorskip("playwright")

from playwright.sync_api import FilePayload, expect

from gozero.frontends.web.engine import variations
from gozero.frontends.web.engine.game_tree import START
from gozero.frontends.web.engine.session import GameSession
from gozero.games.colours import BLACK, WHITE
from tests.frontends.web.sessions import opened, played
from tests.frontends.web.site import DESKTOP, SETTLED
from tests.frontends.web.stage import Stage, Values, game, looking_back, replied

pytestmark = pytest.mark.chromium


def side(seconds: float, periods: int = 0) -> Values:
    return {"seconds": seconds, "periods": periods}


@pytest.mark.parametrize(
    ("clock", "after", "black", "white"),
    [
        ({"black": side(299.2), "white": side(61)}, 9, "5:00", "1:01"),
        ({"black": side(5.5), "white": side(61), "running": "black"}, 3, "0:03", "1:01"),
        ({"black": side(5.5), "white": side(61), "running": "black"}, 6, "0:10 × 2", "1:01"),
        ({"black": side(5.5), "white": side(61), "running": "black"}, 17, "0:09 × 1", "1:01"),
        ({"black": side(5.5), "white": side(9, 2), "running": "black"}, 99, "0:00 × 1", "0:09 × 2"),
        ({"black": side(9, 2), "white": side(8.5, 2), "running": "white"}, 10, "0:09 × 2", "0:09 × 1"),
        (
            {"black": side(9.2, 1), "white": side(10, 1), "running": "black", "periods": 1},
            3,
            "7 s a move",
            "10 s a move",
        ),
        ({"black": side(5), "white": side(1200), "running": "black", "periods": 0, "period": 0}, 9, "0:00", "20:00"),
    ],
)
def test_a_clock_runs_on_as_the_servers_does(stage: Stage, clock: Values, after: int, black: str, white: str) -> None:
    stage.show(game(), clock={"period": 10, "periods": 2, "running": None, **clock})
    stage.page.evaluate(f"{SETTLED}.then(() => passed += {1000 * after})")
    expect(stage.page.locator("[role=timer]")).to_have_text([black, white])
    stage.send({"is": "lost", "text": "gone"})
    expect(stage.page.locator(".clock.running")).to_have_count(0)


ANN = "(;SZ[9]PB[Ann]BR[3k]PW[Bo];B[ee];W[ff])"


@pytest.mark.parametrize(
    ("begin", "changes", "names", "turns", "gains"),
    [
        (lambda: game(), {}, ["you", "level 5"], ["your turn", ""], ["0 captured"] * 2),
        (lambda: game(level=20), {"thinking": True, "turn": "white"}, ["you", "level 20"], ["", "thinking…"], ["0 captured"] * 2),
        (lambda: looking_back(replied(game())), {}, ["you", "level 5"], ["your turn", ""], ["0 captured"] * 2),
        (lambda: replied(game()), {"turn": "white", "mistake": {"chance": 0.1, "points": None}}, ["you", "level 5"],
         ["your turn", ""], ["0 captured"] * 2),
        (lambda: game(), {"over": True, "ending": {"winner": None}}, ["you", "level 5"], ["", ""], ["0 captured"] * 2),
        (lambda: game(), {"person": "white", "captured": {"black": 3, "white": 1}}, ["level 5", "you"], ["to move", ""],
         ["3 captured", "1 captured"]),
        (lambda: opened(ANN)[0], {}, ["Ann 3k", "Bo"], ["to move", ""], ["0 captured"] * 2),
        (lambda: looking_back(opened(ANN)[0]), {}, ["Ann 3k", "Bo"], ["", "to move"], ["0 captured"] * 2),
        (lambda: played("othello", 4, "B1"), {}, ["", ""], ["", "to move"], ["4 discs", "1 disc"]),
        (lambda: played("tictactoe", 3), {}, ["", ""], ["to move", ""], ["", ""]),
    ],
)  # fmt: skip
def test_who_plays_whose_turn_it_is_and_what_each_has_won(
    stage: Stage,
    begin: Callable[[], GameSession],
    changes: Values,
    names: list[str],
    turns: list[str],
    gains: list[str],
) -> None:
    stage.show(begin(), **changes)
    words = (f"{colour}: {name}".removesuffix(": ") for colour, name in zip(("Black", "White"), names, strict=True))
    stage.has(".who strong", *words)
    stage.has(".whose", *turns)
    stage.has(".whose + span", *gains)
    assert stage.page.locator(".to-move").count() == len([turn for turn in turns if turn])


POINTS, ROW = {"how": "rules", "by": "{margin} points", "margin": 3.5}, {"how": "rules", "by": "five in a row"}


@pytest.mark.parametrize(
    ("person", "ending", "told", "told_all"),
    [
        ("black", {"winner": "black", **POINTS}, "You won by 3.5 points.", "Black wins by 3.5 points."),
        ("white", {"winner": "black", **POINTS}, "You lost by 3.5 points.", "Black wins by 3.5 points."),
        ("black", {"winner": "white", **ROW}, "You lost: White wins by five in a row.", "White wins by five in a row."),
        ("white", {"winner": "white", **ROW}, "You won by five in a row.", "White wins by five in a row."),
        ("black", {"winner": "black", "how": "resignation"}, "You won: White resigned.", "Black wins: White resigned."),
        ("white", {"winner": "black", "how": "resignation"}, "You resigned: Black wins.", "Black wins: White resigned."),
        ("black", {"winner": "black", "how": "time"}, "You won: White ran out of time.", "Black wins: White ran out of time."),
        ("black", {"winner": "white", "how": "time"}, "You ran out of time: White wins.", "White wins: Black ran out of time."),
        ("black", {"winner": None}, "The game is a draw.", "The game is a draw."),
    ],
)  # fmt: skip
def test_how_a_game_ended(stage: Stage, person: str, ending: Values, told: str, told_all: str) -> None:
    stage.show(
        game(),
        over=True,
        goingOn=False,
        person=person,
        toPlay=None,
        turn=None,
        ending={"by": "", "margin": None, **ending},
    )
    stage.has(".notices strong", told)
    stage.has(".turn", told_all)
    stage.has("[role=status]", told_all)
    for button, what, more in (
        ("Review", "review", {}),
        ("Rematch", "rematch", {}),
        ("Swap colours", "rematch", {"swap": True}),
    ):
        stage.press(button)
        assert stage.request(what) == more


HINT = {"from": 4, "point": 4, "vertex": "E9", "visits": 50, "chance": 0.625, "score": 1.0, "prior": 0.5,
        "line": ["E9", "D9"], "points": [[4, 4], [3, 3]]}  # fmt: skip


def look(session: GameSession, *moves: Values, **more: Any) -> Values:
    usual = {"node": session.at, "toPlay": "black", "visits": 100, "black": 0.625, "score": None, "ownership": None}
    return {"is": "look", **usual, "moves": moves, **more}


@pytest.mark.parametrize(
    ("kind", "facts", "told"),
    [
        ("go", {}, "Hint: E9."),
        ("go", {"wins": True}, "Hint: E9. It wins the game."),
        ("go", {"stops": "D9"}, "Hint: E9. Otherwise White wins at once with D9."),
        ("go", {"takes": 1}, "Hint: E9. It captures a stone."),
        ("go", {"takes": 2}, "Hint: E9. It captures 2 stones."),
        ("othello", {"takes": 1}, "Hint: E9. It flips 1 disc."),
        ("othello", {"takes": 3}, "Hint: E9. It flips 3 discs."),
        ("breakthrough", {"takes": 1}, "Hint: E9. It captures a piece."),
        ("go", {"saves": 1}, "Hint: E9. It saves a stone from capture."),
        ("go", {"saves": 2}, "Hint: E9. It saves 2 stones from capture."),
        ("go", {"gain": 0.9}, "Hint: E9."),
        ("go", {"gain": 1.2}, "Hint: E9. It is worth about 1 point more than a pass."),
        ("go", {"gain": 4.6}, "Hint: E9. It is worth about 5 points more than a pass."),
    ],
)
def test_what_a_hint_tells(stage: Stage, kind: str, facts: Values, told: str) -> None:
    session = game(game=kind, size=9 if kind == "go" else 8)
    stage.show(session)
    stage.send(look(session, HINT, hint=True, facts=facts))
    expect(stage.page.locator(".shudan-marker_triangle")).to_have_attribute("data-x", "4")
    stage.has(".notice.message", f"{told} Show what may follow")
    stage.show(session, analysing=True)
    stage.send(look(session, HINT, hint=True, facts=facts))
    stage.has(".notice.message", f"{told} Black then wins 63 %. Show what may follow")


@pytest.mark.parametrize(("legal", "told"), [([1], "Nothing is left to gain."), ([], "There is no other move.")])
def test_a_hint_to_pass(stage: Stage, legal: list[int], told: str) -> None:
    session = game()
    stage.show(session, legal=legal)
    stage.send(look(session, {**HINT, "vertex": "pass", "point": 81, "points": [[81, 81]]}, hint=True))
    stage.has(".notice", f"Hint: pass. {told}")
    assert stage.page.locator(".shudan-marker_triangle").count() == 0


@pytest.mark.parametrize(
    ("kind", "mistake", "told"),
    [
        ("go", {"chance": 0.2, "points": 3.6}, "That move lost about 4 points."),
        ("othello", {"chance": 0.2, "points": 3.6}, "That move lost about 4 discs."),
        ("go", {"chance": 0.2, "points": None}, "Your chance to win fell by about 20 %."),
    ],
)
def test_what_a_mistake_cost(stage: Stage, kind: str, mistake: Values, told: str) -> None:
    stage.show(game(game=kind, size=8), mistake=mistake)
    expect(stage.page.get_by_role("alert")).to_contain_text(told)
    stage.has(".turn", "Your turn: play the move anyway, or take it back")
    for button, what in (("Play it anyway", "anyway"), ("Take it back", "undo")):
        stage.press(button)
        stage.request(what)


def move(point: int, vertex: str, visits: int, chance: float, **more: Any) -> Values:
    shown = {"from": point, "score": 1.5, "prior": 0.004, "line": [vertex, "J1"], "points": [[point, point], [80, 80]]}
    return {"point": point, "vertex": vertex, "visits": visits, "chance": chance, **shown, **more}


def test_a_look_at_a_search(stage: Stage) -> None:
    """White is to move: chances of moves are White's, the rest is Black's."""
    session = played("go", 9, "E5", "C3", "A9")
    stage.show(session, analysing=True)
    moves = [
        move(0, "A9", 400, 0.9), move(1, "B9", 300, 0.31), move(2, "C9", 400, 0.3, score=-2.25, prior=0.25),
        move(3, "D9", 11, 0.6), move(4, "E9", 100, 0.2), move(81, "pass", 250, 0.1), move(5, "F9", 150, 0.25),
        move(6, "G9", 140, 0.24), move(7, "H9", 50, 0.05),
    ]  # fmt: skip
    ownership = [0.0] * 81
    ownership[78:81] = 0.14, 0.2, -1
    stage.send(look(session, *moves, toPlay="white", black=0.7, score=-1.25, ownership=ownership, visits=1800))
    stage.has(".moves tbody th", "A9", "B9", "C9", "F9", "G9", "E9", "pass", "H9")
    stage.has(".moves tbody tr:nth-child(3) td", "30 %", "−2.3", "J1")
    expect(stage.page.get_by_text("Black wins 70 %, White 30 %; White is ahead by 1.3 points")).to_be_visible()
    expect(stage.page.get_by_text("Good moves for White")).to_be_visible()
    assert stage.page.locator(".meter").evaluate("meter => meter.style.getPropertyValue('--black')") == "0.7"
    vertex = '.shudan-vertex[data-x="{}"][data-y="{}"]'.format
    for number, label in ((1, "31"), (2, "30"), (5, "25"), (6, "24")):
        stage.has(vertex(number, 0) + " .shudan-heatlabel", label)
    assert stage.page.locator(".shudan-heatlabel").count() == 4
    heat = stage.page.locator(".shudan-vertex[class*=shudan-heat_]").evaluate_all(
        "all => all.map(one => /shudan-heat_(\\d)/.exec(one.className)[1])"
    )
    assert heat == ["7", "9", "3", "3"]  # by visits
    paint = stage.page.locator(".shudan-vertex[data-y='8']").evaluate_all(
        "all => all.map(one => /shudan-paint_(-?\\d)/.exec(one.className)?.[1])"
    )
    assert paint[6:] == [None, "1", "-1"]
    stage.page.locator(".moves tbody tr").nth(1).hover()
    expect(stage.page.locator(vertex(1, 0))).to_have_class(re.compile("shudan-sign_-1"))
    expect(stage.page.locator(vertex(8, 8))).to_have_class(re.compile("shudan-sign_1"))
    stage.has(".shudan-marker_label .shudan-marker", "1", "2")
    assert stage.page.locator(".shudan-heatlabel").count() == 0
    stage.page.mouse.move(5, 5)
    expect(stage.page.locator(".shudan-marker_label")).to_have_count(0)
    stage.page.get_by_role("checkbox", name="details").check()
    stage.has(".moves tbody tr:nth-child(-n+3) th", "A9", "C9", "B9")
    stage.has(".moves tbody tr:nth-child(2) td", "30 %", "−2.3", "400", "25 %", "J1")
    stage.has(vertex(2, 0) + " .shudan-heatlabel", "30 400")
    stage.page.get_by_label("On the board").select_option("policy")
    stage.has(".shudan-heatlabel", "25")
    stage.page.get_by_role("checkbox", name="details").uncheck()
    stage.has(vertex(2, 0) + " .shudan-heatlabel", "30")
    stage.page.get_by_label("On the board").select_option("none")
    assert stage.page.locator(".shudan-heatlabel").count() == 0
    stage.page.get_by_label("On the board").select_option("moves")


def test_what_stands_on_a_board_that_is_turned_and_what_a_click_asks(stage: Stage) -> None:
    session = played("go", 9, "A9", "B8")
    variations.mark(session, session.at, 80, "LB")
    report = stage.show(session, next=[20, 21])
    assert not report["turned"]
    vertex = '.shudan-vertex[data-x="{}"][data-y="{}"]'.format
    for place, sign in (((0, 0), 1), ((1, 1), -1)):
        expect(stage.page.locator(vertex(*place))).to_have_class(re.compile(f"shudan-sign_{sign}"))
    assert stage.page.locator(".shudan-ghost_faint.shudan-ghost_1").count() == 2
    stage.page.locator(vertex(2, 0)).click()
    assert stage.request("play") == {"vertex": "C9", "at": session.at, "warn": False}
    stage.page.get_by_role("application", name="plays there").focus()
    for key in ("ArrowRight",) * 9 + ("ArrowDown",) * 9:
        stage.page.keyboard.press(key)
    expect(stage.page.locator("[aria-live=assertive]")).to_have_text("J1, empty, letter A")
    for key in ("ArrowLeft",) * 7 + ("ArrowUp",) * 7:
        stage.page.keyboard.press(key)
    expect(stage.page.locator("[aria-live=assertive]")).to_have_text("B8, White, last move")
    stage.page.keyboard.press(" ")
    assert stage.request("play")["vertex"] == "B8"
    for key in ("ArrowLeft", "ArrowUp"):
        stage.page.keyboard.press(key)
    expect(stage.page.locator("[aria-live=assertive]")).to_have_text("A9, Black")
    count = {"owner": [1] * 40 + [2] * 41, "dead": [10], "black": 40, "white": 48.5, "bonus": 7.5, "disputable": True}
    stage.show(session, count=count, over=True, toPlay=None, turn=None, ending={"winner": "white", **POINTS})
    stage.has(".count tr", "Black 40 points", "White 48.5 points including 7.5 komi")
    expect(stage.page.locator(vertex(1, 1))).to_have_class(re.compile("shudan-marker_cross"))
    expect(stage.page.locator(vertex(3, 4))).to_have_class(re.compile("shudan-paint_1"))
    expect(stage.page.locator(vertex(4, 4))).to_have_class(re.compile("shudan-paint_-1"))
    stage.page.locator(vertex(1, 1)).click()
    assert stage.request("dead")["vertex"] == "B8"
    stage.show(session, count=count | {"disputable": False})
    stage.page.locator(vertex(1, 1)).click()
    assert stage.request("play")["vertex"] == "B8"
    turned = played("othello", 6)
    report = stage.show(turned, turned=True)
    row, column = divmod(report["stones"].index(2), 6)
    expect(stage.page.locator(vertex(column, 5 - row))).to_have_class(re.compile("shudan-sign_-1"))
    stage.page.locator(vertex(0, 5)).click()
    assert stage.request("play")["vertex"] == "A6"


@pytest.mark.parametrize(
    ("begin", "changes", "enabled"),
    [
        (lambda: game(), {}, ["Pass", "Hint", "Resign"]),
        (lambda: replied(game()), {}, ["Pass", "Undo", "Hint", "Resign"]),
        (lambda: looking_back(replied(game())), {}, ["Pass", "Undo", "Hint", "Resign"]),
        (lambda: replied(game()), {"thinking": True}, ["Undo", "Resign"]),
        (lambda: replied(game()), {"mistake": {"chance": 0.2, "points": None}}, ["Undo", "Resign"]),
        (lambda: replied(game()), {"canPass": False}, ["Undo", "Hint", "Resign"]),
        (lambda: opened(ANN)[0], {}, ["Pass", "Hint"]),
        (lambda: looking_back(opened(ANN)[0]), {}, ["Pass", "Undo", "Hint"]),
        (lambda: played("tictactoe", 3), {}, ["Hint"]),
    ],
)
def test_which_buttons_can_be_pressed(
    stage: Stage, begin: Callable[[], GameSession], changes: Values, enabled: list[str]
) -> None:
    stage.show(begin(), **changes)
    stage.has(".actions button:enabled", *enabled)


@pytest.mark.parametrize(
    ("key", "changes", "what", "more"),
    [
        ("Home", {}, "goto", {"node": 0}), ("End", {}, "goto", {"node": 2}),
        ("ArrowLeft", {}, "goto", {"node": 0}), ("ArrowRight", {}, "goto", {"node": 2}),
        ("a", {}, "analyse", {"on": True}), ("a", {"analysing": True}, "analyse", {"on": False}),
        ("h", {}, "hint", {}), ("u", {}, "undo", {}),
        ("p", {}, "play", {"vertex": "pass", "at": 1, "warn": False}), ("p", {"canPass": False}, None, {}),
        ("p", {"thinking": True}, None, {}), ("Control+u", {}, None, {}),
    ],
)  # fmt: skip
def test_what_a_key_asks_for(stage: Stage, key: str, changes: Values, what: str | None, more: Values) -> None:
    session = looking_back(opened(ANN)[0])
    stage.show(session, **changes)
    stage.page.keyboard.press(key)
    if what is None:
        stage.press("First steps")
        assert stage.request("lessons") == {"game": "go"}
    else:
        assert stage.request(what) == more
        session.go_to(more.get("node", 1))
        stage.show(session)


def test_a_piece_is_taken_put_back_and_moved(stage: Stage) -> None:
    session = game(game="breakthrough", size=5)
    stage.show(session)
    vertex = '.shudan-vertex[data-x="{}"][data-y="{}"]'.format
    for targets in (2, 0, 2):
        stage.page.locator(vertex(0, 3)).click()
        expect(stage.page.locator(".shudan-marker_point")).to_have_count(targets)
    stage.page.locator(vertex(0, 2)).click()
    assert stage.request("play")["vertex"] == "A2-A3"


DROP = """page => {
    const dataTransfer = new DataTransfer();
    dataTransfer.items.add(new File(["(;SZ[9])"], "a game.sgf"));
    page.dispatchEvent(new DragEvent("drop", { dataTransfer, bubbles: true, cancelable: true }));
}"""


def test_what_is_asked_for_beside_the_board(stage: Stage) -> None:
    stage.show(game(game="hex", size=5))
    stage.press("First steps")
    assert stage.request("lessons") == {"game": "hex"}
    stage.page.get_by_role("slider", name="Level").fill("7")
    assert stage.request("level") == {"level": 7}
    stage.page.locator(".page").evaluate(DROP)
    assert stage.request("load") == {"data": "KDtTWls5XSk=", "name": "a game.sgf"}
    file: FilePayload = {"name": "long.sgf", "mimeType": "", "buffer": b" " * 1_000_001}
    stage.page.get_by_label("A record to open").set_input_files(file)
    stage.has(".notice.refused", "long.sgf has 1,000,001 bytes; a record has at most 1,000,000.")


def test_an_earlier_move_is_shown_while_the_game_goes_on(stage: Stage) -> None:
    session = game()
    session.play(session.action("E5"))
    session.go_to(START)
    stage.show(session)
    stage.has(".notices p", "This is an earlier move. The engine is choosing its move. Go to the last move")
    session.reply(WHITE, session.action("C3"))
    stage.show(session)
    stage.has(".notices p", "This is an earlier move. It is your turn. Go to the last move")
    stage.press("Go to the last move")
    assert stage.request("goto") == {"node": 2}
    session.go_to(2)
    stage.show(session)
    stage.has(".notices p")


def test_a_comment_that_is_typed_while_the_engine_moves_stays_with_its_move(stage: Stage) -> None:
    session = game()
    session.play(session.action("E5"))
    stage.show(session)
    box = stage.page.locator(".comment textarea")
    box.press_sequentially("while it")
    session.reply(WHITE, session.action("C3"))
    stage.show(session)
    box.press_sequentially(" thinks")
    expect(stage.page.get_by_label("Comment on an earlier position")).to_have_value("while it thinks")
    box.blur()
    assert stage.request("comment") == {"node": 1, "text": "while it thinks"}
    expect(stage.page.get_by_label("Comment on this position")).to_have_value("")


@pytest.mark.parametrize(
    ("begin", "told", "buttons"),
    [
        (lambda: game(handicap=4, komi=0.5, rules="aga"),
         ["White: the engine is thinking…", "You are Black, against level 5 · 4 stones handicap · komi 0.5 · AGA rules"],
         ["Stop playing, review"]),
        (lambda: looking_back(replied(game(rules="japanese", komi=6.5))),
         ["Your turn: Black", "You are Black, against level 5 · komi 6.5 · Japanese rules"],
         ["Stop playing, review", "Play from here"]),
        (lambda: given_up(), ["White to move", "You are Black, against level 5 · komi 7.5 · Chinese rules"],
         ["Play from here"]),
        (lambda: opened(f"(;SZ[9]KM[9]EV[{'e' * 400}]RE[B+3.5]C[A start])")[0],
         ["e" * 400, "Black to move", "Result in the record: B+3.5", "No opponent: every move is yours · komi 9 · Chinese rules"],
         ["Play from here"]),
    ],
)  # fmt: skip
def test_what_is_played_and_what_a_review_offers(
    stage: Stage, begin: Callable[[], GameSession], told: list[str], buttons: list[str]
) -> None:
    session = begin()
    stage.show(session)
    stage.has(".status p:not(.note)", *told)
    stage.has(".review > .options:first-of-type button", "Open a record…", "Save the game", *buttons)
    stage.has(".said", *filter(None, [session.tree[session.at].comment]))
    assert stage.page.evaluate("document.documentElement.scrollWidth") <= DESKTOP["width"]
    for button, what in (("Stop playing, review", "review"), ("Play from here", "play-on")):
        if button in buttons:
            stage.press(button)
            stage.request(what)


def given_up() -> GameSession:
    """A variation after Black has resigned."""
    session = game()
    session.resign(BLACK)
    session.play(session.action("E5"))
    return session


CONTRASTS = """(marks) => {
    const parts = (colour) => colour.match(/[\\d.]+/g).slice(0, 3).map(Number);
    const light = (colour) => colour.map((part) => ((part / 255 + 0.055) / 1.055) ** 2.4)
        .reduce((sum, part, index) => sum + part * [0.2126, 0.7152, 0.0722][index], 0);
    const wood = parts(getComputedStyle(document.querySelector(".shudan-goban-image")).backgroundColor);
    return marks.map((mark) => {
        const { borderTopColor, opacity } = getComputedStyle(mark);
        const edge = parts(borderTopColor).map((part, index) => opacity * part + (1 - opacity) * wood[index]);
        return (light(wood) + 0.05) / (light(edge) + 0.05);
    });
}"""


def test_the_marks_of_whites_area_are_seen_on_wood(stage: Stage) -> None:
    session = game()
    stage.show(session, analysing=True)
    stage.send(look(session, ownership=np.linspace(-1, -0.15, 81).tolist()))
    marks = stage.page.locator(".shudan-sign_0.shudan-paint_-1 .shudan-paint .shudan-inner")
    expect(marks).to_have_count(81)
    assert min(marks.evaluate_all(CONTRASTS)) > 3, "the least for parts of a picture (WCAG 1.4.11)"
    stage.page.get_by_label("whose area").uncheck()
    expect(stage.page.locator(".shudan-paint")).to_have_count(0)
    stage.page.get_by_label("whose area").check()


def test_no_key_is_lost_however_fast_it_repeats_and_the_switch_of_the_analysis_takes_none(stage: Stage) -> None:
    session = played("go", 9, *(f"{letter}{row}" for row in (3, 6) for letter in "ABCDEFGHJ"))
    session.go_to(START)
    stage.show(session, analysing=False)
    stage.page.get_by_role("switch", name="Analysis").check()
    assert stage.request("analyse") == {"on": True}
    for key, nodes in (("ArrowRight", (1, 17)), ("ArrowLeft", (16, 5))):
        for _ in range(abs(nodes[1] - session.at)):
            stage.page.keyboard.press(key)
        for node in nodes:  # the server has answered one request before it gets another
            assert stage.request("goto") == {"node": node}
            session.go_to(node)
            stage.show(session)


def test_in_othello_the_legal_moves_are_marked_and_row_1_is_at_the_top(stage: Stage) -> None:
    stage.show(game(game="othello", size=8))
    points = stage.page.locator(".shudan-marker_point")
    expect(points).to_have_count(4)
    stage.page.get_by_role("application", name="board").focus()
    for key in ("ArrowUp", "ArrowUp", "ArrowLeft"):
        stage.page.keyboard.press(key)
    expect(stage.page.locator("[aria-live=assertive]")).to_have_text("d4, White")
    option = stage.page.get_by_role("checkbox", name="Mark where I may play")
    for is_on in (False, True):
        stage.press("Settings")
        option.set_checked(is_on)
        stage.page.keyboard.press("Escape")
        expect(points).to_have_count(4 * is_on)


def test_the_settings_close_by_escape_and_by_a_click_elsewhere(stage: Stage) -> None:
    stage.show(game())
    card = stage.page.locator("#settings")
    expect(stage.page.locator("header button").first).to_have_accessible_name(
        "Settings"
    )  # Tab meets it where it is seen
    stage.press("Settings")
    expect(card).to_be_visible()
    stage.picture("settings")
    stage.page.keyboard.press("Escape")
    expect(card).not_to_be_visible()
    warns = stage.page.get_by_role("checkbox", name="Warn me after a bad move")
    for is_on in (True, False):
        stage.press("Settings")
        warns.set_checked(is_on)
        expect(card).to_be_visible()
        stage.page.locator('.shudan-vertex[data-x="4"][data-y="4"]').click()
        assert stage.request("play")["warn"] is is_on
        expect(card).not_to_be_visible()
