"""Which network plays best at equal time: networks of several widths or depths learn from the same games for as long,
then play.

    python -m benchmarks.widths weights/resume --networks b10c64 b10c48 b10c96 --minutes 15
    python -m benchmarks.widths weights/resume --networks b10c64 b10c96 --from weights/best.pt    grown, so that both
                                                                                                  begin equal
    python -m benchmarks.widths runs/nogo --preset nogo --networks b5c64 b5c96                     any game: that of the
                                                                                                   preset

The games are records of any run. A wider network takes fewer steps in the time, and in the matches
as many visits fewer as its evaluations take longer; these are measured in turn, in batches as the matches have them.
The first network plays each of the others. What a wide network would pay for games of its own is not in it: everybody
learns from the same ones, which favours the wide.
"""

from __future__ import annotations

import argparse
import sys
import time
from collections import Counter
from collections.abc import Callable
from dataclasses import replace
from itertools import islice
from pathlib import Path

import numpy as np
import torch

from benchmarks import history
from benchmarks.harness import above_zero, keep_results, machine, measure, ratio, working_folder
from benchmarks.network_search import evaluator_alone
from gozero import games, weights
from gozero.errors import ChoiceError
from gozero.evaluators.factory import open_evaluator
from gozero.exits import INTERRUPTED, SUCCESS
from gozero.games.game import Game
from training.console import Parser, finite, run_command, say, stop_on_signals
from training.learner.learner import LOSSES, Learner
from training.loop import startup
from training.matches.commands import UNUSABLE
from training.matches.match import tally
from training.records import scoring
from training.records.library import Entry, Library, LibraryError
from training.records.records import Record
from training.records.replay import Replay
from training.run import origins
from training.run.origins import Origin
from training.settings import presets
from training.settings.config import LoopSettings

BATCH = 32  # of the matches: that many games at once, one leaf of each
FOLDER = "runs/widths"
HELD_OUT_ROWS = 2000  # most that a network is measured on


def read(paths: list[str], settings: LoopSettings, most: int | None) -> Replay:
    """The rows of all games under the paths, or of the first `most` games, in one window."""
    everything = replace(settings.replay, window=sys.maxsize)
    found = (_of_the_game(entry, settings.game) for entry in islice(Library(paths).entries(), most))
    replay = Replay(everything, lambda size: scoring.game_of(settings, size), settings.features)
    replay.add(found)
    return replay


def _of_the_game(entry: Entry, game: str) -> Record:
    """The record of an entry; LibraryError if it is of another game than the preset's."""
    if entry.settings.get("game", scoring.GO) != game:
        raise LibraryError(
            f"{entry.name} is a game of {entry.settings.get('game', scoring.GO)}, the preset is of {game}: give its "
            "--preset"
        )
    return entry.record


def learn(settings: LoopSettings, replay: Replay, origin: Origin, seconds: float, stop: Callable[[], bool]) -> Learner:
    """A learner after so many seconds of steps, its rate falling at the end as at the end of a run."""
    learner = origins.learner(settings, origin)
    began = time.monotonic()
    while (done := (time.monotonic() - began) / seconds) < 1 and not stop():
        batch = replay.sample(settings.learner.batch, np.random.default_rng([settings.seed, learner.steps]))
        learner.train(batch, settings.learner.rate(done))
    return learner


def told(learner: Learner, replay: Replay, size: int) -> str:
    """One line about the losses."""
    text = f"{learner.config.name}: {learner.steps:,} steps"
    if size not in replay.sizes(held_out=True):
        return text
    found = learner.evaluate(replay.spread(size, HELD_OUT_ROWS, held_out=True))
    losses = ", ".join(f"{name} {found[name]:.3f}" for name in LOSSES if name in found)
    return f"{text}; held-out {size}x{size}: top-1 {found['top1']:.1%}, losses {losses}"


def visits_of(files: list[Path], game: Game, options: argparse.Namespace) -> list[int]:
    """Visits of each file's network that take as long as `--visits` of the first."""
    evaluators = {path.stem: open_evaluator(path, game, threads=options.threads) for path in files}
    contenders = {
        name: evaluator_alone(evaluator, BATCH, options.evaluations) for name, evaluator in evaluators.items()
    }
    rows = measure(contenders, unit="evaluations")
    for row in rows.values():
        say(str(row))
    return [max(2, round(options.visits * ratio(rows, name, files[0].stem))) for name in rows]


def results_of(options: argparse.Namespace) -> tuple[list[Path], list[Path]]:
    """(the weights files, the lists of games) that will be written. ChoiceError for one that is there, and a network
    that is named twice.
    """
    if twice := [name for name, count in Counter(options.networks).items() if count > 1]:
        raise ChoiceError(f"--networks: {' and '.join(twice)} is named twice")
    first, *others = options.networks
    files = [options.folder / f"{name}.pt" for name in options.networks]
    lists = [options.folder / f"{first}-{other}.csv" for other in others]
    keep_results([*files, *lists])
    return files, lists


def compare(options: argparse.Namespace, most: int | None) -> int:
    """Learn, measure and play. Returns 0, or 130 if it was stopped: then the games that had ended are listed."""
    history.rules_of(options)
    files, lists = results_of(options)
    torch.set_num_threads(options.threads)
    stop = stop_on_signals()
    options.folder.mkdir(parents=True, exist_ok=True)
    base = presets.load(presets.path_of(options.preset), options.preset, [f"seed={options.seed}"])
    options.size = options.size or (min if options.short else max)(size for stage in base.stage for size in stage.sizes)
    has_komi = games.usual(base.game, "komi") is not None
    options.komi = options.komi if has_komi else 0.0
    game = games.make(base.game, size=options.size, komi=options.komi if has_komi else None)
    replay = read(options.records, base, most)
    if not replay.sizes():
        raise LibraryError(f"no row to learn from in {', '.join(options.records)}; {replay.corrupt} games were refused")
    say(f"{sum(replay.sizes().values()):,} rows to learn from, by size {replay.sizes()}")
    for name, path in zip(options.networks, files, strict=True):
        settings = replace(base, network=name)
        learner = learn(settings, replay, Origin(options.origin), 60 * options.minutes, stop)
        if stop():
            return INTERRUPTED
        print(told(learner, replay, options.size), flush=True)
        provenance = {
            "records": options.records,
            "from": options.origin or "",
            "minutes": options.minutes,
            "steps": learner.steps,
        }
        weights.save(
            path,
            learner.ema,
            learner.config,
            game=settings.game,
            size=options.size,
            trained_sizes=replay.sizes(),
            provenance=provenance,
        )
    sides = [f"weights:{path}:{count}" for path, count in zip(files, visits_of(files, game, options), strict=True)]
    for listed, other in zip(lists, sides[1:], strict=True):
        records = history.match(sides[0], other, game, options.komi, options, listed=listed, stop=stop)
        if records:
            print(f"{sides[0]} against {other}: {tally(records)}", flush=True)
        if stop():
            return INTERRUPTED
    return SUCCESS


def _run(options: argparse.Namespace, most: int | None) -> int:
    with working_folder(options.folder, FOLDER, options.short) as options.folder:
        return compare(options, most)


def main(arguments: list[str] | None = None) -> int:
    """Learn, measure and play; the exit code: 0, 2 for a request that makes no sense, 130 if it was stopped."""
    parser = Parser(
        prog="python -m benchmarks.widths", description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument(
        "records", nargs="*", default=["weights/resume"], help="run folders or shards (default weights/resume)"
    )
    parser.add_argument(
        "--networks",
        nargs="+",
        default=["b10c64", "b10c48", "b10c96"],
        metavar="NAME",
        help="the first meets all others",
    )
    parser.add_argument("--preset", default="go13", help="whose game, learner and window (default go13)")
    parser.add_argument(
        "--from", dest="origin", metavar="WEIGHTS.pt", help="all are grown from these weights (default: from nothing)"
    )
    parser.add_argument("--minutes", type=above_zero, default=15, help="of learning, each (default 15)")
    parser.add_argument(
        "--folder",
        type=Path,
        help=f"for weights and lists of games, none of which is replaced (default {FOLDER}; --short: a temporary one)",
    )
    parser.add_argument("--size", type=int, help="board of the matches (default: the preset's largest)")
    parser.add_argument("--komi", type=finite, default=7.5)
    parser.add_argument("--games", type=int, default=100, help="of each match (default 100)")
    parser.add_argument(
        "--visits", type=int, default=100, help="a move of the first network; the others as many as take that time"
    )
    parser.add_argument(
        "--opening-moves", type=int, default=4, help="random plies before the players begin (default 4)"
    )
    parser.add_argument("--seed", type=int, default=1, help="of weights, batches and openings (default 1)")
    parser.add_argument("--threads", type=int, default=2, help="of learning and playing (default 2)")
    parser.add_argument(
        "--short",
        action="store_true",
        help="a second of learning from eight games, then two of 8 visits on the preset's smallest board",
    )
    options = parser.parse_args(arguments)
    if options.threads < 1 or options.visits < 1:
        parser.error("--threads and --visits are at least 1")
    options.evaluations, most = 50 * BATCH, None
    if options.short:
        options.minutes, options.games, options.visits, options.evaluations, most = 1 / 60, 2, 8, BATCH, 8
    print(machine())
    return run_command("widths", lambda: _run(options, most), (*startup.UNUSABLE, *UNUSABLE, LibraryError))


if __name__ == "__main__":
    sys.exit(main())
