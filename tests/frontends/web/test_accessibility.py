"""axe-core on the page in its states, light and dark: nothing serious, nothing critical."""

from collections.abc import Callable

import pytest

pytest.importorskip("playwright")
pytest.importorskip("axe_playwright_python")

from axe_playwright_python.sync_playwright import Axe
from playwright.sync_api import expect

from tests.frontends.web.site import PHONE, Tab

pytestmark = pytest.mark.chromium

GRAVE = ("serious", "critical")


def faults(page: Tab, within: str = "html") -> list[str]:
    """What axe finds grave in the element of a selector, a line for each; in the dark only contrasts differ."""
    found = Axe().run(page.page, within).response["violations"]
    page.page.emulate_media(color_scheme="dark")
    found += Axe().run(page.page, within, options={"runOnly": ["color-contrast"]}).response["violations"]
    page.page.emulate_media(color_scheme="light")
    return [
        f"{fault['id']} ({fault['impact']}): {[node['target'] for node in fault['nodes']]}"
        for fault in found
        if fault["impact"] in GRAVE
    ]


def test_no_grave_fault(tab: Callable[..., Tab]) -> None:
    page = tab().begin("Go", 7, clock="2")
    page.click(24)
    page.wait("person", 2)
    assert faults(page) == []
    page.page.get_by_role("switch", name="Analysis").check()
    expect(page.page.locator(".moves tbody tr").first).to_be_visible()
    page.picture("analysis")
    page.page.get_by_role("switch", name="Analysis").click()
    page.press("Resign")
    assert faults(page, "dialog[open]") == []
    page.press("Resign the game").shows("White wins: Black resigned.")
    page.press("Analyse all moves").shows("Best moves")
    assert faults(page) == []
    page.press("New game")
    page.page.get_by_role("dialog").locator(".more summary").click()
    assert faults(page, "dialog[open]") == []
    page.picture("new game")
    page.page.keyboard.press("Escape")
    expect(page.page.get_by_role("dialog")).to_have_count(0)


def test_the_count_and_a_refusal(tab: Callable[..., Tab]) -> None:
    page = tab().begin("Go", 7, person="both")
    page.click(24)
    page.wait("person", 1)
    page.click(24)
    page.shows("D4 is taken.")
    assert faults(page) == []
    page.press("Pass").wait("person", 2).press("Pass").shows("The count")
    page.press("My games").shows("Go on 7×7 (open now)")
    assert faults(page, "dialog[open]") == []
    page.press("Close")
    page.page.get_by_role("button", name="Settings").click()
    assert faults(page, "#settings") == []


def test_a_phone_in_the_dark(tab: Callable[..., Tab]) -> None:
    page = tab(viewport=PHONE, color_scheme="dark", has_touch=True, is_mobile=True).begin("Connect-4")
    page.page.locator('.shudan-vertex[data-x="3"][data-y="0"]').tap()
    page.wait("person", 2)
    width = page.page.evaluate("document.documentElement.scrollWidth")
    assert width <= PHONE["width"], "the page is wider than the phone"
    page.page.get_by_role("switch", name="Analysis").check()
    expect(page.page.locator(".moves tbody tr").first).to_be_visible()
    assert faults(page) == []
    page.page.emulate_media(color_scheme="dark")
    page.picture("phone dark")
    page.press("My games").shows("in progress")
    page.picture("my games phone dark")


def test_first_steps_answer_right_and_wrong_moves(tab: Callable[..., Tab]) -> None:
    page = tab().begin("Go", 7)
    page.press("New game").page.get_by_role("radio", name="Breakthrough").check()
    page.page.get_by_role("dialog").get_by_role("button", name="First steps").click()
    steps = page.page.get_by_role("dialog", name="First steps: Breakthrough")
    point = '.shudan-vertex[data-x="{}"][data-y="{}"]'
    steps.locator(point.format(2, 2)).click()
    expect(steps.locator(".notice.warning")).to_contain_text("Choose one of your pieces")
    for place in ((0, 4), (0, 3)):
        steps.locator(point.format(*place)).click()
    expect(steps.locator(".notice.warning")).to_contain_text("a step from the last row")
    for place in ((3, 1), (3, 0)):
        steps.locator(point.format(*place)).click()
    expect(steps.locator(".notice.right")).to_be_visible()
    assert faults(page, "dialog[open]") == []
    steps.get_by_role("button", name="Next").click()
    expect(steps).to_contain_text("Capture slantwise")
    page.page.keyboard.press("Escape")
    expect(page.page.get_by_role("dialog")).to_have_count(0)
    assert page.view["game"] == "go"
