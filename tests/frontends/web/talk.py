"""A server and pages without a browser, for the tests: what is sent and received on the socket."""

import asyncio
import base64
import json
import re
import subprocess
import sys
import threading
from collections.abc import Callable, Coroutine, Iterator
from contextlib import contextmanager
from functools import cache
from itertools import count
from typing import Any, TypeVar
from urllib.parse import parse_qs, urlsplit

import aiohttp

from tests import ROOT

T = TypeVar("T")
FILES = count()
PATIENCE = 120  # seconds; an engine may have to be started beside other programs


@cache
def _loop() -> asyncio.AbstractEventLoop:
    """The event loop of all pages, in a thread of its own: Playwright's is in this one."""
    loop = asyncio.new_event_loop()
    threading.Thread(target=loop.run_forever, name="pages", daemon=True).start()
    return loop


def wait_for(act: Coroutine[Any, Any, T]) -> T:
    """Its result."""
    return asyncio.run_coroutine_threadsafe(act, _loop()).result()


class Wire:
    """A page's connection."""

    def __init__(self, socket: aiohttp.ClientWebSocketResponse, on_game: Callable[[str], None]) -> None:
        self._socket = socket
        self._on_game = on_game

    def send(self, **request: Any) -> None:
        self.send_text(json.dumps(request))

    def load(self, text: str, **more: Any) -> None:
        """Open a file with this text, as one that was never opened before."""
        data = text.encode() + b"\n" * next(FILES)
        self.send(do="load", data=base64.b64encode(data).decode(), **more)

    def send_text(self, text: str) -> None:
        wait_for(self._socket.send_str(text))

    def begin(self, **setup: Any) -> dict[str, Any]:
        """The first view of a new game."""
        before = view = self.until("view")
        self.send(do="new", setup=setup)
        while view["identity"] == before["identity"]:  # the engine of the game before may have moved
            view = self.until("view")
        return view

    def until(self, *kinds: str) -> dict[str, Any]:
        """The next report of one of these kinds."""
        while True:
            message = wait_for(self._socket.receive(timeout=PATIENCE))
            assert message.type == aiohttp.WSMsgType.TEXT, message
            report: dict[str, Any] = json.loads(message.data)
            if report["is"] == "view":
                self._on_game(report["identity"])
            if report["is"] in kinds:
                return report

    def is_closed(self) -> bool:
        """Whether the server has closed the connection, once what it had sent is read."""
        self.closing_code()
        return True

    def closing_code(self) -> int | None:
        """The code with which the server closes the connection, once what it had sent is read."""
        while True:
            message = wait_for(self._socket.receive(timeout=PATIENCE))
            if message.type in (aiohttp.WSMsgType.CLOSE, aiohttp.WSMsgType.CLOSED, aiohttp.WSMsgType.ERROR):
                return self._socket.close_code


class Server:
    """The command gozero web, running."""

    def __init__(self, process: subprocess.Popen[str], lines: int) -> None:
        assert process.stderr is not None
        self.process = process
        said = "".join(process.stderr.readline() for _ in range(lines))
        found = re.search(r"http://\S+", said)
        assert found, said
        self.address = found[0]
        parts = urlsplit(self.address)
        self.port = parts.port or 0
        self.host = f"127.0.0.1:{self.port}"
        self.token = parse_qs(parts.query).get("token", [None])[0]
        self._followed: dict[str, str] = {}  # the game that the pages of a game show by now

    def engines(self) -> list[int]:
        """The ids of its engine processes."""
        done = subprocess.run(["pgrep", "-P", str(self.process.pid)], capture_output=True, text=True, check=False)
        return [int(number) for number in done.stdout.split()]

    @contextmanager
    def page(self, game: str = "", *, has_snapshot: bool = False) -> Iterator[Wire]:
        """A page on a game, or what its pages have begun since, a new one by default; with a snapshot of it, if need
        be.
        """
        wire, session = wait_for(self._connected(game, has_snapshot))
        try:
            yield wire
        finally:
            wait_for(session.close())

    async def _connected(self, game: str, has_snapshot: bool) -> tuple[Wire, aiohttp.ClientSession]:
        session = aiohttp.ClientSession()

        def follow(identity: str) -> None:
            if game:
                self._followed[game] = identity

        shown = self._followed.get(game, game)
        url = (
            f"http://{self.host}/socket" + (f"?game={shown}" if game else "") + ("&snapshot=1" if has_snapshot else "")
        )
        headers = {"Origin": f"http://{self.host}"}
        return Wire(await session.ws_connect(url, headers=headers, max_msg_size=0), follow), session


def command(*options: str) -> list[str]:
    """What starts a server, which stores no games on disk if the options name no folder."""
    quiet = ["--no-browser", "--port", "0", "--threads", "1", "--level", "1"]
    folder = [] if "--games" in options else ["--no-games"]
    return [sys.executable, "-m", "gozero.frontends.web", *quiet, *folder, *options]


@contextmanager
def served_by(*options: str) -> Iterator[Server]:
    """A server with these options; it must end well, if the test has not killed it."""
    process = subprocess.Popen(command(*options), cwd=ROOT, stderr=subprocess.PIPE, text=True)
    try:
        yield Server(process, lines=2 if "--host" in options else 1)
    finally:
        expected = process.poll() or 0
        process.terminate()
        assert process.stderr is not None
        rest = process.stderr.read()
        assert (process.wait(), rest) == (expected, "")
