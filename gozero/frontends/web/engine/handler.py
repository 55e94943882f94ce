"""Answers a page's requests: new games, moves, looking around, analysis, records.

Every request ends in a view of the game or a report of what was asked for. A snapshot, from which a new engine process
restores the game, is reported with `is` = `save`, for the server.
"""

from __future__ import annotations

import base64
import binascii
import math
import time
from collections.abc import Callable
from dataclasses import asdict, replace
from functools import partial
from pathlib import Path
from typing import Any

from gozero.evaluators.base import Evaluator
from gozero.evaluators.factory import Evaluators
from gozero.evaluators.rollout import RolloutEvaluator
from gozero.frontends.web import catalogue
from gozero.frontends.web.engine import records
from gozero.frontends.web.engine.opponent import Bounds
from gozero.frontends.web.engine.searches import Report, Searches
from gozero.frontends.web.engine.session import GameSession, RefusedError
from gozero.frontends.web.engine.views import view
from gozero.frontends.web.settings import EngineProcessSettings
from gozero.frontends.web.setups import Setup, setup_of
from gozero.games.game import Game
from gozero.nets.weights import WeightsError
from gozero.system.errors import ChoiceError

LONGEST_NAME = 100  # characters of a file's name


class RequestHandler:
    """Handles the requests of one game's pages.

    Args:
        settings: of this process.
        is_waiting: whether a request has arrived.
        is_cut: handles the requests that have arrived, up to one that ends the search for the engine's move; whether
            there is such a one.
        report: takes what is sent to the page.
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
        self._settings = settings
        self._is_waiting, self._is_cut = is_waiting, is_cut
        self._report = report
        self._compile = compile
        self._evaluators: dict[Path, Evaluators] = {}
        self._current: Searches | None = None
        self._has_failed = False  # its work; it is not tried again before the next request
        self._changes: dict[str, Callable[[dict[str, Any]], object]] = {  # a snapshot and a view follow
            "play": lambda request: self._play(request, self._session.action(request.get("vertex"))),
            "pass": lambda request: self._play(request, self._session.game.kind.pass_action),
            "undo": lambda request: self._session.undo(),
            "resign": lambda request: self._session.resign(self._session.person),
            "review": lambda request: self._session.review(),
            "level": self._level, "dead": self._dead, "comment": self._comment,
            "batch": lambda request: self._searches.begin_batch(request.get("visits", 100)),
            "stop": lambda request: self._searches.batch.clear(),
        }  # fmt: skip
        self._others: dict[str, Callable[[dict[str, Any]], None]] = {
            "catalogue": self._catalogue, "new": self._new, "restore": self._restore, "load": self._load,
            "goto": self._goto, "analyse": self._analyse, "hint": lambda request: self._searches.hint(),
            "save": self._save, "view": lambda request: self._show(), "leave": self._leave,
        }  # fmt: skip

    @property
    def _searches(self) -> Searches:
        if self._current is None:
            raise RefusedError("There is no game yet: begin one.")
        return self._current

    @property
    def _session(self) -> GameSession:
        return self._searches.session

    def do(self, request: dict[str, Any]) -> None:
        """Answer a request. RefusedError, ChoiceError, SettingsError or WeightsError where it cannot be done."""
        self._has_failed = False
        if change := self._changes.get(request["do"]):
            change(request)
            self._changed()
        elif act := self._others.get(request["do"]):
            act(request)
        else:
            raise RefusedError(f"This page asks for {request['do'][:20]!r}, which the engine does not know: reload it.")

    # Between requests

    @property
    def has_work(self) -> bool:
        return self._current is not None and not self._has_failed and self._current.has_work

    def work(self) -> None:
        """A piece of work; afterwards a view where the game has changed. What fails is not tried again by itself."""
        searches = self._searches
        try:
            if searches.work():
                self._changed()
        except BaseException:
            searches.analyse(on=False)
            searches.batch.clear()
            self._has_failed = True
            raise

    def seconds_left(self, now: float) -> float | None:
        """Until the clock that runs has run out; None where none runs."""
        if self._current is None:
            return None
        left = self._current.session.clock.remaining(now)
        return None if math.isinf(left) else max(0.0, left)

    def time_is_up(self) -> None:
        """The clock of the side to move has run out."""
        session = self._session
        session.resign(session.live_turn, "time")
        self._changed()

    # Games

    def _catalogue(self, request: dict[str, Any]) -> None:
        """Which games there are, and what is wrong with the game that is to be checked, if any."""
        choices = {label: Path(path) for label, path in request["choices"].items()}
        fault = "" if request["check"] is None else self._fault_of(setup_of(request["check"]))
        self._report({"is": "catalogue", "games": catalogue.shown_games(choices), "fault": fault})

    def _fault_of(self, setup: Setup) -> str:
        """What is wrong with this game, also with its first search if a backend was chosen; "" if nothing is."""
        try:
            kind = self._open(setup).session.game.kind
            if self._settings.backend != "auto" or self._settings.precision != "auto":
                self._evaluator(catalogue.network(setup.game, setup.weights).path, kind)
        except (ValueError, WeightsError) as error:
            return str(error)
        return ""

    def _open(self, setup: Setup) -> Searches:
        """A new game. ChoiceError if its weights, its size or its handicap cannot be had."""
        network = catalogue.network(setup.game, setup.weights)
        size, sizes = setup.size or network.usual_size, list(network.sizes)
        if size not in sizes:
            title = catalogue.title_of(setup.game)
            raise ChoiceError(f"board size {size}: this engine plays {title} on {', '.join(map(str, sizes))}")
        bounds = Bounds(self._settings.tree_memory, self._settings.analysis_visits, playouts=network.path is None)
        session = GameSession(setup, size, sizes, network.header.trained)
        opener = partial(self._evaluator, network.path)
        return Searches(session, opener, bounds, self._stops, self._is_cut, self._report)

    def _evaluator(self, path: Path | None, game: Game) -> Evaluator:
        """The evaluator of these weights for a board; all games share the networks."""
        self._compile()
        if path is None:
            return RolloutEvaluator(game)
        if path not in self._evaluators:
            self._evaluators[path] = self._settings.evaluators(path)
        return self._evaluators[path].open(game)

    def _new(self, request: dict[str, Any]) -> None:
        self._begin(self._open(setup_of(request["setup"])))

    def _restore(self, request: dict[str, Any]) -> None:
        """A snapshot of the server's or a page's. RefusedError if a page sends what cannot be one."""
        saved = request["saved"]
        found = self._open(setup_of(saved["setup"]))
        try:
            found.session.restore(saved["game"])
            found.session.identity = str(saved["identity"])
            self._view(found)
        except (ArithmeticError, AttributeError, LookupError, TypeError, ValueError):
            raise RefusedError("The game that this page has kept cannot be taken up: begin a new one.") from None
        self._current = found
        self._changed()

    def _load(self, request: dict[str, Any]) -> None:
        """A record, for review; it says which game and which board it is. Of several games the page chooses one."""
        data, number = _bytes_of(request.get("data")), request.get("number")
        games = records.games_in(data)
        if number is None and len(games) > 1:
            self._answer(request, {"is": "games", "titles": games})
            return
        number = number if type(number) is int else 0
        setup, game = records.setup_for(data, self._session.setup, number)
        found = self._open(setup)
        remark = records.load(found.session, data, game, number, str(request.get("name", ""))[-LONGEST_NAME:])
        self._begin(found)
        if remark:
            self._answer(request, {"is": "message", "text": remark})

    def _stops(self) -> bool:
        """Whether an analysis ends now."""
        return self._is_waiting() or self.seconds_left(time.monotonic()) == 0

    def _begin(self, found: Searches) -> None:
        if self._current is not None:
            found.is_analysing = self._current.is_analysing and found.session.live is None
        self._current = found
        self._changed()

    # Moves

    def _play(self, request: dict[str, Any], action: int) -> None:
        self._check_shown(request)
        self._session.play(action)

    def _check_shown(self, request: dict[str, Any]) -> None:
        """RefusedError for a click on another position, which the page names, than is shown by now."""
        at = self._session.at
        if request.get("at", at) != at:
            raise RefusedError("The position has changed since that click: look at the board, then click again.")

    def _goto(self, request: dict[str, Any]) -> None:
        self._session.go_to(request.get("node"))
        self._show()
        session = self._session
        self._report({"is": "save", "shown": {"at": session.at, "leaf": session.leaf}})

    def _level(self, request: dict[str, Any]) -> None:
        self._searches.opponent.set_level(setup_of({"level": request.get("level")}, "this game").level)

    def _dead(self, request: dict[str, Any]) -> None:
        self._check_shown(request)
        self._searches.counting.toggle(self._session.action(request.get("vertex")))

    # Searches

    def _analyse(self, request: dict[str, Any]) -> None:
        self._searches.analyse(bool(request.get("on")))
        self._show()

    def _leave(self, request: dict[str, Any]) -> None:
        """Nobody looks any more: end every search, and keep what was found."""
        if self._current is not None:
            self._current.analyse(on=False)
            self._current.batch.clear()
            self._changed()

    # Records

    def _comment(self, request: dict[str, Any]) -> None:
        """On the position that the page names: another one may be shown by now."""
        session = self._session
        node = request.get("node", session.at)
        if type(node) is not int or node not in session.tree:
            raise RefusedError("The move of this comment was taken back, and the comment with it.")
        session.tree[node].comment = records.comment_of(request.get("text"))

    def _save(self, request: dict[str, Any]) -> None:
        level = self._searches.opponent.level
        name, text = records.save(self._session, self._searches.counting.sgf_result(), level)
        self._answer(request, {"is": "record", "name": name, "text": text})

    # Reports

    def _answer(self, request: dict[str, Any], values: dict[str, Any]) -> None:
        """Report to the page that asked, and no other."""
        self._report({**values, "to": request.get("page")})

    def _changed(self) -> None:
        """The game has changed: save it before a page sees it."""
        session = self._session
        session.run_clock(time.monotonic())
        setup = replace(session.setup, level=self._searches.opponent.level)
        saved = {"identity": session.identity, "setup": asdict(setup), "game": session.snapshot(time.monotonic())}
        self._report({"is": "save", "saved": saved})
        self._show()

    def _show(self) -> None:
        self._session.run_clock(time.monotonic())
        self._report(self._view(self._searches))

    def _view(self, searches: Searches) -> dict[str, Any]:
        """All that the page shows."""
        return view(searches.session, searches.counting, level=searches.opponent.level) | {
            "analysing": searches.is_analysing,
            "batch": bool(searches.batch),
        }


def _bytes_of(text: Any) -> bytes:
    """The bytes of a file, which a page sends as base64. RefusedError where they are none."""
    try:
        return base64.b64decode(str(text), validate=True)
    except binascii.Error:
        raise RefusedError("This page sent no file: reload it.") from None
