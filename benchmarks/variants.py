"""Settings of the search against each other, with the same weights.

    python -m benchmarks.variants match - lcb=0 --size 9 --visits 100 --games 400 --csv FILE.csv
    python -m benchmarks.variants match - solve=0 --game othello --size 8 --visits 100 --games 400
    python -m benchmarks.variants regret lcb=0 - leaves=8 --yardstick go13.jsonl.gz --visits 400 --positions 350

A variant is `-`, the engine's own search, or settings of `gozero.search.settings.SearchSettings` that differ from it,
such as lcb=0,leaves=8 (lcb=0 plays the most visited move). Every move is searched from a fresh tree, without chance.

match   paired openings of random moves, colours swapped: the score of the first variant, its 95 % interval (Wilson).
regret  how much value a variant's move loses, by the opinion of a deep search. The positions are those of a file of
        `gozero yardstick` whose win rate is between 12 and 88 %. The deep search is the engine's with 1,600 visits
        and the most visited move, one leaf at a time; a move's worth is its value less 0.3 / sqrt(visits), so that one
        that was hardly tried counts little, and the regret is the best worth less that of the variant's move (values
        from -1 to 1). Printed are the mean over the positions, and its difference from the first variant with a
        standard error: the same positions for all, so that a quarter of an hour decides what takes a night of games.
        The judge is the same network: what looks better here is kept only if it wins a match.
"""

from __future__ import annotations

import argparse
import time
from collections.abc import Sequence
from dataclasses import fields, replace
from pathlib import Path
from typing import Any, get_type_hints

import numpy as np

from benchmarks.harness import machine, plain_parser
from gozero.evaluators.base import Evaluator
from gozero.evaluators.factory import open_evaluator
from gozero.games import GAMES
from gozero.games.game import PLY, Game
from gozero.play.engine import find_weights, search_settings
from gozero.search.result import RootResult
from gozero.search.root import SearchRequest
from gozero.search.search import Search
from gozero.search.settings import SearchSettings
from gozero.system.console import positive, run_command
from gozero.system.errors import ChoiceError
from training.matches import yardstick
from training.matches.match import MatchGame, match_score, play_match
from training.matches.options import check_files
from training.matches.players import Conditions, SearchPlayer, match_search
from training.matches.tables import csv_text
from training.records import scoring
from training.settings.config import LoopSettings

DEEP = 1_600  # visits of the judging search
AT_ONCE = 50  # positions or games
OPENING_MOVES = 4
BALANCED = (0.12, 0.88)  # win rates
DOUBT = 0.3  # of a value with one visit


def variant(text: str, settings: SearchSettings) -> SearchSettings:
    """The settings with the changes of a variant's description; ChoiceError if it cannot be read."""
    changes: dict[str, Any] = {}
    kinds = get_type_hints(SearchSettings)
    for part in [] if text == "-" else text.split(","):
        name, _, value = part.partition("=")
        if name not in kinds:
            known = ", ".join(field.name for field in fields(SearchSettings))
            raise ChoiceError(f"{text}: no search setting is named {name!r}: expected - or NAME=VALUE with {known}")
        try:
            changes[name] = bool(int(value)) if kinds[name] is bool else kinds[name](value)
        except ValueError:
            raise ChoiceError(f"{text}: {name} = {value!r}: expected {kinds[name].__name__}") from None
    return replace(settings, **changes)


def match(options: argparse.Namespace) -> None:
    if len(options.variants) != 2:
        raise ChoiceError(f"a match is between 2 variants, not {len(options.variants)}")
    check_files(options.csv)
    game, komi = scoring.match_game(LoopSettings(game=options.game), options.size)
    evaluator = evaluator_of(options, game)
    conditions = Conditions(game, komi, options.seed, AT_ONCE, threads=options.threads)
    usual = match_search(options.visits, conditions)
    first, second = (
        SearchPlayer(text, evaluator, options.visits, variant(text, usual), conditions) for text in options.variants
    )
    records: list[MatchGame] = []
    for record in play_match((first, second), game, options.games, options.seed, OPENING_MOVES, parallel=AT_ONCE):
        records.append(record)
        if len(records) % AT_ONCE == 0 or len(records) == options.games:
            print(f"{' against '.join(options.variants)}: {match_score(records)}", flush=True)
    if options.csv:
        rows = [vars(record) | {"moves": record.moves_text(game)} for record in records]
        options.csv.write_text(csv_text(rows), encoding="utf-8")


def regret(options: argparse.Namespace) -> None:
    if options.yardstick is None:
        raise ChoiceError("regret needs --yardstick FILE")
    game, states = positions(options.yardstick, options.positions)
    evaluator = evaluator_of(options, game)
    own = replace(search_settings(options.visits, game.name), leaves=1, most_leaves=1)
    variants = {text: variant(text, own) for text in options.variants}
    print(f"searching {len(states)} positions deeply, {DEEP} visits each", flush=True)
    worth = worths(evaluator, states)
    first: np.ndarray | None = None
    for text, settings in variants.items():
        begun = time.process_time()
        best = [result.best for result in searched(evaluator, states, settings, options.visits)]
        lost = worth.max(1) - worth[np.arange(len(states)), best]
        first = lost if first is None else first
        print(
            f"{text:<30} {len(states)} positions: regret {lost.mean():.4f}, {(lost - first).mean():+.4f} +- "
            f"{(lost - first).std() / len(states) ** 0.5:.4f}; {time.process_time() - begun:.0f} s of processor time",
            flush=True,
        )


def positions(path: Path, most: int) -> tuple[Game, np.ndarray]:
    """(the game, states int32 [n, S]) of at most so many balanced positions of a file of `gozero yardstick`."""
    known = yardstick.read(path)
    rows = np.flatnonzero((known.winrate > BALANCED[0]) & (known.winrate < BALANCED[1]))
    return known.game, known.states[rows[np.linspace(0, len(rows) - 1, min(most, len(rows))).astype(int)]]


def worths(evaluator: Evaluator, states: np.ndarray) -> np.ndarray:
    """float32 [n, A]: the worth of each action by the deep search, -1 if it was not tried."""
    settings = replace(search_settings(DEEP, evaluator.game.name), leaves=1, most_leaves=1, lcb=0.0)
    found = searched(evaluator, states, settings, DEEP)
    return np.stack([np.where(one.visits > 0, one.q - DOUBT / np.sqrt(np.maximum(one.visits, 1)), -1) for one in found])


def searched(evaluator: Evaluator, states: np.ndarray, settings: SearchSettings, visits: int) -> list[RootResult]:
    """The results of searching states int32 [n, S] to so many visits each."""
    found = []
    for begin in range(0, len(states), AT_ONCE):
        part = states[begin : begin + AT_ONCE]
        search = Search(evaluator.game, evaluator, replace(settings, max_nodes=visits + 8), trees=len(part), seed=1)
        for tree, state in enumerate(part):
            search.begin(tree, SearchRequest(state, np.zeros(int(state[PLY]) + 1, np.uint64), visits))
        search.run()
        found += [search.result(tree) for tree in range(len(part))]
    return found


def evaluator_of(options: argparse.Namespace, game: Game) -> Evaluator:
    path, _ = find_weights(options.weights, game.name)
    return open_evaluator(path, game, threads=options.threads)


def options_of(arguments: Sequence[str] | None) -> argparse.Namespace:
    parser = plain_parser("benchmarks.variants", __doc__ or "")
    add = parser.add_argument
    add("what", choices=("match", "regret"))
    add("variants", nargs="+", metavar="VARIANT", help="- or NAME=VALUE,...")
    add("--weights", metavar="FILE", help="of that game (default: the engine's own)")
    add("--visits", type=positive, default=100, help="of each move (default %(default)s)")
    add("--threads", type=positive, help="CPU threads (default: all this process may use)")
    add("--game", choices=GAMES, default="go", help="match: the game (default %(default)s)")
    add("--size", type=int, default=9, help="match: points a side (default %(default)s)")
    add("--games", type=int, default=400, help="match: even (default %(default)s)")
    add("--seed", type=int, default=1, help="match: fixes the openings (default %(default)s)")
    add("--csv", type=Path, metavar="FILE", help="match: save the list of games")
    add("--yardstick", type=Path, metavar="FILE", help="regret: positions, see gozero yardstick")
    add("--positions", type=positive, default=350, help="regret: at most (default %(default)s)")
    return parser.parse_args(arguments)


def main(arguments: Sequence[str] | None = None) -> int:
    options = options_of(arguments)
    return run_command("benchmarks.variants", lambda: _run(options))


def _run(options: argparse.Namespace) -> int:
    print(machine(), flush=True)
    (match if options.what == "match" else regret)(options)
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
