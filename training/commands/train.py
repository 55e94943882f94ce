"""The command line of a run, for `gozero train` and `gozero selfplay`: its options, and the checks of what is asked.

Nothing heavy is imported; `training.commands.start` then starts the run.
"""

from __future__ import annotations

import argparse
from collections.abc import Sequence
from importlib.util import find_spec
from pathlib import Path
from typing import Any

from gozero.games import GAMES
from gozero.system.console import Parser
from gozero.system.options import SettingsError, entry
from training.settings import presets
from training.settings.config import SIMULATORS, LoopSettings

PROG = "gozero train"
SHORTHANDS = ("hours", "threads", "simulator", "device", "mode")  # options that are settings of the same name
MODES = entry(LoopSettings, "mode").metadata["choices"]


def add_options(options: argparse.ArgumentParser) -> None:
    """The options of a run, in five groups."""
    add = options.add_argument_group("the run (one of --preset and --config)").add_argument
    add("--preset", metavar="NAME", help="settings that come with gozero; --list-presets names them")
    add("--config", metavar="FILE.toml", help="settings of your own")
    add("--list-presets", action="store_true", help="print the presets and stop")
    add("--list-settings", action="store_true", help="print every setting with its unit, and stop")
    change = "change a setting, such as learner.batch=64"
    add("--set", action="append", default=[], metavar="KEY=VALUE", help=change)
    add("--run", metavar="FOLDER", help="run folder (default: runs/ and the name of the settings)")
    hours = "stop when a generation ends after this many hours of work in all; 0: no limit"
    add("--hours", type=float, help=hours)
    add("--threads", type=int, help="CPU threads of network and learner; 0: as many as help just now")
    add("--simulator", choices=SIMULATORS, help="board on which games of Go are played (default auto)")
    add("--device", choices=("auto", "cpu", "cuda"), help="where network and learner run")
    add("--mode", choices=MODES, help="how self-play and learner share the time")
    add = options.add_argument_group("a copy of the run folder in a store, which survives this machine").add_argument
    copy = (
        "copy the run there after each checkpoint, and continue from there if the folder is empty: "
        "s3://bucket/run, gs://bucket/run, file:///mnt/share/run, ..."
    )
    add("--storage", metavar="URL", help=copy)
    add = options.add_argument_group("on many machines (docs/cluster.md)").add_argument
    add("--address", metavar="HOST:PORT", help="of a Ray cluster; auto: the one of this machine")
    add = options.add_argument_group("what a new run begins with").add_argument
    narrower = "weights of the same network, or of a narrower or shallower one"
    add("--from", dest="origin", metavar="WEIGHTS.pt", help=narrower)
    add("--records", action="append", default=[], metavar="FOLDER", help="earlier games: a run folder or shards")
    add = options.add_argument_group("look first (these stop without starting a run)").add_argument
    measure = "measure for a minute: games an hour, hours of each stage"
    add("--estimate", action="store_true", help=measure)
    check = "check settings, folder, disk, weights, whether the cluster answers, and a step of everything here"
    add("--dry-run", action="store_true", help=check)


def parser() -> Parser:
    options = Parser(
        prog=PROG, description="Train by self-play and learning in turns; continues a run where it stopped."
    )
    add_options(options)
    return options


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the loop; the exit code: 0, 1 if it failed under way, or 2 for settings or a folder that cannot be used."""
    return parser().run(lambda options: begin(options, PROG), arguments)


def begin(options: argparse.Namespace, program: str) -> int:
    """Do what the options ask for. Returns the exit code; SettingsError if they make no sense."""
    if options.list_presets:
        print(presets.table())
        return 0
    settings, folder = asked(options)
    if options.address is not None and not options.list_settings:
        _check_cluster(settings)
    from training.commands import start

    return start.start(options, settings, folder, program)


def asked(options: argparse.Namespace) -> tuple[LoopSettings, Path]:
    """(the settings, the run folder) that the options name; SettingsError if they name none.

    What is in the run folder is not looked at, nor whether the game has what the settings ask of it.
    """
    if (options.preset is None) == (options.config is None):
        raise SettingsError(f"give either --preset NAME ({', '.join(presets.names())}) or --config FILE.toml")
    path = presets.path_of(options.preset) if options.preset else Path(options.config)
    top: dict[str, Any] = {name: getattr(options, name) for name in SHORTHANDS}
    where = f"preset {options.preset}" if options.preset else str(path)
    settings = presets.load(path, where, options.set, top)
    if settings.game not in GAMES:
        raise SettingsError(f"unknown game {settings.game!r}: expected one of {', '.join(GAMES)}")
    play = settings.selfplay
    if play.processes > play.slots:  # some would have nothing to play
        raise SettingsError(
            f"selfplay.processes = {play.processes}, but selfplay.slots = {play.slots}: each process plays in one slot "
            "or more; change one"
        )
    return settings, Path(options.run or Path("runs") / path.stem)


def _check_cluster(settings: LoopSettings) -> None:
    """SettingsError if this machine or the settings cannot use a cluster."""
    if (play := settings.selfplay.processes) > 1:
        raise SettingsError(
            f"selfplay.processes = {play} is for one machine: on a cluster gozero worker --workers offers more"
        )
    if find_spec("ray") is None:
        raise SettingsError(
            "--address needs Ray, which is not installed; run: pip install '.[distributed]' in the folder of the source"
        )
