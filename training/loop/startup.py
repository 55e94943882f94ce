"""The command line of a run, for `python -m training.loop` and `python -m training.selfplay`.

Vocabulary.
  run folder  the folder of a run (`training.run.run`); the same command given again continues in it.
  sitting     the time from one start of a run to its next stop.

The request is checked here, before anything starts. The cycle itself is `training.loop`, the presets are
`training.settings.presets`, what a new run begins with `training.run.origins`, what it will cost
`training.run.estimate`, and the trial without a run `training.loop.rehearsal`.
"""

from __future__ import annotations

import argparse
import json
from collections.abc import Callable
from contextlib import ExitStack
from dataclasses import replace
from pathlib import Path
from typing import Any

import torch

from gozero import games
from gozero.errors import ChoiceError
from gozero.exits import INTERRUPTED, SUCCESS, printing
from gozero.options import SettingsError, flat
from gozero.threads import available_threads
from gozero.weights import WeightsError
from training.actor import simulators
from training.actor.simulators import Disagreement
from training.console import Parser, say, stop_on_signals
from training.doctor import monitor
from training.learner.learner import DivergedError, network_config
from training.loop.cycle import cycle
from training.records import scoring
from training.run import origins
from training.run.origins import Origin
from training.run.run import Run
from training.settings import config, presets
from training.settings.config import LoopSettings
from training.settings.learning import ReplaySettings
from training.storage import storage
from training.storage.checkpoint import CheckpointError
from training.storage.storage import BusyError, FolderError, StorageError

# exit code 2: it cannot be done
UNUSABLE = (BusyError, FolderError, SettingsError, CheckpointError, WeightsError, ChoiceError)
FAILED = (StorageError, Disagreement, DivergedError)  # exit code 1: the run cannot continue
FIXED = ("game", "rules", "network", "norm", "value_head", "features")  # settings that a run cannot change
OLDEST = {"features": 1, "norm": "renorm", "value_head": "wdl"}  # of runs whose settings lack them
SHORTHANDS = ("hours", "threads", "simulator", "device", "mode")  # options that are settings of the same name


def prepare(settings: LoopSettings, folder: Path, origin: Origin | None = None) -> Run:
    """Make or reopen the run folder and keep the resolved settings in it. A new run begins with its origin, if any.

    Raises:
        SettingsError: the folder holds a run of another network, game or rules, or the origin does not fit.
        WeightsError, CheckpointError, StorageError: a file cannot be used or written.
    """
    under_way = _compare(settings, folder)
    if origin and under_way:
        say("this run has already begun and continues: --from and --records are for a new run")
    elif origin:
        say(origins.begin(settings, folder, origin))
    folder.mkdir(parents=True, exist_ok=True)
    run = Run(settings, folder)
    with storage.replacing(folder / "settings.json") as file:
        file.write(json.dumps(settings.to_dict(), indent=1).encode())
    return run


def _compare(settings: LoopSettings, folder: Path) -> bool:
    """Whether the folder holds a run.

    Says which settings have changed since it last stopped; SettingsError for fixed ones.
    """
    saved, under_way = folder / "settings.json", any((folder / "checkpoints").glob("*.pt"))
    if not saved.exists():
        return under_way
    try:
        before = OLDEST | flat(json.loads(saved.read_text(encoding="utf-8")))  # older files lack them
    except (OSError, ValueError) as error:
        raise SettingsError(
            f"cannot read {saved.absolute()}: {error}; give another --run, or move the file away"
        ) from None
    if not under_way:  # an earlier start failed before the first checkpoint
        return False
    after = flat(settings.to_dict())
    differs = {name: (before[name], after[name]) for name in after if name in before and before[name] != after[name]}
    for name in FIXED:
        if name in differs:
            old, new = differs[name]
            raise SettingsError(
                f"{folder.absolute()} holds a run of {name} {old!r}, not {new!r}; give another --run, "
                f"and --from {folder.absolute()}/weights.pt or --records {folder.absolute()} to start from that run"
            )
    if differs:
        changes = ", ".join(f"{name} {old!r} is now {new!r}" for name, (old, new) in differs.items())
        say(f"settings changed since the run last stopped in {folder.absolute()}: {changes}")
    return True


def add_options(options: argparse.ArgumentParser) -> None:
    """The options of a run."""
    which = options.add_argument_group("the run (one of --preset and --config)")
    which.add_argument("--preset", metavar="NAME", help="settings that come with gozero; --list-presets names them")
    which.add_argument("--config", metavar="FILE.toml", help="settings of your own")
    which.add_argument("--list-presets", action="store_true", help="print the presets and stop")
    which.add_argument(
        "--set", action="append", default=[], metavar="KEY=VALUE", help="change a setting, such as learner.batch=64"
    )
    which.add_argument("--run", metavar="FOLDER", help="run folder (default: runs/ and the name of the settings)")
    which.add_argument("--hours", type=float, help="stop when a generation ends after this many hours of work in all")
    which.add_argument(
        "--threads", type=int, help="CPU threads of network and learner; 0: as many as the process may use"
    )
    which.add_argument(
        "--simulator", choices=simulators.SIMULATORS, help="referee of the games beside our own rules (default auto)"
    )
    which.add_argument("--device", choices=("auto", "cpu", "cuda"), help="where network and learner run")
    modes = ("sequential", "semi-asynchronous", "asynchronous")
    which.add_argument("--mode", choices=modes, help="how self-play and learner share the time")
    which.add_argument(
        "--yardstick", metavar="FILE", help="labelled positions to measure agreement with; never trained on"
    )
    begin = options.add_argument_group("what a new run begins with")
    begin.add_argument(
        "--from",
        dest="origin",
        metavar="WEIGHTS.pt",
        help="weights of the same network, or of a narrower or shallower one",
    )
    begin.add_argument(
        "--records", action="append", default=[], metavar="FOLDER", help="earlier games: a run folder or shards"
    )
    look = options.add_argument_group("look first (both stop without starting a run)")
    look.add_argument(
        "--estimate", action="store_true", help="measure for a minute: games an hour, memory, disk, hours of each stage"
    )
    look.add_argument(
        "--dry-run", action="store_true", help="check settings, folder, disk, weights and a step of everything"
    )


def parser() -> argparse.ArgumentParser:
    """The command line of `python -m training.loop`."""
    options = Parser(
        prog="python -m training.loop",
        description="Train by self-play and learning in turns; continues a run where it stopped.",
    )
    add_options(options)
    return options


def main(arguments: list[str] | None = None) -> int:
    """Run the loop; the exit code: 0, 1 if it failed under way, or 2 for settings or a folder that cannot be used."""
    return start(parser().parse_args(arguments), "training.loop")


def start(
    options: argparse.Namespace, program: str, announce: Callable[[LoopSettings, Path], str] | None = None
) -> int:
    """Do what the options ask for and return the exit code, as `main`.

    `announce`, if given, makes a line to say first.
    """
    return printing(program, lambda: _start(options, program, announce))


def _start(options: argparse.Namespace, program: str, announce: Callable[[LoopSettings, Path], str] | None) -> int:
    """`start`, but for standard output."""
    if options.list_presets:
        print(presets.table())
        return SUCCESS
    with ExitStack() as held:
        try:
            settings, folder = _settings(options)
            origin = Origin(options.origin, tuple(options.records))
            torch.set_num_threads(settings.threads or available_threads())
            if options.estimate or options.dry_run:
                return _look_first(settings, folder, origin, options)
            held.enter_context(storage.alone(folder))
            if announce is not None:
                say(announce(settings, folder))
            with storage.writing(folder):
                run = prepare(settings, folder, origin)
                watch = monitor.Monitor(run.folder, run.settings)
        except UNUSABLE as error:
            say(f"{program}: {error}")
            return 2
        except FAILED as error:
            say(f"{program}: {error}")
            return 1
        except KeyboardInterrupt:  # nothing has begun
            return INTERRUPTED
        return _train(run, watch, program)


def _train(run: Run, watch: monitor.Monitor, program: str) -> int:
    """Run the cycle until it ends, fails or is stopped. Returns the exit code."""
    stop = stop_on_signals()
    say(config.describe(run.settings))
    say(f"games are refereed by {simulators.DESCRIPTIONS[run.settings.simulator]}")
    try:
        run.steps.watch, run.watch = watch.step, watch.match
        cycle(run, watch, stop)
    except FAILED as error:
        say(f"{program}: {error}")
        return 1
    finally:
        watch.close()
    say(run.limits.ending())
    say(f"weights: {(run.folder / 'weights.pt').absolute()}")
    return 0


def _look_first(settings: LoopSettings, folder: Path, origin: Origin, options: argparse.Namespace) -> int:
    """`--estimate` and `--dry-run`."""
    from training.loop import rehearsal
    from training.run import estimate

    if options.dry_run:
        _compare(settings, folder)
        rehearsal.rehearse(settings, folder, origin, print)
    if options.estimate:
        print(estimate.report(settings))
    return 0


def _settings(options: argparse.Namespace) -> tuple[LoopSettings, Path]:
    """(the settings with the referee resolved, the run folder) that the options name; SettingsError if they name none."""
    if (options.preset is None) == (options.config is None):
        raise SettingsError(f"give one of --preset NAME ({', '.join(presets.names())}) and --config FILE.toml")
    path = presets.path_of(options.preset) if options.preset else Path(options.config)
    top: dict[str, Any] = {name: getattr(options, name) for name in SHORTHANDS}
    assignments = list(options.set)
    if options.yardstick is not None:
        assignments.append(f"monitor.yardstick={json.dumps(str(Path(options.yardstick).absolute()))}")
    where = f"preset {options.preset}" if options.preset else str(path)
    settings = presets.load(path, where, assignments, top)
    settings = replace(settings, rules=settings.rules or games.usual(settings.game, "rules") or "")
    _check_boards(settings)
    _check_window(settings.replay)
    settings = replace(settings, simulator=simulators.resolve(settings.simulator, scoring.last_game(settings)))
    folder = Path(options.run or Path("runs") / path.stem)
    asked = {assignment.partition("=")[0].strip() for assignment in assignments}
    return (_as_begun(settings, folder, asked) if options.preset else settings), folder


def _as_begun(settings: LoopSettings, folder: Path, asked: set[str]) -> LoopSettings:
    """The settings of a preset with the parts of the network (`OLDEST`) of the run in the folder, if there is one and
    nothing else was asked for: a preset may have got others since.
    """
    if not any((folder / "checkpoints").glob("*.pt")):
        return settings
    try:
        before = OLDEST | json.loads((folder / "settings.json").read_text(encoding="utf-8"))
    except (OSError, ValueError, TypeError):  # `_compare` says what is wrong
        return settings
    kept = {name: before[name] for name in OLDEST if name not in asked and before[name] != getattr(settings, name)}
    for name, value in kept.items():
        say(
            f"{folder.absolute()} continues with {name} = {value!r}, as it began; new runs have {getattr(settings, name)!r}"
        )
    return replace(settings, **kept)


def _check_boards(settings: LoopSettings) -> None:
    """SettingsError for a stage with a board that the game or the network does not have."""
    boards = [(number, size) for number, stage in enumerate(settings.stage, start=1) for size in stage.sizes]
    for number, size in boards:
        try:
            scoring.game_of(settings, size)
        except ValueError as error:
            raise SettingsError(f"stage {number}: {error}") from None
    only = network_config(settings).size
    for number, size in boards:
        if only not in (None, size):
            raise SettingsError(
                f"stage {number}: network {settings.network} plays on one size of board, here {only}, not {size}"
            )


def _check_window(replay: ReplaySettings) -> None:
    """SettingsError for a window that never holds the rows that a step needs."""
    if not replay.window_games and replay.least_rows > replay.window:
        raise SettingsError(
            f"replay.least_rows = {replay.least_rows:,} is more than the window holds, {replay.window:,} rows: no step "
            "would ever be taken; lower it, or raise replay.window"
        )
