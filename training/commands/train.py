"""The command line of a run, for `gozero train` and `gozero selfplay`: its options, and the checks of what is asked for.

Nothing heavy is imported; `training.commands.start` then starts the run.
"""

from __future__ import annotations

import argparse
import json
from collections.abc import Sequence
from importlib.util import find_spec
from pathlib import Path
from typing import Any

from gozero.games import GAMES
from gozero.system.console import Parser, run_command
from gozero.system.options import SettingsError, entry
from training.settings import presets
from training.settings.config import LoopSettings

PROG = "gozero train"
SHORTHANDS = ("hours", "threads", "simulator", "device", "mode")  # options that are settings of the same name
SIMULATORS = entry(LoopSettings, "simulator").metadata["choices"]


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
        "--simulator", choices=SIMULATORS, help="referee of the games beside our own rules (default auto)"
    )
    which.add_argument("--device", choices=("auto", "cpu", "cuda"), help="where network and learner run")
    modes = ("sequential", "semi-asynchronous", "asynchronous")
    which.add_argument("--mode", choices=modes, help="how self-play and learner share the time")
    which.add_argument(
        "--yardstick", metavar="FILE", help="labelled positions to measure agreement with; never trained on"
    )


def _add_places(options: argparse.ArgumentParser) -> None:
    """Where else the run is kept, and done."""
    home = options.add_argument_group("a copy of the run folder in a store, which survives this machine")
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
        "--dry-run",
        action="store_true",
        help="check settings, folder, disk, weights, whether the cluster answers, and a step of everything here",
    )


def parser() -> argparse.ArgumentParser:
    """The command line of `gozero train`."""
    options = Parser(
        prog=PROG,
        description="Train by self-play and learning in turns; continues a run where it stopped.",
    )
    add_options(options)
    return options


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the loop; the exit code: 0, 1 if it failed under way, or 2 for settings or a folder that cannot be used."""
    options = parser().parse_args(arguments)
    return run_command(PROG, lambda: begin(options, PROG))


def begin(options: argparse.Namespace, program: str) -> int:
    """Do what the options ask for. Returns the exit code; SettingsError if they make no sense."""
    if options.list_presets:
        print(presets.table())
        return 0
    settings, folder = asked(options)
    if not options.list_settings:
        _check_together(options, settings)
    from training.commands import start

    return start.start(options, settings, folder, program)


def asked(options: argparse.Namespace) -> tuple[LoopSettings, Path]:
    """(the settings, the run folder) that the options name; SettingsError if they name none.

    What is in the run folder is not looked at, nor whether the game has what the settings ask of it.
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
    if settings.game not in GAMES:
        raise SettingsError(f"unknown game {settings.game!r}: expected one of {', '.join(GAMES)}")
    _check_processes(settings)
    return settings, Path(options.run or Path("runs") / path.stem)


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
    if options.address is not None:
        _check_cluster(options)


def _check_cluster(options: argparse.Namespace) -> None:
    """SettingsError for options that no cluster understands, or a machine that cannot speak with one."""
    if options.workers < 0:
        raise SettingsError(f"--workers {options.workers}: give a number of workers, or 0 for those of gozero worker")
    if find_spec("ray") is None:
        raise SettingsError(
            "--address needs Ray, which is not installed; run: pip install '.[distributed]' in the folder of the source"
        )


def _check_processes(settings: LoopSettings) -> None:
    """SettingsError where several processes cannot share a batch evenly, or some would have no slot to play in."""
    learner, play = settings.learner, settings.selfplay
    if play.processes > play.slots:
        raise SettingsError(
            f"selfplay.processes = {play.processes}, but selfplay.slots = {play.slots}: each process plays in one slot "
            "or more; change one"
        )
    if learner.batch % learner.processes:
        raise SettingsError(
            f"learner.batch = {learner.batch} is no multiple of learner.processes = {learner.processes}; change one"
        )
