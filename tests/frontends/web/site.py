"""Pages of Chromium on a running gozero web, for the tests.

Waiting is always for something that the page shows. What stands on the board is read from the reports that the page
received, so that a test can choose a legal move without knowing rules.
"""

import json
import re
import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from itertools import count
from pathlib import Path
from typing import Any

from playwright.sync_api import Browser, Locator, Page, WebSocket, expect, sync_playwright

from tests import ROOT

ARTEFACTS = ROOT / "test-artefacts"
"""Where the pictures go that the tests take."""
DESKTOP, PHONE = {"width": 1280, "height": 860}, {"width": 390, "height": 844}
PATIENCE = 120_000  # milliseconds; kernels may have to be compiled, beside other programs
FILES = count()
FRAMES = 300  # that are painted until the page must show what it was told
SETTLED = "new Promise(done => requestAnimationFrame(() => requestAnimationFrame(() => setTimeout(done))))"
"""Resolves after the next frame, when what was chosen last is stored and what is shown has taken effect."""
FLAGS = (
    "--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run", "--disable-background-networking",
    "--disable-component-update", "--disable-sync",
    # fewer processes to start
    "--renderer-process-limit=1", "--disable-site-isolation-trials", "--in-process-gpu",
    "--disable-software-rasterizer", "--num-raster-threads=1",
)  # fmt: skip
expect.set_options(timeout=PATIENCE)


@contextmanager
def chromium() -> Iterator[Browser]:
    """Debian's Chromium without a window."""
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=shutil.which("chromium"), args=list(FLAGS))
        yield browser
        browser.close()


def enter(dialog: Locator, values: dict[str, str]) -> None:
    """Fill in a dialog's fields, by their names."""
    for name, value in values.items():
        field = dialog.locator(f"[name={name}]")
        if field.evaluate("field => field.tagName") == "SELECT":
            field.select_option(value)
        else:
            field.fill(value)


class Tab:
    """A page of the board, as a person uses it."""

    def __init__(self, page: Page) -> None:
        self.page = page
        self.reports: list[dict[str, Any]] = []
        self.faults: list[str] = []
        page.set_default_timeout(PATIENCE)
        page.on("websocket", self._watch)
        page.on("pageerror", lambda error: self.faults.append(str(error)))
        page.on("console", lambda line: self.faults.append(line.text) if line.type == "error" else None)

    def _watch(self, socket: WebSocket) -> None:
        self._socket = socket
        socket.on("framereceived", lambda frame: self.reports.append(json.loads(frame)))

    def open(self, address: str) -> "Tab":
        self.page.goto(address)
        expect(self.page.locator(".page")).to_be_visible()
        return self

    def leave(self) -> None:
        """Leave nothing of this test to the next."""
        self.page.evaluate(f"{SETTLED}.then(() => localStorage.clear())")
        self.page.goto("about:blank")
        self.reports.clear()
        self.faults.clear()

    def wait(self, turn: str = "person", number: int | None = None) -> "Tab":
        """Until it is so: `person`, `engine` or `over`, after that many moves."""
        move = "" if number is None else f'[data-move="{number}"]'
        expect(self.page.locator(f'.page[data-turn="{turn}"]{move}')).to_be_visible()
        return self

    @property
    def number(self) -> int:
        return int(self.page.locator(".page").get_attribute("data-move") or -1)

    @property
    def view(self) -> dict[str, Any]:
        """The report of the position that the page shows; the browser may tell of one before it tells of the other."""
        for _ in range(FRAMES):
            newest = next(report for report in reversed(self.reports) if report["is"] == "view")
            turn = "over" if newest["over"] else "engine" if newest["thinking"] else "person"
            if self._shown() == [newest["identity"], str(newest["number"]), turn]:
                return newest
        raise AssertionError(
            f"the page shows {self._shown()}, and was told {newest['identity']}, {newest['number']}, {turn}"
        )

    def _shown(self) -> list[str]:
        """Game, number of the move and turn, after the next frame is painted."""
        found: list[str] = self.page.evaluate(
            """() => new Promise((done) => requestAnimationFrame(() => {
                const { game, move, turn } = document.querySelector(".page").dataset;
                done([game, move, turn]);
            }))"""
        )
        return found

    def begin(self, title: str, size: int | None = None, **values: str) -> "Tab":
        """A new game by its dialog, as Black against level 1 if nothing else is said; values by the fields' names."""
        values = {"person": "black", "level": "1", **values}
        page = self.page
        before = page.locator(".page").get_attribute("data-game")
        page.get_by_role("button", name="New game").click()
        dialog = page.get_by_role("dialog")
        dialog.get_by_role("radio", name=title, exact=True).check()
        if size is not None:
            dialog.locator("[name=size]").select_option(str(size))
        if set(values) - {"person", "level"}:
            dialog.locator(".more summary").click()
        enter(dialog, values)
        dialog.get_by_role("button", name="Start").click()
        expect(page.get_by_role("dialog")).to_have_count(0)
        expect(page.locator(f'.page:not([data-game="{before}"]):not([data-turn="engine"])')).to_be_visible()
        return self

    def click(self, point: int) -> None:
        """A click on a point of the board, counted from the top left."""
        view = self.view
        row, column = divmod(point, view["cols"])
        row = view["rows"] - 1 - row if view["turned"] else row
        self.page.locator(f'.shudan-vertex[data-x="{column}"][data-y="{row}"]').click()

    def press(self, name: str) -> "Tab":
        """A click on a button."""
        self.page.get_by_role("button", name=name, exact=True).click()
        return self

    def shows(self, text: str | re.Pattern[str]) -> "Tab":
        """Until the page shows this text."""
        expect(self.page.get_by_text(text).first).to_be_visible()
        return self

    def load(self, folder: Path, text: str, name: str = "game.sgf", encoding: str = "utf-8") -> "Tab":
        """Open a record with this text, from a file in the folder, as one that was never opened before."""
        path = folder / name
        path.write_text(text + "\n" * next(FILES), encoding=encoding)
        self.page.get_by_label("A record to open").set_input_files(path)
        return self

    def saved(self) -> tuple[str, str]:
        """The name and the text of the file that "Save the game" writes."""
        with self.page.expect_download() as downloaded:
            self.press("Save the game")
        return downloaded.value.suggested_filename, Path(downloaded.value.path()).read_text(encoding="utf-8")

    @contextmanager
    def hears(self, kind: str) -> Iterator[None]:
        """Around what makes the server send a report of this kind."""
        with self._socket.expect_event("framereceived", lambda frame: json.loads(frame)["is"] == kind):
            yield

    def picture(self, name: str) -> None:
        """A picture of the page among the tests' artefacts."""
        ARTEFACTS.mkdir(exist_ok=True)
        self.page.screenshot(path=ARTEFACTS / f"{name}.png", animations="disabled")
