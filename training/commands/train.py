"""The command line of a run, for `gozero train` and `gozero selfplay`.

Vocabulary.
  run folder  the folder of a run (`training.run.run`); the same command given again continues in it.

The request is checked here, before anything starts. A sitting of the run is `training.cycle.sitting`, the presets are
`training.settings.presets`, what a new run begins with `training.run.origins`, what it will cost
`training.run.estimate`, and the trial without a run `training.cycle.rehearsal`.
"""

from __future__ import annotations

import argparse
import json
from collections.abc import Callable
from contextlib import ExitStack
from dataclasses import replace
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import torch

from gozero import games
from gozero.nets import locations
from gozero.system import files
from gozero.system.console import INTERRUPTED, SUCCESS, Parser, positive, printing, say, stop_on_signals
from gozero.system.options import SettingsError
from gozero.system.threads import available_threads
from training.cycle import sitting
from training.cycle.sitting import FAILED, UNUSABLE, prepare
from training.doctor import monitor
from training.learner.learner import network_config, resolved
from training.records import scoring
from training.run.origins import Origin
from training.run.resources import device_of
from training.selfplay import simulators
from training.selfplay.leaves import check_precision
from training.settings import config, presets
from training.settings.config import LoopSettings
from training.storage import storage

PROG = "gozero train"
SHORTHANDS = ("hours", "threads", "simulator", "device", "mode")  # options that are settings of the same name


def add_options(options: argparse.ArgumentParser) -> None:
    """The options of a run, in five groups."""
    _add_settings(options.add_argument_group("the run (one of --preset and --config)"))
    _add_places(options)
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
    _add_looks(options.add_argument_group("look first (these stop without starting a run)"))


def _add_settings(which: argparse._ArgumentGroup) -> None:
    """The run's settings and folder."""
    which.add_argument("--preset", metavar="NAME", help="settings that come with gozero; --list-presets names them")
    which.add_argument("--config", metavar="FILE.toml", help="settings of your own")
    which.add_argument("--list-presets", action="store_true", help="print the presets and stop")
    which.add_argument("--list-settings", action="store_true", help="print every setting with its unit, and stop")
    which.add_argument(
        "--set", action="append", default=[], metavar="KEY=VALUE", help="change a setting, such as learner.batch=64"
    )
    which.add_argument("--run", metavar="FOLDER", help="run folder (default: runs/ and the name of the settings)")
    which.add_argument("--hours", type=float, help="stop when a generation ends after this many hours of work in all")
    which.add_argument("--threads", type=int, help="CPU threads of network and learner; 0: as many as help just now")
    which.add_argument(
        "--simulator", choices=simulators.SIMULATORS, help="referee of the games beside our own rules (default auto)"
    )
    which.add_argument("--device", choices=("auto", "cpu", "cuda"), help="where network and learner run")
    modes = ("sequential", "semi-asynchronous", "asynchronous")
    which.add_argument("--mode", choices=modes, help="how self-play and learner share the time")
    which.add_argument(
        "--yardstick", metavar="FILE", help="labelled positions to measure agreement with; never trained on"
    )


def _add_places(options: argparse.ArgumentParser) -> None:
    """Where else the run is kept, and done."""
    home = options.add_argument_group("a second home of the run folder, which survives this machine")
    home.add_argument(
        "--storage",
        metavar="URL",
        help="copy the run there after each checkpoint, and continue from there where the folder is empty: "
        "s3://bucket/run, gs://bucket/run, file:///mnt/share/run, ...",
    )
    home.add_argument(
        "--take-over", action="store_true", help="use the storage although another process has not given it free"
    )
    cluster = options.add_argument_group("on many machines (docs/cluster.md)")
    cluster.add_argument("--address", metavar="HOST:PORT", help="of a Ray cluster; auto: the one of this machine")
    cluster.add_argument(
        "--workers", type=int, default=0, metavar="N", help="start N workers there (default: those of gozero worker)"
    )


def _add_looks(look: argparse._ArgumentGroup) -> None:
    """What is looked at instead of starting a run."""
    look.add_argument(
        "--estimate", action="store_true", help="measure for a minute: games an hour, memory, disk, hours of each stage"
    )
    look.add_argument(
        "--sizing",
        metavar="WORKERS",
        type=_counts,
        nargs="?",
        const=_counts("1,8,64,1000"),
        help="the same for a cluster of so many workers: rows, traffic, the learner's load, storage (default 1,8,64,1000)",
    )
    look.add_argument(
        "--dry-run",
        action="store_true",
        help="check settings, folder, disk, weights, whether the cluster answers, and a step of everything here",
    )


def _counts(text: str) -> tuple[int, ...]:
    """Whole numbers above 0, with commas between them."""
    try:
        return tuple(positive(part) for part in text.split(","))
    except argparse.ArgumentTypeError:
        raise argparse.ArgumentTypeError(f"{text!r}: expected whole numbers above 0, such as 8,64") from None


def parser() -> argparse.ArgumentParser:
    """The command line of `gozero train`."""
    options = Parser(
        prog=PROG,
        description="Train by self-play and learning in turns; continues a run where it stopped.",
    )
    add_options(options)
    return options


def main(arguments: list[str] | None = None) -> int:
    """Run the loop; the exit code: 0, 1 if it failed under way, or 2 for settings or a folder that cannot be used."""
    return start(parser().parse_args(arguments), PROG)


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
            asked, folder = _settings(options)
            if options.list_settings:
                print(config.describe(asked))
                return SUCCESS
            origin = Origin(options.origin, tuple(options.records))
            torch.set_num_threads(asked.threads or available_threads())
            _check_together(options, asked)
            if options.estimate or options.sizing or options.dry_run:
                return _look_first(sitting.as_begun(asked, folder, _chosen(options)), folder, origin, options)
            if options.address is not None:
                return _on_cluster(asked, folder, origin, options, program)
            check_precision(asked.selfplay.precision, device_of(asked.device))
            held.enter_context(storage.alone(folder))
            home = sitting.second_home(options.storage, options.take_over, folder, asked, held)
            settings = sitting.as_begun(asked, folder, _chosen(options))
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
            say(f"{program}: stopped while it was starting; nothing is lost")
            return INTERRUPTED
        stop = stop_on_signals()
        sitting.introduce(settings, folder, f"preset {options.preset}" if options.preset else options.config)
        return sitting.closed(home, sitting.train(run, watch, program, stop, home))


def _check_together(options: argparse.Namespace, settings: LoopSettings) -> None:
    """SettingsError for an option or setting without the one that it belongs to."""
    if options.address is None and options.workers:
        raise SettingsError(f"--workers {options.workers} belongs to --address; give both")
    if options.address is None and settings.learner.processes > 1:
        raise SettingsError(
            f"learner.processes = {settings.learner.processes} is for a cluster: give --address, or set it to 1"
        )
    if options.address is not None and settings.selfplay.processes > 1:
        raise SettingsError(
            f"selfplay.processes = {settings.selfplay.processes} is for one machine: on a cluster give --workers, "
            "or offer more with gozero worker"
        )
    if options.take_over and options.storage is None:
        raise SettingsError("--take-over belongs to --storage URL; give both")


def _check_cluster(options: argparse.Namespace) -> None:
    """SettingsError for options that no cluster understands, or a machine that cannot speak with one."""
    if options.workers < 0:
        raise SettingsError(f"--workers {options.workers}: give a number of workers, or 0 for those of gozero worker")
    if find_spec("ray") is None:
        raise SettingsError(
            "--address needs Ray, which is not installed; run: pip install '.[distributed]' in the folder of the source"
        )


def _on_cluster(settings: LoopSettings, folder: Path, origin: Origin, options: argparse.Namespace, program: str) -> int:
    """The run on the cluster at `--address`."""
    _check_cluster(options)
    from training.cluster import driver
    from training.cluster.messages import Assignment

    found = None if origin.weights is None else str(locations.find(origin.weights))  # the coordinator is elsewhere
    origin = Origin(found, tuple(str(files.full(name)) for name in origin.records))
    home = options.storage
    if home and "://" not in home:  # a path: the coordinator works in another folder
        home = str(Path(home).absolute())
    asked = Assignment(
        settings, _chosen(options), folder.absolute(), origin, home, options.take_over, program,
        options.workers, max(1, settings.threads) if options.workers else 0,
    )  # fmt: skip
    return driver.run(asked, options.address)


def _look_first(settings: LoopSettings, folder: Path, origin: Origin, options: argparse.Namespace) -> int:
    """`--estimate`, `--sizing` and `--dry-run`."""
    from training.cycle import rehearsal
    from training.run import estimate, sizing

    sitting.compare(settings, folder)
    if options.dry_run:
        if options.address is not None:
            _check_cluster(options)
            from training.cluster import driver

            print(f"cluster    {driver.answering(options.address)} answers: ok")
        if options.storage is not None:
            found = sitting.look_at_second_home(options.storage, options.take_over, folder, settings)
            print(f"storage    {found}: ok")
        rehearsal.rehearse(settings, folder, origin, print)
    if options.estimate:
        say(f"measuring self-play and learning for about {estimate.SECONDS:g} s")
        print(estimate.report(settings))
    if options.sizing:
        print(sizing.report(settings, options.sizing))
    return 0


def _settings(options: argparse.Namespace) -> tuple[LoopSettings, Path]:
    """(the settings with the referee resolved, the run folder) that the options name; SettingsError if they name none.

    What is in the run folder is not looked at: `sitting.as_begun` comes next.
    """
    if (options.preset is None) == (options.config is None):
        raise SettingsError(f"give one of --preset NAME ({', '.join(presets.names())}) and --config FILE.toml")
    path = presets.path_of(options.preset) if options.preset else Path(options.config)
    top: dict[str, Any] = {name: getattr(options, name) for name in SHORTHANDS}
    assignments = list(options.set)
    if options.yardstick is not None:
        assignments.append(f"monitor.yardstick={json.dumps(options.yardstick)}")
    where = f"preset {options.preset}" if options.preset else str(path)
    settings = presets.load(path, where, assignments, top)
    settings = replace(settings, rules=settings.rules or games.usual(settings.game, "rules") or "")
    _check_boards(settings)
    _check_window(settings)
    _check_processes(settings)
    if settings.monitor.yardstick:  # whoever reads it may work in another folder
        full = str(Path(settings.monitor.yardstick).absolute())
        settings = replace(settings, monitor=replace(settings.monitor, yardstick=full))
    settings = replace(settings, simulator=simulators.resolve(settings.simulator, scoring.last_game(settings)))
    return resolved(settings), Path(options.run or Path("runs") / path.stem)


def _chosen(options: argparse.Namespace) -> frozenset[str] | None:
    """The settings that were asked for beside a preset; None: without one all were."""
    return frozenset(each.partition("=")[0].strip() for each in options.set) if options.preset else None


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


def _check_processes(settings: LoopSettings) -> None:
    """SettingsError where several processes cannot share a batch evenly, or some would have no seat to play at."""
    learner, play = settings.learner, settings.selfplay
    if play.processes > play.seats:
        raise SettingsError(
            f"selfplay.processes = {play.processes}, but selfplay.seats = {play.seats}: each process plays at one seat "
            "or more; change one"
        )
    if learner.batch % learner.processes:
        raise SettingsError(
            f"learner.batch = {learner.batch} is no multiple of learner.processes = {learner.processes}; change one"
        )


def _check_window(settings: LoopSettings) -> None:
    """SettingsError for a window that never holds the rows that a step needs; one that grows will."""
    replay = settings.replay
    if replay.window_games:
        plies = max(scoring.game_of(settings, size).max_plies for stage in settings.stage for size in stage.sizes)
        most = int(replay.window_games * plies * (1 - replay.held_out))
        if replay.least_rows > most:
            raise SettingsError(
                f"replay.least_rows = {replay.least_rows:,}, but the {replay.window_games:,} games that the window holds "
                f"have {most:,} rows at most that may be drawn: no step would ever be taken; lower it, or raise "
                "replay.window_games"
            )
        return
    drawable = int(replay.window * (1 - replay.held_out))
    if not replay.growing and replay.least_rows > drawable:
        raise SettingsError(
            f"replay.least_rows = {replay.least_rows:,}, but of the {replay.window:,} rows that the window holds about "
            f"{drawable:,} may be drawn (replay.held_out): no step would ever be taken; lower it, or raise replay.window"
        )
