"""The games that a server's pages show, and which of them have an engine process.

A game's snapshot stays here when its engine ends: by accident, or because another game needs the place. It is stored
at each change (`stored_games`), and taken from there when a page asks for a game that no page shows.
"""

from __future__ import annotations

import asyncio
import itertools
import json
from typing import Any

from gozero.frontends.web.server.process import EngineProcess
from gozero.frontends.web.server.stored_games import StoredGames, games_folder
from gozero.frontends.web.settings import PROGRAM, WebSettings
from gozero.system.console import say
from gozero.system.options import SettingsError

LARGEST_SNAPSHOT = 2**20  # characters, for a page to keep it too
TOO_FAST = "This page asks faster than the engine can answer; the last request was left out."
IDLE_SECONDS = 60.0  # that an engine waits for a page to come back
ENGINE_LOST = "The engine stopped unexpectedly. Your game is kept; your next click starts it again."
NO_ENGINE = "the engine did not start; run it by hand to see why: python -m gozero.frontends.web.engine"
_NUMBERS = itertools.count(1)  # of pages


class OpenPage:
    """A page's connection. Reports wait in a queue, so that a slow page delays nobody."""

    def __init__(self) -> None:
        self.number = next(_NUMBERS)  # that its requests have, and the engine's answers to them
        self.reports: asyncio.Queue[dict[str, Any]] = asyncio.Queue()  # that are to be sent

    def send(self, report: dict[str, Any]) -> None:
        """Send a report when the page can take it."""
        self.reports.put_nowait(report)

    def refuse(self, text: str) -> None:
        """Say why a request is not done."""
        self.send({"is": "refused", "text": text})


class OpenGame:
    """A game of ``games`` that pages show; its identity stands in their address. If a page begins another game or opens
    a record, all its pages show that one.
    """

    def __init__(self, games: OpenGames, saved: dict[str, Any] | None) -> None:
        self.pages: dict[int, OpenPage] = {}
        self.process: EngineProcess | None = None
        self._games = games
        self._saved = saved  # its snapshot; None before the first move of a new page
        self._timer: asyncio.TimerHandle | None = None

    @property
    def identity(self) -> str | None:
        """Of the game; None before it has begun."""
        return None if self._saved is None else self._saved["game"]["identity"]

    @property
    def is_empty(self) -> bool:
        """Whether there is no game, and no engine that could be about to begin one."""
        return self.process is None and self._saved is None

    def add_page(self, page: OpenPage) -> None:
        """Show this game, if there is one, on a page."""
        if self._timer is not None:
            self._timer.cancel()
        self.pages[page.number] = page
        if self._saved is not None:
            page.send(_snapshot(self._saved))
        if self.process is not None:
            self.request({"do": "view"}, page)
        elif self._saved is not None and self._start() is None:  # it may be the engine's turn
            page.refuse(self._games.all_busy)
        if self._games.stored.fault:
            page.send(_unstored(self._games.stored.fault))

    def remove_page(self, page: OpenPage) -> None:
        """A page is closed; with the last one every search ends at once, and the engine itself a while later."""
        del self.pages[page.number]
        if not self.pages and self.process is not None:
            self.process.send({"do": "leave"})
            self._timer = asyncio.get_running_loop().call_later(IDLE_SECONDS, self.stop_engine)

    def stop_engine(self) -> None:
        """End the engine process; the game stays stored."""
        if self.process is not None:
            self.process.end()
            self.process = None

    def request(self, request: dict[str, Any], page: OpenPage) -> None:
        """Pass a page's request on to the engine, which is started if need be."""
        process = self.process or self._start()
        if process is None:
            page.refuse(self._games.all_busy)
        elif process.is_behind:
            page.refuse(TOO_FAST)
        else:
            process.send({**request, "page": page.number})

    def send(self, report: dict[str, Any]) -> None:
        """Send a report to every page."""
        for page in list(self.pages.values()):
            page.send(report)

    def _start(self) -> EngineProcess | None:
        """Take an engine process, and give it the game; None if there was no place for one."""
        self.process = process = self._games.engine()
        if process is not None:
            process.on_report, process.on_exit = self._on_report, self._on_exit
            if self._saved is not None:  # also before a new game, which may be refused
                process.send({"do": "restore", "saved": self._saved})
        return process

    def _on_report(self, report: dict[str, Any]) -> None:
        number = report.pop("to", None)
        if report["is"] == "snapshot":
            self._saved = report["saved"]
            self._games.stored.put(report["saved"])
            report = _snapshot(report["saved"])
        elif report["is"] == "view" and self._saved is not None:
            self._saved["game"].update(at=report["at"], leaf=report["line"][-1])  # what is shown by now
        if number is None:
            self.send(report)
        elif number in self.pages:
            self.pages[number].send(report)

    def _on_exit(self) -> None:
        """The engine process has ended by itself."""
        self.process = None
        self.send({"is": "lost", "text": ENGINE_LOST})


def _snapshot(saved: dict[str, Any]) -> dict[str, Any]:
    """What a page gives a server that was restarted; nothing if it is too much to send at each move."""
    return {"is": "snapshot", "saved": saved if len(json.dumps(saved)) <= LARGEST_SNAPSHOT else None}


def _unstored(fault: str) -> dict[str, Any]:
    """The warning for pages that games cannot be stored on disk."""
    return {"is": "unstored", "text": f"{fault} You can go on playing: the server and this browser have the game."}


class OpenGames:
    """All games of a server, and the engine processes that they share; the first of these starts at once."""

    def __init__(self, settings: WebSettings) -> None:
        self._settings = settings
        self.stored = StoredGames(games_folder(settings), self._on_fault)
        self._games: list[OpenGame] = []
        self._processes: list[EngineProcess] = []
        self._spare: EngineProcess | None = None
        boards = settings.boards
        full = f"{boards} boards are open with an engine each" if boards > 1 else "One board is open with an engine"
        # the games that can be played, once that engine has reported them
        self.catalogue = asyncio.create_task(self._catalogue(self._prepare()))
        self.all_busy = f"{full}: close one and load this page anew, or start gozero web with --boards {boards + 1}."

    def _prepare(self) -> EngineProcess:
        """Start an engine process before it is needed, if none is there."""
        if self._spare is None or not self._spare.is_running:
            self._spare = EngineProcess(self._settings.engine_arguments)
            self._processes = [*(process for process in self._processes if process.is_running), self._spare]
        return self._spare

    async def _catalogue(self, process: EngineProcess) -> list[dict[str, Any]]:
        """Ask which games there are; SettingsError if the first one cannot be played, or no engine starts."""
        answer = asyncio.get_running_loop().create_future()

        def on_report(report: dict[str, Any]) -> None:
            if report["is"] in ("catalogue", "refused"):  # the latter for lack of memory, or by a bug
                answer.set_result(report)

        def on_exit() -> None:
            if not answer.done():
                answer.set_exception(SettingsError(NO_ENGINE))

        process.on_report, process.on_exit = on_report, on_exit
        process.send({"do": "catalogue", "check": self._settings.first_setup})
        report = await answer
        if fault := report.get("fault", report.get("text")):
            raise SettingsError(fault)
        games: list[dict[str, Any]] = report["games"]
        return games

    async def find(self, identity: str | None) -> OpenGame:
        """The game of that identity, else a new one."""
        saved = None if identity is None else await self.stored.get(identity)
        game = self._open(identity)
        if game is None:
            game = OpenGame(self, saved)
            self._games.append(game)
        return game

    def _open(self, identity: str | None) -> OpenGame | None:
        """The game of that identity; None if neither a page nor an engine has it, so that it is only stored."""
        self._games = [game for game in self._games if game.pages or game.process is not None]
        return next((game for game in self._games if identity and game.identity == identity), None)

    async def delete(self, identity: str) -> str:
        """Delete a stored game; why that cannot be done, or ""."""
        game = self._open(identity)
        if game is not None and game.pages:
            return "This game is open in a window: close that window, then delete the game."
        if game is not None:
            game.stop_engine()
        try:
            await self.stored.delete(identity)
        except OSError as error:
            return f"This game cannot be deleted: {(error.strerror or str(error)).lower()}."
        return ""

    def _on_fault(self, fault: str) -> None:
        say(f"{PROGRAM}: {fault}")
        for game in self._games:
            game.send(_unstored(fault))

    def engine(self) -> EngineProcess | None:
        """An engine process for a game; None if all are taken by games that pages show."""
        busy = [game for game in self._games if game.process is not None]
        if len(busy) >= self._settings.boards:
            unwatched = [game for game in busy if not game.pages]
            if not unwatched:
                return None
            unwatched[0].stop_engine()
        process, self._spare = self._prepare(), None
        return process

    async def close(self) -> None:
        """Write the games, and end every engine process."""
        await self.stored.close()
        for process in self._processes:
            process.end()
        await asyncio.gather(*(process.has_ended() for process in self._processes))
