"""The command `gozero selfplay`: trains by self-play, or plays the games alone.

    gozero selfplay                                     the default run: go13 in runs/go13, begun or
                                                                    continued
    gozero selfplay --preset s3                         the whole cycle, the same as `gozero
                                                                    train`
    gozero selfplay --weights best.pt --out FOLDER      games from a weights file into a shard of records;
                                                                    nothing is learned

This module plays games; the options of the cycle and the cycle itself are `training.commands.train`.
"""

from __future__ import annotations

import argparse
import sys
import time
from itertools import islice
from pathlib import Path
from typing import TYPE_CHECKING, Any

from gozero.games import GAMES, usual
from gozero.nets import locations, weights
from gozero.nets.weights import WeightsError
from gozero.system.console import Parser, progress_bar, run_command, say
from gozero.system.errors import ChoiceError
from gozero.system.options import SettingsError
from gozero.system.words import counted
from training.commands import train
from training.doctor import history
from training.records import records, scoring
from training.records.records import Record, Writer
from training.run import estimate
from training.run.resources import device_of
from training.selfplay import simulators
from training.selfplay.leaves import Resources, leaf_evaluator
from training.selfplay.pool import Pool
from training.selfplay.simulators import Disagreement
from training.settings.config import LoopSettings, SelfPlaySettings, Stage, from_dict
from training.storage import checkpoint, storage
from training.storage.checkpoint import Progress
from training.storage.storage import StorageError

if TYPE_CHECKING:
    from torch import nn

DEFAULTS: dict[str, Any] = {  # of the options that belong to --weights
    "games": 100,
    "game": None,
    "size": None,
    "rules": None,
    "full_visits": 32,
    "cheap_visits": 8,
    "parallel": SelfPlaySettings().games,
    "seed": 1,
    "out": None,
}
DEFAULT_PRESET = "go13"
MEASURED_SECONDS = 8.0  # before a default run begins
SHARED = ("threads", "simulator", "device")  # options of a run that games alone have too
EPILOG = """\
Without options it begins or continues the default run, --preset go13 in runs/go13. With --preset or --config it trains
as they say: self-play, learning and new weights in turns, in a run folder, continuing where that stopped. With
--weights and --out it only plays games and writes their records."""


def parser() -> argparse.ArgumentParser:
    """The command line: the options of a run, and those for games alone."""
    description = "Train by self-play, or play the games alone."
    options = Parser(prog="gozero selfplay", description=description, epilog=EPILOG)
    train.add_options(options)
    games = options.add_argument_group("games alone (--weights and --out, instead of --preset or --config)")
    games.add_argument("--weights", metavar="FILE", help="weights file, or none: PUCT with random playouts")
    games.add_argument("--out", metavar="FOLDER", help="folder of the shard selfplay.gzr, which is appended to")
    games.add_argument("--games", type=int, help="games to finish (default 100)")
    games.add_argument("--game", type=str.lower, help=f"{', '.join(GAMES)} (default: that of the weights; go without)")
    games.add_argument("--size", type=int, help="board size (default: that of the weights, or the game's own)")
    games.add_argument("--rules", help="rule set (default: the game's own)")
    games.add_argument("--full-visits", type=int, help="simulations of a recorded move (default 32)")
    games.add_argument("--cheap-visits", type=int, help="simulations of the other moves (default 8)")
    games.add_argument("--parallel", type=int, help=f"games at once (default {DEFAULTS['parallel']})")
    games.add_argument("--seed", type=int, help="the same seed gives the same games in a new shard (default 1)")
    return options


def main(arguments: list[str] | None = None) -> int:
    """Train or play games from the command line. Returns 0; 1 if it failed under way; 2 for a wrong request."""
    options = parser().parse_args(arguments)
    given = [name for name in DEFAULTS if getattr(options, name) is not None]
    try:
        if options.weights is None:
            if given:
                raise SettingsError(
                    f"--{given[0].replace('_', '-')} belongs to --weights, which plays games alone; to train, use --set"
                )
            alone = options.preset is None and options.config is None
            options.preset = DEFAULT_PRESET if alone else options.preset
            return train.start(options, "gozero selfplay", announcement if alone else None)
        stray = [
            name for name, usual in vars(train.parser().parse_args([])).items() if getattr(options, name) != usual
        ]
        stray = ["from" if name == "origin" else name for name in stray if name not in SHARED]
        if stray or options.out is None:
            why = f"--{stray[0].replace('_', '-')} belongs to training; " if stray else ""
            raise SettingsError(
                f"{why}to play games alone give --weights FILE and --out FOLDER; to train, --preset or --config "
                "without --weights"
            )
        for name in DEFAULTS:
            if name not in given:
                setattr(options, name, DEFAULTS[name])
    except (SettingsError, WeightsError, ChoiceError) as error:
        say(f"gozero selfplay: {error}")
        return 2
    finished = f"the games that were finished are in {_shard(options)}"
    return run_command("gozero selfplay", lambda: _games_alone(options), (SettingsError, WeightsError), finished)


def announcement(settings: LoopSettings, folder: Path) -> str:
    """The line before the default run: what begins or continues, how long a generation takes, how to stop it.

    SettingsError for a log that cannot be read.
    """
    where = f"{DEFAULT_PRESET} in {folder.absolute()}"
    found = checkpoint.latest(folder / "checkpoints")
    if found is not None:
        what = f"continuing the default run, {where}: {_so_far(found[0].progress, history.resumed(folder).reports)}"
    else:
        say(
            f"a training run is about to begin, {where}: measuring the speed of this computer first, for about "
            f"{MEASURED_SECONDS:g} seconds; Ctrl-C stops it"
        )
        took = estimate.generation_hours(settings, MEASURED_SECONDS)
        what = (
            f"beginning the default run, {where}: self-play and learning in turns; "
            f"the first generation takes about {_minutes(took)} here"
        )
    return f"{what}; Ctrl-C stops it and saves, the same command continues"


def _so_far(progress: Progress, reports: list[history.Report]) -> str:
    """What a run has done, and how long its last generation took, if its log says so (that of a kept run is gone)."""
    done = f"it is in generation {progress.generation} after {_minutes(progress.hours)}"
    hours = {int(report["run/generation"]): report["run/hours"] for report in reports if "run/hours" in report}
    newest = max(hours, default=0)
    before = hours.get(newest - 1, None if newest != 1 else 0.0)
    return done if before is None else f"{done}; the last one took {_minutes(hours[newest] - before)}"


def _minutes(hours: float) -> str:
    minutes = 60 * hours
    return (
        f"{hours:.1f} hours"
        if hours >= 2
        else f"{minutes:.0f} minutes"
        if minutes >= 2
        else f"{60 * minutes:.0f} seconds"
    )


def _games_alone(options: argparse.Namespace) -> int:
    """`_play`; 1, after one line, where it failed under way."""
    try:
        return _play(options)
    except (Disagreement, StorageError) as error:
        say(f"gozero selfplay: {error}")
        return 1


def _shard(options: argparse.Namespace) -> Path:
    return Path(options.out) / "selfplay.gzr"


def _play(options: argparse.Namespace) -> int:
    """Play the games that the options ask for."""
    net = _network(options)
    stage, settings = _stage(options), SelfPlaySettings(games=min(options.parallel, options.games))
    game = scoring.make(options.game, options.size, options.rules, settings.max_length)
    simulator, device = simulators.resolve(options.simulator or "auto", game), device_of(options.device or "auto")
    judge = simulators.referee(simulator, game)
    path = _shard(options)
    held = _held(path, options)
    pool = Pool(game, settings, (options.seed, held) if held else (options.seed,))
    resources = Resources(options.threads or 0, device, batches=len(pool.groups))
    evaluator = leaf_evaluator(stage.evaluator, game, net, options.seed, resources)
    pool.use(evaluator, stage, generation=settings.no_pass_generations + 1)
    with storage.writing(path):
        writer = Writer(
            path, {"simulator": simulator, **{name: getattr(options, name) for name in ("weights", *DEFAULTS)}}
        )
    found: list[Record] = []
    began = time.monotonic()
    with progress_bar(options.games, "self-play", " games") as progress:
        for record in islice(pool.play(float("inf")), options.games):
            if judge is not None:
                judge.check(record)
            with storage.writing(path):
                writer.append(record)
            found.append(record)
            progress.update(1)
    writer.close()
    seconds = time.monotonic() - began
    rows = sum(record.rows for record in found)
    speed = f"{pool.evaluations:,} evaluations in {seconds:.1f} s, {pool.evaluations / seconds:,.0f} a second"
    say(
        f"{counted(len(found), 'game')}, {counted(rows, 'row')}, {speed}; refereed by {simulators.DESCRIPTIONS[simulator]}"
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
    for name, least in (("games", 1), ("parallel", 1), ("seed", 0), ("threads", 0)):
        value = getattr(options, name)
        if value is not None and not least <= value <= sys.maxsize:
            raise SettingsError(f"--{name} {value}: expected a whole number from {least} on")
    stage: Stage = from_dict(Stage, values, "command line")
    return stage


if __name__ == "__main__":
    sys.exit(main())
