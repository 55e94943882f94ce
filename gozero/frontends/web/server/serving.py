"""Runs the server: a socket to listen on, the address for the user, and an orderly end."""

from __future__ import annotations

import asyncio
import contextlib
import errno
import logging
import signal
import socket
import subprocess
import sys
import threading
from collections.abc import Callable
from typing import Any

from aiohttp import web
from aiohttp.http_exceptions import HttpProcessingError

from gozero.frontends.web.server.rooms import Rooms
from gozero.frontends.web.server.server import BoardServer
from gozero.frontends.web.server.training_run import TrainingRun
from gozero.frontends.web.settings import WebSettings
from gozero.system.console import INTERRUPTED, SUCCESS
from gozero.system.options import SettingsError

USUAL_PORT = 8013
ANY_ADDRESS = ("0.0.0.0", "::")
SHUTDOWN = 1.0  # seconds that open connections have to end


def serve(settings: WebSettings, run: TrainingRun | None, rooms: Rooms, say: Callable[[str], None]) -> int:
    """Serve until Ctrl-C (INTERRUPTED) or SIGTERM (SUCCESS). SettingsError where it cannot listen, or no game can be
    played.
    """
    listener = listen(settings)
    port = listener.getsockname()[1]
    server = BoardServer(settings, run, rooms, port)
    address = address_of(settings, port, server.guard.token)
    try:
        return asyncio.run(_serve(server, listener, settings.is_checked, lambda: _announce(settings, address, say)))
    except KeyboardInterrupt:  # where signals cannot be waited for
        return INTERRUPTED


def listen(settings: WebSettings) -> socket.socket:
    """A socket that listens. SettingsError where the address or the port that was asked for cannot be had."""
    family = socket.AF_INET6 if ":" in settings.host else socket.AF_INET
    ports = [USUAL_PORT, 0] if settings.port is None else [settings.port]
    for port in ports:
        try:
            return socket.create_server((settings.host, port), family=family)
        except (OSError, UnicodeError) as error:
            if isinstance(error, OSError) and error.errno in (errno.EADDRINUSE, errno.EACCES) and port != ports[-1]:
                continue
            reason = (getattr(error, "strerror", None) or str(error)).lower().partition(" (while ")[0]
            taken = isinstance(error, OSError) and error.errno in (errno.EADDRINUSE, errno.EACCES)
            hint = "; choose another --port" if port and taken else ""
            raise SettingsError(f"cannot listen on {settings.host}, port {port}: {reason}{hint}") from None
    raise AssertionError


def address_of(settings: WebSettings, port: int, token: str | None) -> str:
    """What to type into a browser."""
    host = socket.gethostname() if settings.host in ANY_ADDRESS else settings.host
    shown = f"[{host}]" if ":" in host else host
    return f"http://{shown}:{port}/" + (f"?token={token}" if token else "")


def _announce(settings: WebSettings, address: str, say: Callable[[str], None]) -> None:
    say(f"the board is at {address}   (Ctrl-C ends it)")
    if not settings.is_local:
        say("whoever knows this address can play here and use this machine's processor")
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
    learning = asyncio.create_task(_fail_on_fault(server.rooms, ended))
    try:
        if is_checked:
            either: list[asyncio.Future[Any]] = [learning, ended]
            await asyncio.wait(either, return_when=asyncio.FIRST_COMPLETED)
        if not ended.done():
            await web.SockSite(runner, listener).start()
            announce()
        return await ended
    finally:
        learning.cancel()
        await runner.cleanup()


def _is_ours(record: logging.LogRecord) -> bool:
    """Whether an error is the server's own: what is no HTTP is the client's fault, and has been answered."""
    return record.exc_info is None or not isinstance(record.exc_info[1], HttpProcessingError)


def _end(ended: asyncio.Future[int], code: int) -> None:
    if not ended.done():
        ended.set_result(code)


async def _fail_on_fault(rooms: Rooms, ended: asyncio.Future[int]) -> None:
    """Once it is known what games there are, end the server if none can be played."""
    await rooms.learned.wait()
    if rooms.fault and not ended.done():
        ended.set_exception(SettingsError(rooms.fault))
