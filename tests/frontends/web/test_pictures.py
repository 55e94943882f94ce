"""The pictures of docs/web.md: taken into test-artefacts/, from where they are copied into docs/."""

from collections.abc import Callable
from pathlib import Path

import pytest

pytest.importorskip("playwright")

from playwright.sync_api import expect

from tests.frontends.web.site import Tab

pytestmark = [pytest.mark.chromium, pytest.mark.slow]

RECORD = """(;FF[4]CA[UTF-8]GM[1]KM[7.5]RU[chinese]SZ[9];B[ee];W[gd];B[ff];W[ec];B[dc];W[cg];B[fc];W[fd];B[ed];W[gf];B[gc]
;W[hc];B[eb];W[gg];B[fg];W[gh];B[bf];W[cf];B[fh];W[be];B[bd];W[cd];B[bc];W[bg];B[gi];W[he];B[hb];W[hd];B[dh];W[ch]
;B[cc];W[dg];B[eh];W[hi])"""
LOOKED = 400  # visits of the analysis that is shown


def test_pictures_for_the_documents(tab: Callable[..., Tab], tmp_path: Path) -> None:
    page = tab(viewport={"width": 1180, "height": 1010}).begin("Go", 9, person="both")
    page.load(tmp_path, RECORD).shows("0 / 34")
    page.page.get_by_label("How thoroughly").select_option("25")
    page.press("Analyse all moves").shows("Moves that lost most")
    page.page.locator(".worst .link").first.click()
    expect(page.page.locator(".shudan-marker_label").first).to_be_visible()
    page.page.locator(".worst").scroll_into_view_if_needed()
    page.picture("web-review")
    page.page.get_by_role("slider", name="Move").fill("16")
    page.shows("16 / 34")
    page.page.get_by_role("switch", name="Analysis").check()
    expect(page.page.get_by_text("Black to move").first).to_be_attached()
    expect(page.page.locator(".moves tbody tr").first).to_be_visible()
    while page.reports[-1].get("visits", 0) < LOOKED:
        with page.hears("look"):
            pass
    page.page.evaluate("scrollTo(0, 0)")
    page.picture("web-look")
