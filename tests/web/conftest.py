"""One server and one browser for the tests of a file."""

from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING

import pytest

if TYPE_CHECKING:
    from playwright.sync_api import Browser

    from tests.web.site import Site, Tab


@pytest.fixture(scope="module")
def served() -> "Iterator[Site]":
    from tests.web.site import site

    with site() as running:
        yield running


@pytest.fixture(scope="module")
def browser() -> "Iterator[Browser]":
    from tests.web.site import chromium

    with chromium() as running:
        yield running


@pytest.fixture(scope="module")
def rooms() -> list[str]:
    """The address of the file's first game: its engine serves the later tests too."""
    return []


@pytest.fixture
def tab(served: "Site", browser: "Browser", rooms: list[str]) -> "Iterator[Callable[..., Tab]]":
    """Opens pages: on the file's game, or an address. A page that reported a fault fails the test."""
    from tests.web.site import DESKTOP, Tab

    opened = []

    def open_tab(address: str = "", **how: object) -> "Tab":
        context = browser.new_context(**{"viewport": DESKTOP, **how})  # type: ignore[arg-type]
        opened.append((context, Tab(context.new_page())))
        found = opened[-1][1].open(address or (rooms or [served.address])[0])
        if not rooms:
            rooms.append(found.page.url)
        return found

    yield open_tab
    for context, found in opened:
        context.close()
        assert found.faults == []
