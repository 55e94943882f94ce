"""Playing in Chromium: refusals, undo, a language, a hint, a clock, a phone, an engine that dies, another server."""

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


def test_a_refusal_and_another_language(tab: Callable[..., Tab]) -> None:
    page = tab().begin("Go", 5, person="both")
    page.click(1)
    page.wait("person", 1)
    page.click(1)
    page.shows("B5 is taken.")
    page.click(20)
    page.wait("person", 2)
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


def test_handicap_and_clock(tab: Callable[..., Tab]) -> None:
    page = tab().begin("Go", 9, handicap="4", clock="1")
    page.wait("person", 1)  # White began
    assert page.view["stones"].count(1) == 4
    expect(page.page.locator(".player.to-move")).to_contain_text("Black: you")
    expect(page.page.locator(".player.to-move .clock.running")).to_have_count(1)


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
    page.page.set_viewport_size({"width": PHONE["height"], "height": PHONE["width"]})  # it lies
    page.page.wait_for_function("document.querySelector('.shudan-goban').offsetHeight > 0.8 * innerHeight")
    expect(page.page.get_by_role("button", name="Pass")).to_be_in_viewport()
