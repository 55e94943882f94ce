"""Answers the requests of a room: new games, moves, looking around, analysis, records.

Every request ends in a view of the game, or in a report of what was asked for. What a new engine process needs to take
the game up is reported with `is` = `save`; the server keeps it.
"""

from __future__ import annotations

import math
import secrets
import time
from collections.abc import Callable
from dataclasses import asdict, replace
from pathlib import Path
from typing import Any

from gozero.engine import Evaluators
from gozero.errors import ChoiceError
from gozero.evaluators.base import Evaluator
from gozero.evaluators.rollout import RolloutEvaluator
from gozero.games import GO_FAMILY
from gozero.games.game import Game
from web import catalogue, records
from web.counting import Counting
from web.settings import EngineProcessSettings
from web.setups import Setup, setup_of
from web.table import RefusedError, Table
from web.thinking import Allowed, Thinker
from web.views import view

LONGEST_COMMENT = 10_000  # characters
MOST_BATCH_VISITS = 10_000

Report = Callable[[dict[str, Any]], None]


class Seated:
    """A game with the searches that serve it."""

    def __init__(self, table: Table, thinker: Thinker, trained: tuple[int, ...]) -> None:
        self.table, self.thinker, self.trained = table, thinker, trained
        self.identity = secrets.token_hex(4)  # by which the page knows a new game
        self.counting = Counting(table, thinker.analyst)

    def view(self) -> dict[str, Any]:
        """All that the page shows."""
        return view(self.table, self.counting, level=self.thinker.engine_side.level, trained=self.trained) | {
            "identity": self.identity,
            "analysing": self.thinker.is_analysing,
            "batch": bool(self.thinker.batch),
        }

    def saved(self) -> dict[str, Any]:
        """Plain values from which the game can be taken up."""
        setup = replace(self.table.setup, level=self.thinker.engine_side.level)
        return {"identity": self.identity, "setup": asdict(setup), "table": self.table.to_values(time.monotonic())}


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
        self._settings = settings
        self._is_waiting, self._is_cut = is_waiting, is_cut
        self._report = report
        self._compile = compile
        self._evaluators: dict[Path, Evaluators] = {}
        self._seated: Seated | None = None
        self._acts: dict[str, Callable[[dict[str, Any]], None]] = {
            "catalogue": self._catalogue, "new": self._new, "restore": self._restore, "load": self._load,
            "play": self._play, "pass": self._pass, "resign": self._resign, "undo": self._undo, "goto": self._goto,
            "review": self._review, "level": self._level, "analyse": self._analyse, "hint": self._hint,
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
        act = self._acts.get(request["do"])
        if act is None:
            raise RefusedError(f"This page asks for {request['do'][:20]!r}, which the engine does not know: reload it.")
        act(request)

    # Between requests

    @property
    def has_work(self) -> bool:
        return self._seated is not None and self._seated.thinker.has_work

    def work(self) -> None:
        """A piece of work; afterwards a view where the game has changed."""
        try:
            if self._game.thinker.work():
                self._changed()
        except RefusedError:
            self._game.thinker.analyse(on=False)
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
        choices = {label: Path(path) for label, path in request["choices"].items()}
        self._report({"is": "catalogue", "games": catalogue.shown_games(choices)})

    def _new(self, request: dict[str, Any]) -> None:
        self._sit_down(self._seat(setup_of(request["setup"])))

    def _restore(self, request: dict[str, Any]) -> None:
        seated = self._seat(setup_of(request["saved"]["setup"]))
        seated.table.take_up(request["saved"]["table"])
        seated.identity = request["saved"]["identity"]
        self._seated = seated
        self._show()

    def _load(self, request: dict[str, Any]) -> None:
        """A record, for review; in Go its file says how large the board is."""
        text, setup = _clean(request.get("text")), self._game.table.setup
        setup = replace(setup, person="both", handicap=0)
        if text.lstrip().startswith("(") and setup.game not in GO_FAMILY:
            setup = replace(setup, game="go", weights=None, engine="", rules=None)
        game = records.read_sgf(text) if setup.game in GO_FAMILY else None
        seated = self._seat(setup if game is None else replace(setup, size=game.record.size))
        remark = records.load(seated.table, text, game)
        self._sit_down(seated)
        if remark:
            self._report({"is": "told", "text": remark})

    def _seat(self, setup: Setup) -> Seated:
        """A new game; the one that is there stays until this is done."""
        path = catalogue.weights_of(setup.game, setup.weights)
        sizes = catalogue.sizes_of(setup.game, path)
        size = setup.size or catalogue.usual_size(setup.game, path)
        if size not in sizes:
            raise ChoiceError(f"board size {size}: this engine plays {', '.join(map(str, sizes))}")
        table = Table(setup, size, sizes)
        settings = self._settings
        allowed = Allowed(settings.tree_memory, settings.analysis_visits, playouts=path is None)
        thinker = Thinker(
            table, lambda game: self._evaluator(path, game), allowed, self._stops, self._is_cut, self._report
        )
        return Seated(table, thinker, catalogue.trained_sizes(path))

    def _stops(self) -> bool:
        """Whether an analysis ends now."""
        return self._is_waiting() or self.seconds_left(time.monotonic()) == 0

    def _evaluator(self, path: Path | None, game: Game) -> Evaluator:
        self._compile()
        if path is None:
            return RolloutEvaluator(game)
        if path not in self._evaluators:
            self._evaluators[path] = self._settings.evaluators(path)
        return self._evaluators[path].open(game)

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
        """A move in the position that the page showed, which it names: another one may have come meanwhile."""
        table = self._game.table
        if request.get("at", table.at) != table.at:
            raise RefusedError("The position has changed since that click: look at the board, then move again.")
        table.play(action)
        self._changed()

    def _resign(self, request: dict[str, Any]) -> None:
        self._game.table.resign(self._game.table.person)
        self._changed()

    def _undo(self, request: dict[str, Any]) -> None:
        self._game.table.undo()
        self._changed()

    def _goto(self, request: dict[str, Any]) -> None:
        self._game.table.go_to(request.get("node"))
        self._show()
        self._report({"is": "save", "at": self._game.table.at})

    def _review(self, request: dict[str, Any]) -> None:
        self._game.table.review()
        self._changed()

    def _level(self, request: dict[str, Any]) -> None:
        self._game.thinker.engine_side.set_level(setup_of({"level": request.get("level")}).level)
        self._changed()

    def _dead(self, request: dict[str, Any]) -> None:
        self._game.counting.toggle(self._game.table.action(request.get("vertex")))
        self._changed()

    # Searches

    def _analyse(self, request: dict[str, Any]) -> None:
        self._game.thinker.analyse(bool(request.get("on")))
        self._show()

    def _hint(self, request: dict[str, Any]) -> None:
        self._game.thinker.hint()

    def _batch(self, request: dict[str, Any]) -> None:
        visits = request.get("visits", 100)
        if not isinstance(visits, int) or not 1 <= visits <= MOST_BATCH_VISITS:
            raise RefusedError(f"visits = {str(visits)[:20]!r}: expected 1 to {MOST_BATCH_VISITS:,}.")
        self._game.thinker.begin_batch(visits)
        self._changed()

    def _stop(self, request: dict[str, Any]) -> None:
        self._game.thinker.batch.clear()
        self._changed()

    def _leave(self, request: dict[str, Any]) -> None:
        """Nobody looks any more: end every search."""
        if self._seated is not None:
            self._seated.thinker.analyse(on=False)
            self._seated.thinker.batch.clear()

    # Records

    def _comment(self, request: dict[str, Any]) -> None:
        text = _clean(request.get("text"))
        if len(text) > LONGEST_COMMENT:
            raise RefusedError(f"A comment has at most {LONGEST_COMMENT:,} characters; this one has {len(text):,}.")
        self._game.table.tree[self._game.table.at].comment = text
        self._keep()

    def _save(self, request: dict[str, Any]) -> None:
        name, text = records.save(self._game.table, self._game.counting.sgf_result())
        self._report({"is": "record", "name": name, "text": text})

    # Reports

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


def _clean(text: Any) -> str:
    """A page's text, without halves of characters that no file can hold."""
    return str("" if text is None else text).encode(errors="replace").decode()
