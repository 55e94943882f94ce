"""What the engine does in a room: its moves, hints, the running analysis, and the analysis of a whole game.

Vocabulary. A *look* is a snapshot of a search (`gozero.search_report`). *Work* is what is done while no request waits;
each piece of it ends when one arrives, and a piece that was cut short is done again later.

The *opponent* plays at its level and forgets what it searched; the *analyst* searches with full strength. Both play the
one game of the table.
"""

from __future__ import annotations

import math
import time
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from gozero import engine
from gozero.evaluators.base import Evaluator
from gozero.game_tree import Limits
from gozero.games.game import BLACK, EMPTY, WHITE, Game
from gozero.levels import level
from gozero.player import NoChoiceError, Player, PlayerSettings
from gozero.players import player_of
from gozero.search_report import Analysis, Observer
from gtp.time_controls import moves_to_share
from web.game_tree import Estimate
from web.table import RefusedError, Table
from web.views import look_values

HINT_VISITS = 400
REPORT_EVERY = 0.2  # seconds
LISTED_MOVES = 24
PLAYOUTS_A_LEVEL = 100  # a move of level N has N times as many where there is no network

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
        open_evaluator: as for `gozero.players.make_player`.
        allowed: bounds.
        should_stop: whether a request waits.
        report: takes what the page is told.
    """

    def __init__(
        self,
        table: Table,
        open_evaluator: Callable[[Game], Evaluator],
        allowed: Allowed,
        should_stop: Callable[[], bool],
        report: Report,
    ) -> None:
        self._table = table
        self._allowed = allowed
        self._should_stop = should_stop
        self._report = report
        half = allowed.memory // 2
        name = table.game.name
        full = PlayerSettings(rules=table.setup.rules, search=engine.search_settings(None, name), max_memory=half)
        self.analyst = player_of(table.game, open_evaluator, full)
        self._open_evaluator = open_evaluator
        self.level = table.setup.level
        self._opponent = self._player_of_level(self.level)
        self.is_analysing = False
        self._analysed: int | None = None  # the node whose analysis is done
        self.batch: list[int] = []  # nodes still to be analysed
        self.batch_total = 0
        self._batch_visits = 0

    def _player_of_level(self, number: int) -> Player:
        chosen, name = level(number), self._table.game.name
        settings = PlayerSettings(
            rules=self._table.setup.rules,
            resign=chosen.resigns,
            temperature=chosen.temperature,
            keeps_search=False,
            search=engine.search_settings(self._visits_of(number), name),
            max_memory=self._allowed.memory // 2,
        )
        return player_of(self._table.game, self._open_evaluator, settings)

    def _visits_of(self, number: int) -> int:
        return number * PLAYOUTS_A_LEVEL if self._allowed.playouts else level(number).visits

    def set_level(self, number: int) -> None:
        """Play at another level from the next move on. ChoiceError for a level that does not exist."""
        self._opponent = self._player_of_level(number)
        self.level = number

    # Work

    @property
    def has_work(self) -> bool:
        return self._table.is_engines_turn or bool(self.batch) or self._wants_analysis

    @property
    def _wants_analysis(self) -> bool:
        return self.is_analysing and not self._table.is_over and self._analysed != self._table.at

    def work(self) -> bool:
        """Do a piece of work; whether the view has changed."""
        if self._table.is_engines_turn:
            self._move()
            return True
        if self.batch:
            return self._analyse_next()
        self._analyse()
        return False

    def analyse(self, on: bool) -> None:
        """Turn the running analysis on or off."""
        self.is_analysing, self._analysed = on, None

    def _move(self) -> None:
        """The engine's move, or its resignation."""
        table = self._table
        position = table.game.position
        colour, node, now = position.to_play, table.at, time.monotonic()
        table.clock.start(colour, now)
        allowance = table.clock.allowance(colour, moves_to_share(table.game.kind.points, position.ply))
        visits = self._visits_of(self.level)
        limits = Limits(visits) if allowance is None else Limits(visits, now + allowance.most, now + allowance.target)
        seen: list[Analysis] = []
        action = self._opponent.genmove(colour, limits, self._should_stop, Observer(seen.append, most_moves=1))
        if table.clock.remaining(time.monotonic()) <= 0:
            table.game.undo()
            table.resign(colour, "time")
            return
        if seen:
            table.tree.learn(node, estimate_of(seen[-1]))
        if action == table.game.kind.resign_action:
            table.resign(colour)
        else:
            table.follow()

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
            self.analyst.analyse(colour, Limits(visits), self._should_stop, observer)
        except NoChoiceError as error:
            raise RefusedError(f"There is nothing to analyse: {error}.") from None

    # What the page asks for

    def hint(self) -> None:
        """A search of the position on the board for the person, reported as a look that says so."""
        table = self._table
        if table.is_over:
            raise RefusedError("The game is over.")
        looks: list[Analysis] = []
        self._search(HINT_VISITS, Observer(looks.append, most_moves=5, ownership=False))
        table.tree.learn(table.at, estimate_of(looks[-1]))
        self._report({**look_values(looks[-1], table, table.at, paused=True), "hint": True})

    def begin_batch(self, visits: int) -> None:
        """Analyse every position of the shown line that was not searched as well before."""
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
        self._report({"is": "progress", "done": self.batch_total - len(self.batch), "total": self.batch_total})
        return not self.batch

    def _estimate(self, node: int) -> None:
        table = self._table
        position = table.game.position
        if table.is_over:
            winner = table.game.winner() if position.is_over and table.ended is None else None
            if winner is not None:
                chance = {BLACK: 1.0, WHITE: 0.0, EMPTY: 0.5}[winner]
                table.tree.learn(node, Estimate(self._batch_visits, chance))
            return
        looks: list[Analysis] = []
        root = position.copy()
        self.analyst.analyse_aside(
            root, Limits(self._batch_visits), self._should_stop, Observer(looks.append, most_moves=1)
        )
        if not self._should_stop():
            table.tree.learn(node, estimate_of(looks[-1]))


def estimate_of(look: Analysis) -> Estimate:
    """The same for Black."""
    sign = 1 if look.colour == BLACK else -1
    score = None if look.score is None else sign * look.score
    if score is not None and not math.isfinite(score):
        score = None
    return Estimate(look.visits, (1 + sign * look.value) / 2, score, look.moves[0].line if look.moves else ())
