"""Ending an analysis: the claims are a median below 10 ms and nothing above 50 ms of 200, with the shipped weights.

An engine analyses an empty board with all that KataGo's dialect has to say; after its second line an empty line is sent, and the clock runs
until the blank line that ends the answer has been read. Run it with `python -m benchmarks.analysis --weights FILE`; without --weights
the shipped ones are taken.
"""

from __future__ import annotations

import statistics
import subprocess
import sys
import time
from typing import IO

from benchmarks.harness import machine, parser

MEDIAN, WORST = 0.010, 0.050  # seconds claimed
COMMAND = b"kata-analyze b 5 ownership true rootInfo true pvVisits true\n"
LOOKS = 2


def seconds_until_ended(to_engine: IO[bytes], answers: IO[bytes]) -> float:
    """From an empty line to the end of the answer of an analysis that has given its second look."""
    to_engine.write(COMMAND)
    assert answers.readline().startswith(b"=")
    for _ in range(LOOKS):
        answers.readline()
    start = time.perf_counter()
    to_engine.write(b"\n")
    while answers.readline() != b"\n":
        pass
    return time.perf_counter() - start


def main() -> None:
    options = parser(__doc__ or "")
    options.add_argument("--weights", default="best.pt", metavar="FILE")
    options.add_argument("--analyses", type=int, default=200)
    chosen = options.parse_args()
    command = [sys.executable, "-m", "gtp", "--weights", chosen.weights]
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, bufsize=0) as engine:
        assert engine.stdin is not None and engine.stdout is not None
        answers = open(engine.stdout.fileno(), "rb", closefd=False)  # noqa: SIM115 - lines of a pipe that stays the engine's
        seconds_until_ended(engine.stdin, answers)  # loads
        taken = [seconds_until_ended(engine.stdin, answers) for _ in range(4 if chosen.short else chosen.analyses)]
        engine.stdin.write(b"quit\n")
    print(f"Ending an analysis, 13x13, {chosen.weights}\n  {machine()}")
    print(f"  median {1000 * statistics.median(taken):.1f} ms, worst {1000 * max(taken):.1f} ms of {len(taken)}; ", end="")
    print(f"claimed {1000 * MEDIAN:.0f} and {1000 * WORST:.0f} ms")


if __name__ == "__main__":
    main()
