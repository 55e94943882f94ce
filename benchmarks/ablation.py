"""What parts of the recipe are worth: runs that differ in one thing, given equally many evaluations, then play each
other.

Vocabulary.
  arm    a run: the base configuration (training/settings/ablation7.toml, 7x7 from an untrained network) with an arm's
         changes, each as `training.loop --set` takes it.
  recipe the arm without a change; the others play it.

    python -m benchmarks.ablation --folder runs/ablation                   train all arms, then play all matches
    python -m benchmarks.ablation --folder runs/ablation --arms recipe puct --matches no    only train these, e.g. one
                                                                                            per core
    python -m benchmarks.ablation --arms recipe features=2 features=3 --seeds 1 2           any changes, each one twice
    python -m benchmarks.ablation --arms recipe learner.optimiser=muon,learner.muon_scale=1.6    two changes in one arm

A run that was stopped continues where it stopped, and one that is finished is not repeated. In a match both sides
search with the same number of visits and play random openings with both colours. Equal evaluations are not equal rows:
without playout-cap randomisation every move is searched fully and recorded. Two runs of the recipe itself differ as
well: with several seeds its run with the first also plays those with the others, and what these matches show is the
measure of all others.
"""

from __future__ import annotations

import argparse
import re
import sys
import tempfile
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import ExitStack, closing, contextmanager, suppress
from itertools import product
from pathlib import Path

import torch

from benchmarks.harness import machine
from gozero import games
from gozero.errors import ChoiceError
from gozero.exits import INTERRUPTED, SUCCESS
from gozero.options import SettingsError
from training.console import Parser, positive, run_command, say, stop_on_signals
from training.cycle import cycle as loop
from training.cycle import sitting
from training.doctor.monitor import Monitor
from training.learner.learner import DivergedError
from training.loop import startup
from training.matches import elo
from training.matches.arena import listing
from training.matches.commands import UNUSABLE
from training.matches.match import MatchGame, MatchSettings, play_match, tally
from training.matches.players import Conditions, open_player
from training.matches.stopping import StoppablePlayer, Stopped
from training.settings import presets
from training.settings.config import LoopSettings
from training.storage.storage import StorageError, alone

BASE = presets.path_of("ablation7")
FOLDER = "runs/ablation"
SIZE, KOMI = 7, 9.5
EVALUATIONS_A_ROW = 60  # of the recipe, roughly
GENERATIONS = 20  # at least, of a run

BETWEEN_CHANGES = re.compile(r",(?=[a-z])")  # a value may hold commas: learner.rates={0=1e-3,900=5e-4}
UNTRAINABLE = (*sitting.UNUSABLE, StorageError)
Trained = tuple[str, int]  # an arm and a seed
RECIPE = "recipe"
ARMS: dict[str, str] = {
    RECIPE: "",
    "no-ownership-score": "learner.ownership_weight=0,learner.score_weight=0",
    "no-playout-cap": "selfplay.full_share=1",
    "puct": "selfplay.root=puct",
    "bf16": "selfplay.precision=bf16",
}


def settings_of(arm: str, evaluations: int, seed: int) -> LoopSettings:
    """The base configuration with the changes of an arm: a name in `ARMS`, or KEY=VALUE,KEY=VALUE.

    Few evaluations are divided into short generations, so that they are not overrun.

    Raises:
        SettingsError: an arm that is neither; a change that the settings refuse.
    """
    if arm not in ARMS and "=" not in arm:
        raise SettingsError(f"no arm {arm}; there are {', '.join(ARMS)}, and changes such as features=3")
    changes = [change for change in BETWEEN_CHANGES.split(ARMS.get(arm, arm)) if change]
    rows = max(50, evaluations // EVALUATIONS_A_ROW // GENERATIONS)
    base = presets.load(BASE, f"arm {RECIPE}")
    given = [f"evaluations={evaluations}", f"seed={seed}", f"generation_rows={min(base.generation_rows, rows)}"]
    return presets.load(BASE, f"arm {arm}", [*given, *changes])


def folder_of(folder: Path, arm: str, seed: int) -> Path:
    """Where the run of an arm lies."""
    return folder / f"{arm}-{seed}"


def train(arm: str, folder: Path, evaluations: int, seed: int, stop: Callable[[], bool]) -> None:
    """Train an arm to the end of its evaluations, in its folder."""
    settings, place = settings_of(arm, evaluations, seed), folder_of(folder, arm, seed)
    torch.set_num_threads(settings.threads)
    with alone(place):
        run = startup.prepare(settings, place)
        watch = Monitor(run.folder, run.settings)
        try:
            loop.cycle(run, watch, stop)
        finally:
            watch.close(stop)
    progress = run.progress
    say(
        f"{arm}, seed {seed}: {progress.evaluations:,} evaluations, {progress.games:,} games, {progress.rows:,} rows, "
        f"{progress.hours:.2f} h"
    )


def list_of(folder: Path, one: Trained, other: Trained) -> Path:
    """Where the games of a run against another are listed."""
    return folder / f"{one[0]}-{other[0]}-{other[1]}.csv"


def match(one: Trained, other: Trained, options: argparse.Namespace, stop: Callable[[], bool]) -> elo.Tally:
    """A run against another, from the first one's side, as far as `stop()` lets it come; each game is listed in
    `list_of` the two as soon as it has ended.
    """
    game, seed = games.make("go", size=SIZE, rules="chinese", komi=KOMI), other[1]
    settings = MatchSettings(options.games, seed, options.opening_moves, parallel=32)
    conditions = Conditions(game, KOMI, seed, settings.parallel, threads=options.threads)
    names = [f"weights:{folder_of(options.folder, *run) / 'weights.pt'}:{options.visits}" for run in (one, other)]
    records = list[MatchGame]()
    with ExitStack() as opened:
        players = [opened.enter_context(closing(open_player(name, conditions))) for name in names]
        sides = (StoppablePlayer(players[0], stop), StoppablePlayer(players[1], stop))
        opened.enter_context(suppress(Stopped))
        for record in listing(play_match(sides, game, settings), list_of(options.folder, one, other), game):
            records.append(record)
    return tally(records)


def _options() -> Parser:
    """The command line."""
    parser = Parser(
        prog="python -m benchmarks.ablation",
        description=__doc__,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    add = parser.add_argument
    add(
        "--folder",
        type=Path,
        help=f"of the runs and the lists of games, none of which is replaced (default {FOLDER}; --short: a temporary one)",
    )
    add(
        "--arms",
        nargs="+",
        default=list(ARMS),
        metavar="ARM",
        help=f"{', '.join(ARMS)}, or changes of settings, KEY=VALUE or KEY=VALUE,KEY=VALUE (default: all that have "
        f"names); the matches need the weights of {RECIPE} too",
    )
    add("--evaluations", type=positive, default=5_000_000, help="of each arm (default 5,000,000)")
    add("--matches", choices=("yes", "no", "only"), default="yes", help="play after training, not at all, or only play")
    add("--games", type=positive, default=200, help="of each match (default 200)")
    add("--visits", type=positive, default=100, help="of each move in the matches (default 100)")
    add("--opening-moves", type=int, default=4, help="random plies before the players begin (default 4)")
    add("--seeds", type=int, nargs="+", default=[1], help="each arm is trained and plays with each of them (default 1)")
    add("--threads", type=int, default=1, help="for evaluation in the matches (default 1)")
    add("--short", action="store_true", help="2,000 evaluations and two games of 8 visits, to see that it runs")
    return parser


def main(arguments: list[str] | None = None) -> int:
    """Train and play; the exit code: 0, 2 for a request that makes no sense, 130 after Ctrl-C."""
    options = _options().parse_args(arguments)
    if options.short:
        options.evaluations, options.games, options.visits = 2_000, 2, 8
    return run_command("benchmarks.ablation", lambda: _in_folder(options), (*UNUSABLE, *UNTRAINABLE))


@contextmanager
def working_folder(given: Path | None, short: bool) -> Iterator[Path]:
    """Context manager: the folder of the runs. With `--short` it is removed at the end, unless one is given."""
    if given is None and short:
        with tempfile.TemporaryDirectory(prefix="gozero-") as folder:
            yield Path(folder)
    else:
        yield given or Path(FOLDER)


def keep_results(files: Iterable[Path]) -> None:
    """ChoiceError for the first of these files that exists: it would be replaced."""
    for file in files:
        if file.exists():
            raise ChoiceError(f"{file} is there and would be replaced: move it away, or give another --folder")


def _in_folder(options: argparse.Namespace) -> int:
    with working_folder(options.folder, options.short) as options.folder:
        return _run(options)


def _run(options: argparse.Namespace) -> int:
    arms, options.seeds = list(dict.fromkeys(options.arms)), list(dict.fromkeys(options.seeds))
    for arm, seed in product(arms, options.seeds):
        settings_of(arm, options.evaluations, seed)  # a wrong one is refused before hours of training
    if options.matches != "no":
        keep_results(list_of(options.folder, *sides) for sides in pairings(arms, options.seeds))
    if options.short and options.matches != "only":  # an existing run would continue with other settings
        keep_results(folder_of(options.folder, *run) / "weights.pt" for run in product(arms, options.seeds))
    stop = stop_on_signals()
    diverged = set[Trained]() if options.matches == "only" else _train_all(arms, options, stop)
    if options.matches != "no" and not stop():
        terms = f"7x7, komi {KOMI:g}, {options.visits} visits, {options.evaluations:,} evaluations of training an arm"
        print(f"{terms}\n  {machine()}")
        for arm in arms:
            if arm != RECIPE:
                _play(arm, options, diverged, stop)
        _play_itself(options, diverged, stop)
    return INTERRUPTED if stop() else SUCCESS


def _train_all(arms: Sequence[str], options: argparse.Namespace, stop: Callable[[], bool]) -> set[Trained]:
    """Train each arm with each seed. Returns those that diverged, which is a result as well: the others go on."""
    diverged = set[Trained]()
    for seed, arm in product(options.seeds, arms):
        if not stop():
            try:
                train(arm, options.folder, options.evaluations, seed, stop)
            except DivergedError as error:
                say(f"{arm}, seed {seed}: {error}")
                diverged.add((arm, seed))
    return diverged


def pairings(arms: Sequence[str], seeds: Sequence[int]) -> list[tuple[Trained, Trained]]:
    """Who plays whom: the recipe with each seed the other arms, and with the first seed itself with the others."""
    others = [((RECIPE, seed), (arm, seed)) for arm in arms if arm != RECIPE for seed in seeds]
    return others + [((RECIPE, seeds[0]), (RECIPE, seed)) for seed in seeds[1:]]


def _play(arm: str, options: argparse.Namespace, diverged: set[Trained], stop: Callable[[], bool]) -> None:
    """Print an arm's match with each seed, and all of them together; none for a seed with which a side diverged."""
    results = list[elo.Tally]()
    for seed in options.seeds:
        title = f"recipe against {arm}, seed {seed}"
        lost = [name for name in (RECIPE, arm) if (name, seed) in diverged]
        if lost:
            print(f"{title}: not played, because {' and '.join(lost)} diverged", flush=True)
        elif not stop():
            results.append(match((RECIPE, seed), (arm, seed), options, stop))
            print(f"{title}: {results[-1]}", flush=True)
    if len(results) > 1:
        wins, losses, draws = (
            sum(counts) for counts in zip(*((r.wins, r.losses, r.draws) for r in results), strict=True)
        )
        print(f"recipe against {arm}, all seeds: {elo.Tally(wins, losses, draws)}", flush=True)


def _play_itself(options: argparse.Namespace, diverged: set[Trained], stop: Callable[[], bool]) -> None:
    """Print what the seed alone makes: the matches of the recipe's first run with its others."""
    first, *others = ((RECIPE, seed) for seed in options.seeds)
    for other in others:
        if not diverged & {first, other} and not stop():
            found = match(first, other, options, stop)
            print(f"recipe, seed {first[1]}, against itself, seed {other[1]}: {found}", flush=True)


if __name__ == "__main__":
    sys.exit(main())
