"""How soon the programs answer, with the shipped weights.

    python -m benchmarks.response                  everything
    python -m benchmarks.response start analysis   these alone

start      a new `gozero-gtp`: `name` answered within 0.3 s, the first genmove (100 visits, 13x13) within 1.5 s.
board      the first board of `gozero web` drawn in Chromium within 1 s of the command. It needs what `make test`
           installs, and Chromium.
move       50 simulations of NoGo on 9x9, on all cores: at most 40 ms a move (median). The engine plays itself.
analysis   an analysis ends within 10 ms (median; at worst 50 ms) of the empty line that ends it, and pondering of any
           command.

A start is a process of its own, and the clock runs from before it is created. The first one fills the caches (compiled
kernels, converted network): it is shown and not judged.
"""

from __future__ import annotations

import argparse
import statistics
import subprocess
import sys
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import IO, TYPE_CHECKING

import numpy as np

from benchmarks.harness import Measurements, finish, measure_each, need_program, parser
from gozero.evaluators.factory import Evaluators
from gozero.play.engine import find_weights, search_settings
from gozero.play.player import PlayerSettings, make_player
from gozero.play.searcher import Limits
from gozero.system.errors import ChoiceError
from gtp.client import EngineError, GtpEngine

if TYPE_CHECKING:
    from playwright.sync_api import Page

STARTS = {"name": 0.3, "genmove b": 1.5}  # seconds claimed
BOARD = 1.0
MOVE = 0.040
MEDIAN, WORST = 0.010, 0.050  # of ending an analysis
ANALYSE = b"kata-analyze b 5 ownership true rootInfo true pvVisits true\n"
REPORTS = 2  # of an analysis, before it is ended
PONDERED = 0.2  # seconds of pondering before the command
ENDED = "the engine has ended: `python -m gtp --ponder` says why"


def start(chosen: argparse.Namespace) -> None:
    print("Start of gozero-gtp, 13x13, 100 visits")
    print(f"  first start, caches as they were: genmove after {seconds_until_answered('genmove b'):.2f} s")
    for command, claim in STARTS.items():
        taken = [seconds_until_answered(command) for _ in range(chosen.runs)]
        print(f"  {command:<10} {summary(taken)}; claimed within {claim} s")


def seconds_until_answered(command: str) -> float:
    """Seconds from starting an engine process to its answer to `command`, the first one sent."""
    begun = time.perf_counter()
    with GtpEngine([sys.executable, "-m", "gtp", "--weights", "best.pt", "--visits", "100"], timeout=120) as engine:
        engine.send(command)
        return time.perf_counter() - begun


def summary(taken: Sequence[float]) -> str:
    scale, unit = (1000, "ms") if max(taken) < 0.5 else (1, "s")
    middle, worst = scale * statistics.median(taken), scale * max(taken)
    return f"median {middle:.3g} {unit}, worst {worst:.3g} {unit} of {len(taken)}"


def board(chosen: argparse.Namespace) -> None:
    program = need_program("chromium", "apt-get install chromium")
    from playwright.sync_api import sync_playwright

    print("From the command to the first board", flush=True)
    with sync_playwright() as playwright, playwright.chromium.launch(
        executable_path=program, args=["--no-sandbox", "--disable-gpu"]
    ) as browser:  # fmt: skip
        page = browser.new_page()
        print(f"  first start, caches as they were: {first_board(page):.2f} s", flush=True)
        found = [first_board(page) for _ in range(chosen.runs)]
    print(f"  {summary(found)}; claimed within {BOARD:g} s")


def first_board(page: Page) -> float:
    """Seconds until the board is drawn."""
    begun = time.perf_counter()
    with served() as address:
        page.goto(address)
        page.locator(".shudan-vertex").first.wait_for()
        taken = time.perf_counter() - begun
    page.goto("about:blank")
    return taken


@contextmanager
def served() -> Iterator[str]:
    """Context manager: the address of a `gozero web`."""
    command = [sys.executable, "-m", "gozero.frontends.web", "--no-browser", "--port", "0"]
    process = subprocess.Popen(command, stderr=subprocess.PIPE, text=True)
    try:
        assert process.stderr is not None
        said = process.stderr.readline()
        if "http://" not in said:
            raise ChoiceError(f"gozero web did not start: {said.strip()}")
        yield said[said.index("http://") :].split()[0]
    finally:
        process.terminate()
        process.wait()


def move(chosen: argparse.Namespace) -> None:
    path, header = find_weights(None, "nogo")
    size, visits = header.size or 9, 50
    settings = PlayerSettings(seed=1, resign=False, search=search_settings(visits, "nogo"))
    player = make_player("nogo", (size,), Evaluators(path).open, settings, size=size)
    player.load()
    taken, worked = [], time.process_time()
    for _ in range(chosen.runs):
        player.game.new_game()
        while not player.game.is_over:
            begun = time.perf_counter()
            player.genmove(player.game.position.to_play, Limits(visits))
            taken.append(time.perf_counter() - begun)
    busy, slow = (time.process_time() - worked) / sum(taken), 1000 * float(np.quantile(taken, 0.99))
    print(f"A move of NoGo {size}x{size}, {visits} visits, {path.name}")
    print(f"  {summary(taken)}, 99 % within {slow:.1f} ms; {busy:.2f} cores at work; claimed {1000 * MOVE:.0f} ms")


def analysis(chosen: argparse.Namespace) -> None:
    count = 4 if chosen.short else 200
    with pondering_engine() as (to_engine, answers):
        seconds_until_ended(to_engine, answers)  # loads
        ended = [seconds_until_ended(to_engine, answers) for _ in range(count)]
        seconds_of(b"genmove b\n", to_engine, answers)
        answered = []
        for _ in range(count):
            time.sleep(PONDERED)
            answered.append(seconds_of(b"name\n", to_engine, answers))
        to_engine.write(b"quit\n")
    print("Stopping to think, 13x13")
    for title, taken in (("ending an analysis", ended), ("ending to ponder", answered)):
        print(f"  {title:<20} {summary(taken)}; claimed {1000 * MEDIAN:.0f} and {1000 * WORST:.0f} ms")


@contextmanager
def pondering_engine() -> Iterator[tuple[IO[bytes], IO[bytes]]]:
    """Context manager: the input and the output of a `gozero-gtp --ponder`."""
    command = [sys.executable, "-m", "gtp", "--weights", "best.pt", "--ponder"]
    with subprocess.Popen(
        command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, bufsize=0
    ) as engine:
        assert engine.stdin is not None and engine.stdout is not None
        # lines of a pipe that stays the engine's
        with open(engine.stdout.fileno(), "rb", closefd=False) as answers:
            yield engine.stdin, answers


def seconds_until_ended(to_engine: IO[bytes], answers: IO[bytes]) -> float:
    """Seconds from an empty line to the end of an analysis that has reported twice."""
    send(ANALYSE, to_engine)
    for _ in range(1 + REPORTS):  # the first line says that it has begun
        line_of(answers)
    return seconds_of(b"\n", to_engine, answers)


def seconds_of(line: bytes, to_engine: IO[bytes], answers: IO[bytes]) -> float:
    """Seconds from a line to the blank line that ends its answer."""
    begun = time.perf_counter()
    send(line, to_engine)
    while line_of(answers) != b"\n":
        pass
    return time.perf_counter() - begun


def send(line: bytes, to_engine: IO[bytes]) -> None:
    try:
        to_engine.write(line)
    except BrokenPipeError:
        raise EngineError(ENDED) from None


def line_of(answers: IO[bytes]) -> bytes:
    """The next line; EngineError if the engine has ended or refuses the command."""
    line = answers.readline()
    if not line or line.startswith(b"?"):
        raise EngineError(line.decode(errors="replace").strip() or ENDED)
    return line


MEASUREMENTS: Measurements = {"start": start, "board": board, "move": move, "analysis": analysis}


def main(arguments: Sequence[str] | None = None) -> int:
    return measure_each(MEASUREMENTS, parser(__doc__ or "", MEASUREMENTS).parse_args(arguments))


if __name__ == "__main__":
    finish(main)
