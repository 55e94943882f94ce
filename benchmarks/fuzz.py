"""Fuzzing gozero-gtp: each command gets one well-framed answer, in order, and nothing else is written.

Two of three lines are drawn by the grammar of tests/gtp/grammar.py, analysis, clocks, scoring, set-up, records and
GoGui's commands among them; the others are noise. Most go to engines in this process, without a network and a line at a
time; every game has its share, Go the half. Then real processes with the games' networks are sent whole sessions at
once, several of them at a time. The first line that is not answered as it should be is printed with its game and seed,
and the exit code is 1. Run it with `python -m benchmarks.fuzz`.
"""

from __future__ import annotations

import contextlib
import itertools
import tempfile
import time
from collections import Counter, defaultdict
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

from benchmarks.harness import finish, machine, parser
from gozero import games, nets, weights
from gtp.settings import WEIGHTS
from tests.gtp.fuzzing import check_pipelined, check_session
from tests.gtp.grammar import GRAMMAR, NOISE, commands_of, write_files

LENGTH = 500
"""Lines of a session. In a long one, games are played on, undone, set up again and scored many times."""
AT_ONCE = 4
GAMES = ["go"] * (len(WEIGHTS) - 1) + [game for game in WEIGHTS if game != "go"]


def main() -> int:
    """Run from the command line and return the exit code."""
    options = parser(__doc__ or "")
    options.add_argument(
        "--lines", type=int, default=1_000_000, help="lines sent within this process (default 1,000,000)"
    )
    options.add_argument(
        "--processes", type=int, default=24, help="sessions sent to processes, all lines of each at once (default 24)"
    )
    options.add_argument("--seed", type=int, default=1, help="of the first session; each further one has the next")
    chosen = options.parse_args()
    lines, processes = (10_000, 2) if chosen.short else (chosen.lines, chosen.processes)
    print(f"{machine()}\n")
    with tempfile.TemporaryDirectory() as folder, contextlib.chdir(folder):
        write_files(Path(folder))
        try:
            fuzz(lines, chosen.seed)
            pipeline(processes, chosen.seed, Path(folder))
        except AssertionError as error:
            print(f"FAILED {error}")
            return 1
    return 0


def fuzz(lines: int, seed: int) -> None:
    """Send at least so many lines to engines in this process."""
    seen: dict[str, Counter[str]] = defaultdict(Counter)
    begun = time.perf_counter()
    for number, game in zip(range(-(-lines // LENGTH)), itertools.cycle(GAMES), strict=False):
        check_session(game, seed + number, LENGTH, seen[game])
    for game, counts in seen.items():
        missing = set(commands_of(game)) - {"quit"} - counts.keys()
        print(
            f"{game:<10} {counts[GRAMMAR]:>9,} lines by the grammar, {counts[NOISE]:>9,} of noise; "
            f"commands never sent: {', '.join(sorted(missing)) or 'none'}"
        )
    total = sum(counts[GRAMMAR] + counts[NOISE] for counts in seen.values())
    silent = sum(counts["silent"] for counts in seen.values())
    print(
        f"{total:,} lines in {time.perf_counter() - begun:,.0f} s: {total - silent:,} commands, one answer each; no "
        "internal error\n"
    )


def pipeline(sessions: int, seed: int, folder: Path) -> None:
    """Send so many sessions to engine processes."""
    for game in WEIGHTS:
        config = nets.config("b1c8", games.make(game))
        weights.save(folder / f"{game}.pt", nets.build(config, seed=1), config, game=game)

    def check(number: int) -> int:
        game = GAMES[number % len(GAMES)]
        return check_pipelined(game, seed + number, LENGTH, folder, ["--weights", f"{game}.pt", "--threads", "1"])

    begun = time.perf_counter()
    with ThreadPoolExecutor(AT_ONCE) as pool:
        answers = sum(pool.map(check, range(sessions)))
    seconds = time.perf_counter() - begun
    print(
        f"{sessions} pipelined sessions, {AT_ONCE} at a time, in {seconds:,.0f} s: {answers:,} commands, one answer "
        "each"
    )


if __name__ == "__main__":
    finish(main)
