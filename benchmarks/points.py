"""What points are worth beside the result: a network in the search against itself with another `score_weight`.

    python -m benchmarks.points                         # the engine's own weight against none, 13x13, 32 visits, 100
                                                        games
    python -m benchmarks.points --weight 0.6 --against 0.3

Colours alternate, and six random plies keep the games apart. The claim is that the engine's own weight does not lose to
none: a side that is winning anyway should at least not play worse for wanting points. `--csv` saves the list of games.
"""

from __future__ import annotations

import argparse
import sys
from dataclasses import replace
from pathlib import Path

from benchmarks.harness import machine
from gozero import games
from gozero.engine import SCORE_WEIGHT
from gozero.evaluators.base import Evaluator
from gozero.evaluators.factory import open_evaluator
from training.matches.arena import write_csv
from training.matches.match import MatchSettings, play_match, tally
from training.matches.players import Conditions, SearchPlayer, match_search

KOMI = 7.5
PARALLEL = 32


def player(evaluator: Evaluator, weight: float, visits: int, conditions: Conditions) -> SearchPlayer:
    """The network in the engine's search with another score_weight."""
    settings = replace(match_search(visits, conditions), score_weight=weight)
    return SearchPlayer(f"points {weight:g}", evaluator, visits, settings, conditions)


def main(arguments: list[str] | None = None) -> int:
    """Play the match; the exit code: 0."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--weights", default="best.pt", metavar="FILE")
    parser.add_argument(
        "--weight", type=float, default=SCORE_WEIGHT, help="of points, for the one side (default %(default)s)"
    )
    parser.add_argument("--against", type=float, default=0.0, help="for the other (default 0)")
    parser.add_argument("--size", type=int, default=13, help="board size (default 13)")
    parser.add_argument("--visits", type=int, default=32, help="a move (default 32)")
    parser.add_argument("--games", type=int, default=100, help="even (default 100)")
    parser.add_argument("--seed", type=int, default=1, help="of the first moves (default 1)")
    parser.add_argument("--threads", type=int, help="for evaluation (default: all this process may use)")
    parser.add_argument("--csv", type=Path, metavar="FILE", help="save the list of games")
    parser.add_argument("--short", action="store_true", help="two games of 8 visits on 7x7, to see that it runs")
    options = parser.parse_args(arguments)
    for weight in (options.weight, options.against):
        if not 0 <= weight < float("inf"):
            parser.error(f"a weight of {weight:g}: expected 0 or more")
    if options.short:
        options.size, options.visits, options.games = 7, 8, 2
    game = games.make("go", size=options.size, komi=KOMI)
    conditions = Conditions(game, KOMI, options.seed, PARALLEL, threads=options.threads)
    evaluator = open_evaluator(options.weights, game, threads=options.threads)
    one, other = (player(evaluator, weight, options.visits, conditions) for weight in (options.weight, options.against))
    print(
        f"Points beside the result, Go {game.dimensions}, {options.visits} visits, {options.weights}\n  {machine()}",
        flush=True,
    )
    records = list(
        play_match((one, other), game, MatchSettings(options.games, options.seed, opening_moves=6, parallel=PARALLEL))
    )
    print(f"  {one.name} against {other.name}: {tally(records)}")
    if options.csv:
        write_csv(options.csv, records, game)
    return 0


if __name__ == "__main__":
    sys.exit(main())
