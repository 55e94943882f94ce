"""What parts of the recipe are worth: runs that differ in one thing, given equally many evaluations, then play each
other.

Vocabulary.
  arm    a run: the base configuration (training/settings/ablation7.toml, 7x7 from an untrained network) with an arm's
         changes.
  recipe the arm without a change; the others play it.

    python -m benchmarks.ablation --folder runs/ablation                   train all arms, then play all matches
    python -m benchmarks.ablation --folder runs/ablation --arms recipe puct --matches no    only train these, e.g. one
                                                                                            per core

A run that was stopped continues where it stopped, and one that is finished is not repeated. In a match both sides
search with the same number of visits and play random openings with both colours. Equal evaluations are not equal rows:
without playout-cap randomisation every move is searched fully and recorded. Each arm has one seed, and two runs of the
recipe itself would differ as well, so small differences mean little.
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Callable
from contextlib import closing
from pathlib import Path
from typing import Any

import torch

from benchmarks import history
from benchmarks.harness import machine
from gozero import games
from gozero.exits import INTERRUPTED, SUCCESS
from training.console import say, stop_on_signals
from training.cycle import cycle as loop
from training.doctor.monitor import Monitor
from training.loop import startup
from training.matches.match import tally
from training.settings import config, presets
from training.settings.config import LoopSettings, from_dict

BASE = presets.path_of("ablation7")
SIZE, KOMI = 7, 9.5
EVALUATIONS_A_ROW = 60  # of the recipe, roughly
GENERATIONS = 20  # at least, of a run

ARMS: dict[str, dict[str, dict[str, Any]]] = {
    "recipe": {},
    "no-ownership-score": {"learner": {"ownership_weight": 0.0, "score_weight": 0.0}},
    "no-playout-cap": {"selfplay": {"full_share": 1.0}},
    "puct": {"selfplay": {"root": "puct"}},
    "bf16": {"selfplay": {"precision": "bf16"}},
}


def settings_of(arm: str, evaluations: int, seed: int) -> LoopSettings:
    """The base configuration with an arm's changes.

    Few evaluations are divided into short generations, so that they are not overrun.
    """
    values = config.load(BASE).to_dict()
    values["generation_rows"] = min(values["generation_rows"], max(50, evaluations // EVALUATIONS_A_ROW // GENERATIONS))
    for section, changes in ARMS[arm].items():
        values[section] |= changes
    values |= {"evaluations": evaluations, "seed": seed}
    settings: LoopSettings = from_dict(LoopSettings, values, f"arm {arm}")
    return settings


def train(arm: str, folder: Path, evaluations: int, seed: int, stop: Callable[[], bool]) -> None:
    """Train an arm to the end of its evaluations, in `folder`/ARM."""
    settings = settings_of(arm, evaluations, seed)
    torch.set_num_threads(settings.threads)
    run = startup.prepare(settings, folder / arm)
    with closing(Monitor(run.folder, run.settings)) as watch:
        loop.cycle(run, watch, stop)
    progress = run.progress
    say(
        f"{arm}: {progress.evaluations:,} evaluations, {progress.games:,} games, {progress.rows:,} rows, "
        f"{progress.hours:.2f} h"
    )


def match(arm: str, folder: Path, options: argparse.Namespace, stop: Callable[[], bool]) -> str:
    """The recipe against an arm: a line with the recipe's score so far as `stop()` lets it come; the games are listed in
    `folder`/recipe-ARM.csv.
    """
    game = games.make("go", size=SIZE, rules="chinese", komi=KOMI)
    sides = [f"weights:{folder / name / 'weights.pt'}:{options.visits}" for name in ("recipe", arm)]
    listed = folder / f"recipe-{arm}.csv"
    records = history.match(sides[0], sides[1], game, KOMI, options, listed=listed, stop=stop)
    return f"recipe against {arm:20} {tally(records) if records else 'no game'}"


def main(arguments: list[str] | None = None) -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument(
        "--folder", type=Path, default=Path("runs/ablation"), help="where the runs and the lists of games are kept"
    )
    parser.add_argument("--arms", nargs="+", choices=list(ARMS), default=list(ARMS), help="default: all")
    parser.add_argument("--evaluations", type=int, default=5_000_000, help="of each arm (default 5,000,000)")
    parser.add_argument(
        "--matches", choices=("yes", "no", "only"), default="yes", help="play after training, not at all, or only play"
    )
    parser.add_argument("--games", type=int, default=200, help="of each match (default 200)")
    parser.add_argument("--visits", type=int, default=100, help="of each move in the matches (default 100)")
    parser.add_argument(
        "--opening-moves", type=int, default=4, help="random plies before the players begin (default 4)"
    )
    parser.add_argument("--seed", type=int, default=1, help="of the runs and of the openings (default 1)")
    parser.add_argument("--threads", type=int, default=1, help="for evaluation in the matches (default 1)")
    parser.add_argument(
        "--short", action="store_true", help="2,000 evaluations and two games of 8 visits, to see that it runs"
    )
    options = parser.parse_args(arguments)
    if options.short:
        options.evaluations, options.games, options.visits = 2_000, 2, 8
    stop = stop_on_signals()
    if options.matches != "only":
        for arm in options.arms:
            if not stop():
                train(arm, options.folder, options.evaluations, options.seed, stop)
    if options.matches != "no" and not stop():
        print(
            f"7x7, komi {KOMI:g}, {options.visits} visits, {options.evaluations:,} evaluations of training an arm\n  "
            f"{machine()}"
        )
        for arm in options.arms:
            if arm != "recipe" and not stop():
                print(match(arm, options.folder, options, stop), flush=True)
    return INTERRUPTED if stop() else SUCCESS


if __name__ == "__main__":
    sys.exit(main())
