"""The command `gozero selfplay`: trains by self-play, or plays the games alone.

    gozero selfplay                                     the default run: go13 in runs/go13, begun or continued
    gozero selfplay --preset s3                         the whole cycle, the same as `gozero train`
    gozero selfplay --weights best.pt --out FOLDER      games from a weights file into a shard of records; nothing is
                                                        learned

Nothing heavy is imported before the options are checked; `training.commands.games` plays the games.
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from gozero.games import GAMES
from gozero.nets import locations
from gozero.system.console import Parser, run_command
from gozero.system.options import SettingsError
from training.commands import train
from training.settings.config import SelfPlaySettings

PROG = "gozero selfplay"
DEFAULT_PRESET = "go13"
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
SHARED = ("threads", "simulator", "device")  # options of a run that games alone have too
EPILOG = """\
Without options it begins or continues the default run, --preset go13 in runs/go13. With --preset or --config it trains
as they say: self-play, learning and new weights in turns, in a run folder, continuing where that stopped. With
--weights and --out it only plays games and writes their records."""


def parser() -> argparse.ArgumentParser:
    """The command line: the options of a run, and those for games alone."""
    description = "Train by self-play, or play the games alone."
    options = Parser(prog=PROG, description=description, epilog=EPILOG)
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


def main(arguments: Sequence[str] | None = None) -> int:
    """Train or play games from the command line. Returns 0; 1 if it failed under way; 2 for a wrong request."""
    options = parser().parse_args(arguments)
    finished = (
        "" if options.out is None else f"the games that were finished are in {Path(options.out) / 'selfplay.gzr'}"
    )
    return run_command(PROG, lambda: _run(options), interrupted=finished)


def _run(options: argparse.Namespace) -> int:
    given = [name for name in DEFAULTS if getattr(options, name) is not None]
    if options.weights is None:
        if given:
            raise SettingsError(
                f"--{given[0].replace('_', '-')} belongs to --weights, which plays games alone; to train, use --set"
            )
        if options.preset is None and options.config is None:
            options.preset = DEFAULT_PRESET
        return train.begin(options, PROG)
    _check_games_alone(options)
    for name in DEFAULTS:
        if name not in given:
            setattr(options, name, DEFAULTS[name])
    from training.commands import games

    return games.play(options, PROG, ("weights", *DEFAULTS))


def _check_games_alone(options: argparse.Namespace) -> None:
    """SettingsError for options of a run, numbers out of range, and weights that are not there."""
    stray = [name for name, usual in vars(train.parser().parse_args([])).items() if getattr(options, name) != usual]
    stray = ["from" if name == "origin" else name for name in stray if name not in SHARED]
    if stray or options.out is None:
        why = f"--{stray[0].replace('_', '-')} belongs to training; " if stray else ""
        raise SettingsError(
            f"{why}to play games alone give --weights FILE and --out FOLDER; to train, --preset or --config "
            "without --weights"
        )
    for name, least in (("games", 1), ("parallel", 1), ("seed", 0), ("threads", 0)):
        value = getattr(options, name)
        if value is not None and not least <= value <= sys.maxsize:
            raise SettingsError(f"--{name} {value}: expected a whole number from {least} on")
    if options.weights != "none":
        locations.find(options.weights)


if __name__ == "__main__":
    sys.exit(main())
