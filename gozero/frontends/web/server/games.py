"""The games of a server: which pages show them, and which of them have an engine process.

A game's snapshot stays here when its engine ends: by accident, because no page shows the game, or because another game
needs the place. Everything runs in the server's event loop.
"""

from __future__ import annotations

import asyncio
import itertools
import json
import secrets
from collections import OrderedDict, defaultdict, deque
from pathlib import Path
from typing import Any, Protocol

from gozero.frontends.web.server.process import EngineProcess
from gozero.frontends.web.settings import WebSettings

# each a few kB, with the largest record a few MB; the game used longest ago goes first
MOST_GAMES = 100
LARGEST_SNAPSHOT = 2**20  # characters, for a page to keep it too
IDLE_SECONDS = 60.0  # that an engine waits for a page to come back
# requests of a page that the engine has not answered, and their characters
MOST_PENDING, MOST_PENDING_SIZE = 50, 8_000_000
TOO_FAST = "This page asks faster than the engine can answer; the last requests were left out."
ENGINE_LOST = "The engine stopped unexpectedly. Your game is kept; your next click starts it again."
ONE_BUSY = "One board is open with an engine: close it"
NO_ENGINE = "the engine did not start; run it by hand to see why: python -m gozero.frontends.web.engine"


class Page(Protocol):
    """A page's end of its connection."""

    def send(self, report: dict[str, Any]) -> None:
        """Send a report."""


class OpenGame:
    """One game.

    Args:
        identifier: in the page's address.
        games: those it belongs to.
    """

    def __init__(self, identifier: str, games: OpenGames) -> None:
        self.identifier = identifier
        self.pages: dict[int, Page] = {}
        self.process: EngineProcess | None = None
        self._games = games
        self._saved: dict[str, Any] | None = None
        self._view: dict[str, Any] | None = None
        self._timer: asyncio.TimerHandle | None = None
        self._pending: defaultdict[int, deque[int]] = defaultdict(deque)  # sizes of each page's requests
        self._throttled: set[int] = set()  # pages that know that they ask too fast

    def add_page(self, page: Page) -> int:
        """Show this game on a page; returns the page's number."""
        if self._timer is not None:
            self._timer.cancel()
            self._timer = None
        number = next(self._games.page_numbers)
        self.pages[number] = page
        if self._saved is not None:
            page.send(self._snapshot())
        has_engine = self.process is not None or self._saved is None or self._start()  # it may be the engine's turn
        if self._view is not None:
            self._view = self._view if has_engine else _stopped(self._view)
            page.send(self._view)
        if not has_engine:
            page.send({"is": "refused", "text": self._games.all_busy})
        elif self._view is not None and _may_be_old(self._view):
            self.request({"do": "view"}, number)
        return number

    @property
    def is_empty(self) -> bool:
        """Whether there is no game, and no engine that could be about to begin one."""
        return self.process is None and self._view is None

    def remove_page(self, number: int) -> None:
        """A page is closed; with the last one every search ends at once, and the engine itself a while later."""
        self.pages.pop(number, None)
        self._pending.pop(number, None)
        self._throttled.discard(number)
        if not self.pages and self._view is not None:  # what a page that comes back is shown first
            self._view = {**self._view, "analysing": False, "batch": False}
        if not self.pages and self.process is not None:
            self.process.send({"do": "leave"})
            self._timer = asyncio.get_running_loop().call_later(IDLE_SECONDS, self.stop_engine)

    def stop_engine(self) -> None:
        """End the engine process; the game stays."""
        if self.process is not None:
            self.process.end()
            self._forget_process()

    def _forget_process(self) -> None:
        self.process = None
        self._pending.clear()
        self._throttled.clear()

    def request(self, request: dict[str, Any], number: int, size: int = 0) -> None:
        """Pass a page's request, of that size in characters, on to the engine, which is started if need be."""
        pending = self._pending[number]
        if len(pending) >= MOST_PENDING or (pending and sum(pending) + size > MOST_PENDING_SIZE):
            if number not in self._throttled:
                self._throttled.add(number)
                self.refuse(TOO_FAST, number)
            return
        if self.process is not None and not self.process.is_running:
            self._on_exit(self.process)
        if self.process is None and not self._start():
            self.refuse(self._games.all_busy, number)
            return
        assert self.process is not None
        self._pending[number].append(size)
        self.process.send({**request, "page": number})

    def refuse(self, text: str, number: int) -> None:
        """Send a page the reason why its request is not done."""
        self._send({"is": "refused", "text": text}, number)

    def _send(self, report: dict[str, Any], number: int | None = None) -> None:
        """Send a report to every page, or to that of this number."""
        pages = self.pages.values() if number is None else [self.pages[number]] if number in self.pages else []
        for page in list(pages):
            page.send(report)

    def _start(self) -> bool:
        """Take an engine process, and give it the game; whether there was a place for one."""
        process = self._games.engine()
        if process is None:
            return False
        process.listen(lambda report: self._on_report(process, report), lambda: self._on_exit(process))
        self.process = process
        if self._saved is not None:  # also before a new game, which may be refused
            process.send({"do": "restore", "saved": self._saved})
        return True

    def _on_report(self, process: EngineProcess, report: dict[str, Any]) -> None:
        if process is not self.process:
            return
        number = report.pop("to", None)
        if report["is"] == "done":
            if pending := self._pending[number]:
                pending.popleft()
            if not pending:
                self._throttled.discard(number)
        elif report["is"] == "save":
            self._save(report)
        else:
            if report["is"] == "view":
                self._view = report
            self._send(report, number)

    def _save(self, report: dict[str, Any]) -> None:
        if "saved" in report:
            self._saved = report["saved"]
            if self.pages:
                self._send(self._snapshot())
        elif self._saved is not None:
            self._saved["game"].update(report["shown"])

    def _snapshot(self) -> dict[str, Any]:
        """What a page gives a server that was restarted; nothing if it is too much to send at each move."""
        assert self._saved is not None
        saved = {**self._saved, "setup": {**self._saved["setup"], "weights": None}}
        return {"is": "snapshot", "saved": saved if len(json.dumps(saved)) <= LARGEST_SNAPSHOT else None}

    def _on_exit(self, process: EngineProcess) -> None:
        """The engine process has ended by itself."""
        if process is not self.process:
            return
        self._forget_process()
        if self._view is not None:
            self._view = {**_stopped(self._view), "analysing": False, "batch": False}
            self._send(self._view)
        self._send({"is": "lost", "text": ENGINE_LOST})


class OpenGames:
    """All games of a server, and the engine processes that they share.

    Args:
        settings: the user's.
        choices: weights files that pages may choose, by name.
    """

    def __init__(self, settings: WebSettings, choices: dict[str, Path]) -> None:
        self._settings = settings
        self._games: OrderedDict[str, OpenGame] = OrderedDict()
        self._spare: EngineProcess | None = None
        self.choices = choices
        self.catalogue: list[dict[str, Any]] = []
        self.page_numbers = itertools.count(1)
        self.fault = ""  # why no game can begin, as a line for the user
        self.is_ready = asyncio.Event()
        boards = settings.boards
        full = f"{boards} boards are open with an engine each: close one" if boards > 1 else ONE_BUSY
        self.all_busy = f"{full} and load this page anew, or start gozero web with --boards {boards + 1}."

    def prepare(self) -> None:
        """Start an engine process before it is needed; the first one also reports the catalogue."""
        if self._spare is None or not self._spare.is_running:
            self._spare = EngineProcess(self._settings.engine_arguments)

    async def load_catalogue(self) -> None:
        """Ask which games there are, and whether the first one can be played; sets ``is_ready``."""
        self.prepare()
        assert self._spare is not None
        process = self._spare

        def on_report(report: dict[str, Any]) -> None:
            if report["is"] == "catalogue":
                self.catalogue, self.fault = report["games"], report["fault"]
                self.is_ready.set()

        def on_exit() -> None:
            self.fault = "" if self.catalogue else NO_ENGINE
            self.is_ready.set()

        process.listen(on_report, on_exit)
        choices = {name: str(path) for name, path in self.choices.items()}
        check = self._settings.first_setup if self._settings.is_checked else None
        process.send({"do": "catalogue", "choices": choices, "check": check})
        await self.is_ready.wait()

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
        self.prepare()
        process, self._spare = self._spare, None
        return process

    def close(self) -> None:
        """End every engine process."""
        for game in self._games.values():
            game.stop_engine()
        if self._spare is not None:
            self._spare.end()
            self._spare = None


def _stopped(view: dict[str, Any]) -> dict[str, Any]:
    """A view while no engine runs: no search, and both clocks stopped."""
    clock = view["clock"]
    return {**view, "thinking": False, "clock": clock and {**clock, "running": None}}


def _may_be_old(view: dict[str, Any]) -> bool:
    """Whether the engine may know more by now than this view: a search or a clock was running."""
    clock = view["clock"]
    return view["analysing"] or view["batch"] or (clock is not None and clock["running"] is not None)
