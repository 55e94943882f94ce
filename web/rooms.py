"""The rooms of a server: which games there are, which pages show them, and which of them have an engine process.

A room keeps what is needed to take its game up again, so its engine may end: by accident, because nobody looks, or
because another room needs the place. Everything here runs in the server's event loop.
"""

from __future__ import annotations

import asyncio
import secrets
from collections import OrderedDict
from collections.abc import Callable
from pathlib import Path
from typing import Any, Protocol

from web.process import EngineProcess
from web.settings import WebSettings

MOST_ROOMS = (
    100  # games that are kept, each a few kB, with the largest record a few MB; the one used longest ago goes first
)
LINGER = 60.0  # seconds that an engine waits for a page to come back


class Page(Protocol):
    """A page's end of its connection."""

    def tell(self, report: dict[str, Any]) -> None:
        """Send a report."""


class Room:
    """One game.

    Args:
        identifier: in the page's address.
        rooms: those it belongs to.
    """

    def __init__(self, identifier: str, rooms: Rooms) -> None:
        self.identifier = identifier
        self.pages: set[Page] = set()
        self.process: EngineProcess | None = None
        self._rooms = rooms
        self._saved: dict[str, Any] | None = None
        self._view: dict[str, Any] | None = None
        self._leaving: asyncio.TimerHandle | None = None

    def enter(self, page: Page) -> None:
        """A page shows this game from now on."""
        if self._leaving is not None:
            self._leaving.cancel()
            self._leaving = None
        self.pages.add(page)
        if self._view is not None:
            page.tell(self._view)
        if self.process is None and self._saved is not None:
            self._start()  # it may be the engine's turn

    @property
    def is_empty(self) -> bool:
        """Whether there is no game, and no engine that could be about to begin one."""
        return self.process is None and self._view is None

    def leave(self, page: Page) -> None:
        """A page is closed; with the last one every search ends at once, and the engine itself a while later."""
        self.pages.discard(page)
        if not self.pages and self._view is not None:  # what a page that comes back is shown first
            self._view = {**self._view, "analysing": False, "batch": False}
        if not self.pages and self.process is not None:
            self.process.send({"do": "leave"})
            self._leaving = asyncio.get_running_loop().call_later(LINGER, self.rest)

    def rest(self) -> None:
        """End the engine process; the game is kept."""
        if self.process is not None:
            self.process.end()
            self.process = None

    def ask(self, request: dict[str, Any]) -> None:
        """Pass a request on to the engine, which is started if need be."""
        if self.process is not None and not self.process.is_running:
            self._lost(self.process)
        if self.process is None and not self._start():
            self.tell({"is": "refused", "text": self._rooms.no_place})
            return
        assert self.process is not None
        self.process.send(request)

    def tell(self, report: dict[str, Any]) -> None:
        """Send a report to every page."""
        for page in self.pages:
            page.tell(report)

    def _start(self) -> bool:
        """Take an engine process, and give it the game; whether there was a place for one."""
        process = self._rooms.engine()
        if process is None:
            return False
        loop = asyncio.get_running_loop()
        process.on_report = lambda report: _soon(loop, lambda: self._hear(process, report))
        process.on_end = lambda: _soon(loop, lambda: self._lost(process))
        self.process = process
        if self._saved is not None:  # also before a new game, which may be refused
            process.send({"do": "restore", "saved": self._saved})
        return True

    def _hear(self, process: EngineProcess, report: dict[str, Any]) -> None:
        if process is not self.process:
            return
        if report["is"] == "save":
            self._keep(report)
            return
        if report["is"] == "view":
            self._view = report
        self.tell(report)

    def _keep(self, report: dict[str, Any]) -> None:
        if "saved" in report:
            self._saved = report["saved"]
        elif self._saved is not None:
            self._saved["table"]["at"] = report["at"]

    def _lost(self, process: EngineProcess) -> None:
        """The engine process has ended by itself."""
        if process is not self.process:
            return
        self.process = None
        if self._view is not None:
            self._view = {**self._view, "thinking": False, "analysing": False, "batch": False}
        if self._view is not None:
            self.tell(self._view)
        self.tell(
            {
                "is": "lost",
                "text": "The engine stopped unexpectedly. Your game is kept; your next click starts it again.",
            }
        )


class Rooms:
    """All rooms, and the engine processes that they share.

    Args:
        settings: the user's.
        choices: weights files that pages may choose, by name.
    """

    def __init__(self, settings: WebSettings, choices: dict[str, Path]) -> None:
        self._settings = settings
        self._rooms: OrderedDict[str, Room] = OrderedDict()
        self._spare: EngineProcess | None = None
        self.choices = choices
        self.games: list[dict[str, Any]] = []
        self.learned = asyncio.Event()
        self.no_place = (
            f"{settings.boards} boards are open with an engine each: close one of them, or start gozero-web with "
            f"--boards {settings.boards + 1}."
        )

    def prepare(self) -> None:
        """Start an engine process ahead of its use; it also says which games there are."""
        if self._spare is None or not self._spare.is_running:
            self._spare = EngineProcess(self._settings.engine_arguments)

    async def learn_games(self) -> None:
        """Find out which games there are; ``learned`` is set afterwards. They are none where no engine can be started."""
        loop = asyncio.get_running_loop()
        self.prepare()
        assert self._spare is not None
        process = self._spare

        def hear(report: dict[str, Any]) -> None:
            if report["is"] == "catalogue":
                self.games = report["games"]
            self.learned.set()

        process.on_report = lambda report: _soon(loop, lambda: hear(report))
        process.on_end = lambda: _soon(loop, self.learned.set)
        process.send({"do": "catalogue", "choices": {name: str(path) for name, path in self.choices.items()}})
        await self.learned.wait()

    def room(self, identifier: str) -> tuple[Room, bool]:
        """The room of that identifier, else a new one; whether it is new."""
        if identifier in self._rooms:
            self._rooms.move_to_end(identifier)
            return self._rooms[identifier], False
        while len(self._rooms) >= MOST_ROOMS:
            oldest = next((name for name, room in self._rooms.items() if not room.pages), next(iter(self._rooms)))
            self._rooms.pop(oldest).rest()
        room = Room(secrets.token_urlsafe(9), self)
        self._rooms[room.identifier] = room
        return room, True

    def engine(self) -> EngineProcess | None:
        """An engine process for a room; None where all places are taken by games that somebody looks at."""
        busy = [room for room in self._rooms.values() if room.process is not None]
        if len(busy) >= self._settings.boards:
            unwatched = [room for room in busy if not room.pages]
            if not unwatched:
                return None
            unwatched[0].rest()
        self.prepare()
        process, self._spare = self._spare, None
        return process

    def close(self) -> None:
        """End every engine process."""
        for room in self._rooms.values():
            room.rest()
        if self._spare is not None:
            self._spare.end()
            self._spare = None


def _soon(loop: asyncio.AbstractEventLoop, act: Callable[[], None]) -> None:
    """Do it in the event loop, if that still runs."""
    if not loop.is_closed():
        loop.call_soon_threadsafe(act)
