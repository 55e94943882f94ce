"""Playing in Chromium: refusals, undo, reload, several pages, the keyboard, a phone, an engine that dies."""

import os
import re
import signal
from collections.abc import Callable

import pytest

pytest.importorskip("playwright")

from playwright.sync_api import expect

from tests.frontends.web.site import PHONE, Tab
from tests.frontends.web.talk import Server, served_by

pytestmark = pytest.mark.chromium


def test_a_move_its_answer_and_undo(tab: Callable[..., Tab]) -> None:
    page = tab().begin("Go", 9, level="3")
    page.click(40)
    page.wait("person", 2).shows("Your turn: Black").shows("Who leads stays hidden while you play.")
    expect(page.page.locator(".graph")).to_have_count(0)
    assert sorted(page.view["stones"]).count(0) == 79
    expect(page.page.locator("[role=status]")).to_have_text(re.compile(r"^White [A-J]\d\. Black to move\.$"))
    page.press("Undo").wait("person", 0)
    assert set(page.view["stones"]) == {0}
    expect(page.page.get_by_role("button", name="Undo")).to_be_disabled()


def test_ko_is_refused_with_its_reason(tab: Callable[..., Tab]) -> None:
    page = tab().begin("Go", 5, person="both")
    for number, point in enumerate((1, 2, 5, 8, 11, 12, 24, 6, 7), start=1):
        page.click(point)
        page.wait("person", number)
    assert page.view["stones"][6] == 0
    expect(page.page.locator(".player").first).to_contain_text("1 captured")
    page.click(6)
    page.shows("B4 would retake the ko at once: play elsewhere first.").picture("refused ko")
    page.click(1)
    page.shows("B5 is taken.")
    page.click(20)
    page.wait("person", 10)
    expect(page.page.locator(".notice")).to_have_count(0)
    page.press("Settings").page.get_by_label("Language").select_option("de")
    page.page.keyboard.press("Escape")
    page.click(1)
    page.shows("B5 ist besetzt.")


def test_hint_and_resignation(tab: Callable[..., Tab]) -> None:
    page = tab().begin("Tic-tac-toe")
    page.press("Hint").shows(re.compile(r"^Hint: [ABC][123]\."))
    expect(page.page.locator(".shudan-marker_triangle")).to_have_count(1)
    page.press("Show what may follow")
    expect(page.page.locator(".shudan-marker_label").first).to_be_visible()
    page.press("Show what may follow")
    page.press("Resign").press("Play on")
    assert page.view["goingOn"]
    page.press("Resign").press("Resign the game").wait("over").shows("You resigned: White wins.")
    page.press("Undo").wait("person", 0)


def test_a_bad_move_is_taken_back_or_played_anyway_and_a_rematch_with_the_other_colour(tab: Callable[..., Tab]) -> None:
    page = tab().begin("Go", 9)
    page.press("Settings").page.get_by_role("checkbox", name="Warn me after a bad move").check()
    page.page.keyboard.press("Escape")
    warning = page.page.get_by_role("alert")
    page.click(40)
    page.wait("person", 2)
    corner = next(point for point in (0, 8) if not page.view["stones"][point])
    page.click(corner)
    expect(warning).to_contain_text("Play it anyway, or take it back?")
    page.picture("warning")
    expect(page.page.locator(".player.to-move")).to_contain_text("Black: you")
    expect(page.page.locator(".turn")).to_contain_text("take it back")
    expect(page.page.get_by_role("button", name="Hint")).to_be_disabled()
    page.press("Take it back").wait("person", 2)
    expect(warning).to_have_count(0)
    page.click(corner)
    page.press("Play it anyway").wait("person", 4)
    page.press("Resign").press("Resign the game").wait("over").picture("end of a game")
    page.press("Swap colours").wait("person", 1)
    assert page.view["person"] == "white"
    page.press("Settings").page.get_by_role("checkbox", name="Warn me after a bad move").uncheck()


def test_in_othello_the_legal_moves_are_marked_and_row_1_is_at_the_top(tab: Callable[..., Tab]) -> None:
    page = tab().begin("Othello")
    expect(page.page.locator(".shudan-marker_point")).to_have_count(4)
    page.page.get_by_role("application", name="board").focus()
    for key in ("ArrowUp", "ArrowUp", "ArrowLeft"):
        page.page.keyboard.press(key)
    expect(page.page.locator("[aria-live=assertive]")).to_have_text("d4, White")
    page.press("Settings").page.get_by_role("checkbox", name="Mark where I may play").uncheck()
    expect(page.page.locator(".shudan-marker_point")).to_have_count(0)


def test_handicap_rules_and_clock(tab: Callable[..., Tab]) -> None:
    page = tab().begin("Go", 9, handicap="4", rules="aga", clock="1")
    page.wait("person", 1)  # White began
    assert page.view["stones"].count(1) == 4
    page.shows("4 stones handicap · komi 0.5 · aga rules")
    expect(page.page.locator(".player.to-move")).to_contain_text("Black: you")
    expect(page.page.locator(".player.to-move .clock.running")).to_have_count(1)
    page.begin("Go", 9, rules="japanese", person="both").shows("komi 6.5 · Japanese rules")


def test_an_engine_that_dies_takes_nothing_with_it(served: Server, tab: Callable[..., Tab]) -> None:
    page = tab().begin("Go", 7)
    page.click(24)
    page.wait("person", 2)
    stones = page.view["stones"]
    for number in served.engines():
        os.kill(number, signal.SIGKILL)
    page.shows("The engine stopped unexpectedly. Your game is kept; your next click starts it again.")
    page.picture("engine killed")
    page.click(next(point for point in page.view["legal"] if point not in (0, 6)))
    page.wait("person", 4)
    kept = [point for point, colour in enumerate(stones) if colour]
    assert [page.view["stones"][point] for point in kept] == [stones[point] for point in kept]


def test_a_server_that_is_started_anew_is_given_the_game(tab: Callable[..., Tab]) -> None:
    with served_by() as first:
        page = tab(first.address).begin("Tic-tac-toe")
        page.click(4)
        page.wait("person", 2)
    stones = page.view["stones"]
    page.shows("trying again. This page keeps the game.").picture("server away")
    page.faults.clear()  # Chromium tells of every attempt
    with served_by("--port", first.address.rstrip("/").rpartition(":")[2]):
        page.shows("The server did not have this game. Your browser restored it.").wait("person", 2)
        assert page.view["stones"] == stones
        page.click(page.view["legal"][0])
        page.wait("person", 4)
        page.faults.clear()


def test_a_server_that_is_started_anew_with_another_token(tab: Callable[..., Tab]) -> None:
    with served_by("--host", "0.0.0.0") as first:
        page = tab(f"http://{first.host}/?token={first.token}").begin("Tic-tac-toe")
    with served_by("--host", "0.0.0.0", "--port", str(first.port)) as second:
        page.shows("Open the address that it prints.")
        page.faults.clear()  # Chromium tells of every attempt
        page.page.goto(f"http://{second.host}/?token={second.token}")
        page.wait("person", 0)


def test_the_keyboard_alone(tab: Callable[..., Tab]) -> None:
    page = tab().begin("Tic-tac-toe", person="both")
    board = page.page.get_by_role("application", name="board")
    board.focus()
    for key in ("ArrowLeft", "ArrowLeft", "ArrowUp"):  # the first one finds the middle
        page.page.keyboard.press(key)
    expect(page.page.locator("[aria-live=assertive]")).to_have_text("A3, empty")
    page.page.keyboard.press("Enter")
    page.wait("person", 1)
    assert page.view["stones"][0] == 1
    page.page.keyboard.press("u")
    page.wait("person", 0)


def test_the_settings_close_by_escape_and_by_a_click_elsewhere(tab: Callable[..., Tab]) -> None:
    page = tab().begin("Tic-tac-toe")
    card = page.page.locator("#settings")
    expect(page.page.locator("header button").first).to_have_accessible_name("Settings")  # Tab meets it where it is seen
    page.press("Settings")
    expect(card).to_be_visible()
    page.picture("settings")
    page.page.keyboard.press("Escape")
    expect(card).not_to_be_visible()
    page.press("Settings")
    page.page.get_by_role("checkbox", name="Coordinates").click()
    expect(card).to_be_visible()
    page.page.get_by_role("checkbox", name="Coordinates").click()
    page.page.locator("h1").click()
    expect(card).not_to_be_visible()


def test_on_a_large_board_a_tap_is_shown_and_a_second_one_plays(tab: Callable[..., Tab]) -> None:
    page = tab(viewport=PHONE, has_touch=True, is_mobile=True).begin("Go", 13, person="both")
    expect(page.page.locator(".player.to-move")).to_be_in_viewport()  # whose turn it is, without scrolling
    points = [page.page.locator(f'.shudan-vertex[data-x="{x}"][data-y="3"]') for x in (2, 3)]
    rows = page.page.locator(".actions button:not(.main), .status")
    places = [row.bounding_box() for row in rows.all()]
    points[0].tap()
    expect(page.page.get_by_role("button", name="Play C10")).to_be_visible()
    assert [row.bounding_box() for row in rows.all()] == places
    points[1].tap()
    expect(page.page.locator(".shudan-ghost_1")).to_have_count(1)
    page.picture("phone marked")
    points[1].tap()
    page.wait("person", 1)
    assert page.view["stones"][3 * 13 + 3] == 1
    points[0].tap()
    page.press("Play C10").wait("person", 2)


def test_on_a_phone_that_lies_the_board_is_as_high_as_the_screen(tab: Callable[..., Tab]) -> None:
    width, height = PHONE["height"], PHONE["width"]
    page = tab(viewport={"width": width, "height": height}, has_touch=True, is_mobile=True).begin("Go", 9, person="both")
    found = page.page.locator(".shudan-goban").bounding_box()
    assert found is not None
    assert found["height"] > 0.8 * height
    expect(page.page.get_by_role("button", name="Pass")).to_be_in_viewport()


LOOK_BACK = """() => {
    const page = document.querySelector(".page");
    new MutationObserver(() => {
        if (page.dataset.turn !== "engine") return;
        if (page.dataset.move === "1") document.querySelector("[aria-label='Back one move']").click();
        else page.dataset.seen = page.textContent;
    }).observe(page, { attributes: true, attributeFilter: ["data-turn", "data-move"] });
}"""


def test_earlier_moves_are_looked_at_while_the_engine_thinks(tab: Callable[..., Tab]) -> None:
    page = tab().begin("Go", 13, level="20")
    page.page.evaluate(LOOK_BACK)  # in the page, since a search may take less time than a question from here
    page.click(84)
    seen = re.compile("This is an earlier move. The engine is choosing its move.")
    expect(page.page.locator(".page")).to_have_attribute("data-seen", seen)
    page.wait("person", 0).shows("It is your turn.")
    page.press("Go to the last move").wait("person", 2)
