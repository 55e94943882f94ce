"""Answers a page's requests: new games, moves, looking around, analysis, records.

A snapshot, from which a new engine process restores the game, is reported with `is` = `snapshot` before the page sees a
change.
"""

from __future__ import annotations

import base64
import math
import queue
import time
from collections.abc import Callable
from contextlib import suppress
from dataclasses import asdict, replace
from functools import cache, partial
from pathlib import Path
from typing import Any

from gozero.evaluators.base import Evaluator
from gozero.evaluators.rollout import RolloutEvaluator
from gozero.frontends.web import catalogue
from gozero.frontends.web.engine import counting, records, variations
from gozero.frontends.web.engine.batch import Host, Report
from gozero.frontends.web.engine.lessons import SHARED, lessons
from gozero.frontends.web.engine.searches import Searches
from gozero.frontends.web.engine.session import GameSession
from gozero.frontends.web.engine.views import title, view
from gozero.frontends.web.settings import PROGRAM, EngineProcessSettings
from gozero.frontends.web.setups import Setup, setup_of
from gozero.games.colours import COLOUR_WORDS, EMPTY, opponent
from gozero.games.descriptions import DESCRIPTIONS
from gozero.games.game import Game
from gozero.records.sgf import RecordError
from gozero.system.console import report_bug
from gozero.system.errors import ChoiceError, InputError, UserError, lack_of_memory

RequestQueue = queue.Queue[dict[str, Any] | None]
"""The requests that wait; None is their end."""
PLAYOUTS_A_LEVEL = 100  # a move of level N has N times as many if there is no network
LONGEST_NAME, LONGEST_TEXT = 100, 500  # characters of a file's name, of a refusal
LOST = "This game cannot be opened: its stored data is damaged."
NO_MEMORY = "Too little memory is free for this. Close other programs, then try again."
GONE = "The weights {name} are no longer available. The game continues with the usual ones."
URGENT = ("new", "rematch", "undo", "resign", "load", "review", "restore", "catalogue", "play-on")
"""Requests for which a move that is being chosen is cut short; the others leave the live game as it is."""
ONLY_SHOWN = ("goto", "analyse")  # requests after which a view follows, and no snapshot
WAITING = ("play", "hint")  # requests that wait until the person has answered a warning
ANSWERED = ("catalogue", "hint", "lessons", "save", "view")  # requests that have a report of their own


class RequestHandler:
    """Handles the requests of one game's pages, and searches between them."""

    def __init__(
        self, settings: EngineProcessSettings, requests: RequestQueue, report: Report, compile: Callable[[], None]
    ) -> None:
        self._settings = settings
        self._requests = requests  # that wait
        self._report = report  # takes what is sent to the server
        self._compile = compile  # waits until rules and search are compiled
        self._weights = catalogue.offered_weights(settings.weights)
        self._evaluators = cache(settings.evaluators)  # of a weights file; all games share them
        self._host = Host(settings, {}, self._should_stop, self._is_cut, report)
        self._current: Searches | None = None
        self._missing: Exception = InputError("There is no game yet: begin one.")  # why there is none
        self._shown_changes = -1  # of the tree, as the pages have it
        self._has_failed = False  # its work; it is not tried again before the next request
        self._acts = self._requests_by_name()

    def _requests_by_name(self) -> dict[str, Callable[[dict[str, Any]], object]]:
        """What is done for each kind of request."""
        return {
            "catalogue": self._catalogue,
            "new": lambda request: self._begin(self._open(setup_of(request.get("setup")))),
            "rematch": self._rematch,
            "restore": self._restore,
            "load": self._load,
            "play": self._play,
            "anyway": self._play_anyway,
            "play-on": lambda request: self._session.play_on(),
            "undo": lambda request: self._session.undo(),
            "resign": lambda request: self._session.resign(self._session.person),
            "review": lambda request: self._session.review(),
            "goto": lambda request: self._session.go_to(request.get("node")),
            "dead": lambda request: counting.toggle(self._session, self._clicked(request)),
            "comment": self._comment,
            "delete": lambda request: variations.delete(self._session, request.get("node")),
            "promote": lambda request: variations.promote(self._session, request.get("node")),
            "mark": lambda request: variations.mark(self._session, *map(request.get, ("node", "point", "mark"))),
            "level": self._level,
            "analyse": lambda request: self._searches.analyse(bool(request.get("on"))),
            "batch": lambda request: self._searches.batch.begin(request.get("visits", 100)),
            "stop": lambda request: self._searches.batch.stop(),
            "leave": lambda request: self._searches.stop(),  # nobody looks any more
            "hint": lambda request: self._searches.hint(),
            "lessons": self._lessons,
            "save": self._save,
            "view": self._show_all,
        }

    @property
    def _searches(self) -> Searches:
        if self._current is None:
            raise self._missing.with_traceback(None)  # it would keep one of each time
        return self._current

    @property
    def _session(self) -> GameSession:
        return self._searches.session

    # Requests, and work between them

    def run(self) -> None:
        """Answer requests until their end; until the next one comes, search and watch the clock of a person."""
        while True:
            left = self._seconds_left()
            if left == 0:
                self._guard(self._time_is_up)
            elif self._requests.empty() and (work := self._next_work()) is not None:
                self._guard(partial(self._do, work))
            else:
                with suppress(queue.Empty):
                    if (request := self._requests.get(timeout=left)) is None:
                        return
                    self._answer_to(request)

    def _answer_to(self, request: dict[str, Any]) -> None:
        self._guard(lambda: self.do(request), request.get("page"))

    def do(self, request: dict[str, Any]) -> None:
        """Answer a request. InputError or a UserError if it cannot be done."""
        self._has_failed = False
        what = request["do"]
        if what not in self._acts:
            raise InputError(f"This page asks for {what[:20]!r}, which the engine does not know: reload it.")
        if what in WAITING and self._current is not None and self._session.pending_mistake:
            raise InputError("Choose first: play that move anyway, or take it back.")
        self._acts[what](request)
        if what not in ANSWERED:
            self._show(is_changed=what not in ONLY_SHOWN)

    def _should_stop(self) -> bool:
        """Whether an analysis ends now."""
        return not self._requests.empty() or self._seconds_left() == 0

    def _is_cut(self) -> bool:
        """Whether the search for the engine's move ends now; requests that leave the live game alone are answered."""
        while not self._requests.empty():
            request = self._requests.queue[0]  # nobody else takes it
            if request is None or request["do"] in URGENT:
                return True
            self._requests.get()
            self._answer_to(request)
        return False

    def _next_work(self) -> Callable[[], bool] | None:
        return None if self._current is None or self._has_failed else self._current.next_work()

    def _do(self, work: Callable[[], bool]) -> None:
        """A piece of work; afterwards a view if the game has changed. What fails is not tried again by itself."""
        try:
            if work():
                self._show()
        except BaseException:
            self._searches.stop()
            self._has_failed = True
            raise

    def _seconds_left(self) -> float | None:
        """Until the clock that runs has run out; None if none runs."""
        left = math.inf if self._current is None else self._session.clock.remaining(time.monotonic())
        return None if math.isinf(left) else left

    def _time_is_up(self) -> None:
        self._session.resign(self._session.live_turn, "time")
        self._show()

    def _guard(self, act: Callable[[], None], page: int | None = None) -> None:
        """Do it; report to the page, None: all, in one sentence what cannot be done, or that there is a bug."""
        try:
            act()
            return
        except InputError as refused:
            text = str(refused)
        except UserError as error:
            text = f"{str(error)[:1].upper()}{str(error)[1:]}."
        except BrokenPipeError:
            raise
        except Exception as error:  # noqa: BLE001 - the border: a bug in one request must not take the game with it
            text = NO_MEMORY
            if lack_of_memory(error) is None:
                report_bug(PROGRAM, error)
                text = f"Internal error: {type(error).__name__}; the terminal says more."
        self._report({"is": "refused", "text": text[:LONGEST_TEXT], "to": page})

    # Games

    def _catalogue(self, request: dict[str, Any]) -> None:
        """Which games there are, and what is wrong with the game that is to be checked, if any."""
        fault = ""
        try:
            self._open(setup_of(request["check"]))
        except (ValueError, UserError) as error:
            fault = str(error)
        self._report({"is": "catalogue", "games": catalogue.shown_games(self._weights), "fault": fault})

    def _open(self, setup: Setup) -> Searches:
        """A new game. A UserError if its weights, its size, its handicap or a chosen backend cannot be had."""
        network, title = catalogue.networks(setup.game, self._weights).get(setup.engine), DESCRIPTIONS[setup.game].title
        if network is None:
            raise InputError(f"These weights are not offered for {title}.")
        size, sizes = setup.size or network.usual_size, list(network.sizes)
        if size not in sizes:
            raise ChoiceError(f"board size {size}: this engine plays {title} on {', '.join(map(str, sizes))}")
        session = GameSession(setup, size, sizes, network.header.trained)
        opener = partial(self._evaluator, network.path)
        if (self._settings.backend, self._settings.precision) != ("auto", "auto"):
            opener(session.game.definition)
        playouts = 0 if network.path else PLAYOUTS_A_LEVEL
        return Searches(session, opener, playouts, self._host)

    def _evaluator(self, path: Path | None, game: Game) -> Evaluator:
        """The evaluator of these weights for a board."""
        self._compile()
        return RolloutEvaluator(game) if path is None else self._evaluators(path).open(game)

    def _begin(self, searches: Searches) -> None:
        goes_on = self._current is not None and self._current.is_analysing
        searches.is_analysing = goes_on and searches.session.live is None
        self._current = searches

    def _rematch(self, request: dict[str, Any]) -> None:
        """The same game again, with the colours exchanged if the page asks so."""
        setup = self._session.setup
        if request.get("swap") and self._session.person != EMPTY:
            setup = replace(setup, person=COLOUR_WORDS[opponent(self._session.person)])
        self._begin(self._open(setup))

    def _restore(self, request: dict[str, Any]) -> None:
        """A snapshot of the server's or a page's. InputError if a page sends what cannot be one."""
        try:
            self._reopen(request.get("saved"))
        except Exception as error:
            self._missing = error  # pages that are opened later are told the same
            raise

    def _reopen(self, saved: Any) -> None:
        if not isinstance(saved, dict):
            raise InputError(LOST)
        setup = setup_of(saved.get("setup"), "this game")
        is_gone = setup.engine not in catalogue.networks(setup.game, self._weights)
        searches = self._open(replace(setup, engine="") if is_gone else setup)
        session = searches.session
        try:
            session.restore(saved["game"])
            view(session), title(session), records.save(session, "")
        except (ArithmeticError, AttributeError, LookupError, TypeError, ValueError):
            raise InputError(LOST) from None
        self._current = searches
        if is_gone:
            self._report({"is": "message", "text": GONE.format(name=setup.engine), "to": None})

    def _load(self, request: dict[str, Any]) -> None:
        """A record, for review; it says which game and which board it is. Of several games the page chooses one."""
        number = request.get("number")
        try:
            data = base64.b64decode(str(request.get("data")), validate=True)
        except ValueError:  # also if there are other characters than ASCII
            raise InputError("This page sent no file: reload it.") from None
        try:
            file = records.RecordFile(data)
            if number is None and len(file.games) > 1:
                self._answer(request, {"is": "games", "titles": [game.title for game in file.games]})
                return
            number = number if type(number) is int else 0
            searches = self._open(file.setup(self._session.setup, number))
            remarks = file.load(searches.session, number, str(request.get("name", ""))[-LONGEST_NAME:])
        except RecordError as error:
            raise InputError(f"This is no game in SGF that can be opened: {error}.") from None
        searches.session.identity = request.get("identity", searches.session.identity)
        self._begin(searches)
        if remarks:
            self._answer(request, {"is": "message", "text": remarks})

    # The game

    def _play(self, request: dict[str, Any]) -> None:
        self._session.play(self._clicked(request))
        self._session.unchecked = self._session.live if request.get("warn") else None

    def _play_anyway(self, request: dict[str, Any]) -> None:
        """Let the engine answer the move that it has warned of."""
        self._session.unchecked = self._session.mistake = None

    def _clicked(self, request: dict[str, Any]) -> int:
        """The action. InputError for a click on another position, which the page names, than is shown by now."""
        if request.get("at", self._session.at) != self._session.at:
            raise InputError("The position has changed since that click: look at the board, then click again.")
        return self._session.action(request.get("vertex"))

    def _level(self, request: dict[str, Any]) -> None:
        """If the opponent is thinking, its thought begins again."""
        level = setup_of({"level": request.get("level")}, "this game").level
        self._session.setup = replace(self._session.setup, level=level)

    def _comment(self, request: dict[str, Any]) -> None:
        """On the position that the page names: another one may be shown by now."""
        node = request.get("node", self._session.at)
        if node not in self._session.tree:
            raise InputError("The move of this comment was taken back, and the comment with it.")
        self._session.tree[node].comment = records.comment_of(request.get("text"))

    def _lessons(self, request: dict[str, Any]) -> None:
        name = str(request.get("game"))
        if name not in DESCRIPTIONS:
            raise InputError(f"There is no game {name[:20]!r}: reload this page.")
        name = SHARED.get(name, name)
        title, shown = DESCRIPTIONS[name].title, lessons(name)
        if not shown:
            raise InputError(f"{title} has no first steps.")
        self._answer(request, {"is": "lessons", "title": title, "lessons": shown})

    def _save(self, request: dict[str, Any]) -> None:
        name, text, remark = records.save(self._session, counting.sgf_result(self._session))
        self._answer(request, {"is": "record", "name": name, "text": text})
        if remark:
            self._answer(request, {"is": "message", "text": remark})

    def _show_all(self, request: dict[str, Any]) -> None:
        """All that a page that is opened shows."""
        self._answer(request, variations.shape(self._session))
        self._answer(request, self._view())

    # Reports

    def _answer(self, request: dict[str, Any], values: dict[str, Any]) -> None:
        """Report to the page that asked, and no other."""
        self._report({**values, "to": request.get("page")})

    def _show(self, *, is_changed: bool = True) -> None:
        """Report what the pages show, and a snapshot if the game has changed."""
        session, now = self._session, time.monotonic()
        session.run_clock(now)
        if is_changed:
            shown = title(session)  # before the snapshot, which has its result
            saved = {"setup": asdict(session.setup), "game": session.snapshot(now), "title": shown}
            self._report({"is": "snapshot", "saved": saved})
        if is_changed or session.tree.changes != self._shown_changes:
            self._shown_changes = session.tree.changes
            self._report(variations.shape(session))
        self._report(self._view())

    def _view(self) -> dict[str, Any]:
        searches = self._searches
        batch = {"batch": searches.batch.is_running, "speed": searches.batch.speed}
        return {**view(searches.session), "analysing": searches.is_analysing, **batch}
