"""How strength grew with training: earlier weights of one run, oldest first, each playing the one before it.

    python -m benchmarks.history runs/go13/frozen/*.pt --yardstick FILE.jsonl.gz --plot weights/best.png
    python -m benchmarks.history A.pt B.pt C.pt --lists B-A.csv C-B.csv      matches played before, one a step

The Elo of a file is the sum of the steps so far; self-play Elo shows progress within a run and is no claim about other
opponents. The x axis is the number of evaluations that each file names. With `--yardstick`, agreement with a strong
engine's labels is shown too: it needs no games and has no noise. `--games 0` shows that alone.
"""

from __future__ import annotations

import argparse
import math
import sys
from collections import Counter
from collections.abc import Callable
from contextlib import ExitStack, closing, suppress
from dataclasses import dataclass
from pathlib import Path

from benchmarks.harness import game_rows, machine
from gozero import games, locations, weights
from gozero.errors import ChoiceError
from gozero.evaluators.factory import open_evaluator
from gozero.games.game import Game
from training.console import Parser, finite, run_command
from training.matches import elo, yardstick
from training.matches.arena import listing, write_csv
from training.matches.commands import UNUSABLE, check_files
from training.matches.match import MatchGame, MatchSettings, play_match, tally
from training.matches.players import Conditions, open_player
from training.matches.stopping import StoppablePlayer, Stopped
from training.matches.yardstick import Agreement, Labelled, YardstickError


@dataclass(frozen=True)
class Point:
    """One file of the run."""

    evaluations: int
    rating: float  # Elo above the first file
    error: float  # standard error of that
    agreement: Agreement | None


def rules_of(options: argparse.Namespace) -> MatchSettings:
    """The match that the options games, seed and opening_moves ask for; ChoiceError."""
    return MatchSettings(options.games, options.seed, options.opening_moves, parallel=32)


def match(
    first: str,
    second: str,
    game: Game,
    komi: float,
    options: argparse.Namespace,
    *,
    listed: Path | None = None,
    stop: Callable[[], bool] = lambda: False,
) -> list[MatchGame]:
    """The games of two players of `training.matches.players`, in order; those that had ended, where `stop()` becomes
    true. Of the options it reads those of `rules_of` and threads. In the file `listed` a game is as soon as it has ended.
    """
    settings, records = rules_of(options), list[MatchGame]()
    conditions = Conditions(game, komi, options.seed, settings.parallel, threads=options.threads)
    with ExitStack() as opened:
        players = [opened.enter_context(closing(open_player(name, conditions))) for name in (first, second)]
        sides = [StoppablePlayer(player, stop) for player in players]
        opened.enter_context(suppress(Stopped))
        for record in listing(play_match((sides[0], sides[1]), game, settings), listed, game):
            records.append(record)
    records.sort(key=lambda record: record.number)
    if listed and records:
        write_csv(listed, records, game)
    return records


def listed(path: Path) -> elo.Tally:
    """The result of a match whose games `training.arena --csv` listed, from player A's side; one that ended because a
    player failed does not count. OSError; ChoiceError where the file is no such list, or no other game is in it.
    """
    counts = Counter(row["winner"] for row in game_rows(path, "winner", "ended") if row["ended"] != "failure")
    if not counts or not counts.keys() <= {"A", "B", ""}:
        raise ChoiceError(f"{path}: no list of games by training.arena --csv")
    wins, losses = counts.pop("A", 0), counts.pop("B", 0)
    return elo.Tally(wins, losses, counts.total())


def step(tally: elo.Tally) -> tuple[float, float]:
    """(Elo, standard error) of a match, with half a point given to each side so that a clean sweep stays finite."""
    score = (tally.points + 0.5) / (tally.games + 1)
    return elo.elo(score), elo.elo_error(score, tally.games + 1)


def follow(
    files: list[Path], tallies: list[elo.Tally], labelled: Labelled | None, options: argparse.Namespace
) -> list[Point]:
    """Measure every file, and print each result when it is known. `tallies` are the steps played before, if any.

    Raises:
        ChoiceError, WeightsError, PlayerError: before the first game, if anything asked for cannot be.
    """
    points: list[Point] = []
    has_komi = games.usual(options.game, "komi") is not None
    game = games.make(options.game, size=options.size, komi=options.komi if has_komi else None)
    if options.games and not tallies:
        rules_of(options)
    evaluations = [_evaluations(path, options.game) for path in files]
    for number, path in enumerate(files):
        rating, error, text = 0.0, 0.0, "the first" if number == 0 else "no games"
        if number and (tallies or options.games):
            if tallies:
                score = tallies[number - 1]
            else:
                new, old = (f"weights:{file}:{options.visits}" for file in (path, files[number - 1]))
                score = tally(match(new, old, game, options.komi if has_komi else 0.0, options))
            gain, doubt = step(score)
            rating, error, text = (
                points[-1].rating + gain,
                math.hypot(points[-1].error, doubt),
                f"against the one before: {score}",
            )
        found = None
        if labelled is not None:
            evaluator = open_evaluator(path, labelled.game, threads=options.threads)
            found = yardstick.agreement(labelled, yardstick.evaluate(labelled, evaluator))
            text += f"; top-1 {found.top1:.1%}, win-rate error {found.winrate_error:.3f}"
        points.append(Point(evaluations[number], rating, error, found))
        print(
            f"{path.name}: {points[-1].evaluations:,} evaluations, Elo {rating:+.0f} +- {error:.0f}; {text}", flush=True
        )
    return points


def _evaluations(path: Path, game: str) -> int:
    """After how many evaluations of its run a file was written. ChoiceError where it does not say; WeightsError."""
    count = weights.load(path, game).provenance.get("evaluations")
    if not isinstance(count, int | float):
        raise ChoiceError(f"{path} does not say after how many evaluations it was written: give weights of a run")
    return int(count)


def draw(points: list[Point], tallies: list[elo.Tally], options: argparse.Namespace) -> None:
    """Elo with its standard error over evaluations, and below it the agreement with the yardstick; one of them where
    there is no other.
    """
    from matplotlib.figure import Figure

    millions = [point.evaluations / 1e6 for point in points]
    measured = [(x, point.agreement) for x, point in zip(millions, points, strict=True) if point.agreement]
    played = tallies or options.games
    wanted = {"Elo above the first (± standard error)": played, "agreement with a strong engine": measured}
    panels = [name for name, there in wanted.items() if there]
    figure = Figure(figsize=(7, 1 + 2.7 * len(panels)), layout="constrained")
    axes = dict(zip(panels, figure.subplots(len(panels), 1, sharex=True, squeeze=False)[:, 0], strict=True))
    for name, axis in axes.items():
        axis.set(ylabel=name, xlabel="million evaluations")
        axis.grid(alpha=0.3)
    if played:
        axes[panels[0]].errorbar(
            millions, [point.rating for point in points], [point.error for point in points], marker="o", capsize=3
        )
        counts = [score.games for score in tallies] or [options.games]
        games_a_step = " to ".join(f"{count}" for count in sorted({min(counts), max(counts)}))
        visits = "" if tallies else f"{options.visits} visits, "  # lists do not say theirs
        axes[panels[0]].set(title=f"{options.size}x{options.size}, {visits}{games_a_step} games a step")
    if measured:
        columns = [x for x, _ in measured]
        axes[panels[-1]].plot(
            columns, [100 * found.top1 for _, found in measured], marker="o", label="best move found, %"
        )
        axes[panels[-1]].plot(
            columns, [100 * found.winrate_error for _, found in measured], marker="s", label="error of the win rate, %"
        )
        axes[panels[-1]].legend()
    figure.savefig(options.plot, dpi=120)


def main(arguments: list[str] | None = None) -> int:
    """Measure and plot; the exit code: 0, 2 for a request that makes no sense, 130 after Ctrl-C."""
    parser = Parser(
        prog="python -m benchmarks.history",
        description=__doc__,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument("files", nargs="*", type=Path, metavar="WEIGHTS", help="weights of one run, oldest first")
    parser.add_argument("--game", default="go", metavar="NAME", help="a name in gozero.games (default go)")
    parser.add_argument("--size", type=int, help="board of the games (default: the game's usual one)")
    parser.add_argument("--komi", type=finite, default=7.5)
    parser.add_argument("--games", type=int, default=60, help="of each step (default 60); 0: none")
    parser.add_argument(
        "--lists",
        nargs="+",
        type=Path,
        default=[],
        metavar="FILE.csv",
        help="games of each step that training.arena played and listed, the newer weights as A; nothing is played",
    )
    parser.add_argument("--visits", type=int, default=32, help="of each move (default 32)")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--threads", type=int, default=2)
    parser.add_argument("--yardstick", type=Path, metavar="FILE", help="labelled positions, .jsonl or .jsonl.gz")
    parser.add_argument("--plot", type=Path, metavar="FILE.png")
    parser.add_argument(
        "--short", action="store_true", help="the shipped weights against themselves on 5x5, to see that it runs"
    )
    parser.set_defaults(opening_moves=4)
    options = parser.parse_args(arguments)
    if options.short:
        options.files, options.size, options.games, options.visits = [locations.find("best.pt")] * 2, 5, 2, 4
    if options.lists and len(options.lists) != len(options.files) - 1:
        parser.error(f"--lists: {len(options.lists)} lists for {len(options.files)} files; give one for each step")
    tallies = []
    for path in options.lists:
        try:
            tallies.append(listed(path))
        except OSError as error:
            parser.error(f"--lists: {path}: {error.strerror}")
        except ChoiceError as error:
            parser.error(f"--lists: {error}")
    measures_steps = len(options.files) > 1 and (options.games > 0 or bool(tallies))
    if not options.files or not (measures_steps or options.yardstick):
        parser.error("nothing to measure: give two weights files or more and --games, or --yardstick")
    return run_command("benchmarks.history", lambda: _run(options, tallies), (*UNUSABLE, YardstickError))


def _run(options: argparse.Namespace, tallies: list[elo.Tally]) -> int:
    check_files(options.plot)
    options.size = options.size or games.usual(options.game, "size")
    labelled = yardstick.read(options.yardstick, komi=options.komi) if options.yardstick else None
    print(machine())
    points = follow(options.files, tallies, labelled, options)
    if options.plot:
        draw(points, tallies, options)
    return 0


if __name__ == "__main__":
    sys.exit(main())
