"""What the engine does in a room: its moves, hints, the running analysis, and the analysis of a whole game.

Vocabulary. A *look* is a snapshot of a search (`gozero.play.report`). *Work* is what is done while no request waits;
each piece of it ends when one arrives, and a piece that was cut short is done again later.

The engine's own side (`gozero.frontends.web.engine.engine_side`) plays at its level and forgets what it searched; the
*analyst* searches what the table shows with full strength. While the engine thinks, the running analysis shows its search.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from gozero.evaluators.base import Evaluator
from gozero.frontends.web.engine.counting import Counting
from gozero.frontends.web.engine.engine_side import EngineSide
from gozero.frontends.web.engine.game_tree import Estimate
from gozero.frontends.web.engine.table import RefusedError, Table
from gozero.frontends.web.engine.views import graph_point, look_values
from gozero.games.game import BLACK, EMPTY, WHITE, Game
from gozero.play import engine
from gozero.play.player import NoChoiceError, PlayerSettings, player_of
from gozero.play.report import Analysis, Observer
from gozero.play.searcher import Limits

HINT_VISITS = 400
OWNED = 0.8  # expected owner, -1..1, of a point where a move may be worth nothing
REPORT_EVERY = 0.2  # seconds
LISTED_MOVES = 24
MOST_BATCH_VISITS = 10_000

Report = Callable[[dict[str, Any]], None]


@dataclass(frozen=True)
class Allowed:
    """What one room may use.

    Attributes:
        memory: bytes that all its search trees may take.
        visits: after which an analysis of a position ends.
        playouts: whether there is no network.
    """

    memory: int
    visits: int
    playouts: bool = False


class Thinker:
    """The searches of a room.

    Args:
        table: the game.
        open_evaluator: as for `gozero.play.player.make_player`.
        allowed: bounds.
        should_stop: whether an analysis ends now, because a request waits.
        is_cut: whether the engine's own thought ends now, see `EngineSide`.
        report: takes what the page is told.
    """

    def __init__(
        self,
        table: Table,
        open_evaluator: Callable[[Game], Evaluator],
        allowed: Allowed,
        should_stop: Callable[[], bool],
        is_cut: Callable[[], bool],
        report: Report,
    ) -> None:
        self._table = table
        self._allowed = allowed
        self._should_stop = should_stop
        self._report = report
        half = allowed.memory // 2
        name = table.game.name
        search = engine.search_settings(None, name)
        full = PlayerSettings(rules=table.setup.rules, friendly_pass=True, search=search, max_memory=half)
        self.analyst = player_of(table.game, open_evaluator, full)
        self.counting = Counting(table, self.analyst)
        self.engine_side = EngineSide(table, open_evaluator, half, allowed.playouts, is_cut)
        self.is_analysing = False
        self._analysed: int | None = None  # the node whose analysis is done
        self.batch: list[int] = []  # nodes still to be analysed
        self.batch_total = 0
        self._batch_visits = 0

    # Work

    @property
    def has_work(self) -> bool:
        return self._table.is_engines_turn or bool(self.batch) or self._wants_analysis

    @property
    def _wants_analysis(self) -> bool:
        return self.is_analysing and not self._table.game.position.is_over and self._analysed != self._table.at

    def work(self) -> bool:
        """Do a piece of work; whether the view has changed."""
        if self._table.is_engines_turn:
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
        table = self._table
        node = table.live
        seen: list[Analysis] = []

        def report(look: Analysis) -> None:
            seen[:] = [look]
            if self.is_analysing and table.at == node:
                self._report(look_values(look, table, node, paused=False))

        assert node is not None
        moved = self.engine_side.move(Observer(report, REPORT_EVERY, most_moves=LISTED_MOVES, ownership=True))
        if moved and seen:
            table.tree.learn(node, estimate_of(seen[-1]))
        return moved

    def _analyse(self) -> None:
        """The running analysis, until a request arrives or its visits are spent."""
        table = self._table
        node = table.at

        last: list[Analysis] = []

        def report(look: Analysis, paused: bool = False) -> None:
            last[:] = [look]
            table.tree.learn(node, estimate_of(look))
            self._report(look_values(look, table, node, paused=paused))

        observer = Observer(
            report, interval=REPORT_EVERY, sees_the_end=False, least_moves=LISTED_MOVES, most_moves=LISTED_MOVES,
            ownership=True,
        )  # fmt: skip
        self._search(self._allowed.visits, observer)
        if not self._should_stop():
            self._analysed = node
            report(last[0], paused=True)

    def _search(self, visits: int, observer: Observer) -> None:
        """Search what the table shows. RefusedError where there is nothing to choose."""
        colour = self._table.game.position.to_play
        try:
            self.analyst.analyse(colour, Limits(visits, should_stop=self._should_stop), observer)
        except NoChoiceError as error:
            raise RefusedError(f"There is nothing to analyse: {error}.") from None

    # What the page asks for

    def hint(self) -> None:
        """A search of the position on the board for the person, reported as a look that says so."""
        table = self._table
        if table.game.position.is_over:
            raise RefusedError("The game is over.")
        if table.is_engines_turn:
            raise RefusedError("The engine is choosing its move: ask again when it has moved.")
        looks: list[Analysis] = []
        observer = Observer(looks.append, most_moves=5, ownership=True)
        limits = Limits(HINT_VISITS, should_stop=self._should_stop)
        try:
            self.analyst.hint(limits, observer)
        except NoChoiceError as error:
            raise RefusedError(f"There is no move: {error}.") from None
        if self._is_idle(looks[-1]) and self.counting.is_settled(self._should_stop):
            passing = table.game.mask_of([table.game.kind.pass_action])
            self.analyst.hint(limits, observer, passing)
        table.tree.learn(table.at, estimate_of(looks[-1]))
        self._report({**look_values(looks[-1], table, table.at, paused=True), "hint": True})

    def _is_idle(self, look: Analysis) -> bool:
        """Whether the best move is on a point that belongs to a side already."""
        point = look.moves[0].action
        return look.ownership is not None and point < len(look.ownership) and abs(look.ownership[point]) > OWNED

    def begin_batch(self, visits: Any) -> None:
        """Analyse every position of the shown line that was not searched as well before. RefusedError where these visits
        cannot be.
        """
        if not isinstance(visits, int) or not 1 <= visits <= MOST_BATCH_VISITS:
            raise RefusedError(f"visits = {str(visits)[:20]!r}: expected 1 to {MOST_BATCH_VISITS:,}.")
        self._batch_visits = visits
        self.batch = [node for node in self._table.line if not self._is_known(node)]
        self.batch_total = len(self.batch)

    def _is_known(self, node: int) -> bool:
        known = self._table.tree[node].estimate
        return known is not None and known.visits >= self._batch_visits

    def _analyse_next(self) -> bool:
        """Analyse the next position of the batch; whether it is done."""
        table, node = self._table, self.batch[0]
        if node in table.tree:
            shown = table.at
            try:
                table.go_to(node)
                self._estimate(node)
            except RefusedError:
                pass
            finally:
                table.go_to(shown)
            if self._should_stop() and not self._is_known(node):
                return False
        self.batch.pop(0)
        known = table.tree[node].estimate if node in table.tree else None
        self._report(
            {
                "is": "progress",
                "done": self.batch_total - len(self.batch),
                "total": self.batch_total,
                "node": node,
                "point": graph_point(known),
            }
        )
        return not self.batch

    def _estimate(self, node: int) -> None:
        table = self._table
        position = table.game.position
        if position.is_over:
            outcome = self.counting.outcome(self._should_stop) if table.ended_here is None else None
            if outcome is not None and not self._should_stop():
                chance = {BLACK: 1.0, WHITE: 0.0, EMPTY: 0.5}[outcome.winner]
                table.tree.learn(node, Estimate(self._batch_visits, chance, outcome.lead))
            return
        looks: list[Analysis] = []
        limits = Limits(self._batch_visits, should_stop=self._should_stop)
        self.analyst.analyse_aside(position.copy(), limits, Observer(looks.append, most_moves=1))
        if not self._should_stop():
            table.tree.learn(node, estimate_of(looks[-1]))


def estimate_of(look: Analysis) -> Estimate:
    """The same for Black."""
    sign = 1 if look.colour == BLACK else -1
    score = None if look.score is None else sign * look.score
    if score is not None and not math.isfinite(score):
        score = None
    return Estimate(look.visits, (1 + sign * look.value) / 2, score, look.moves[0].line if look.moves else ())
