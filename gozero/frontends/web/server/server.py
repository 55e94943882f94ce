"""The web server: a socket to listen on, the page's files, a WebSocket for each page, a run's report, an orderly end.

What a browser sends never becomes a path: files are served from a table that is read at the start, and weights are
chosen by their names in a table.
"""

from __future__ import annotations

import asyncio
import contextlib
import errno
import json
import logging
import signal
import socket
import subprocess
import sys
import threading
from collections.abc import AsyncIterator, Callable
from dataclasses import replace
from importlib import resources
from typing import Any

from aiohttp import WSCloseCode, WSMsgType, web
from aiohttp.http_exceptions import HttpProcessingError

from gozero import __version__ as VERSION
from gozero.frontends.web.server.access import REPORT_POLICY, Access
from gozero.frontends.web.server.games import OpenGame, OpenGames
from gozero.frontends.web.server.training_run import TrainingRun
from gozero.frontends.web.settings import WebSettings
from gozero.system.console import INTERRUPTED, SUCCESS
from gozero.system.options import SettingsError

USUAL_PORT = 8013
ANY_ADDRESS = ("0.0.0.0", "::")
SHUTDOWN = 1.0  # seconds that open connections have to end
LARGEST_REQUEST = 4 * 2**20  # bytes of a text that a page may send: a record of a million characters, as JSON
CLOSING = 0.5  # seconds that a page has to agree to be closed
HEARTBEAT = 20.0  # seconds after which a page that does not answer counts as closed
MOST_PAGES = 32
MOST_QUEUED = 100  # reports that wait for a page that does not read; further looks are dropped
MOST_UNREAD = 16 * 2**20  # bytes of them, or twice as many reports, at which the page itself is
TYPES = {".html": "text/html", ".js": "text/javascript", ".css": "text/css", ".txt": "text/plain"}
INTERNAL = ("catalogue", "leave")
"""Requests that the server makes itself; pages may not."""
NOT_UNDERSTOOD = "This page sent something that the server does not understand: reload it."
NO_WEIGHTS = "These weights are not offered: reload the page."


class OpenPage:
    """A page's connection. Reports wait in a queue, so that a slow page delays nobody; one that reads none is dropped.

    Args:
        socket: to it.
        drop: breaks the connection at once.
    """

    def __init__(self, socket: web.WebSocketResponse, drop: Callable[[], None]) -> None:
        self._socket = socket
        self._drop = drop
        self._queue: asyncio.Queue[str] = asyncio.Queue()
        self._size = 0  # characters in it, all of them ASCII

    def send(self, report: dict[str, Any]) -> None:
        """Send a report when the page can take it."""
        if self._queue.qsize() >= 2 * MOST_QUEUED or self._size >= MOST_UNREAD:
            self._drop()
        elif self._queue.qsize() < MOST_QUEUED or report["is"] != "look":
            text = json.dumps(report, separators=(",", ":"))
            self._size += len(text)
            self._queue.put_nowait(text)

    async def send_all(self) -> None:
        """Send what is queued, until the connection breaks."""
        with contextlib.suppress(ConnectionError):
            while True:
                text = await self._queue.get()
                self._size -= len(text)
                await self._socket.send_str(text)


class BoardServer:
    """Answers browsers.

    Args:
        settings: the user's.
        run: to be shown, or None.
        games: those of this server.
        port: on which it listens.
    """

    def __init__(self, settings: WebSettings, run: TrainingRun | None, games: OpenGames, port: int) -> None:
        self._settings = settings
        self._run = run
        self.games = games
        self._page_count = 0
        self._sockets: set[web.WebSocketResponse] = set()
        self.access = Access(settings, port)
        folder = resources.files("gozero.frontends.web") / "static"
        self._files = {entry.name: entry.read_bytes() for entry in folder.iterdir() if _suffix(entry.name) in TYPES}

    def application(self) -> web.Application:
        """For aiohttp."""
        application = web.Application(middlewares=[self.access.middleware], client_max_size=2**16)
        application.router.add_get("/", self._file)
        application.router.add_get("/socket", self._connect)
        application.router.add_get("/run/report", self._report)
        application.router.add_get("/{name}", self._file)
        application.cleanup_ctx.append(self._run_engines)
        application.on_shutdown.append(self._close_pages)
        return application

    async def _run_engines(self, application: web.Application) -> AsyncIterator[None]:
        """Engine processes live as long as the server."""
        loading = asyncio.create_task(self.games.load_catalogue())
        yield
        loading.cancel()
        self.games.close()

    async def _close_pages(self, application: web.Application) -> None:
        """Close every page's connection, so that nothing waits for them."""
        await asyncio.gather(*(socket.close(code=WSCloseCode.GOING_AWAY) for socket in self._sockets))

    async def _file(self, request: web.Request) -> web.Response:
        name = request.match_info.get("name", "index.html")
        if name not in self._files:
            raise web.HTTPNotFound(text="There is no such page.\n")
        return web.Response(body=self._files[name], content_type=TYPES[_suffix(name)], charset="utf-8")

    async def _report(self, request: web.Request) -> web.Response:
        page = None if self._run is None else await asyncio.to_thread(self._run.report)
        if page is None:
            text = "There is no run here: start gozero web with --run RUN_FOLDER.\n"
            if self._run is not None:
                text = "This run has no report yet: gozero report RUN_FOLDER writes one.\n"
            raise web.HTTPNotFound(text=text)
        headers = {"Content-Security-Policy": REPORT_POLICY}
        return web.Response(body=page, content_type="text/html", charset="utf-8", headers=headers)

    async def _connect(self, request: web.Request) -> web.WebSocketResponse:
        """Serve a page: send its game, pass on its requests, until it is closed."""
        if self._page_count >= MOST_PAGES:
            raise web.HTTPServiceUnavailable(text="Too many pages are open.\n")
        self._page_count += 1
        try:
            socket = web.WebSocketResponse(heartbeat=HEARTBEAT, max_msg_size=LARGEST_REQUEST, timeout=CLOSING)
            self.access.add_headers(request, socket)
            await socket.prepare(request)
            await self.games.is_ready.wait()  # until then the engine process belongs to no game
            await self._serve(request, socket)
        finally:
            self._page_count -= 1
        return socket

    async def _serve(self, request: web.Request, socket: web.WebSocketResponse) -> None:
        def drop() -> None:
            if request.transport is not None:
                request.transport.abort()

        page = OpenPage(socket, drop)
        game, is_new = self.games.find(request.query.get("game", ""))
        sender = asyncio.create_task(page.send_all())
        self._sockets.add(socket)
        page.send(self._hello(game, is_lost=is_new and "game" in request.query))
        number = game.add_page(page)
        try:
            restores = is_new and "snapshot" in request.query  # the page does
            if game.is_empty and not restores:
                game.request({"do": "new", "setup": self._settings.first_setup}, number)
            async for message in socket:
                if message.type == WSMsgType.TEXT:
                    self._take(game, number, message.data)
        finally:
            self._sockets.discard(socket)
            sender.cancel()
            game.remove_page(number)

    def _hello(self, game: OpenGame, *, is_lost: bool) -> dict[str, Any]:
        """The first report to a page."""
        run = self._run and {"name": self._run.name, "report": self._run.has_report}
        return {
            "is": "hello",
            "version": VERSION,
            "game": game.identifier,
            "games": self.games.catalogue,
            "run": run,
            "lost": is_lost,
        }

    def _take(self, game: OpenGame, number: int, text: str) -> None:
        """Pass a page's request on to the engine of its game."""
        try:
            request = json.loads(text)
        except (ValueError, RecursionError):
            request = None
        if not isinstance(request, dict) or not isinstance(request.get("do"), str) or request["do"] in INTERNAL:
            game.refuse(NOT_UNDERSTOOD, number)
            return
        if request["do"] in ("new", "restore"):
            request = self._with_weights(request)
        if request is None:
            game.refuse(NO_WEIGHTS, number)
        else:
            game.request(request, number, len(text))

    def _with_weights(self, request: dict[str, Any]) -> dict[str, Any] | None:
        """A request for a game, new or restored by the page, with the weights' path in place of their name; None if
        there are none of this name.
        """
        saved = request.get("saved") if request["do"] == "restore" else request
        setup = saved.get("setup") if isinstance(saved, dict) else None
        if not isinstance(setup, dict):
            return None
        label = setup.get("engine") or ""
        setup.pop("weights", None)
        if label:
            if not isinstance(label, str) or label not in self.games.choices:
                return None
            setup["weights"] = str(self.games.choices[label])
        return {"do": "new", "setup": setup} if saved is request else {"do": "restore", "saved": saved}


def _suffix(name: str) -> str:
    return f".{name.rpartition('.')[2]}"


def serve(settings: WebSettings, run: TrainingRun | None, games: OpenGames, say: Callable[[str], None]) -> int:
    """Serve until Ctrl-C (INTERRUPTED) or SIGTERM (SUCCESS). SettingsError where it cannot listen, or no game can be
    played.
    """
    listener = listen(settings)
    port = listener.getsockname()[1]
    server = BoardServer(settings, run, games, port)
    address = address_of(settings, port, server.access.token)
    try:
        return asyncio.run(_serve(server, listener, settings.is_checked, lambda: _announce(settings, address, say)))
    except KeyboardInterrupt:  # where signals cannot be waited for
        return INTERRUPTED


def listen(settings: WebSettings) -> socket.socket:
    """A socket that listens. SettingsError if the address or the port that was asked for cannot be had."""
    family = socket.AF_INET6 if ":" in settings.host else socket.AF_INET
    port = USUAL_PORT if settings.port is None else settings.port
    try:
        return socket.create_server((settings.host, port), family=family)
    except (OSError, UnicodeError) as error:
        is_taken = getattr(error, "errno", None) in (errno.EADDRINUSE, errno.EACCES)
        if is_taken and settings.port is None:
            return listen(replace(settings, port=0))
        reason = (getattr(error, "strerror", None) or str(error)).lower().partition(" (while ")[0]
        hint = "; choose another --port" if port and is_taken else ""
        raise SettingsError(f"cannot listen on {settings.host}, port {port}: {reason}{hint}") from None


def address_of(settings: WebSettings, port: int, token: str | None) -> str:
    """What to type into a browser."""
    host = socket.gethostname() if settings.host in ANY_ADDRESS else settings.host
    shown = f"[{host}]" if ":" in host else host
    return f"http://{shown}:{port}/" + (f"?token={token}" if token else "")


def _announce(settings: WebSettings, address: str, say: Callable[[str], None]) -> None:
    say(f"the board is at {address}   (Ctrl-C ends it)")
    if not settings.is_local:
        say("everybody who knows this address can play here and use this machine's processor")
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


async def _serve(server: BoardServer, listener: socket.socket, is_checked: bool, announce: Callable[[], None]) -> int:
    logging.getLogger("aiohttp.server").addFilter(_is_ours)
    runner = web.AppRunner(server.application(), access_log=None, shutdown_timeout=SHUTDOWN)
    await runner.setup()
    ended: asyncio.Future[int] = asyncio.get_running_loop().create_future()
    with contextlib.suppress(NotImplementedError):  # Windows
        for number, code in ((signal.SIGINT, INTERRUPTED), (signal.SIGTERM, SUCCESS)):
            asyncio.get_running_loop().add_signal_handler(number, _end, ended, code)
    checking = asyncio.create_task(_fail_on_fault(server.games, ended))
    try:
        if is_checked:
            either: list[asyncio.Future[Any]] = [checking, ended]
            await asyncio.wait(either, return_when=asyncio.FIRST_COMPLETED)
        if not ended.done():
            await web.SockSite(runner, listener).start()
            announce()
        return await ended
    finally:
        checking.cancel()
        await runner.cleanup()


def _is_ours(record: logging.LogRecord) -> bool:
    """Whether an error is the server's own: what is no HTTP is the client's fault, and has been answered."""
    return record.exc_info is None or not isinstance(record.exc_info[1], HttpProcessingError)


def _end(ended: asyncio.Future[int], code: int) -> None:
    if not ended.done():
        ended.set_result(code)


async def _fail_on_fault(games: OpenGames, ended: asyncio.Future[int]) -> None:
    """Once it is known what games there are, end the server if none can be played."""
    await games.is_ready.wait()
    if games.fault and not ended.done():
        ended.set_exception(SettingsError(games.fault))
