"""The rooms of a server: which games there are, which pages show them, and which of them have an engine process.

A room keeps what is needed to take its game up again, so its engine may end: by accident, because nobody looks, or
because another room needs the place. Everything here runs in the server's event loop.
"""

from __future__ import annotations

import asyncio
import itertools
import json
import secrets
from collections import OrderedDict, defaultdict, deque
from collections.abc import Callable
from pathlib import Path
from typing import Any, Protocol

from gozero.frontends.web.server.process import EngineProcess
from gozero.frontends.web.settings import WebSettings

MOST_ROOMS = (
    100  # games that are kept, each a few kB, with the largest record a few MB; the one used longest ago goes first
)
MOST_KEPT = 2**20  # characters of a game that pages keep too
LINGER = 60.0  # seconds that an engine waits for a page to come back
MOST_ASKED, MOST_ASKED_SIZE = (
    50,
    8_000_000,
)  # requests of a page, and their characters, that the engine has not answered
HURRY = "This page asks faster than the engine can answer; the last requests were left out."
NO_ENGINE = "the engine did not start; run it by hand to see why: python -m gozero.frontends.web.engine"


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
        self.pages: dict[int, Page] = {}
        self.process: EngineProcess | None = None
        self._rooms = rooms
        self._saved: dict[str, Any] | None = None
        self._view: dict[str, Any] | None = None
        self._leaving: asyncio.TimerHandle | None = None
        self._asked: defaultdict[int, deque[int]] = defaultdict(deque)  # sizes of a page's requests not answered yet
        self._hurried: set[int] = set()  # pages that were told so

    def enter(self, page: Page) -> int:
        """A page shows this game from now on; the number by which the room knows it."""
        if self._leaving is not None:
            self._leaving.cancel()
            self._leaving = None
        number = next(self._rooms.numbers)
        self.pages[number] = page
        if self._saved is not None:
            page.tell(self._kept())
        has_place = self.process is not None or self._saved is None or self._start()  # it may be the engine's turn
        if self._view is not None:
            self._view = self._view if has_place else _standing(self._view)
            page.tell(self._view)
        if not has_place:
            page.tell({"is": "refused", "text": self._rooms.no_place})
        elif self._view is not None and (self._view["analysing"] or self._view["batch"] or _runs(self._view["clock"])):
            self.ask({"do": "view"}, number)  # more has been found since, or the time is another
        return number

    @property
    def is_empty(self) -> bool:
        """Whether there is no game, and no engine that could be about to begin one."""
        return self.process is None and self._view is None

    def leave(self, number: int) -> None:
        """A page is closed; with the last one every search ends at once, and the engine itself a while later."""
        self.pages.pop(number, None)
        self._asked.pop(number, None)
        self._hurried.discard(number)
        if not self.pages and self._view is not None:  # what a page that comes back is shown first
            self._view = {**self._view, "analysing": False, "batch": False}
        if not self.pages and self.process is not None:
            self.process.send({"do": "leave"})
            self._leaving = asyncio.get_running_loop().call_later(LINGER, self.rest)

    def rest(self) -> None:
        """End the engine process; the game is kept."""
        if self.process is not None:
            self.process.end()
            self._forget_process()

    def _forget_process(self) -> None:
        self.process = None
        self._asked.clear()
        self._hurried.clear()

    def ask(self, request: dict[str, Any], number: int, size: int = 0) -> None:
        """Pass a page's request, of that size in characters, on to the engine, which is started if need be."""
        asked = self._asked[number]
        if len(asked) >= MOST_ASKED or (asked and sum(asked) + size > MOST_ASKED_SIZE):
            if number not in self._hurried:
                self._hurried.add(number)
                self.tell({"is": "refused", "text": HURRY}, number)
            return
        if self.process is not None and not self.process.is_running:
            self._lost(self.process)
        if self.process is None and not self._start():
            self.tell({"is": "refused", "text": self._rooms.no_place}, number)
            return
        assert self.process is not None
        self._asked[number].append(size)
        self.process.send({**request, "page": number})

    def tell(self, report: dict[str, Any], number: int | None = None) -> None:
        """Send a report to every page, or to that of this number."""
        pages = self.pages.values() if number is None else [self.pages[number]] if number in self.pages else []
        for page in list(pages):
            page.tell(report)

    def _start(self) -> bool:
        """Take an engine process, and give it the game; whether there was a place for one."""
        process = self._rooms.engine()
        if process is None:
            return False
        loop = asyncio.get_running_loop()
        process.listen(
            lambda report: _soon(loop, lambda: self._hear(process, report)),
            lambda: _soon(loop, lambda: self._lost(process)),
        )
        self.process = process
        if self._saved is not None:  # also before a new game, which may be refused
            process.send({"do": "restore", "saved": self._saved})
        return True

    def _hear(self, process: EngineProcess, report: dict[str, Any]) -> None:
        if process is not self.process:
            return
        number = report.pop("to", None)
        if report["is"] == "done":
            self._answered(number)
        elif report["is"] == "save":
            self._keep(report)
        else:
            if report["is"] == "view":
                self._view = report
            self.tell(report, number)

    def _answered(self, number: int) -> None:
        """A request of this page's has been answered."""
        if asked := self._asked[number]:
            asked.popleft()
        if not asked:
            self._hurried.discard(number)

    def _keep(self, report: dict[str, Any]) -> None:
        if "saved" in report:
            self._saved = report["saved"]
            if self.pages:
                self.tell(self._kept())
        elif self._saved is not None:
            self._saved["table"].update(report["shown"])

    def _kept(self) -> dict[str, Any]:
        """What a page gives a server that was started anew; nothing, where it is too much to send at each move."""
        assert self._saved is not None
        saved = {**self._saved, "setup": {**self._saved["setup"], "weights": None}}
        return {"is": "kept", "saved": saved if len(json.dumps(saved)) <= MOST_KEPT else None}

    def _lost(self, process: EngineProcess) -> None:
        """The engine process has ended by itself."""
        if process is not self.process:
            return
        self._forget_process()
        if self._view is not None:
            self._view = {**_standing(self._view), "analysing": False, "batch": False}
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
        self.numbers = itertools.count(1)  # of pages
        self.fault = ""  # why no game can begin, as a line for the user
        self.learned = asyncio.Event()
        full = (
            "One board is open with an engine: close it"
            if settings.boards == 1
            else f"{settings.boards} boards are open with an engine each: close one"
        )
        self.no_place = f"{full} and load this page anew, or start gozero web with --boards {settings.boards + 1}."

    def prepare(self) -> None:
        """Start an engine process ahead of its use; it also says which games there are."""
        if self._spare is None or not self._spare.is_running:
            self._spare = EngineProcess(self._settings.engine_arguments)

    async def learn_games(self) -> None:
        """Find out which games there are, and whether the first one can be played; ``learned`` is set afterwards."""
        loop = asyncio.get_running_loop()
        self.prepare()
        assert self._spare is not None
        process = self._spare

        def hear(report: dict[str, Any]) -> None:
            if report["is"] == "catalogue":
                self.games, self.fault = report["games"], report["fault"]
                self.learned.set()

        def gone() -> None:
            self.fault = "" if self.games else NO_ENGINE
            self.learned.set()

        process.listen(lambda report: _soon(loop, lambda: hear(report)), lambda: _soon(loop, gone))
        choices = {name: str(path) for name, path in self.choices.items()}
        check = self._settings.first_setup if self._settings.is_checked else None
        process.send({"do": "catalogue", "choices": choices, "check": check})
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


def _standing(view: dict[str, Any]) -> dict[str, Any]:
    """A view as long as no engine runs: nobody thinks, and both clocks stand."""
    clock = view["clock"]
    return {**view, "thinking": False, "clock": clock and {**clock, "running": None}}


def _runs(clock: dict[str, Any] | None) -> bool:
    """Whether a side's clock runs in what a view says of them."""
    return clock is not None and clock["running"] is not None
