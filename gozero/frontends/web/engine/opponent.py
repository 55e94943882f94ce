"""The side that the engine plays: its moves at a level, its resignation, and its clock.

It thinks about the live game on a board of its own, so a page may look at other positions meanwhile; the requests that
arrive are answered whenever its search asks whether it should stop. A thought that was cut short is dropped, and begins
again where it is still wanted.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass

from gozero.evaluators.base import Evaluator
from gozero.frontends.web.engine.session import GameSession, stand_after
from gozero.games.game import Game
from gozero.play import engine
from gozero.play.current_game import GoGame
from gozero.play.levels import level
from gozero.play.player import Player, PlayerSettings, make_game
from gozero.play.report import Observer
from gozero.play.searcher import Limits
from gozero.play.time_controls import moves_to_share

PLAYOUTS_A_LEVEL = 100  # a move of level N has N times as many where there is no network


@dataclass(frozen=True)
class Bounds:
    """What the searches of a game may use.

    Attributes:
        memory: bytes of all search trees together.
        visits: after which an analysis of a position ends.
        playouts: whether there is no network.
    """

    memory: int
    visits: int
    playouts: bool = False


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
        self.level = setup.level
        self._player = self._player_of_level(self.level)

    def _player_of_level(self, number: int) -> Player:
        chosen = level(number)
        settings = PlayerSettings(
            rules=self._session.setup.played_rules,
            resign=chosen.resigns,
            temperature=chosen.temperature,
            keeps_search=False,
            search=engine.search_settings(self._visits_of(number), self._game.name),
            max_memory=self._bounds.memory // 2,
        )
        return Player(self._game, self._open_evaluator, settings)

    def _visits_of(self, number: int) -> int:
        return number * PLAYOUTS_A_LEVEL if self._bounds.playouts else level(number).visits

    def set_level(self, number: int) -> None:
        """Play at another level from now on; a thought begins again. ChoiceError for a level that does not exist."""
        if number != self.level:
            self._player = self._player_of_level(number)
            self.level = number

    def move(self, observer: Observer) -> bool:
        """Think about the live position, and move there, resign, or lose on time; False where the thought was cut
        short. The search is reported to ``observer``.
        """
        session, game = self._session, self._game
        assert session.live is not None
        stand_after(game, session.start, session.tree.moves(session.live))
        began = time.monotonic()
        self._open_evaluator(game.kind)  # what it takes to compile and to load it is not the engine's time
        session.clock.give_back(time.monotonic() - began)
        colour, player, is_cut = session.live_turn, self._player, False

        def cut() -> bool:
            nonlocal is_cut
            is_cut = is_cut or self._should_stop() or player is not self._player
            return is_cut

        action = player.genmove(colour, self._limits(colour, cut), observer)
        if is_cut:
            return False
        if session.clock.remaining(time.monotonic()) <= 0:
            session.resign(colour, "time")
        elif action == game.kind.resign_action:
            session.resign(colour)
        else:
            session.reply(colour, action)
        return True

    def _limits(self, colour: int, cut: Callable[[], bool]) -> Limits:
        session, now = self._session, time.monotonic()
        session.run_clock(now)
        visits = self._visits_of(self.level)
        moves = moves_to_share(self._game.kind.points, self._game.position.ply)
        allowance = session.clock.allowance(colour, moves, now)
        if allowance is None:
            return Limits(visits, should_stop=cut)
        return Limits(visits, now + allowance.most, now + allowance.target, cut)
