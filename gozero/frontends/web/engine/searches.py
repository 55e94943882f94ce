"""The searches of a game: the engine's moves, hints, the running analysis, and the analysis of a whole game.

A search ends when a request arrives, and is repeated later if it was cut short. The opponent plays at its level; hints
and analyses have full strength.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

from gozero.evaluators.base import Evaluator
from gozero.frontends.web.engine.counting import Counting
from gozero.frontends.web.engine.game_tree import Estimate
from gozero.frontends.web.engine.opponent import Bounds, LevelOpponent
from gozero.frontends.web.engine.session import GameSession, RefusedError
from gozero.frontends.web.engine.views import graph_point, look_values
from gozero.games.game import BLACK, EMPTY, WHITE, Game
from gozero.play import engine
from gozero.play.player import NoChoiceError, Player, PlayerSettings
from gozero.play.report import Analysis, Observer
from gozero.play.searcher import Limits

HINT_VISITS = 400
OWNED = 0.8  # expected owner, -1..1, of a point where a move may be worth nothing
REPORT_EVERY = 0.2  # seconds
LISTED_MOVES = 24
MOST_BATCH_VISITS = 10_000

Report = Callable[[dict[str, Any]], None]


class Searches:
    """The searches of one game.

    Args:
        session: the game.
        open_evaluator: as for `gozero.play.player.make_player`.
        bounds: what they may use.
        should_stop: whether an analysis ends now, because a request waits.
        is_cut: whether the search for the engine's move ends now, see `LevelOpponent`.
        report: takes what is sent to the page.

    Attributes:
        batch: nodes still to be analysed.
    """

    def __init__(
        self,
        session: GameSession,
        open_evaluator: Callable[[Game], Evaluator],
        bounds: Bounds,
        should_stop: Callable[[], bool],
        is_cut: Callable[[], bool],
        report: Report,
    ) -> None:
        self.session = session
        self._bounds = bounds
        self._should_stop = should_stop
        self._report = report
        half, name = bounds.memory // 2, session.game.name
        search = engine.search_settings(None, name)
        full = PlayerSettings(rules=session.setup.played_rules, friendly_pass=True, search=search, max_memory=half)
        self._analyst = Player(session.game, open_evaluator, full)
        self.counting = Counting(session, self._analyst)
        self.opponent = LevelOpponent(session, open_evaluator, bounds, is_cut)
        self.is_analysing = False
        self._analysed: int | None = None  # the node whose analysis is done
        self.batch: list[int] = []
        self._batch_total = 0
        self._batch_visits = 0

    # Work

    @property
    def has_work(self) -> bool:
        return self.session.is_engines_turn or bool(self.batch) or self._wants_analysis

    @property
    def _wants_analysis(self) -> bool:
        return self.is_analysing and not self.session.game.position.is_over and self._analysed != self.session.at

    def work(self) -> bool:
        """Do a piece of work; whether the view has changed."""
        if self.session.is_engines_turn:
            return self._move()
        if self.batch:
            return self._analyse_next()
        self._analyse()
        return False

    def analyse(self, on: bool) -> None:
        """Turn the running analysis on or off."""
        self.is_analysing, self._analysed = on, None

    def _move(self) -> bool:
        """The engine's move, or its resignation; False where it was cut short."""
        session = self.session
        node = session.live
        seen: list[Analysis] = []

        def report(look: Analysis) -> None:
            seen[:] = [look]
            if self.is_analysing and session.at == node:
                self._report(look_values(look, session, node, paused=False))

        assert node is not None
        moved = self.opponent.move(Observer(report, REPORT_EVERY, most_moves=LISTED_MOVES, ownership=True))
        if moved and seen:
            session.tree.learn(node, estimate_of(seen[-1]))
        return moved

    def _analyse(self) -> None:
        """The running analysis, until a request arrives or its visits are spent."""
        session = self.session
        node = session.at

        last: list[Analysis] = []

        def report(look: Analysis, paused: bool = False) -> None:
            last[:] = [look]
            session.tree.learn(node, estimate_of(look))
            self._report(look_values(look, session, node, paused=paused))

        observer = Observer(
            report, interval=REPORT_EVERY, sees_the_end=False, least_moves=LISTED_MOVES, most_moves=LISTED_MOVES,
            ownership=True,
        )  # fmt: skip
        self._search(self._bounds.visits, observer)
        if not self._should_stop():
            self._analysed = node
            report(last[0], paused=True)

    def _search(self, visits: int, observer: Observer) -> None:
        """Search what the session shows. RefusedError where there is nothing to choose."""
        colour = self.session.game.position.to_play
        try:
            self._analyst.analyse(colour, Limits(visits, should_stop=self._should_stop), observer)
        except NoChoiceError as error:
            raise RefusedError(f"There is nothing to analyse: {error}.") from None

    # What the page asks for

    def hint(self) -> None:
        """A search of the position on the board for the person, reported as a look that says so."""
        session = self.session
        if session.game.position.is_over:
            raise RefusedError("The game is over.")
        if session.is_engines_turn:
            raise RefusedError("The engine is choosing its move: ask again when it has moved.")
        looks: list[Analysis] = []
        observer = Observer(looks.append, most_moves=5, ownership=True)
        limits = Limits(HINT_VISITS, should_stop=self._should_stop)
        try:
            self._analyst.hint(limits, observer)
        except NoChoiceError as error:
            raise RefusedError(f"There is no move: {error}.") from None
        if self._is_idle(looks[-1]) and self.counting.is_settled(self._should_stop):
            passing = session.game.mask_of([session.game.kind.pass_action])
            self._analyst.hint(limits, observer, passing)
        session.tree.learn(session.at, estimate_of(looks[-1]))
        self._report({**look_values(looks[-1], session, session.at, paused=True), "hint": True})

    def _is_idle(self, look: Analysis) -> bool:
        """Whether the best move is on a point that belongs to a side already."""
        point = look.moves[0].action
        return look.ownership is not None and point < len(look.ownership) and abs(look.ownership[point]) > OWNED

    def begin_batch(self, visits: Any) -> None:
        """Analyse every position of the shown line that was not searched as well before. RefusedError for visits out of
        range.
        """
        if not isinstance(visits, int) or not 1 <= visits <= MOST_BATCH_VISITS:
            raise RefusedError(f"visits = {str(visits)[:20]!r}: expected 1 to {MOST_BATCH_VISITS:,}.")
        self._batch_visits = visits
        self.batch = [node for node in self.session.line if not self._is_known(node)]
        self._batch_total = len(self.batch)

    def _is_known(self, node: int) -> bool:
        known = self.session.tree[node].estimate
        return known is not None and known.visits >= self._batch_visits

    def _analyse_next(self) -> bool:
        """Analyse the next position of the batch; whether it is done."""
        session, node = self.session, self.batch[0]
        if node in session.tree:
            shown = session.at
            try:
                session.go_to(node)
                self._estimate(node)
            except RefusedError:
                pass
            finally:
                session.go_to(shown)
            if self._should_stop() and not self._is_known(node):
                return False
        self.batch.pop(0)
        known = session.tree[node].estimate if node in session.tree else None
        done = self._batch_total - len(self.batch)
        point = graph_point(known)
        self._report({"is": "progress", "done": done, "total": self._batch_total, "node": node, "point": point})
        return not self.batch

    def _estimate(self, node: int) -> None:
        session = self.session
        position = session.game.position
        if position.is_over:
            outcome = self.counting.outcome(self._should_stop) if session.ended_here is None else None
            if outcome is not None and not self._should_stop():
                chance = {BLACK: 1.0, WHITE: 0.0, EMPTY: 0.5}[outcome.winner]
                session.tree.learn(node, Estimate(self._batch_visits, chance, outcome.lead))
            return
        looks: list[Analysis] = []
        limits = Limits(self._batch_visits, should_stop=self._should_stop)
        self._analyst.analyse_aside(position.copy(), limits, Observer(looks.append, most_moves=1))
        if not self._should_stop():
            session.tree.learn(node, estimate_of(looks[-1]))


def estimate_of(look: Analysis) -> Estimate:
    """The same for Black."""
    sign = 1 if look.colour == BLACK else -1
    score = None if look.score is None else sign * look.score
    if score is not None and not math.isfinite(score):
        score = None
    return Estimate(look.visits, (1 + sign * look.value) / 2, score, look.moves[0].line if look.moves else ())
