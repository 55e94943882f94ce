"""A match between settings of the search, with the same weights.

    python -m benchmarks.variants - lcb=0 --size 9 --visits 100 --games 400 --csv FILE.csv
    python -m benchmarks.variants - solve=0 --game othello --size 8 --visits 100 --games 400

A variant is `-`, the engine's own search, or settings of `gozero.search.settings.SearchSettings` that differ from it,
such as lcb=0,leaves=8 (lcb=0 plays the most visited move). Every move is searched from a fresh tree, without chance;
openings are random moves, in pairs with colours swapped. Printed is the score of the first variant with its 95 %
interval (Wilson).
"""

from __future__ import annotations

import argparse
from collections.abc import Sequence
from dataclasses import fields, replace
from pathlib import Path
from typing import Any, get_type_hints

from benchmarks.harness import machine, plain_parser
from gozero.evaluators.factory import open_evaluator
from gozero.games import GAMES
from gozero.play.engine import find_weights
from gozero.search.settings import SearchSettings
from gozero.system.console import positive, run_command
from gozero.system.errors import ChoiceError
from training.matches.match import MatchGame, match_score, play_match
from training.matches.options import check_files
from training.matches.players import Conditions, SearchPlayer, match_search
from training.matches.tables import csv_text
from training.records import scoring
from training.settings.config import LoopSettings

AT_ONCE = 50  # games
OPENING_MOVES = 4


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
    check_files(options.csv)
    game, komi = scoring.match_game(LoopSettings(game=options.game), options.size)
    path, _ = find_weights(options.weights, game.name)
    evaluator = open_evaluator(path, game, threads=options.threads)
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


def options_of(arguments: Sequence[str] | None) -> argparse.Namespace:
    parser = plain_parser("benchmarks.variants", __doc__ or "")
    add = parser.add_argument
    add("variants", nargs=2, metavar="VARIANT", help="- or NAME=VALUE,...")
    add("--weights", metavar="FILE", help="of that game (default: the engine's own)")
    add("--visits", type=positive, default=100, help="of each move (default %(default)s)")
    add("--threads", type=positive, help="CPU threads (default: all this process may use)")
    add("--game", choices=GAMES, default="go", help="(default %(default)s)")
    add("--size", type=int, default=9, help="points a side (default %(default)s)")
    add("--games", type=int, default=400, help="even (default %(default)s)")
    add("--seed", type=int, default=1, help="fixes the openings (default %(default)s)")
    add("--csv", type=Path, metavar="FILE", help="save the list of games")
    return parser.parse_args(arguments)


def main(arguments: Sequence[str] | None = None) -> int:
    options = options_of(arguments)
    return run_command("benchmarks.variants", lambda: _run(options))


def _run(options: argparse.Namespace) -> int:
    print(machine(), flush=True)
    match(options)
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
