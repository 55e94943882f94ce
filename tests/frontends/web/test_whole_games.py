"""A whole game of each of the nine games, by clicks in Chromium."""

import re
from collections.abc import Callable

import pytest

pytest.importorskip("playwright")

from tests.frontends.web.site import Tab

pytestmark = pytest.mark.chromium

GAMES = [
    ("Connect-4", None), ("Othello", 4), ("Tic-tac-toe", None), ("Hex", 4), ("Breakthrough", 5),
    # the page draws and ends these as it does Go and tic-tac-toe
    *(pytest.param(*game, marks=pytest.mark.slow) for game in (("Gomoku", 5), ("NoGo", 4), ("Simplified Go", None))),
]  # fmt: skip
OUTCOME = r"(wins by .+|is a draw)\."


def play_to_the_end(tab: Tab, passing_after: int) -> None:
    """Play legal moves, one after the other; in Go pass after so many."""
    while not (view := tab.view)["over"]:
        before = view["number"]
        if view["canPass"] and (before >= passing_after or not view["legal"]):
            tab.press("Pass")
        else:
            point = view["legal"][before * 5 % len(view["legal"])]
            tab.click(point)
            if view["targets"]:
                tab.click(view["targets"][str(point)][0])
        moved = tab.page.locator(f'.page[data-turn="person"]:not([data-move="{before}"]), .page[data-turn="over"]')
        moved.wait_for()


@pytest.mark.parametrize(("title", "size"), GAMES)
def test_a_whole_game(title: str, size: int | None, tab: Callable[..., Tab]) -> None:
    page = tab().begin(title, size, person="white")
    assert page.number == 1  # the engine began
    if title == "Othello":  # a board that its network did not learn
        page.shows("It learned the game on boards 8 points wide")
    play_to_the_end(page, passing_after=12)
    assert page.view["ending"]["how"] == "rules"
    page.shows(re.compile(OUTCOME)).picture(f"whole game {title}")


def test_a_whole_game_of_go_with_its_count_disputed(tab: Callable[..., Tab]) -> None:
    page = tab().begin("Go", 5, komi="0.5")
    play_to_the_end(page, passing_after=8)
    page.shows("The count")
    view = page.view
    assert view["ending"]["margin"] > 0
    stone = next(point for point, colour in enumerate(view["stones"]) if colour and point not in view["count"]["dead"])
    page.click(stone)
    column, row = stone % 5, stone // 5
    page.page.locator(f'.shudan-marker_cross[data-x="{column}"][data-y="{row}"]').wait_for()
    assert stone in page.view["count"]["dead"]
    assert page.view["count"] != view["count"]
    page.picture("count of Go")
    page.click(stone)
    page.page.locator(f'.shudan-marker_cross[data-x="{column}"][data-y="{row}"]').wait_for(state="detached")
    assert page.view["count"] == view["count"]
    page.press("Undo").wait("person")
    assert not page.view["over"]
