"""`python -m training.selfplay`: play games of self-play from a weights file into a shard of records. `training.loop` trains as well."""

from __future__ import annotations

import argparse
import sys
import time
from itertools import islice
from pathlib import Path

from gozero import weights
from gozero.weights import WeightsError
from training import scoring
from training.config import ConfigError, SelfPlaySettings, Stage, from_dict
from training.monitor import bar, say
from training.pool import Pool, leaf_evaluator
from training.records import Record, Writer


def parser() -> argparse.ArgumentParser:
    """The command line."""
    options = argparse.ArgumentParser(prog="python -m training.selfplay", description="Play games of self-play into a shard of records.")
    options.add_argument("--weights", required=True, metavar="FILE", help="weights file, or none: plain UCT with random playouts")
    options.add_argument("--games", type=int, default=100, help="games to finish (default 100)")
    options.add_argument("--size", type=int, default=13, help="board size (default 13)")
    options.add_argument("--rules", default="chinese", help="rule set (default chinese)")
    options.add_argument("--full-visits", type=int, default=32, help="simulations of a recorded move (default 32)")
    options.add_argument("--cheap-visits", type=int, default=8, help="simulations of the other moves (default 8)")
    options.add_argument("--parallel", type=int, default=SelfPlaySettings().games, help="games at once (default %(default)s)")
    options.add_argument("--threads", type=int, default=0, help="CPU threads of the network (default: what the process may use)")
    options.add_argument("--seed", type=int, default=1, help="the same seed gives the same games (default 1)")
    options.add_argument("--out", required=True, metavar="FOLDER", help="folder of the shard selfplay.gzr, which is appended to")
    return options


def main(arguments: list[str] | None = None) -> int:
    """Play games from the command line; the exit code: 0, or 2 for a request that makes no sense."""
    options = parser().parse_args(arguments)
    try:
        stage, settings = _stage(options), SelfPlaySettings(games=min(options.parallel, options.games))
        game = scoring.make("go", options.size, options.rules, settings.max_length)
        net = None if options.weights == "none" else weights.load(weights.find(options.weights)).network()
        evaluator = leaf_evaluator(stage.evaluator, game, net, options.threads, options.seed)
    except (ConfigError, WeightsError, ValueError) as error:
        say(f"training.selfplay: {error}")
        return 2
    pool = Pool(game, settings, (options.seed,))
    pool.use(evaluator, stage, settings.no_pass_generations)
    writer = Writer(Path(options.out) / "selfplay.gzr", vars(options))
    found: list[Record] = []
    began = time.monotonic()
    with bar(options.games, "self-play", " games") as progress:
        for record in islice(pool.play(float("inf")), options.games):
            writer.append(record)
            found.append(record)
            progress.update(1)
    writer.close()
    seconds = time.monotonic() - began
    rows = sum(record.rows for record in found)
    speed = f"{pool.evaluations:,} evaluations in {seconds:.1f} s, {pool.evaluations / seconds:,.0f} a second"
    say(f"{len(found)} games, {rows} rows, {speed}")
    return 0


def _stage(options: argparse.Namespace) -> Stage:
    """The command line as a stage, checked like one from a file."""
    values = {
        "rows": 1,
        "sizes": {options.size: 1.0},
        "full_visits": options.full_visits,
        "cheap_visits": options.cheap_visits,
        "evaluator": "rollouts" if options.weights == "none" else "network",
    }
    if options.games < 1 or options.parallel < 1:
        raise ConfigError(f"--games {options.games} --parallel {options.parallel}: both must be 1 or more")
    stage: Stage = from_dict(Stage, values, "command line")
    return stage


if __name__ == "__main__":
    sys.exit(main())
