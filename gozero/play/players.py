"""Puts a player together: the game in progress, its ending, its searches."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np

from gozero.evaluators.base import Evaluator
from gozero.games import GO_FAMILY
from gozero.games.game import Game
from gozero.play.current_game import CurrentGame, TurnGame
from gozero.play.ending import Ending, RuleEnding
from gozero.play.engine import tree_memory
from gozero.play.go_ending import GoEnding
from gozero.play.go_game import GoGame
from gozero.play.player import Player, PlayerSettings
from gozero.play.searcher import Searcher


def make_player(
    name: str,
    sizes: Sequence[int],
    open_evaluator: Callable[[Game], Evaluator],
    settings: PlayerSettings,
    *,
    size: int,
    komi: float | None = None,
) -> Player:
    """A player of this game.

    Args:
        name: in `gozero.games`.
        sizes: board sizes that the weights can play, ascending; the size of a board that is not square is its number of
            columns.
        open_evaluator: as for `Searcher`.
        settings: how to play. ChoiceError where the game does not have these rules.
        size: of the first game.
        komi: of the first game of Go, None: the game's own.
    """
    game = make_game(name, sizes, size=size, rules=settings.rules, komi=komi)
    return player_of(game, open_evaluator, settings)


def make_game(name: str, sizes: Sequence[int], *, size: int, rules: str | None, komi: float | None) -> CurrentGame:
    """A game in progress, before its first move; arguments and errors as for `make_player`."""
    if name in GO_FAMILY:
        return GoGame(name, sizes, size=size, rules=rules, komi=komi)
    return TurnGame(name, sizes, size=size, rules=rules)


def player_of(game: CurrentGame, open_evaluator: Callable[[Game], Evaluator], settings: PlayerSettings) -> Player:
    """A player of a game that is there already, which several players may share; its rules are the game's."""
    random = np.random.default_rng(settings.seed)
    searcher = Searcher(game, open_evaluator, settings.search, random, settings.max_memory or tree_memory(None))
    ending: Ending = GoEnding(game, searcher) if isinstance(game, GoGame) else RuleEnding()
    return Player(game, ending, searcher, settings, random)
