"""Analysis, review, records and variations in Chromium."""

from collections.abc import Callable
from pathlib import Path

import pytest

pytest.importorskip("playwright")

from playwright.sync_api import expect

from tests.frontends.web.site import Tab

pytestmark = pytest.mark.chromium

RECORD = (
    "(;GM[1]FF[4]CA[UTF-8]SZ[7]KM[9]C[A short game];B[dd]C[the middle];W[ee](;B[aa]C[é];W[de])(;B[ed];W[de];B[ga]))"
)


def test_analysis_on_and_off(tab: Callable[..., Tab]) -> None:
    page = tab().begin("Go", 7)
    switch = page.page.get_by_role("switch", name="Analysis")
    switch.check()
    expect(page.page.locator(".moves tbody tr").first).to_be_visible()
    expect(page.page.locator(".shudan-heatlabel").first).to_be_visible()
    assert page.page.locator(".shudan-paint").count() > 0
    page.click(24)
    page.wait("person", 2)
    expect(page.page.locator(".moves tbody tr").first).to_be_visible()
    assert next(report for report in reversed(page.reports) if report["is"] == "look")["node"] == page.view["at"]
    with page.hears("view"):
        switch.click()
    assert page.view["analysing"] is False
    expect(page.page.locator(".moves")).to_have_count(0)
    expect(page.page.locator(".shudan-heatlabel")).to_have_count(0)


def test_a_record_is_walked_through_and_reviewed(tab: Callable[..., Tab], tmp_path: Path) -> None:
    page = tab().begin("Go", 7).load(tmp_path, RECORD)
    page.shows("0 / 4").shows("No opponent: every move is yours")
    comment = page.page.get_by_label("Comment on this position")
    expect(comment).to_have_value("A short game")
    page.press("Forward one move").shows("1 / 4")
    expect(comment).to_have_value("the middle")
    page.press("Forward one move").shows("2 / 4")
    expect(page.page.locator(".shudan-ghost_faint")).to_have_count(2)  # the moves that follow
    page.press("Forward one move").shows("3 / 4")
    page.page.locator(".tree").press("ArrowDown")
    page.shows("3 / 5").press("First position").shows("0 / 5")
    page.page.get_by_label("How thoroughly").select_option("25")
    page.press("Analyse all moves").shows("All positions are analysed this well.").shows("Moves that lost most")
    expect(page.page.locator(".graph .chance")).to_have_count(1)
    assert all(point is not None for point in page.view["graph"])
    worst = page.page.locator(".worst li")
    assert worst.first.evaluate("item => getComputedStyle(item).listStyleType") == "none", "moves have numbers already"
    page.page.locator(".worst .link").first.click()
    expect(page.page.locator(".shudan-marker_label").first).to_be_visible()
    page.picture("review")


def test_a_game_of_a_collection_is_chosen(tab: Callable[..., Tab], tmp_path: Path) -> None:
    games = "(;GM[1]SZ[7]PB[Ann]PW[Bo];B[aa])(;GM[1]SZ[7]PB[Cy]PW[Di]XX[kept];B[dd];W[ee])"
    page = tab().begin("Go", 7).load(tmp_path, games, "two games.sgf").shows("This file has 2 games")
    page.page.get_by_label("Game", exact=True).select_option("1")
    page.picture("collection")
    page.press("Open").shows("0 / 2").shows("Game 2 of 2.").shows("Black: Cy")
    page.press("Forward one move").shows("1 / 2")
    page.click(0)
    page.wait("person", 2)
    name, saved = page.saved()
    assert name == "two games.sgf"
    for kept in ("PB[Ann]", "XX[kept]", "W[ee]", "W[aa]"):
        assert kept in saved
    page.load(tmp_path, games).shows("This file has 2 games").press("Cancel").shows("2 / 2")


def test_a_running_game_is_in_the_list_after_a_record_and_goes_on_from_there(
    tab: Callable[..., Tab], tmp_path: Path
) -> None:
    page = tab().begin("Go", 7)
    page.click(24)
    page.wait("person", 2)
    stones, running = page.view["stones"], page.view["identity"]
    page.load(tmp_path, RECORD).shows("0 / 4").shows("You can continue your previous game from My games.")
    page.press("My games")
    row = page.page.get_by_role("listitem").filter(has=page.page.locator(f'[href="?game={running}"]'))
    expect(row).to_contain_text("in progress")
    expect(row).to_contain_text("against level 1 · 2 moves")
    page.picture("my games")
    row.get_by_role("link").click()
    page.wait("person", 2)
    assert (page.view["identity"], page.view["stones"]) == (running, stones)
    page.click(next(point for point in page.view["legal"] if point not in (0, 6)))
    page.wait("person", 4)


def test_variations_are_promoted_and_deleted_and_points_marked(tab: Callable[..., Tab], tmp_path: Path) -> None:
    text = "(;SZ[7];B[dd];W[ee](;B[aa];W[de])(;B[ed]TR[ee];W[de];B[ga]))"
    page = tab().begin("Go", 7).load(tmp_path, text)
    page.shows("0 / 4").press("Forward one move").press("Forward one move").press("Forward one move").shows("3 / 4")
    page.page.locator(".tree").press("ArrowDown")
    page.shows("3 / 5")
    expect(page.page.locator(".shudan-marker_triangle")).to_have_count(1)
    page.press("Make main line").press("Letter")
    page.click(0)
    page.page.get_by_role("application", name="marks it").press("ArrowRight")
    page.page.keyboard.press("Enter")
    expect(page.page.locator(".shudan-marker_label .shudan-marker")).to_have_text(["A", "B"])
    page.page.keyboard.press("Escape")
    expect(page.page.get_by_text("Click a point to mark it.")).to_have_count(0)
    page.press("Back one move").wait("person", 2)
    page.page.locator('.shudan-vertex[data-x="0"][data-y="0"]').click()  # the variation once more
    page.wait("person", 3).press("Delete move").press("Delete").wait("person", 2)
    _, saved = page.saved()
    assert ";B[dd];W[ee];B[ed]TR[ee]LB[aa:A][dd:B];W[de];B[ga])" in saved.replace("\n", "")
