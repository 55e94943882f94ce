"""The searches of a game: the engine's moves, hints, the running analysis, and the analysis of a whole game.

A search ends when a request arrives, and is repeated later if it was cut short. The opponent plays at its level; hints
and analyses have full strength.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from copy import copy
from dataclasses import replace
from functools import partial

from gozero.evaluators.base import Evaluator
from gozero.frontends.web.engine.batch import REPORT_EVERY, BatchAnalysis, Host, estimate_of
from gozero.frontends.web.engine.session import GameSession
from gozero.frontends.web.engine.teaching import CHECK_VISITS, facts, mistake_of
from gozero.frontends.web.engine.views import analysis_values
from gozero.games import GO_FAMILY
from gozero.games.game import Game
from gozero.games.position import Position
from gozero.play import engine
from gozero.play.current_game import CurrentGame, EngineNotes
from gozero.play.levels import level
from gozero.play.player import Player, PlayerSettings
from gozero.play.searcher import ANALYSIS, Analysis, Limits, Observer
from gozero.play.time_controls import moves_to_share
from gozero.system.errors import InputError

HINT_VISITS = 400
LISTED_MOVES = 24
WIDE_ROOT_NOISE = 0.1  # of the running analysis; KataGo's 0.04 is for networks that are less sure of their moves


class Searches:
    """The searches of one game.

    The opponent thinks about the live game on a board of its own, so a page may look at other positions meanwhile. With a
    network ``playouts_a_level`` is 0; without one it is the opponent's visits for each level.
    """

    def __init__(
        self, session: GameSession, open_evaluator: Callable[[Game], Evaluator], playouts_a_level: int, host: Host
    ) -> None:
        self.session, self._host = session, host
        self._open_evaluator, self._playouts_a_level = open_evaluator, playouts_a_level
        settings = PlayerSettings(friendly_pass=True, wide_root_noise=WIDE_ROOT_NOISE)
        self._analyst = self._player(session.game, None, settings)
        session.ending = self._analyst.ending
        self._opponent: Player | None = None  # until it thinks for the first time
        self._level = session.setup.level  # of that
        self.is_analysing = False
        self._analysed: int | None = None  # the node whose analysis is done
        self.batch = BatchAnalysis(session, self._analyst.searcher, host)  # the analysis of all moves

    def _player(self, game: CurrentGame, visits: int | None, settings: PlayerSettings) -> Player:
        """A player with half of the memory, which searches as so many visits need."""
        search = engine.search_settings(visits, game.name)
        memory = self._host.settings.tree_memory // 2
        return Player(game, self._open_evaluator, replace(settings, search=search, max_memory=memory))

    # Work

    def next_work(self) -> Callable[[], bool] | None:
        """A piece of work, which returns whether the game has changed; None if there is none. The engine moves once the
        person has answered a warning.
        """
        session = self.session
        if session.live is not None and session.is_engines_turn and not session.pending_mistake:
            return partial(self._check if session.is_check_due else self._move, session.live)
        is_known = self._analysed == session.at or session.game.position.is_over
        if self.is_analysing and not is_known and not self.batch.is_running:
            return self._analyse
        return self.batch.work if self.batch.has_work else None

    def analyse(self, on: bool) -> None:
        """Turn the running analysis on or off."""
        self.is_analysing, self._analysed = on, None

    def stop(self) -> None:
        """End every analysis."""
        self.analyse(on=False)
        self.batch.stop()

    def _analyse(self) -> bool:
        """The running analysis, until a request arrives or its visits are spent."""
        node = self.session.at
        limits = Limits(self._host.settings.analysis_visits, should_stop=self._host.should_stop)
        self._analyst.analyse(self.session.game.position.to_play, limits, self._observer(node, sees_the_end=False))
        if not self._host.should_stop():
            self._analysed = node
            self._host.report({**analysis_values(self._last, self.session, node), "paused": True})
        return False

    def _observer(self, node: int, *, sees_the_end: bool) -> Observer:
        """Notes what a search finds of a node, and reports it to pages that analyse this node."""

        def note(analysis: Analysis) -> None:
            self._last = analysis
            self.session.tree.learn(node, estimate_of(analysis))
            if self.is_analysing and self.session.at == node:
                self._host.report(analysis_values(analysis, self.session, node))

        return Observer(
            note, REPORT_EVERY, sees_the_end, least_moves=LISTED_MOVES, most_moves=LISTED_MOVES, ownership=True
        )

    # The opponent

    def _check(self, node: int) -> bool:
        """Search before and after the person's move; whether it was a mistake."""
        tree = self.session.tree
        for number in (tree[node].parent, node):
            known = tree[number].estimate
            if known is None or known.visits < CHECK_VISITS:
                found = estimate_of(self._search_aside(self.session.position_at(number)))
                if self._host.should_stop():
                    return False
                tree.learn(number, found)
        self.session.unchecked, self.session.mistake = None, mistake_of(self.session, node)
        return self.session.mistake is not None

    def _search_aside(self, root: Position) -> Analysis:
        """What a short search of another position finds; a request cuts it short."""
        found: list[Analysis] = []
        limits = Limits(CHECK_VISITS, should_stop=self._host.should_stop)
        self._analyst.searcher.search(
            root, root.legal(), limits, Observer(found.append, most_moves=1), ANALYSIS, aside=True,
            wide_root_noise=WIDE_ROOT_NOISE,
        )  # fmt: skip
        return found[-1]

    def _move(self, node: int) -> bool:
        """Think about the live position, which is this node, and move, resign, or lose on time; False if the thought was
        cut short.
        """
        session, colour, is_cut = self.session, self.session.live_turn, False
        observer = self._observer(node, sees_the_end=True)
        visits, player = self._ready_opponent()
        began = time.monotonic()
        player.load()  # what it takes to compile and to load is not the engine's time
        session.clock.give_back(time.monotonic() - began)

        def cut() -> bool:
            nonlocal is_cut
            is_cut = is_cut or self._host.is_cut() or session.setup.level != self._level
            return is_cut

        action = player.genmove(colour, self._limits(visits, player.game.position, cut), observer)
        if is_cut:
            return False
        if session.clock.remaining(time.monotonic()) <= 0:
            session.resign(colour, "time")
        elif action == player.game.definition.resign_action:
            session.resign(colour)
            self._opponent = None  # if the game is played on, it does not resign again at once
        else:
            session.reply(colour, action)
        return True

    def _ready_opponent(self) -> tuple[int, Player]:
        """The opponent's visits, and the opponent with its board where the live game stands."""
        session, chosen = self.session, level(self.session.setup.level)
        assert session.live is not None
        visits = session.setup.level * self._playouts_a_level or chosen.visits
        if self._opponent is None or self._level != session.setup.level:
            board, self._level = copy(session.game), session.setup.level
            board.notes = EngineNotes()
            self._opponent = self._player(board, visits, chosen.settings(PlayerSettings()))
        board, position = self._opponent.game, session.position_at(session.live)
        if position.moves[: len(board.position.moves)] != board.position.moves:  # moves were taken back
            board.notes.low_values.clear()
        board.position = position
        return visits, self._opponent

    def _limits(self, visits: int, position: Position, cut: Callable[[], bool]) -> Limits:
        session, now = self.session, time.monotonic()
        session.run_clock(now)
        moves = moves_to_share(position.game.points, position.ply)
        allowance = session.clock.allowance(session.live_turn, moves, now)
        if allowance is None:
            return Limits(visits, should_stop=cut)
        return Limits(visits, now + allowance.most, now + allowance.target, cut)

    # What the page asks for

    def hint(self) -> None:
        """A search of the position on the board for the person, reported as a look that says so."""
        session = self.session
        if session.game.position.is_over:
            raise InputError("The game is over.")
        if session.is_engines_turn:
            raise InputError("The engine is choosing its move: ask again when it has moved.")
        analyses: list[Analysis] = []
        observer = Observer(analyses.append, most_moves=5, ownership=True)
        limits = Limits(HINT_VISITS, should_stop=self._host.should_stop)
        self._analyst.hint(limits, observer)
        session.tree.learn(session.at, estimate_of(analyses[-1]))
        best = analyses[-1].moves[0].action
        known = {**facts(session.game.position, best), **self._gain(analyses[-1])}
        self._host.report({**analysis_values(analyses[-1], session, session.at), "hint": True, "facts": known})

    def _gain(self, analysis: Analysis) -> dict[str, float]:
        """In Go the points that the best move is worth more than a pass, by another short search."""
        root, best = self.session.game.position, analysis.moves[0]
        if self.session.game.name not in GO_FAMILY or best.score is None or best.action == root.game.pass_action:
            return {}
        (passed,) = root.children([root.game.pass_action])
        if passed.is_over:
            return {}
        other = self._search_aside(passed).score
        return {} if other is None else {"gain": round(best.score + other, 1)}
