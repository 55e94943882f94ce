"""The web server: the page's files, a WebSocket for each page, and a run's report.

What a browser sends never becomes a path: files are served from a table that is read at the start, and weights are
chosen by their names in a table.
"""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncIterator, Callable
from contextlib import suppress
from importlib import resources
from typing import Any

from aiohttp import WSCloseCode, WSMsgType, web

from gozero import __version__ as VERSION
from gozero.frontends.web.server.guard import REPORT_POLICY, Guard
from gozero.frontends.web.server.rooms import Room, Rooms
from gozero.frontends.web.server.training_run import TrainingRun
from gozero.frontends.web.settings import WebSettings

LARGEST_REQUEST = 4 * 2**20  # bytes of a text that a page may send: a record of a million characters, as JSON
CLOSING = 0.5  # seconds that a page has to agree to be closed
HEARTBEAT = 20.0  # seconds after which a page that does not answer counts as closed
MOST_PAGES = 32
MOST_WAITING = 100  # reports that wait for a page that does not read; further looks are dropped
MOST_UNREAD = 16 * 2**20  # bytes of them, or twice as many reports, at which the page itself is
TYPES = {".html": "text/html", ".js": "text/javascript", ".css": "text/css", ".txt": "text/plain"}
INTERNAL = ("catalogue", "leave")
"""Requests that the server makes itself; pages may not."""
NOT_UNDERSTOOD = "This page sent something that the server does not understand: reload it."


class OpenPage:
    """A page's connection. Reports wait in a queue, so that a slow page delays nobody; one that does not read is dropped.

    Args:
        socket: to it.
        drop: breaks the connection at once.
    """

    def __init__(self, socket: web.WebSocketResponse, drop: Callable[[], None]) -> None:
        self._socket = socket
        self._drop = drop
        self._waiting: asyncio.Queue[str] = asyncio.Queue()
        self._size = 0  # characters that wait, all of them ASCII

    def tell(self, report: dict[str, Any]) -> None:
        """Send a report, when the page can take it."""
        if self._waiting.qsize() >= 2 * MOST_WAITING or self._size >= MOST_UNREAD:
            self._drop()
        elif self._waiting.qsize() < MOST_WAITING or report["is"] != "look":
            text = json.dumps(report, separators=(",", ":"))
            self._size += len(text)
            self._waiting.put_nowait(text)

    async def send_all(self) -> None:
        """Send what waits, until the connection breaks."""
        with suppress(ConnectionError):
            while True:
                text = await self._waiting.get()
                self._size -= len(text)
                await self._socket.send_str(text)


class BoardServer:
    """Answers browsers.

    Args:
        settings: the user's.
        run: to be shown, or None.
        rooms: the games.
        port: on which it listens.
    """

    def __init__(self, settings: WebSettings, run: TrainingRun | None, rooms: Rooms, port: int) -> None:
        self._settings = settings
        self._run = run
        self.rooms = rooms
        self._pages = 0
        self._sockets: set[web.WebSocketResponse] = set()
        self.guard = Guard(settings, port)
        self._files = {entry.name: entry.read_bytes() for entry in _static_files()}

    def application(self) -> web.Application:
        """For aiohttp."""
        application = web.Application(middlewares=[self.guard.middleware], client_max_size=2**16)
        application.router.add_get("/", self._file)
        application.router.add_get("/socket", self._connect)
        application.router.add_get("/run/report", self._report)
        application.router.add_get("/{name}", self._file)
        application.cleanup_ctx.append(self._life)
        application.on_shutdown.append(self._close_pages)
        return application

    async def _life(self, application: web.Application) -> AsyncIterator[None]:
        """Engine processes live as long as the server."""
        self.rooms.prepare()
        learning = asyncio.create_task(self.rooms.learn_games())
        yield
        learning.cancel()
        self.rooms.close()

    async def _close_pages(self, application: web.Application) -> None:
        """Tell every page that the server ends, so that nothing waits for them."""
        await asyncio.gather(*(socket.close(code=WSCloseCode.GOING_AWAY) for socket in self._sockets))

    async def _file(self, request: web.Request) -> web.Response:
        name = request.match_info.get("name", "index.html")
        if name not in self._files:
            raise web.HTTPNotFound(text="There is no such page.\n")
        kind = TYPES[name[name.rindex(".") :]]
        return web.Response(body=self._files[name], content_type=kind, charset="utf-8")

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
        """A page: tell it its game, pass on what it asks for, until it is closed."""
        if self._pages >= MOST_PAGES:
            raise web.HTTPServiceUnavailable(text="Too many pages are open.\n")
        self._pages += 1
        try:
            socket = web.WebSocketResponse(heartbeat=HEARTBEAT, max_msg_size=LARGEST_REQUEST, timeout=CLOSING)
            self.guard.complete(request, socket)
            await socket.prepare(request)
            await self.rooms.learned.wait()  # until then the engine process is not a room's
            await self._serve(request, socket)
        finally:
            self._pages -= 1
        return socket

    async def _serve(self, request: web.Request, socket: web.WebSocketResponse) -> None:
        def drop() -> None:
            if request.transport is not None:
                request.transport.abort()

        page = OpenPage(socket, drop)
        room, is_new = self.rooms.room(request.query.get("game", ""))
        sender = asyncio.create_task(page.send_all())
        self._sockets.add(socket)
        page.tell(self._hello(room, is_lost=is_new and "game" in request.query))
        number = room.enter(page)
        try:
            restores = is_new and "kept" in request.query  # the page does
            if room.is_empty and not restores:
                room.ask({"do": "new", "setup": self._settings.first_setup}, number)
            async for message in socket:
                if message.type == WSMsgType.TEXT:
                    self._take(room, number, message.data)
        finally:
            self._sockets.discard(socket)
            sender.cancel()
            room.leave(number)

    def _hello(self, room: Room, *, is_lost: bool) -> dict[str, Any]:
        """What a page is told first."""
        run = None
        if self._run is not None:
            run = {"name": self._run.name, "report": (self._run.folder / "report.html").is_file()}
        return {
            "is": "hello",
            "version": VERSION,
            "room": room.identifier,
            "games": self.rooms.games,
            "run": run,
            "lost": is_lost,
        }

    def _take(self, room: Room, number: int, text: str) -> None:
        """Pass a page's request on to the engine of its room."""
        try:
            request = json.loads(text)
        except (ValueError, RecursionError):
            request = None
        if not isinstance(request, dict) or not isinstance(request.get("do"), str) or request["do"] in INTERNAL:
            room.tell({"is": "refused", "text": NOT_UNDERSTOOD}, number)
            return
        if request["do"] in ("new", "restore"):
            request = self._begun(request)
            if request is None:
                room.tell({"is": "refused", "text": "These weights are not offered: reload the page."}, number)
                return
        room.ask(request, number, len(text))

    def _begun(self, request: dict[str, Any]) -> dict[str, Any] | None:
        """A request for a game, new or kept by the page, with the weights' path in place of their name; None where there
        is none.
        """
        saved = request.get("saved") if request["do"] == "restore" else request
        setup = saved.get("setup") if isinstance(saved, dict) else None
        if not isinstance(setup, dict):
            return None
        label = setup.get("engine") or ""
        setup.pop("weights", None)
        if label:
            if not isinstance(label, str) or label not in self.rooms.choices:
                return None
            setup["weights"] = str(self.rooms.choices[label])
        return {"do": "new", "setup": setup} if saved is request else {"do": "restore", "saved": saved}


def _static_files() -> list[Any]:
    """The files of the page."""
    folder = resources.files("gozero.frontends.web") / "static"
    return [entry for entry in folder.iterdir() if entry.is_file() and f".{entry.name.rsplit('.')[-1]}" in TYPES]
