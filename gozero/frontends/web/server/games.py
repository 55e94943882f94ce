"""The games of a server: which pages show them, and which of them have an engine process.

A game's snapshot stays here when its engine ends: by accident, because no page shows the game, or because another game
needs the place.
"""

from __future__ import annotations

import asyncio
import itertools
import json
import secrets
from collections import Counter, OrderedDict
from collections.abc import Callable
from typing import Any

from gozero.frontends.web.server.process import EngineProcess
from gozero.frontends.web.settings import WebSettings
from gozero.system.options import SettingsError

# each a few kB, with the largest record a few MB; the game used longest ago goes first
MOST_GAMES = 100
LARGEST_SNAPSHOT = 2**20  # characters, for a page to keep it too
IDLE_SECONDS = 60.0  # that an engine waits for a page to come back
MOST_WAITING = 16  # requests of a page that the engine has not answered
MOST_UNREAD = 200  # reports that wait for a page that does not read
TOO_FAST = "This page asks faster than the engine can answer; the last request was left out."
ENGINE_LOST = "The engine stopped unexpectedly. Your game is kept; your next click starts it again."
NO_ENGINE = "the engine did not start; run it by hand to see why: python -m gozero.frontends.web.engine"


class OpenPage:
    """A page's connection. Reports wait in a queue, so that a slow page delays nobody; one that reads none is dropped.

    Args:
        drop: breaks the connection at once.

    Attributes:
        reports: that are to be sent.
    """

    def __init__(self, drop: Callable[[], None]) -> None:
        self.reports: asyncio.Queue[dict[str, Any]] = asyncio.Queue(MOST_UNREAD)
        self._drop = drop

    def send(self, report: dict[str, Any]) -> None:
        """Send a report when the page can take it."""
        if self.reports.full():
            self._drop()
        else:
            self.reports.put_nowait(report)


class OpenGame:
    """One game of ``games``; its identifier stands in the page's address."""

    def __init__(self, identifier: str, games: OpenGames) -> None:
        self.identifier = identifier
        self.pages: dict[int, OpenPage] = {}
        self.process: EngineProcess | None = None
        self._games = games
        self._saved: dict[str, Any] | None = None
        self._shown: dict[str, Any] = {}  # the node that is shown, and the end of its line
        self._timer: asyncio.TimerHandle | None = None
        self._waiting: Counter[int] = Counter()  # requests of each page

    def add_page(self, page: OpenPage) -> int:
        """Show this game, if there is one, on a page; returns the page's number."""
        if self._timer is not None:
            self._timer.cancel()
        number = next(self._games.page_numbers)
        self.pages[number] = page
        if self._saved is not None:
            page.send(self._snapshot(self._saved))
        if self.process is not None:
            self.request({"do": "view"}, number)
        elif self._saved is not None and not self._start():  # it may be the engine's turn
            self.refuse(self._games.all_busy, number)
        return number

    @property
    def is_empty(self) -> bool:
        """Whether there is no game, and no engine that could be about to begin one."""
        return self.process is None and self._saved is None

    def remove_page(self, number: int) -> None:
        """A page is closed; with the last one every search ends at once, and the engine itself a while later."""
        self.pages.pop(number, None)
        self._waiting.pop(number, None)
        if not self.pages and self.process is not None:
            self.process.send({"do": "leave"})
            self._timer = asyncio.get_running_loop().call_later(IDLE_SECONDS, self.stop_engine)

    def stop_engine(self) -> None:
        """End the engine process; the game stays."""
        if self.process is not None:
            self.process.end()
            self.process = None
            self._waiting.clear()

    def request(self, request: dict[str, Any], number: int) -> None:
        """Pass a page's request on to the engine, which is started if need be."""
        if self._waiting[number] >= MOST_WAITING:
            self.refuse(TOO_FAST, number)
        elif self.process is None and not self._start():
            self.refuse(self._games.all_busy, number)
        elif self.process is not None:
            self._waiting[number] += 1
            self.process.send({**request, "page": number})

    def refuse(self, text: str, number: int) -> None:
        """Send a page the reason why its request is not done."""
        self._send({"is": "refused", "text": text}, number)

    def _send(self, report: dict[str, Any], number: int | None = None) -> None:
        """Send a report to every page, or to that of this number."""
        for each, page in list(self.pages.items()):
            if number in (None, each):
                page.send(report)

    def _start(self) -> bool:
        """Take an engine process, and give it the game; whether there was a place for one."""
        process = self._games.engine()
        if process is None:
            return False
        process.on_report, process.on_exit = self._on_report, self._on_exit
        self.process = process
        if self._saved is not None:  # also before a new game, which may be refused
            process.send({"do": "restore", "saved": {**self._saved, "game": {**self._saved["game"], **self._shown}}})
        return True

    def _on_report(self, report: dict[str, Any]) -> None:
        number = report.pop("to", None)
        if report["is"] == "done":
            self._waiting[number] -= 1
        elif report["is"] == "snapshot":
            self._saved = report["saved"]
            self._send(self._snapshot(report["saved"]))
        else:
            if report["is"] == "view":
                self._shown = {"at": report["at"], "leaf": report["line"][-1]}
            self._send(report, number)

    def _snapshot(self, saved: dict[str, Any]) -> dict[str, Any]:
        """What a page gives a server that was restarted; nothing if it is too much to send at each move."""
        return {"is": "snapshot", "saved": saved if len(json.dumps(saved)) <= LARGEST_SNAPSHOT else None}

    def _on_exit(self) -> None:
        """The engine process has ended by itself."""
        self.process = None
        self._waiting.clear()
        self._send({"is": "lost", "text": ENGINE_LOST})


class OpenGames:
    """All games of a server, and the engine processes that they share."""

    def __init__(self, settings: WebSettings) -> None:
        self._settings = settings
        self._games: OrderedDict[str, OpenGame] = OrderedDict()
        self._processes: list[EngineProcess] = []
        self._spare: EngineProcess | None = None
        self.catalogue: list[dict[str, Any]] = []
        self.page_numbers = itertools.count(1)
        self.is_ready = asyncio.Event()  # whether the catalogue is known
        boards = settings.boards
        full = f"{boards} boards are open with an engine each" if boards > 1 else "One board is open with an engine"
        self.all_busy = f"{full}: close one and load this page anew, or start gozero web with --boards {boards + 1}."

    def prepare(self) -> EngineProcess:
        """Start an engine process before it is needed, if none is there."""
        if self._spare is None or not self._spare.is_running:
            self._spare = EngineProcess(self._settings.engine_arguments)
            self._processes = [*(process for process in self._processes if process.is_running), self._spare]
        return self._spare

    async def load_catalogue(self) -> None:
        """Ask which games there are; SettingsError if the first one cannot be played, or no engine starts."""
        process, answer = self.prepare(), asyncio.get_running_loop().create_future()

        def on_report(report: dict[str, Any]) -> None:
            if report["is"] == "catalogue":
                answer.set_result(report)

        def on_exit() -> None:
            if not answer.done():
                answer.set_exception(SettingsError(NO_ENGINE))

        process.on_report, process.on_exit = on_report, on_exit
        check = self._settings.first_setup if self._settings.is_checked else None
        process.send({"do": "catalogue", "check": check})
        report = await answer
        if report["fault"]:
            raise SettingsError(report["fault"])
        self.catalogue = report["games"]
        self.is_ready.set()

    def find(self, identifier: str) -> tuple[OpenGame, bool]:
        """The game of that identifier, else a new one; whether it is new."""
        if identifier in self._games:
            self._games.move_to_end(identifier)
            return self._games[identifier], False
        while len(self._games) >= MOST_GAMES:
            oldest = next((name for name, game in self._games.items() if not game.pages), next(iter(self._games)))
            self._games.pop(oldest).stop_engine()
        game = OpenGame(secrets.token_urlsafe(9), self)
        self._games[game.identifier] = game
        return game, True

    def engine(self) -> EngineProcess | None:
        """An engine process for a game; None if all are taken by games that pages show."""
        busy = [game for game in self._games.values() if game.process is not None]
        if len(busy) >= self._settings.boards:
            unwatched = [game for game in busy if not game.pages]
            if not unwatched:
                return None
            unwatched[0].stop_engine()
        process, self._spare = self.prepare(), None
        return process

    async def close(self) -> None:
        """End every engine process."""
        running = [process for process in self._processes if process.is_running]
        for process in running:
            process.end()
        for process in running:
            await process.has_ended()
