"""Answers the requests of a room: new games, moves, looking around, analysis, records.

Every request ends in a view of the game, or in a report of what was asked for. What a new engine process needs to take
the game up is reported with `is` = `save`; the server keeps it.
"""

from __future__ import annotations

import base64
import binascii
import math
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

from gozero.frontends.web import catalogue
from gozero.frontends.web.engine import kept, records
from gozero.frontends.web.engine.seats import Seated, Seats
from gozero.frontends.web.engine.table import RefusedError, Table
from gozero.frontends.web.settings import EngineProcessSettings
from gozero.frontends.web.setups import setup_of

LONGEST_NAME = 100  # characters of a file's name

Report = Callable[[dict[str, Any]], None]


class Desk:
    """One room's requests.

    Args:
        settings: of this process.
        is_waiting: whether a request has arrived.
        is_cut: answers the requests that arrived, up to one for which the engine's move is cut short; whether there is
            such a one.
        report: takes what the page is told.
        compile: waits until rules and search are compiled.
    """

    def __init__(
        self,
        settings: EngineProcessSettings,
        is_waiting: Callable[[], bool],
        is_cut: Callable[[], bool],
        report: Report,
        compile: Callable[[], None],
    ) -> None:
        self._is_waiting = is_waiting
        self._report = report
        self._seats = Seats(settings, self._stops, is_cut, report, compile)
        self._seated: Seated | None = None
        self._has_failed = False  # its work; it is not tried again before somebody asks for something
        self._acts: dict[str, Callable[[dict[str, Any]], None]] = {
            "catalogue": self._catalogue, "new": self._new, "restore": self._restore, "load": self._load,
            "play": self._play, "pass": self._pass, "undo": self._changing(Table.undo),
            "resign": self._changing(lambda table: table.resign(table.person)), "review": self._changing(Table.review),
            "goto": self._goto, "level": self._level, "analyse": self._analyse, "hint": self._hint,
            "batch": self._batch, "stop": self._stop, "dead": self._dead, "comment": self._comment, "save": self._save,
            "view": lambda request: self._show(), "leave": self._leave,
        }  # fmt: skip

    @property
    def _game(self) -> Seated:
        if self._seated is None:
            raise RefusedError("There is no game yet: begin one.")
        return self._seated

    def do(self, request: dict[str, Any]) -> None:
        """Answer a request. RefusedError, ChoiceError, SettingsError or WeightsError where it cannot be done."""
        self._has_failed = False
        act = self._acts.get(request["do"])
        if act is None:
            raise RefusedError(f"This page asks for {request['do'][:20]!r}, which the engine does not know: reload it.")
        act(request)

    # Between requests

    @property
    def has_work(self) -> bool:
        return self._seated is not None and not self._has_failed and self._seated.thinker.has_work

    def work(self) -> None:
        """A piece of work; afterwards a view where the game has changed. What fails is not tried again by itself."""
        thinker = self._game.thinker
        try:
            if thinker.work():
                self._changed()
        except BaseException:
            thinker.analyse(on=False)
            thinker.batch.clear()
            self._has_failed = True
            raise

    def seconds_left(self, now: float) -> float | None:
        """Until the clock that runs has run out; None where none runs."""
        if self._seated is None:
            return None
        left = self._seated.table.clock.remaining(now)
        return None if math.isinf(left) else max(0.0, left)

    def time_is_up(self) -> None:
        """The clock of the side to move has run out."""
        table = self._game.table
        table.resign(table.live_turn, "time")
        self._changed()

    # Games

    def _catalogue(self, request: dict[str, Any]) -> None:
        """Which games there are, and what is wrong with the game that is to be checked, if any."""
        choices = {label: Path(path) for label, path in request["choices"].items()}
        fault = "" if request["check"] is None else self._seats.fault_of(setup_of(request["check"]))
        self._report({"is": "catalogue", "games": catalogue.shown_games(choices), "fault": fault})

    def _new(self, request: dict[str, Any]) -> None:
        self._sit_down(self._seats.seat(setup_of(request["setup"])))

    def _restore(self, request: dict[str, Any]) -> None:
        """A game that the server or a page has kept; RefusedError where a page sends what cannot be one."""
        saved = request["saved"]
        seated = self._seats.seat(setup_of(saved["setup"]))
        try:
            kept.take_up(seated.table, saved["table"])
            seated.identity = str(saved["identity"])
            seated.view()
        except (ArithmeticError, AttributeError, LookupError, TypeError, ValueError):
            raise RefusedError("The game that this page has kept cannot be taken up: begin a new one.") from None
        self._seated = seated
        self._changed()

    def _load(self, request: dict[str, Any]) -> None:
        """A record, for review; it says which game and which board it is. Of several games the page chooses one."""
        data, number = _bytes_of(request.get("data")), request.get("number")
        games = records.games_in(data)
        if number is None and len(games) > 1:
            self._answer(request, {"is": "games", "titles": games})
            return
        number = number if type(number) is int else 0
        setup, game = records.setup_for(data, self._game.table.setup, number)
        seated = self._seats.seat(setup)
        remark = records.load(seated.table, data, game, number, str(request.get("name", ""))[-LONGEST_NAME:])
        self._sit_down(seated)
        if remark:
            self._answer(request, {"is": "told", "text": remark})

    def _stops(self) -> bool:
        """Whether an analysis ends now."""
        return self._is_waiting() or self.seconds_left(time.monotonic()) == 0

    def _sit_down(self, seated: Seated) -> None:
        if self._seated is not None:
            seated.thinker.is_analysing = self._seated.thinker.is_analysing and seated.table.live is None
        self._seated = seated
        self._changed()

    # Moves

    def _play(self, request: dict[str, Any]) -> None:
        self._move(request, self._game.table.action(request.get("vertex")))

    def _pass(self, request: dict[str, Any]) -> None:
        self._move(request, self._game.table.game.kind.pass_action)

    def _move(self, request: dict[str, Any], action: int) -> None:
        self._check_shown(request)
        self._game.table.play(action)
        self._changed()

    def _check_shown(self, request: dict[str, Any]) -> None:
        """RefusedError for a click on another position, which the page names, than is shown by now."""
        at = self._game.table.at
        if request.get("at", at) != at:
            raise RefusedError("The position has changed since that click: look at the board, then click again.")

    def _changing(self, change: Callable[[Table], None]) -> Callable[[dict[str, Any]], None]:
        """Answers a request that needs no more than this change of the table."""

        def act(request: dict[str, Any]) -> None:
            change(self._game.table)
            self._changed()

        return act

    def _goto(self, request: dict[str, Any]) -> None:
        self._game.table.go_to(request.get("node"))
        self._show()
        table = self._game.table
        self._report({"is": "save", "shown": {"at": table.at, "leaf": table.leaf}})

    def _level(self, request: dict[str, Any]) -> None:
        self._game.thinker.engine_side.set_level(setup_of({"level": request.get("level")}, "this game").level)
        self._changed()

    def _dead(self, request: dict[str, Any]) -> None:
        self._check_shown(request)
        self._game.counting.toggle(self._game.table.action(request.get("vertex")))
        self._changed()

    # Searches

    def _analyse(self, request: dict[str, Any]) -> None:
        self._game.thinker.analyse(bool(request.get("on")))
        self._show()

    def _hint(self, request: dict[str, Any]) -> None:
        self._game.thinker.hint()

    def _batch(self, request: dict[str, Any]) -> None:
        self._game.thinker.begin_batch(request.get("visits", 100))
        self._changed()

    def _stop(self, request: dict[str, Any]) -> None:
        self._game.thinker.batch.clear()
        self._changed()

    def _leave(self, request: dict[str, Any]) -> None:
        """Nobody looks any more: end every search, and keep what was found."""
        if self._seated is not None:
            self._seated.thinker.analyse(on=False)
            self._seated.thinker.batch.clear()
            self._changed()

    # Records

    def _comment(self, request: dict[str, Any]) -> None:
        """On the position that the page names: another one may be shown by now."""
        table = self._game.table
        node = request.get("node", table.at)
        if type(node) is not int or node not in table.tree:
            raise RefusedError("The move of this comment was taken back, and the comment with it.")
        table.tree[node].comment = records.comment_of(request.get("text"))
        self._changed()

    def _save(self, request: dict[str, Any]) -> None:
        level = self._game.thinker.engine_side.level
        name, text = records.save(self._game.table, self._game.counting.sgf_result(), level)
        self._answer(request, {"is": "record", "name": name, "text": text})

    # Reports

    def _answer(self, request: dict[str, Any], values: dict[str, Any]) -> None:
        """Tell the page that asked, and no other."""
        self._report({**values, "to": request.get("page")})

    def _changed(self) -> None:
        """The game is not what it was: what a page sees is kept before."""
        self._game.table.run_clock(time.monotonic())
        self._keep()
        self._show()

    def _show(self) -> None:
        self._game.table.run_clock(time.monotonic())
        self._report(self._game.view())

    def _keep(self) -> None:
        self._report({"is": "save", "saved": self._game.saved()})


def _bytes_of(text: Any) -> bytes:
    """The bytes of a file, which a page sends as base64. RefusedError where they are none."""
    try:
        return base64.b64decode(str(text), validate=True)
    except binascii.Error:
        raise RefusedError("This page sent no file: reload it.") from None
