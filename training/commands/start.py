"""Starts what the command line of a run asks for: the run, a run on a cluster, or a look at what it would do.

`training.commands.train` has the command line; a run is `training.run`.
"""

from __future__ import annotations

import argparse
from contextlib import ExitStack
from dataclasses import replace
from pathlib import Path

import torch

from gozero import games
from gozero.nets import locations
from gozero.system import files
from gozero.system.console import BAD_INPUT, FAILED, INTERRUPTED, SUCCESS, say, stop_on_signals
from gozero.system.options import SettingsError
from gozero.system.threads import available_threads
from training.doctor import history, monitor
from training.doctor.history import Report
from training.learner.learner import network_config, resolved
from training.records import scoring
from training.run import dry_run, estimate, session
from training.run.backend import device_of
from training.run.new_run import StartingPoint
from training.run.session import prepare
from training.selfplay import simulators
from training.selfplay.leaves import check_precision
from training.settings import config
from training.settings.config import LoopSettings
from training.storage import checkpoint, storage
from training.storage.checkpoint import Progress

MEASURED_SECONDS = 8.0  # before a default run begins


def start(options: argparse.Namespace, asked: LoopSettings, folder: Path, program: str) -> int:
    """Do what the options ask for and return the exit code. SettingsError if the game does not have what is asked for."""
    asked = completed(asked)
    if options.list_settings:
        print(config.describe(asked))
        return SUCCESS
    with ExitStack() as held:
        try:
            origin = StartingPoint(options.origin, tuple(options.records))
            torch.set_num_threads(asked.threads or available_threads())
            if options.estimate or options.dry_run:
                return _look_first(session.as_begun(asked, folder, chosen(options)), folder, origin, options)
            if options.address is not None:
                return _on_cluster(asked, folder, origin, options, program)
            check_precision(asked.selfplay.precision, device_of(asked.device))
            held.enter_context(storage.alone(folder))
            home = session.open_remote(options.storage, options.take_over, folder, asked, held)
            settings = session.as_begun(asked, folder, chosen(options))
            if getattr(options, "by_default", False):
                say(announcement(options.preset, settings, folder))
            with storage.writing(folder):
                run = prepare(settings, folder, origin)
                watch = monitor.Monitor(run.folder, run.settings)
        except session.UNUSABLE as error:
            say(f"{program}: {error}")
            return BAD_INPUT
        except session.FAILED as error:
            say(f"{program}: {error}")
            return FAILED
        except KeyboardInterrupt:  # nothing has begun
            say(f"{program}: stopped while it was starting; nothing is lost")
            return INTERRUPTED
        stop = stop_on_signals()
        session.introduce(settings, folder, f"preset {options.preset}" if options.preset else options.config)
        return session.finish(home, session.train(run, watch, program, stop, home))


def completed(settings: LoopSettings) -> LoopSettings:
    """The settings with the rules, the referee and the network's parts resolved; SettingsError if the game or the
    network does not have what they ask for.
    """
    settings = replace(settings, rules=settings.rules or games.usual(settings.game, "rules") or "")
    _check_boards(settings)
    check_window(settings)
    if settings.monitor.yardstick:  # it may be read in another folder
        full = str(Path(settings.monitor.yardstick).absolute())
        settings = replace(settings, monitor=replace(settings.monitor, yardstick=full))
    return resolved(replace(settings, simulator=simulators.resolve(settings.simulator, scoring.last_game(settings))))


def _on_cluster(
    settings: LoopSettings, folder: Path, origin: StartingPoint, options: argparse.Namespace, program: str
) -> int:
    """The run on the cluster at `--address`."""
    from training.cluster import driver
    from training.cluster.messages import Assignment

    found = None if origin.weights is None else str(locations.find(origin.weights))  # the coordinator is elsewhere
    origin = StartingPoint(found, tuple(str(files.full(name)) for name in origin.records))
    home = options.storage
    if home and "://" not in home:  # a path: the coordinator works in another folder
        home = str(Path(home).absolute())
    asked = Assignment(
        settings, chosen(options), folder.absolute(), origin, home, options.take_over, program,
        options.workers, max(1, settings.threads) if options.workers else 0,
    )  # fmt: skip
    return driver.run(asked, options.address)


def _look_first(settings: LoopSettings, folder: Path, origin: StartingPoint, options: argparse.Namespace) -> int:
    """`--estimate` and `--dry-run`."""
    session.compare(settings, folder)
    if options.dry_run:
        if options.address is not None:
            from training.cluster import driver

            print(f"cluster    {driver.answering(options.address)} answers: ok")
        if options.storage is not None:
            found = session.describe_remote(options.storage, options.take_over, folder, settings)
            print(f"storage    {found}: ok")
        dry_run.check_all(settings, folder, origin, print)
    if options.estimate:
        say(f"measuring self-play and learning for about {estimate.SECONDS:g} s")
        print(estimate.report(settings))
    return 0


def chosen(options: argparse.Namespace) -> frozenset[str] | None:
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


def check_window(settings: LoopSettings) -> None:
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


def announcement(preset: str, settings: LoopSettings, folder: Path) -> str:
    """The line before the default run: what begins or continues, how long a generation takes, how to stop it.

    SettingsError for a log that cannot be read.
    """
    where = f"{preset} in {folder.absolute()}"
    found = checkpoint.latest(folder / "checkpoints")
    if found is not None:
        what = f"continuing the default run, {where}: {_so_far(found[0].progress, history.read(folder).reports)}"
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


def _so_far(progress: Progress, reports: list[Report]) -> str:
    """What a run has done, and how long its last generation took, if its log says so (that of a kept run is gone)."""
    done = f"it is in generation {progress.generation} after {_minutes(progress.hours)}"
    hours = {int(report["run/generation"]): report["run/hours"] for report in reports if "run/hours" in report}
    newest = max(hours, default=0)
    before = hours.get(newest - 1, None if newest != 1 else 0.0)
    return done if before is None else f"{done}; the last one took {_minutes(hours[newest] - before)}"


def _minutes(hours: float) -> str:
    if hours >= 2:
        return f"{hours:.1f} hours"
    return f"{60 * hours:.0f} minutes" if 60 * hours >= 2 else f"{3600 * hours:.0f} seconds"
