"""What parts of the recipe are worth: runs that differ in one thing, given equally many evaluations, then play each
other.

    python -m benchmarks.ablation --folder runs/ablation                   train all arms, then play all matches
    python -m benchmarks.ablation --arms recipe puct --no-matches          only train these, e.g. one per core
    python -m benchmarks.ablation --arms recipe features=2 features=3 --seeds 1 2       any changes, each one twice
    python -m benchmarks.ablation --arms recipe learner.optimiser=muon,learner.muon_scale=1.6    two changes in one arm

An arm is a run: the base configuration (training/settings/ablation7.toml, 7x7 from an untrained network) with the arm's
changes, each as `gozero train --set` takes it. The recipe is the arm without a change; the others play it, in a
tournament in the folder `matches`. The same command continues what was stopped, and repeats nothing. In a match both
sides search with the same number of visits and play random openings with both colours. Equal evaluations are not equal
rows: without playout-cap randomisation every move is searched fully and recorded. Two runs of the recipe itself differ
as well: with several seeds its run with the first also plays those with the others, and what these matches show is the
measure of all others.
"""

from __future__ import annotations

import argparse
import re
import subprocess
import sys
from collections.abc import Sequence
from itertools import product
from pathlib import Path

from benchmarks.harness import machine
from gozero.system.console import BAD_INPUT, INTERRUPTED, SUCCESS, Parser, positive, say, stop_on_signals
from gozero.system.options import SettingsError
from training.matches.tournament import field, runner
from training.settings import presets

BASE = presets.path_of("ablation7")
EVALUATIONS_A_ROW = 60  # of the recipe, roughly
GENERATIONS = 20  # at least, of a run
CONDITIONS = {"game": "go", "size": 7, "komi": 9.5, "rules": "chinese", "kind": "pairs"}

BETWEEN_CHANGES = re.compile(r",(?=[a-z])")  # a value may hold commas: learner.rates={0=1e-3,900=5e-4}
Trained = tuple[str, int]  # an arm and a seed
RECIPE = "recipe"
ARMS: dict[str, str] = {
    RECIPE: "",
    "no-ownership-score": "learner.ownership_weight=0,learner.score_weight=0",
    "no-playout-cap": "selfplay.full_share=1",
    "puct": "selfplay.root=puct",
    "bf16": "selfplay.precision=bf16",
}


def changes_of(arm: str, evaluations: int, seed: int) -> list[str]:
    """The settings, as `gozero train --set` takes them, of an arm: a name in `ARMS`, or KEY=VALUE,KEY=VALUE.

    Few evaluations are divided into short generations, so that they are not overrun. SettingsError for an arm that is
    neither.
    """
    if arm not in ARMS and "=" not in arm:
        raise SettingsError(f"no arm {arm}; there are {', '.join(ARMS)}, and changes such as features=3")
    changes = [change for change in BETWEEN_CHANGES.split(ARMS.get(arm, arm)) if change]
    rows = max(50, evaluations // EVALUATIONS_A_ROW // GENERATIONS)
    usual = presets.load(BASE).generation_rows
    return [f"evaluations={evaluations}", f"seed={seed}", f"generation_rows={min(usual, rows)}", *changes]


def folder_of(folder: Path, arm: str, seed: int) -> Path:
    return folder / f"{arm}-{seed}"


def train(arm: str, folder: Path, evaluations: int, seed: int) -> int:
    """Train a run with `gozero train`, which continues what was stopped. Returns its exit code."""
    command = [sys.executable, "-m", "gozero", "train", "--config", str(BASE)]
    command += ["--run", str(folder_of(folder, arm, seed))]
    changes = changes_of(arm, evaluations, seed)
    return subprocess.call(command + [word for change in changes for word in ("--set", change)])


def pairings(arms: Sequence[str], seeds: Sequence[int]) -> list[tuple[Trained, Trained]]:
    """Who plays whom: the recipe with each seed the other arms, and with the first seed itself with the others."""
    others = [((RECIPE, seed), (arm, seed)) for arm in arms if arm != RECIPE for seed in seeds]
    return others + [((RECIPE, seeds[0]), (RECIPE, seed)) for seed in seeds[1:]]


def matches(pairs: Sequence[tuple[Trained, Trained]], options: argparse.Namespace) -> field.Field:
    """The tournament of these pairs. SettingsError if a run has no weights."""
    runs = dict.fromkeys(run for pair in pairs for run in pair)
    weights = {run: folder_of(options.folder, *run) / "weights.pt" for run in runs}
    names = {run: weights[run].parent.name for run in runs}
    values = {
        **_terms(options),
        "entrant": [{"name": names[run], "player": f"weights:{weights[run]}:{options.visits}"} for run in runs],
        "pair": [{"a": names[one], "b": names[other]} for one, other in pairs],
    }
    return field.made(values, "matches")


def _terms(options: argparse.Namespace) -> dict[str, object]:
    return {**CONDITIONS, "games": options.games, "opening_moves": options.opening_moves}


def main(arguments: list[str] | None = None) -> int:
    """Train and play; the exit code: 0, 2 for a request that makes no sense, 130 after Ctrl-C."""
    parser = Parser(prog="python -m benchmarks.ablation", description=__doc__)
    add = parser.add_argument
    add("--folder", type=Path, default=Path("runs/ablation"), help="of the runs and the matches (default %(default)s)")
    arms = f"{', '.join(ARMS)}, or changes of settings, KEY=VALUE,KEY=VALUE (default: all that have names)"
    add("--arms", nargs="+", default=list(ARMS), metavar="ARM", help=arms)
    add("--evaluations", type=positive, default=5_000_000, help="of each arm (default 5,000,000)")
    add("--no-matches", action="store_true", help="only train")
    add("--games", type=positive, default=200, help="of each match (default 200)")
    add("--visits", type=positive, default=100, help="of each move in the matches (default 100)")
    add("--opening-moves", type=int, default=4, help="random plies before the players begin (default 4)")
    add("--seeds", type=int, nargs="+", default=[1], help="each arm is trained and plays with each of them (default 1)")
    return parser.run(_run, arguments)


def _run(options: argparse.Namespace) -> int:
    arms, seeds = list(dict.fromkeys(options.arms)), list(dict.fromkeys(options.seeds))
    for arm in arms:  # a wrong one is refused before hours of training
        presets.load(BASE, f"arm {arm}", changes_of(arm, options.evaluations, seeds[0]))
    anybody = [{"player": "random"}, {"player": "fixed"}]
    field.made(_terms(options) | {"kind": field.ROUND_ROBIN, "entrant": anybody}, "matches")
    stop, failed = stop_on_signals(), set[Trained]()
    for seed, arm in product(seeds, arms):
        code = SUCCESS if stop() else train(arm, options.folder, options.evaluations, seed)
        if code == BAD_INPUT:
            return code
        if code:  # one that diverged is a result as well
            say(f"{arm}, seed {seed}: it failed, and plays no match")
            failed.add((arm, seed))
    pairs = [pair for pair in pairings(arms, seeds) if not failed & set(pair)]
    if not stop() and pairs and not options.no_matches:
        what = f"{options.evaluations:,} evaluations of training an arm, {options.visits} visits"
        print(f"{machine()}\n{what}", flush=True)
        code = runner.play(matches(pairs, options), options.folder / "matches", stop)
    return INTERRUPTED if stop() else code


if __name__ == "__main__":
    sys.exit(main())
