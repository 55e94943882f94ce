"""The web server: a socket to listen on, the page's files, a WebSocket for each page, an orderly end.

What a browser sends never becomes a path: files are served from a table that is read at the start, and weights are
chosen by their names in a table.
"""

from __future__ import annotations

import asyncio
import contextlib
import errno
import functools
import hashlib
import json
import logging
import signal
import socket
import subprocess
import sys
import threading
from dataclasses import replace
from importlib import resources
from pathlib import PurePath
from typing import Any

from aiohttp import WSCloseCode, WSMsgType, web
from aiohttp.http_exceptions import HttpProcessingError

from gozero import __version__ as VERSION
from gozero.frontends.web.server.access import Access, add_headers
from gozero.frontends.web.server.games import OpenGame, OpenGames, OpenPage
from gozero.frontends.web.settings import PROGRAM, WebSettings
from gozero.system.console import SUCCESS, say
from gozero.system.files import from_json
from gozero.system.options import SettingsError

USUAL_PORT = 8013
ANY_ADDRESS = ("0.0.0.0", "::")
SHUTDOWN = 1.0  # seconds that open connections have to end
LARGEST_REQUEST = 2**21  # bytes that a page may send: a record of a million bytes, in base64
CLOSING = 0.5  # seconds that a page has to agree to be closed
HEARTBEAT = 20.0  # seconds after which a page that does not answer counts as closed
SILENCE = 180.0  # seconds after which a connection that asks for nothing, or does not take what it was sent, is closed
MOST_PAGES = 32
MOST_UNREAD = 200  # reports that wait for a page that goes on asking
TYPES = {".html": "text/html", ".js": "text/javascript", ".css": "text/css", ".txt": "text/plain"}
INTERNAL = ("catalogue", "leave")
"""Requests that the server makes itself; pages may not."""
NOT_UNDERSTOOD = "This page sent something that the server does not understand: reload it."


class BoardServer:
    """Answers browsers."""

    def __init__(self, settings: WebSettings, games: OpenGames) -> None:
        self._settings = settings
        self._games = games
        self._sockets: dict[web.WebSocketResponse, web.Request] = {}  # of pages, each with the request for it
        folder = resources.files("gozero.frontends.web") / "static"
        found = [(entry, TYPES.get(PurePath(entry.name).suffix)) for entry in folder.iterdir()]
        self._files = {entry.name: (entry.read_bytes(), kind) for entry, kind in found if kind}

    def application(self, access: Access) -> web.Application:
        """For aiohttp, with these checks."""
        application = web.Application(middlewares=[access.check], client_max_size=2**16)
        application.router.add_get("/", self._file)
        application.router.add_get("/socket", self._connect)
        application.router.add_get("/{name}", self._file)
        application.on_response_prepare.append(add_headers)
        application.on_shutdown.append(self._close_pages)
        return application

    async def _close_pages(self, application: web.Application) -> None:
        """Close every page's connection, so that nothing waits for them."""
        # without drain: that waits for ever for a page that does not read
        await asyncio.gather(*(socket.close(code=WSCloseCode.GOING_AWAY, drain=False) for socket in self._sockets))

    async def _file(self, request: web.Request) -> web.Response:
        name = request.match_info.get("name", "index.html")
        if name not in self._files:
            raise web.HTTPNotFound(text="There is no such page.\n")
        body, kind = self._files[name]
        return web.Response(body=body, content_type=kind, charset="utf-8")

    async def _connect(self, request: web.Request) -> web.WebSocketResponse:
        """Serve a page, unless there are too many."""
        if sum(each.transport is not None for each in self._sockets.values()) >= MOST_PAGES:  # None: the page has gone
            raise web.HTTPServiceUnavailable(text="Too many pages are open.\n")
        socket = web.WebSocketResponse(heartbeat=HEARTBEAT, max_msg_size=LARGEST_REQUEST, timeout=CLOSING)
        self._sockets[socket] = request  # before anything is awaited, so that the limit holds
        try:
            await socket.prepare(request)
            await self._serve(request, socket)
        finally:
            del self._sockets[socket]
            if socket.close_code == WSCloseCode.ABNORMAL_CLOSURE and request.transport is not None:
                # what a page that does not read has not got would keep the connection; a slow one may get it
                asyncio.get_running_loop().call_later(SILENCE, request.transport.abort)
        return socket

    async def _serve(self, request: web.Request, socket: web.WebSocketResponse) -> None:
        """Send a page its game, and pass on its requests, until it is closed."""
        catalogue = await self._games.catalogue  # until then the engine process belongs to no game
        identity, page = request.query.get("game"), OpenPage()
        game = await self._games.find(identity)
        if request.transport is None:  # the page was closed meanwhile, and needs no engine
            return
        is_lost = game.is_empty and identity is not None
        page.send({"is": "hello", "lost": is_lost, "version": VERSION, "games": catalogue})
        game.add_page(page)
        if game.is_empty and "snapshot" not in request.query:  # else the page restores the game
            game.request({"do": "new", "setup": self._settings.first_setup}, page)
        sender = asyncio.create_task(_send_all(page, socket))
        try:
            async for message in socket:
                if page.reports.qsize() > MOST_UNREAD and request.transport is not None:
                    request.transport.abort()  # it only asks; the heartbeat closes one that does neither
                elif message.type == WSMsgType.TEXT:
                    await self._take(game, page, message.data)
        finally:
            sender.cancel()
            game.remove_page(page)

    async def _take(self, game: OpenGame, page: OpenPage, text: str) -> None:
        """Answer a page's request for the list of games; pass every other one on to the engine of its game."""
        try:
            request = from_json(text)
            what = request["do"]
        except (LookupError, TypeError, ValueError):
            what = None
        if not isinstance(what, str) or what in INTERNAL:
            page.refuse(NOT_UNDERSTOOD)
        elif what in ("list", "delete-game"):
            await self._list(page, request)
        else:
            try:
                if what == "load":
                    await self._load(game, page, request)
                else:
                    game.request(request, page)
            except RecursionError:  # nested a little less deeply than what cannot be read
                page.refuse(NOT_UNDERSTOOD)

    async def _load(self, game: OpenGame, page: OpenPage, request: dict[str, Any]) -> None:
        """Let the engine open a file, or the page the game that was made of it before."""
        file = json.dumps([request.get("data"), request.get("number")])
        identity = hashlib.sha256(file.encode()).hexdigest()[:16]
        if await self._games.stored.get(identity) is None:
            game.request({**request, "identity": identity}, page)
        else:
            page.send({"is": "known", "identity": identity})

    async def _list(self, page: OpenPage, request: dict[str, Any]) -> None:
        """Send a page the list of all games, after one was deleted, if it asks for that."""
        if request["do"] == "delete-game" and (why := await self._games.delete(str(request.get("identity")))):
            page.refuse(why)
        page.send({"is": "list", "games": await self._games.stored.titles()})


async def _send_all(page: OpenPage, socket: web.WebSocketResponse) -> None:
    """Send what is queued for a page, until the connection breaks."""
    with contextlib.suppress(ConnectionError):
        while True:
            await socket.send_json(await page.reports.get())


async def serve(settings: WebSettings, games: OpenGames) -> int:
    """Serve until SIGTERM, and return SUCCESS. SettingsError if it cannot listen, or no game can be played."""
    listener = listen(settings)
    access = Access(settings, listener.getsockname()[1])
    logging.getLogger("aiohttp.server").addFilter(_is_ours)
    application = BoardServer(settings, games).application(access)
    runner = web.AppRunner(application, access_log=None, shutdown_timeout=SHUTDOWN, keepalive_timeout=SILENCE)

    async def work() -> None:
        if settings.is_checked:
            await games.catalogue
        await runner.setup()
        await web.SockSite(runner, listener).start()
        _announce(settings, access)
        await games.catalogue
        await asyncio.Event().wait()  # for ever

    asyncio.get_running_loop().set_exception_handler(_on_error)
    working = asyncio.create_task(work())
    with contextlib.suppress(NotImplementedError):  # Windows
        asyncio.get_running_loop().add_signal_handler(signal.SIGTERM, working.cancel)
    try:
        await asyncio.wait([working])
        if not working.cancelled():
            working.result()
        return SUCCESS
    finally:
        working.cancel()
        await runner.cleanup()


def listen(settings: WebSettings) -> socket.socket:
    """A socket that listens. SettingsError if the address or the port that was asked for cannot be had."""
    family = socket.AF_INET6 if ":" in settings.host else socket.AF_INET
    port = USUAL_PORT if settings.port is None else settings.port
    try:
        both = settings.host == "::" and socket.has_dualstack_ipv6()  # a host's name may be one of IPv4 alone
        return socket.create_server((settings.host, port), family=family, dualstack_ipv6=both)
    except (OSError, UnicodeError) as error:
        is_taken = getattr(error, "errno", None) in (errno.EADDRINUSE, errno.EACCES)
        if is_taken and settings.port is None:
            return listen(replace(settings, port=0))
        reason = (getattr(error, "strerror", None) or str(error)).lower().partition(" (while ")[0]
        hint = "; choose another --port" if port and is_taken else ""
        raise SettingsError(f"cannot listen on {settings.host}, port {port}: {reason}{hint}") from None


def _announce(settings: WebSettings, access: Access) -> None:
    """Say what to type into a browser, or open one."""
    host = socket.gethostname() if settings.host in ANY_ADDRESS else settings.host
    shown = f"[{host}]" if ":" in host else host
    address = f"http://{shown}:{access.port}/" + (f"?token={access.token}" if access.token else "")
    say(f"{PROGRAM}: the board is at {address}   (Ctrl-C ends it)")
    if not settings.is_local:
        say(f"{PROGRAM}: everybody who knows this address can play here and use this machine's processor")
    if not settings.no_browser:
        open_browser(address)


def open_browser(address: str) -> None:
    """Open the user's browser, if there is one: in a process of its own without the terminal, so that neither a browser
    that runs in the terminal nor one that does not return keeps Ctrl-C from the server.
    """
    with contextlib.suppress(OSError):
        process = subprocess.Popen(
            [sys.executable, "-P", "-m", "webbrowser", address],
            stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, start_new_session=True,
        )  # fmt: skip
        threading.Thread(target=process.wait, name="browser", daemon=True).start()


def _on_error(loop: asyncio.AbstractEventLoop, context: dict[str, Any]) -> None:
    """Say in one line, once, that no connection can be accepted: asyncio tries it a hundred times a second."""
    if getattr(context.get("exception"), "errno", None) in (errno.EMFILE, errno.ENFILE):
        _say_full()
    else:
        loop.default_exception_handler(context)


@functools.cache
def _say_full() -> None:
    say(f"{PROGRAM}: too many connections are open: new pages wait until some are closed")


def _is_ours(record: logging.LogRecord) -> bool:
    """Whether an error is the server's own: not what is no HTTP, which has been answered, a page that has gone already,
    or the reason for which the server ends.
    """
    others = (HttpProcessingError, ConnectionError, SettingsError)
    return record.exc_info is None or not isinstance(record.exc_info[1], others)
