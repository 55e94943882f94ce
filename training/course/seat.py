"""`python -m training.play FOLDER:STRATEGY --game GAME`: a strategy of the course as an opponent.

On the terminal it plays a person, with the commands of `python -m gozero play`; with --gtp it is an engine for GoGui,
Sabaki and matches. What a strategy may be is listed in `training.course.strategies`. `val_and_pol` searches; the
others answer at once.

    python -m training.play runs/course-tictactoe:val --game tictactoe
    python -m training.play runs/course-simple_go:val_and_pol:400 --game simple_go --colour white
    python -m training.play runs/course-simple_go:val:2 --game simple_go --gtp
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Sequence
from dataclasses import replace

from gozero.evaluators.base import Evaluator
from gozero.frontends.terminal.game import TerminalGame
from gozero.frontends.terminal.play import Terminal
from gozero.games.colours import COLOUR_WORDS, COLOURS
from gozero.games.game import Game
from gozero.play.engine import search_settings
from gozero.play.player import Player, PlayerSettings, make_player
from gozero.search.settings import SearchSettings
from gozero.system.exits import SUCCESS
from gtp.guests import serve_player
from training.console import Parser, run_command, seed
from training.course.boards import COURSES, course_of, game_of
from training.course.folder import CourseError
from training.course.strategies import Strategy, open_strategy, parse

NAME = "play"


def main(arguments: Sequence[str] | None = None) -> int:
    """Play one sitting, or serve GTP. Returns the exit code: 0, 2 after one line about what was wrong, 130 after Ctrl-C."""
    options = _parser().parse_args(arguments)
    return run_command(f"training.{NAME}", lambda: _work(options), (CourseError,))


def _work(options: argparse.Namespace) -> int:
    strategy, game = parse(options.player), game_of(course_of(options.game))
    evaluator = open_strategy(strategy, game)
    if options.gtp:
        _serve(strategy, game, evaluator)
    else:
        _sit(strategy, game, evaluator, options)
    return SUCCESS


def _parser() -> argparse.ArgumentParser:
    made = Parser(
        prog=f"python -m training.{NAME}", description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    made.add_argument("player", metavar="FOLDER:STRATEGY", help="such as runs/course-simple_go:val:2")
    made.add_argument("--game", type=str.lower, choices=COURSES, required=True, help="which of the course's games")
    made.add_argument("--colour", choices=COLOUR_WORDS.values(), default="black", help="yours; Black moves first (default black)")
    made.add_argument("--seed", type=seed, help="of the search's chance in the opening (default: another each time)")
    made.add_argument("--gtp", action="store_true", help="speak the Go Text Protocol on standard input and output")
    return made


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
