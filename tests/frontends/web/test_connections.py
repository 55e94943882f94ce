"""Connections whose other end does nothing, to a server with a stand-in for its engine processes."""

import asyncio
import socket
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager, suppress
from typing import Any

import pytest

pytest.importorskip("aiohttp")

from aiohttp.web_protocol import RequestHandler

from gozero.frontends.web.server import games, server
from gozero.frontends.web.settings import WebSettings
from tests.frontends.web.talk import PATIENCE, wait_for

LONG = "a" * 2**23  # more than the system holds for a program that does not read


class StandIn:
    """An engine process that answers each request at length."""

    is_running, is_behind = True, False

    def __init__(self, arguments: Any) -> None:
        self.on_report = self.on_exit = lambda *values: None

    def send(self, request: dict[str, Any]) -> None:
        is_first = request["do"] == "catalogue"
        report = {"is": "catalogue", "fault": "", "games": []} if is_first else {"is": "text", "text": LONG}
        asyncio.get_running_loop().call_soon(self.on_report, report)

    def end(self) -> None:
        """It has nothing to end."""

    async def has_ended(self) -> None:
        """At once."""


@asynccontextmanager
async def served(monkeypatch: pytest.MonkeyPatch) -> AsyncIterator[int]:
    """The port of a server, which ends with the block."""
    loop = asyncio.get_running_loop()
    port = loop.create_future()
    monkeypatch.setattr(loop, "add_signal_handler", lambda *_: None)  # for the main thread alone
    monkeypatch.setattr(games, "EngineProcess", StandIn)
    monkeypatch.setattr(server, "_announce", lambda settings, access: port.set_result(access.port))
    settings = WebSettings(port=0, no_games=True)
    running = games.OpenGames(settings)
    serving = asyncio.create_task(server.serve(settings, running))
    try:
        yield await port
    finally:
        serving.cancel()
        with suppress(asyncio.CancelledError):
            await asyncio.wait_for(serving, PATIENCE)
        await running.close()
        loop.set_exception_handler(None)


def connected(port: int) -> socket.socket:
    """The connection of a page that has read nothing yet."""
    link = socket.create_connection(("127.0.0.1", port))
    link.sendall(
        f"GET /socket HTTP/1.1\r\nHost: 127.0.0.1:{port}\r\nOrigin: http://127.0.0.1:{port}\r\nUpgrade: websocket\r\n"
        "Connection: Upgrade\r\nSec-WebSocket-Version: 13\r\nSec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\n\r\n".encode()
    )
    return link


async def page(port: int) -> socket.socket:
    """The connection of a page that reads a little of its first report, and no more."""
    link = connected(port)
    await asyncio.to_thread(link.recv, 2**16, socket.MSG_WAITALL)
    return link


def closing(monkeypatch: pytest.MonkeyPatch) -> asyncio.Event:
    """An event that is set when the server has closed a connection."""
    closed, usual = asyncio.Event(), RequestHandler.connection_lost

    def lost(self: RequestHandler, error: BaseException | None) -> None:
        usual(self, error)
        closed.set()

    monkeypatch.setattr(RequestHandler, "connection_lost", lost)
    return closed


def test_a_page_that_does_not_read_keeps_no_connection(monkeypatch: pytest.MonkeyPatch) -> None:
    async def run() -> None:
        async with served(monkeypatch) as port:
            with await page(port):
                await asyncio.wait_for(closed.wait(), PATIENCE)

    closed = closing(monkeypatch)
    monkeypatch.setattr(server, "HEARTBEAT", 0.1)
    monkeypatch.setattr(server, "SILENCE", 0.1)
    wait_for(run())


def test_a_page_that_does_not_read_does_not_keep_the_server(monkeypatch: pytest.MonkeyPatch) -> None:
    async def run() -> None:
        async with served(monkeypatch) as port:
            link = await page(port)
        link.close()

    wait_for(run())


def test_a_page_that_waits_for_the_engine_counts_as_open_until_it_is_closed(monkeypatch: pytest.MonkeyPatch) -> None:
    async def run() -> None:
        async with served(monkeypatch) as port:
            for _ in range(2):
                with connected(port) as first, connected(port) as second:
                    heads = [await asyncio.to_thread(link.recv, 12) for link in (first, second)]
                    assert heads == [b"HTTP/1.1 101", b"HTTP/1.1 503"]

    monkeypatch.setattr(StandIn, "send", lambda self, request: None)  # its catalogue never comes
    monkeypatch.setattr(server, "MOST_PAGES", 1)
    wait_for(run())


def test_a_connection_that_asks_for_nothing_is_closed(monkeypatch: pytest.MonkeyPatch) -> None:
    async def run() -> None:
        async with served(monkeypatch) as port:
            with socket.create_connection(("127.0.0.1", port)):
                await asyncio.wait_for(closed.wait(), PATIENCE)

    closed = closing(monkeypatch)
    monkeypatch.setattr(server, "SILENCE", 0.1)
    wait_for(run())
