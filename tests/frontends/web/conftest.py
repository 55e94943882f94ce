"""One server and one browser for the tests that need Chromium, and one server for those that need none."""

from collections.abc import Callable, Iterator
from importlib import import_module
from typing import TYPE_CHECKING

import pytest

from gozero.games import GAMES

if TYPE_CHECKING:
    from playwright.sync_api import Browser

    from tests.frontends.web.site import Tab
    from tests.frontends.web.stage import Stage
    from tests.frontends.web.talk import Server, Wire


@pytest.fixture(scope="session", autouse=True)
def compiled() -> None:
    """Engine processes find all kernels in the cache, so that none says that it compiles."""
    for module in (*GAMES.values(), "gozero.frontends.web.engine.handler", "gozero.nets.features"):
        import_module(module)


@pytest.fixture(scope="session")
def served() -> "Iterator[Server]":
    from tests.frontends.web.talk import served_by

    with served_by() as running:
        yield running


@pytest.fixture(scope="session")
def browser() -> "Iterator[Browser]":
    from tests.frontends.web.site import chromium

    with chromium() as running:
        yield running


@pytest.fixture(scope="session")
def addresses() -> list[str]:
    """The address of the game that the usual tab showed last: its engine serves the later tests too."""
    return []


@pytest.fixture(scope="session")
def server() -> "Iterator[Server]":
    """A server for two boards, the first one of tic-tac-toe."""
    from tests.frontends.web.talk import served_by

    with served_by("--boards", "2", "--game", "tictactoe") as running:
        yield running


@pytest.fixture(scope="session")
def shared_game(server: "Server") -> str:
    """A game of that server, whose engine serves many tests."""
    with server.page() as page:
        name: str = page.until("view")["identity"]
        return name


@pytest.fixture
def page(server: "Server", shared_game: str) -> "Iterator[Wire]":
    """A page that shows that game."""
    with server.page(shared_game) as opened:
        yield opened


@pytest.fixture(scope="session")
def usual_tab(browser: "Browser") -> "Tab":
    """What most tests open first: a new context would need a second of processor time."""
    from tests.frontends.web.site import DESKTOP, Tab

    return Tab(browser.new_context(viewport=DESKTOP).new_page())  # type: ignore[arg-type]


@pytest.fixture
def tab(served: "Server", browser: "Browser", usual_tab: "Tab", addresses: list[str]) -> "Iterator[Callable[..., Tab]]":
    """Opens pages: on the first game, or an address. A page that reported a fault fails the test."""
    from tests.frontends.web.site import DESKTOP, Tab

    opened: list[Tab] = []

    def open_tab(address: str = "", **how: object) -> "Tab":
        is_usual = not (opened or address or how)
        found = usual_tab if is_usual else Tab(browser.new_context(**{"viewport": DESKTOP, **how}).new_page())  # type: ignore[arg-type]
        opened.append(found)
        found.open(address or (addresses or [served.address])[0])
        if not addresses and not address:
            addresses.append(found.page.url)
        return found

    yield open_tab
    for found in opened:
        faults = found.faults.copy()
        if found is usual_tab:
            addresses[:] = [found.page.url]
            found.leave()
        else:
            found.page.context.close()
        assert faults == []


@pytest.fixture(scope="session")
def opened_stage(served: "Server", browser: "Browser") -> "Stage":
    from tests.frontends.web.site import DESKTOP
    from tests.frontends.web.stage import Stage

    found = Stage(browser.new_context(viewport=DESKTOP).new_page())  # type: ignore[arg-type]
    found.open(served.address)
    return found


@pytest.fixture
def stage(opened_stage: "Stage") -> "Iterator[Stage]":
    """A page that shows what the test sends. One that reported a fault fails the test."""
    opened_stage.greet()
    opened_stage.page.evaluate("document.activeElement.blur()")  # the board takes keys that the page takes otherwise
    opened_stage.asked.clear()
    yield opened_stage
    opened_stage.page.keyboard.press("Escape")  # closes the dialog of a test that failed
    assert opened_stage.faults == []
