"""The tree of moves and the marks in Chromium."""

from collections.abc import Callable
from pathlib import Path

import pytest

pytest.importorskip("playwright")

from playwright.sync_api import expect

from tests.frontends.web.site import Tab

pytestmark = pytest.mark.chromium

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


def test_a_large_tree_shows_where_one_is_and_is_clicked(tab: Callable[..., Tab], tmp_path: Path) -> None:
    page = tab().begin("Go", 7, person="both").load(tmp_path, large_record()).shows(f"0 / {LENGTH}")
    tree = page.page.locator(".tree")
    page.press("Last position").wait("person", LENGTH)
    ring, frame = tree.locator(".ring").bounding_box(), tree.bounding_box()
    assert ring and frame
    assert frame["x"] < ring["x"] < frame["x"] + frame["width"] - ring["width"]
    assert len(next(report for report in reversed(page.reports) if report["is"] == "tree")["nodes"]) == 558
    page.page.locator(".page").press("Home")
    page.wait("person", 0)
    tree.locator("svg").click(position={"x": 5.5 * STEP, "y": 0.5 * STEP})
    page.wait("person", 5)


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
