"""A strategy of the course as an opponent.

On the terminal it plays a person, with the commands of `gozero play`; with --gtp it is an engine for GoGui,
Sabaki and matches. What a strategy may be is listed in `training.course.strategies`. `val_and_pol` searches; the
others answer at once.
"""

from __future__ import annotations

import argparse
import sys
from dataclasses import replace

from gozero.evaluators.base import Evaluator
from gozero.frontends.terminal.game import TerminalGame
from gozero.frontends.terminal.play import Terminal
from gozero.games.colours import COLOURS
from gozero.games.game import Game
from gozero.play.engine import search_settings
from gozero.play.player import Player, PlayerSettings, make_player
from gozero.search.settings import SearchSettings
from gozero.system.console import SUCCESS
from gtp.__main__ import serve_player
from training.course.boards import course_of, game_of
from training.course.strategies import Strategy, open_strategy, parse


def work(options: argparse.Namespace) -> int:
    strategy, game = parse(options.player), game_of(course_of(options.game))
    evaluator = open_strategy(strategy, game)
    if options.gtp:
        _serve(strategy, game, evaluator)
    else:
        _sit(strategy, game, evaluator, options)
    return SUCCESS


def _sit(strategy: Strategy, game: Game, evaluator: Evaluator, options: argparse.Namespace) -> None:
    """A game on the terminal."""
    print(f"The engine plays {strategy.name}.")
    player = _player(strategy, game, evaluator, PlayerSettings(seed=options.seed))
    Terminal(TerminalGame(player, COLOURS[options.colour], strategy.visits)).run()
    sys.stdout.flush()


def _serve(strategy: Strategy, game: Game, evaluator: Evaluator) -> None:
    """GTP until the controller leaves."""
    serve_player(
        lambda: _player(strategy, game, evaluator, PlayerSettings(opening_temperature=0.0)),
        game.name,
        strategy.visits,
        f"gozero's course: {strategy.name}",
    )


def _player(strategy: Strategy, game: Game, evaluator: Evaluator, chance: PlayerSettings) -> Player:
    """A player of the one board that the strategy knows; every move is searched anew."""
    how = replace(chance, resign=False, keeps_search=False, search=_search(strategy, game))
    return make_player(game.name, (game.size,), lambda _: evaluator, how, size=game.size)


def _search(strategy: Strategy, game: Game) -> SearchSettings:
    """How a strategy searches: as the engine, but by the result alone."""
    return replace(search_settings(strategy.visits, game.name), score_weight=0.0)
