"""Plays games of self-play alone, from a weights file into a shard of records; the command line is
`training.commands.selfplay`.
"""

from __future__ import annotations

import argparse
import time
from collections.abc import Sequence
from itertools import islice
from pathlib import Path
from typing import TYPE_CHECKING

from gozero.games import usual
from gozero.nets import locations, weights
from gozero.system.console import FAILED, progress_bar, say
from gozero.system.options import SettingsError
from gozero.system.words import counted
from training.records import records, scoring
from training.records.records import Record, Writer
from training.run.backend import device_of
from training.selfplay import simulators
from training.selfplay.leaves import Resources, leaf_evaluator
from training.selfplay.pool import Pool
from training.selfplay.simulators import Disagreement
from training.settings.config import SelfPlaySettings, Stage, from_dict
from training.storage import storage
from training.storage.storage import StorageError

if TYPE_CHECKING:
    from torch import nn


def play(options: argparse.Namespace, program: str, saved: Sequence[str]) -> int:
    """Play the games that the options ask for; the options named in `saved` go into the shard. Returns the exit code:
    1, after one line, if it failed under way.
    """
    try:
        return _play(options, saved)
    except (Disagreement, StorageError) as error:
        say(f"{program}: {error}")
        return FAILED


def _shard(options: argparse.Namespace) -> Path:
    return Path(options.out) / "selfplay.gzr"


def _play(options: argparse.Namespace, saved: Sequence[str]) -> int:
    """Play the games that the options ask for."""
    net = _network(options)
    stage, settings = _stage(options), SelfPlaySettings(games=min(options.parallel, options.games))
    game = scoring.make(options.game, options.size, options.rules, settings.max_length)
    simulator = simulators.resolve(options.simulator or "auto", game, settings, (stage,))
    device = device_of(options.device or "auto")
    path = _shard(options)
    held = _held(path, options)
    pool = Pool(game, settings, (options.seed, held) if held else (options.seed,), simulator)
    resources = Resources(options.threads or 0, device, batches=len(pool.groups))
    evaluator = leaf_evaluator(stage.evaluator, game, net, options.seed, resources)
    pool.use(evaluator, stage, generation=settings.no_pass_generations + 1)
    with storage.writing(path):
        writer = Writer(path, {"simulator": simulator, **{name: getattr(options, name) for name in saved}})
    found: list[Record] = []
    began = time.monotonic()
    with progress_bar(options.games, "self-play", " games") as progress:
        for record in islice(pool.play(float("inf")), options.games):
            with storage.writing(path):
                writer.append(record)
            found.append(record)
            progress.update(1)
    writer.close()
    seconds = time.monotonic() - began
    rows = sum(record.rows for record in found)
    speed = f"{pool.evaluations:,} evaluations in {seconds:.1f} s, {pool.evaluations / seconds:,.0f} a second"
    say(
        f"{counted(len(found), 'game')}, {counted(rows, 'row')}, {speed}; played on {simulators.DESCRIPTIONS[simulator]}"
    )
    return 0


def _held(path: Path, options: argparse.Namespace) -> int:
    """How many games the shard holds already, to which others are added. SettingsError if it is not to be added to."""
    try:
        if not path.exists() or not path.stat().st_size:
            return 0
        shard = records.read(path)
    except OSError as error:
        raise SettingsError(f"cannot read {path}: {error.strerror or error}; give another --out") from None
    if not shard.settings and not shard.records:
        raise SettingsError(f"{path} is not a shard of records; give another --out")
    for name in ("game", "rules"):
        before, now = shard.settings.get(name, getattr(options, name)), getattr(options, name)
        if before != now:
            raise SettingsError(f"{path} holds games of {name} {before!r}, not {now!r}; give another --out")
    return len(shard.records)


def _network(options: argparse.Namespace) -> nn.Module | None:
    """The network that plays; None for playouts. Options that were not given (game, size, rules) are set to its own."""
    loaded = None if options.weights == "none" else weights.load(locations.find(options.weights), options.game)
    options.game = options.game or (loaded.game if loaded else scoring.GO)
    options.size = options.size or (loaded.size if loaded else None) or usual(options.game, "size")
    options.rules = options.rules or usual(options.game, "rules") or ""
    if loaded is not None and loaded.config.size not in (None, options.size):
        raise SettingsError(f"--size {options.size}: {loaded.path} plays on size {loaded.config.size} only")
    return None if loaded is None else loaded.network()


def _stage(options: argparse.Namespace) -> Stage:
    """The command line as a stage, checked like one from a file."""
    values = {
        "rows": 1,
        "sizes": {options.size: 1.0},
        "full_visits": options.full_visits,
        "cheap_visits": options.cheap_visits,
        "evaluator": "rollouts" if options.weights == "none" else "network",
    }
    return from_dict(Stage, values, "command line")
