"""What every benchmark script shares: pinning to a core, alternating runs, medians, and the line that names the
machine.

A contender does some work and returns how many units of it were done (moves, simulations, ...). Contenders run in turn
(A, B, A, B, ...), so that a slow moment of the machine hits all of them: compare ratios, not rates. CPU/wall is the
processor time of the work per second of wall clock: on one core a run far below 1 was disturbed by other programs; a
row whose median is below `LEAST_CPU_SHARE` is marked void and proves nothing. Each script states its own claims.
"""

from __future__ import annotations

import argparse
import os
import platform
import shutil
import statistics
import subprocess
import sys
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import NoReturn

from gozero.system.console import BAD_INPUT, SUCCESS, Parser, positive, run_command, say
from gozero.system.errors import ChoiceError
from gozero.system.machine import processor
from gtp.client import EngineError
from gtp.protocol import FatalError

LEAST_CPU_SHARE = 0.95
VECTORS = ("avx2", "avx512f", "avx512_bf16", "avx512_vnni")
Contender = Callable[[], int]
Clock = Callable[[], float]
Measurements = Mapping[str, Callable[[argparse.Namespace], None]]


class MissingError(ChoiceError):
    """A program that a measurement needs is not installed."""


@dataclass(frozen=True)
class Row:
    """One contender's medians over `runs` runs."""

    name: str
    unit: str
    rate: float  # units per second of wall clock
    cpu_share: float  # processor seconds / wall seconds
    seconds: float  # wall clock of one run
    runs: int
    cores: int = 1  # that the work keeps busy if it has them; 0: it keeps none so, and is never void

    @property
    def void(self) -> bool:
        return self.cpu_share < LEAST_CPU_SHARE * self.cores

    def __str__(self) -> str:
        mark = "  VOID (machine busy)" if self.void else ""
        speed = f"{self.name:<36} {self.rate:>14,.0f} {self.unit}/s"
        return f"{speed}   CPU/wall {self.cpu_share:4.2f}   {self.seconds:6.2f} s x {self.runs}{mark}"


def parser(description: str, measurements: Measurements | None = None) -> argparse.ArgumentParser:
    """The options of all benchmark scripts: `--short`, `--runs N`, `--core N`; with several measurements, which of them
    (`what`, default all).
    """
    options = Parser(prog=f"python -m {_script()}", description=description)
    add = options.add_argument
    add("--short", action="store_true", help="a few seconds instead of the full measurement (checks that it runs)")
    add("--runs", type=positive, default=5, help="timed runs of each contender (default 5)")
    add("--core", type=core, help="the core to pin single-core work to (default: the last one allowed)")
    if measurements:
        names = ", ".join(measurements)

        def known(text: str) -> str:
            if text not in measurements:
                raise argparse.ArgumentTypeError(f"{text!r} is none of {names}")
            return text

        add("what", nargs="*", type=known, default=list(measurements), metavar="WHAT", help=f"{names} (default: all)")
    return options


def core(text: str) -> int:
    """A core that this process may use, where the system can tell; scripts that pin nothing take no other either."""
    number = int(text)
    if hasattr(os, "sched_getaffinity") and (refused := _refusal(number)):
        raise argparse.ArgumentTypeError(refused)
    return number


def _refusal(core: int) -> str:
    """Why this process cannot run on a core; "" if it can."""
    allowed = os.sched_getaffinity(0)
    return "" if core in allowed else f"{core}: this process may only use cores {sorted(allowed)}"


def measure_each(measurements: Measurements, chosen: argparse.Namespace) -> int:
    """Make the chosen measurements; one that needs what is not installed is left out, and named on stderr.

    Returns the exit code: 2 if nothing could be measured.
    """
    if chosen.short:
        chosen.runs = 1
    print(machine(), flush=True)
    missing = 0
    for name in chosen.what:
        try:
            measurements[name](chosen)
        except (MissingError, ModuleNotFoundError) as error:
            say(f"{_script()}: {name} is left out: {error}")
            missing += 1
    return BAD_INPUT if missing == len(chosen.what) else SUCCESS


def finish(main: Callable[[], int | None]) -> NoReturn:
    """Run a script's `main` and end the process: a request that cannot be met is one line and exit code 2."""
    raise SystemExit(run_command(_script(), lambda: main() or 0, (EngineError, FatalError)))


def need_program(program: str, how: str) -> str:
    """The path of a program; MissingError if it is not on the PATH."""
    if (found := shutil.which(program)) is None:
        raise MissingError(f"{program} is not on the PATH; run: {how}")
    return found


def _script() -> str:
    return f"benchmarks.{Path(sys.argv[0]).stem}"


def pin(core: int | None = None) -> int | None:
    """Keep this process and its later threads on one core. Returns the core, or None if the system cannot pin."""
    if not hasattr(os, "sched_setaffinity"):
        return None
    chosen = max(os.sched_getaffinity(0)) if core is None else core
    if refused := _refusal(chosen):
        raise ChoiceError(f"--core {refused}")
    os.sched_setaffinity(0, {chosen})
    return chosen


def measure(
    contenders: Mapping[str, Contender],
    *,
    unit: str,
    runs: int = 5,
    warm_ups: int = 1,
    clock: Clock = time.process_time,
    cores: int = 1,
) -> dict[str, Row]:
    """Time the contenders in turn: `warm_ups` untimed rounds, then `runs` timed ones; medians by name, in the given
    order. `clock`: processor seconds so far of whoever does the work; `cores`: see `Row`.
    """
    for _ in range(warm_ups):
        for work in contenders.values():
            work()
    samples: dict[str, list[tuple[float, float, float]]] = {name: [] for name in contenders}
    for _ in range(runs):
        for name, work in contenders.items():
            samples[name].append(_timed(work, clock))
    rows = {}
    for name, taken in samples.items():
        rate, share, seconds = (statistics.median(column) for column in zip(*taken, strict=True))
        rows[name] = Row(name, unit, rate, share, seconds, runs, cores)
    return rows


def _timed(work: Contender, clock: Clock) -> tuple[float, float, float]:
    cpu, wall = clock(), time.perf_counter()
    units = work()
    seconds = time.perf_counter() - wall
    return units / seconds, (clock() - cpu) / seconds, seconds


def ratio(rows: Mapping[str, Row], name: str, over: str) -> float:
    """How many times faster `name` is than `over`, from the same measurement."""
    return rows[name].rate / rows[over].rate


def machine() -> str:
    """One line about the machine: processor with its vector extensions, cores (and those this process may use), system,
    Python, commit.
    """
    usable = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count()
    system = f"{platform.system()} {platform.machine()}, Python {platform.python_version()}"
    found = processor()
    numbers = [f"(family {found.family}, model {found.model})"] if found.family else []
    name = " ".join([found.name, *numbers, *(flag for flag in VECTORS if flag in found.flags)])
    return f"{name}, {os.cpu_count()} cores ({usable} used), {system}, commit {commit()}"


def commit() -> str:
    """The tree's short commit hash, with `+` when tracked files differ from it; `unknown` outside a git checkout."""
    command = ["git", "-C", str(Path(__file__).parent), "describe", "--always", "--dirty=+", "--abbrev=10", "--exclude=*"]
    try:
        return subprocess.check_output(command, stderr=subprocess.DEVNULL, text=True, timeout=10).strip()
    except (OSError, subprocess.SubprocessError):
        return "unknown"


def report(title: str, rows: Mapping[str, Row]) -> None:
    """Print the rows to stdout (a benchmark script's output is its result)."""
    print(title)
    for row in rows.values():
        print(f"  {row}")
    sys.stdout.flush()
