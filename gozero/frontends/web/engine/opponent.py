"""The side that the engine plays: its moves at a level, its resignation, and its clock.

It thinks about the live game on a board of its own, so a page may look at other positions meanwhile; the requests that
arrive are answered whenever its search asks whether it should stop. A thought that was cut short is dropped, and begins
again if it is still wanted.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass

from gozero.evaluators.base import Evaluator
from gozero.frontends.web.engine.session import GameSession
from gozero.games.game import Game
from gozero.play import engine
from gozero.play.current_game import GoGame
from gozero.play.levels import level
from gozero.play.player import PlayerSettings, make_game, player_of
from gozero.play.report import Observer
from gozero.play.searcher import Limits
from gozero.play.time_controls import moves_to_share

PLAYOUTS_A_LEVEL = 100  # a move of level N has N times as many if there is no network


@dataclass(frozen=True)
class Bounds:
    """What the searches of a game may use."""

    memory: int  # bytes of all search trees together
    visits: int  # after which an analysis of a position ends
    playouts: bool = False  # whether there is no network


class LevelOpponent:
    """The person's opponent in one session.

    Args:
        session: the game.
        open_evaluator: as for `gozero.play.player.make_player`.
        bounds: of which its search trees may have half the memory.
        should_stop: whether its thought is no longer wanted; may answer requests that leave the live game as it is.
    """

    def __init__(
        self,
        session: GameSession,
        open_evaluator: Callable[[Game], Evaluator],
        bounds: Bounds,
        should_stop: Callable[[], bool],
    ) -> None:
        self._session = session
        self._open_evaluator = open_evaluator
        self._bounds = bounds
        self._should_stop = should_stop
        game, setup = session.game, session.setup
        self._game = make_game(game.name, game.sizes, size=game.size, rules=setup.played_rules, komi=setup.komi)
        if isinstance(self._game, GoGame) and session.start is not None:
            self._game.load_record(session.start)
        self.set_level(setup.level)

    def set_level(self, number: int) -> None:
        """Play at another level from now on; a thought begins again. ChoiceError for a level that does not exist."""
        chosen = level(number)
        self.level = number
        self._visits = number * PLAYOUTS_A_LEVEL if self._bounds.playouts else chosen.visits
        settings = PlayerSettings(
            rules=self._session.setup.played_rules,
            resign=chosen.resigns,
            temperature=chosen.temperature,
            keeps_search=False,
            search=engine.search_settings(self._visits, self._game.name),
            max_memory=self._bounds.memory // 2,
        )
        self._player = player_of(self._game, self._open_evaluator, settings)

    def move(self, observer: Observer) -> bool:
        """Think about the live position, and move there, resign, or lose on time; False if the thought was cut short.
        The search is reported to ``observer``.
        """
        session, player = self._session, self._player
        colour, is_cut = session.live_turn, False
        self._follow()
        began = time.monotonic()
        player.load()  # what it takes to compile and to load is not the engine's time
        session.clock.give_back(time.monotonic() - began)

        def cut() -> bool:
            nonlocal is_cut
            is_cut = is_cut or self._should_stop() or player is not self._player
            return is_cut

        action = player.genmove(colour, self._limits(colour, cut), observer)
        if is_cut:
            return False
        if session.clock.remaining(time.monotonic()) <= 0:
            session.resign(colour, "time")
        elif action == self._game.kind.resign_action:
            session.resign(colour)
        else:
            session.reply(colour, action)
        return True

    def _follow(self) -> None:
        """Stand in the live position."""
        assert self._session.live is not None
        game, position = self._game, self._session.position_at(self._session.live)
        if position.moves[: len(game.position.moves)] != game.position.moves:  # moves were taken back
            game.notes.low_values.clear()
        game.position = position

    def _limits(self, colour: int, cut: Callable[[], bool]) -> Limits:
        session, now = self._session, time.monotonic()
        session.run_clock(now)
        moves = moves_to_share(self._game.kind.points, self._game.position.ply)
        allowance = session.clock.allowance(colour, moves, now)
        if allowance is None:
            return Limits(self._visits, should_stop=cut)
        return Limits(self._visits, now + allowance.most, now + allowance.target, cut)
