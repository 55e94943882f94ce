"""Ending an analysis, and pondering: the claims are a median below 10 ms and nothing above 50 ms of 200, with the
shipped weights.

An engine analyses an empty board with all that KataGo's dialect has to say; after its second line an empty line is
sent, and the clock runs until the blank line that ends the answer has been read. Pondering on its own first move, it is
asked for its name now and then, and the clock runs until the answer. Run it with `python -m benchmarks.analysis
--weights FILE`; without --weights the shipped ones are taken.
"""

from __future__ import annotations

import statistics
import subprocess
import sys
import time
from typing import IO

from benchmarks.harness import finish, machine, parser
from gozero.engine import find_weights
from gtp.client import EngineError
from training.console import positive

MEDIAN, WORST = 0.010, 0.050  # seconds claimed
COMMAND = b"kata-analyze b 5 ownership true rootInfo true pvVisits true\n"
LOOKS = 2
PONDERED = 0.2  # seconds of pondering before the command
ENDED = "the engine has ended: `python -m gtp --ponder`, with these weights, says why"


def seconds_until_ended(to_engine: IO[bytes], answers: IO[bytes]) -> float:
    """Seconds from an empty line to the end of an analysis that has reported twice."""
    _send(COMMAND, to_engine)
    for _ in range(1 + LOOKS):  # the first says that it has begun
        _line_of(answers)
    return _seconds_of(b"\n", to_engine, answers)


def seconds_until_answered(to_engine: IO[bytes], answers: IO[bytes]) -> float:
    """Seconds from a command without effect to the end of its answer, after some time of pondering."""
    time.sleep(PONDERED)
    return _seconds_of(b"name\n", to_engine, answers)


def _seconds_of(line: bytes, to_engine: IO[bytes], answers: IO[bytes]) -> float:
    start = time.perf_counter()
    _send(line, to_engine)
    while _line_of(answers) != b"\n":
        pass
    return time.perf_counter() - start


def _send(line: bytes, to_engine: IO[bytes]) -> None:
    try:
        to_engine.write(line)
    except BrokenPipeError:
        raise EngineError(ENDED) from None


def _line_of(answers: IO[bytes]) -> bytes:
    """The next line; EngineError where the engine has ended, or refuses the command."""
    line = answers.readline()
    if not line or line.startswith(b"?"):
        raise EngineError(line.decode(errors="replace").strip() or ENDED)
    return line


def report(title: str, taken: list[float]) -> None:
    print(
        f"  {title:<20} median {1000 * statistics.median(taken):.1f} ms, worst {1000 * max(taken):.1f} ms of "
        f"{len(taken)}; ",
        end="",
    )
    print(f"claimed {1000 * MEDIAN:.0f} and {1000 * WORST:.0f} ms")


def main() -> None:
    options = parser(__doc__ or "")
    options.add_argument("--weights", default="best.pt", metavar="FILE")
    options.add_argument("--analyses", type=positive, default=200)
    chosen = options.parse_args()
    count = 4 if chosen.short else chosen.analyses
    find_weights(chosen.weights, "go")
    command = [sys.executable, "-m", "gtp", "--weights", chosen.weights, "--ponder"]
    with subprocess.Popen(
        command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, bufsize=0
    ) as engine:
        assert engine.stdin is not None and engine.stdout is not None
        answers = open(engine.stdout.fileno(), "rb", closefd=False)  # noqa: SIM115 - lines of a pipe that stays the engine's
        seconds_until_ended(engine.stdin, answers)  # loads
        ended = [seconds_until_ended(engine.stdin, answers) for _ in range(count)]
        _seconds_of(b"genmove b\n", engine.stdin, answers)
        answered = [seconds_until_answered(engine.stdin, answers) for _ in range(count)]
        engine.stdin.write(b"quit\n")
    print(f"Stopping to think, 13x13, {chosen.weights}\n  {machine()}")
    report("ending an analysis", ended)
    report("ending to ponder", answered)


if __name__ == "__main__":
    finish(main)
