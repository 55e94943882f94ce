"""A strategy of the course as an opponent: of a person on the terminal, or with --gtp of GoGui, Sabaki and matches.

What a strategy may be is listed in `training.course.strategies`. `val_and_pol` searches; the others answer at once.
"""

from __future__ import annotations

import argparse
import sys
from dataclasses import replace

import numpy as np

from gozero.frontends.terminal.play import Terminal
from gozero.games.colours import COLOURS
from gozero.games.coords import LETTERS
from gozero.games.diagram import SYMBOLS
from gozero.games.position import Position
from gozero.play.engine import search_settings
from gozero.play.player import Player, PlayerSettings, make_player
from gozero.system.console import SUCCESS
from gtp.__main__ import serve_player
from training.course.boards import course_of, game_of
from training.course.strategies import POL, StrategyEvaluator, open_strategy, parse


def work(options: argparse.Namespace) -> int:
    strategy, game = parse(options.player), game_of(course_of(options.game))
    evaluator = open_strategy(strategy, game)
    # as the engine, but by the result alone, and every move is searched anew
    search = replace(search_settings(strategy.visits, game.name), score_weight=0.0)

    def player(chance: PlayerSettings) -> Player:
        how = replace(chance, resign=False, keeps_search=False, search=search)
        return make_player(game.name, (game.size,), lambda _: evaluator, how, size=game.size)

    if options.gtp:
        name = f"gozero's course: {strategy.name}"
        serve_player(lambda: player(PlayerSettings(opening_temperature=0.0)), game.name, strategy.visits, name)
    else:
        print(f"The engine plays {strategy.name}.")
        person = player(PlayerSettings(seed=options.seed))

        def remark(before: Position, seconds: float) -> str:
            return f"{seconds:.2f} s. {_values(before, evaluator, strategy.kind)}"

        Terminal(person, COLOURS[options.colour], strategy.visits, remark=remark).run()
        sys.stdout.flush()
    return SUCCESS


def _values(before: Position, evaluator: StrategyEvaluator, kind: str) -> str:
    """The board before a move, with what the strategy thought of each point, in percent."""
    game, values = before.game, evaluator.of_points(before.state)
    cells = [SYMBOLS[colour] for colour in game.board(before.state).flat]
    cells = [cell if np.isnan(value) else f"{100 * value:.0f}" for cell, value in zip(cells, values, strict=True)]
    rows = (cells[start : start + game.cols] for start in range(0, game.points, game.cols))
    lines = [f"{game.rows - row:2d} " + "".join(f"{cell:>4}" for cell in cells) for row, cells in enumerate(rows)]
    what = "Its policy" if kind == POL else "Its chance to win after a move"
    columns = "   " + "".join(f"{letter:>4}" for letter in LETTERS[: game.cols])
    return "\n".join([f"{what}, in percent:", *lines, columns])
