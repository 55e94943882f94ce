"""Starting `gozero-gtp`: the claims are `name` answered within 0.3 s, and the first genmove within 1.5 s on a second
start.

A start is a new process of this interpreter, as a controller makes it; the clock runs from before the process is
created. The first start of a run fills the caches (compiled kernels, converted network) and is shown, not judged. Run
it with `python -m benchmarks.startup --weights FILE`; without --weights the shipped ones are taken.
"""

from __future__ import annotations

import statistics
import sys
import time

from benchmarks.harness import finish, machine, parser
from gtp.client import Engine

CLAIMS = {"name": 0.3, "genmove b": 1.5}  # seconds
VISITS = 100


def seconds_until_answered(command: str, weights: str) -> float:
    """Seconds from starting an engine process to its answer to `command`, the first one sent."""
    start = time.perf_counter()
    with Engine([sys.executable, "-m", "gtp", "--weights", weights, "--visits", str(VISITS)], timeout=120) as engine:
        engine.send(command)
        return time.perf_counter() - start


def main() -> None:
    options = parser(__doc__ or "")
    options.add_argument("--weights", default="best.pt", metavar="FILE")
    chosen = options.parse_args()
    print(f"Start of gozero-gtp, 13x13, {VISITS} visits\n  {machine()}")
    print(
        f"  first start, caches as they were: genmove after {seconds_until_answered('genmove b', chosen.weights):.2f} s"
    )
    runs = 1 if chosen.short else chosen.runs
    for command, claim in CLAIMS.items():
        taken = [seconds_until_answered(command, chosen.weights) for _ in range(runs)]
        print(
            f"  {command:<10} median {statistics.median(taken):.2f} s, worst {max(taken):.2f} s of {runs}; claimed "
            f"within {claim} s"
        )


if __name__ == "__main__":
    finish(main)
