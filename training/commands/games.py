"""Plays games of self-play alone, from a weights file into a new shard of records; the same command again plays others.
Of the games at once those that were begun first are kept: those that end first are the short ones.

The command line is `training.commands.selfplay`.
"""

from __future__ import annotations

import argparse
import time
from itertools import islice
from pathlib import Path

from torch import nn

from gozero.games import usual
from gozero.nets import locations, weights
from gozero.system.console import FAILED, SUCCESS, progress_bar, say
from gozero.system.options import SettingsError, from_values
from gozero.system.words import counted
from training.records import scoring
from training.records.records import Writer
from training.run.backend import device_of
from training.selfplay import simulators
from training.selfplay.leaves import Resources, leaf_evaluator
from training.selfplay.pool import Pool
from training.selfplay.simulators import Disagreement
from training.settings.config import SelfPlaySettings, Stage
from training.storage import storage
from training.storage.storage import StorageError

SAVED = ("weights", "games", "game", "size", "rules", "full_visits", "cheap_visits", "parallel", "seed")  # options


def play(options: argparse.Namespace, program: str) -> int:
    """Play the games that the options ask for. Returns the exit code: 1, after one line, if it failed under way."""
    try:
        with storage.alone(Path(options.out)):
            return _play(options)
    except (Disagreement, StorageError) as error:
        say(f"{program}: {error}")
        return FAILED


def _play(options: argparse.Namespace) -> int:
    net, generation = _network(options)
    games = min(options.parallel, options.games)
    stage, settings = _stage(options), SelfPlaySettings(games=games, no_pass_generations=0)
    game = scoring.make(options.game, options.size, options.rules, settings.max_length)
    simulator = simulators.resolve(options.simulator, game, settings, (stage,))
    shards = storage.numbered(Path(options.out), ".gzr")
    number = int(shards[-1].stem) if shards else 0
    path = Path(options.out) / f"{number + 1:06d}.gzr"
    pool = Pool(game, settings, (options.seed, number) if number else (options.seed,), simulator)
    resources = Resources(options.threads, device_of(options.device), batches=len(pool.groups))
    pool.use(leaf_evaluator(stage.evaluator, game, net, options.seed, resources), stage, generation)
    with storage.writing(path):
        writer = Writer(path, {"simulator": simulator, **{name: getattr(options, name) for name in SAVED}})
    rows, began = 0, time.monotonic()
    with progress_bar(options.games, "self-play", " games") as progress:
        kept = (record for record in pool.play(float("inf")) if record.number < options.games)
        for record in islice(kept, options.games):
            with storage.writing(path):
                writer.append(record)
            rows += record.rows
            progress.update(1)
    writer.close()
    seconds = time.monotonic() - began
    speed = f"{pool.evaluations:,} evaluations in {seconds:.1f} s, {pool.evaluations / seconds:,.0f} a second"
    board = simulators.DESCRIPTIONS[simulator]
    say(f"{path}: {counted(options.games, 'game')}, {counted(rows, 'row')}, {speed}; played on {board}")
    return SUCCESS


def _network(options: argparse.Namespace) -> tuple[nn.Module | None, int]:
    """(the network that plays, None for playouts; its generation, 1 if it names none). Options that were not given
    (game, size, rules) are set to its own.
    """
    loaded = None if options.weights == "none" else weights.load(locations.find(options.weights), options.game)
    options.game = options.game or (loaded.game if loaded else scoring.GO)
    options.size = options.size or (loaded.size if loaded else None) or usual(options.game, "size")
    options.rules = options.rules or usual(options.game, "rules") or ""
    if loaded is not None and loaded.config.size not in (None, options.size):
        raise SettingsError(f"--size {options.size}: {loaded.path} plays on size {loaded.config.size} only")
    if loaded is None:
        return None, 1
    generation = loaded.provenance.get("generation")
    return loaded.network(), generation if isinstance(generation, int) and 0 < generation < 2**32 else 1


def _stage(options: argparse.Namespace) -> Stage:
    """The command line as a stage, checked like one from a file."""
    values = {
        "rows": 1,
        "sizes": {options.size: 1.0},
        "full_visits": options.full_visits,
        "cheap_visits": options.cheap_visits,
        "evaluator": "rollouts" if options.weights == "none" else "network",
    }
    return from_values(Stage, values, "command line")
