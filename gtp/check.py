"""`gozero-gtp --check`: whether this installation can play, with what, and how fast, in plain words.

Each result is `OK`, a `NOTE` (it works but could be better) or `WRONG` (the engine cannot play), with advice for the
last two. It checks what a game would use: the same weights, caches, evaluator and threads.
"""

from __future__ import annotations

import os
import platform
import time
from collections.abc import Callable, Iterator
from contextlib import suppress
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

from gozero.games import coords
from gozero.nets.weights import listed
from gozero.play.engine import beyond_training, find_weights, spanned, supported_sizes
from gozero.system.errors import UserError
from gozero.system.machine import megabytes, processor
from gozero.system.threads import available_threads
from gozero.system.words import counted
from gtp.settings import GtpSettings

if TYPE_CHECKING:
    from gozero.evaluators.base import Evaluator
    from gozero.games.game import Game
    from gozero.nets.weights import Header
    from gozero.play.player import Player

OK, NOTE, WRONG = "ok", "note", "WRONG"
PACKAGES = ("numba", "numpy", "torch", "openvino")
INSTRUCTIONS = {
    "avx2": "AVX2",
    "avx512f": "AVX-512",
    "avx512_bf16": "AVX-512 bf16",
    "avx512_vnni": "VNNI",
    "amx_bf16": "AMX",
}
"""Instruction sets that speed the network up: Linux's name, and the usual one."""

BATCH = 8  # positions at a time
SECONDS = 1.0  # of evaluations
VISITS = 100  # of the move
IDLE_SHARE = 0.6  # of the threads at work, below which something else is using the processor
LITTLE_MEMORY = 500  # MB


class CheckResult(NamedTuple):
    """One line of the answer."""

    subject: str
    text: str
    advice: str = ""  # what to do, where it is not well
    grade: str = OK

    def __str__(self) -> str:
        advice = f"\n{'':17}{self.advice}" if self.advice else ""
        return f"{self.grade:5}  {self.subject:10}{self.text}{advice}"


def check(settings: GtpSettings, show: Callable[[str], None] = print) -> bool:
    """Print each finding as soon as it is known, then a summary. Returns whether the engine can play."""
    grades = []
    for finding in findings(settings):
        show(str(finding))
        grades.append(finding.grade)
    if WRONG in grades:
        show("\nThe engine cannot play like this: see the line marked WRONG.")
    else:
        show("\nThe engine is ready." + (" It could do better: see the lines marked note." if NOTE in grades else ""))
    return WRONG not in grades


def findings(settings: GtpSettings) -> Iterator[CheckResult]:
    """Yield the findings, up to the first that is wrong."""
    yield _machine()
    yield _packages(settings)
    try:
        yield from _engine(settings)
    except UserError as error:
        yield CheckResult("engine", str(error), "gozero-gtp --help describes the options", WRONG)
    except (ImportError, OSError) as error:  # a library that cannot be loaded here
        advice = "install gozero again: pip install --force-reinstall gozero"
        yield CheckResult("engine", f"{type(error).__name__}: {error}", advice, WRONG)


def _engine(settings: GtpSettings) -> Iterator[CheckResult]:
    """Yield the findings from the weights to a move. UserError if the engine cannot play."""
    from gozero.evaluators.cache import CachedEvaluator
    from gtp.loading import Loader

    path, header = find_weights(settings.weights, settings.game)
    sizes = supported_sizes(header)
    size = settings.size or header.size
    line = beyond_training(header.trained, size) if size is not None and size in sizes else ""
    yield _weights(path, header, spanned(sizes), line)
    yield _cache()
    loader = Loader(settings, path, header)
    began = time.monotonic()
    player = loader.player()
    loader.compile()
    yield CheckResult("rules", f"rules and search loaded in {time.monotonic() - began:.1f} s")
    began = time.monotonic()
    evaluator = loader.evaluator(player.game.kind)
    if isinstance(evaluator, CachedEvaluator):  # which would find the same positions again and again
        evaluator = evaluator.evaluator
    opened = time.monotonic() - began
    yield _evaluator(evaluator, opened)
    yield _speed(evaluator, player.game.kind, settings.threads or available_threads())
    yield _move(player)
    yield _memory()


def _weights(path: Path, header: Header, boards: str, line: str) -> CheckResult:
    """The weights, their game and training sizes; a note, `line`, where they were not trained on the chosen board."""
    trained = f", trained on {listed(header.trained)}" if header.trained else ""
    text = f"{path}: {header.game}, network {header.network}, board sizes {boards}{trained}"
    return CheckResult("weights", text, line, NOTE if line else OK)


def _machine() -> CheckResult:
    """Processor, instruction sets and threads."""
    found = processor()
    known = [name for flag, name in INSTRUCTIONS.items() if flag in found.flags]
    instructions = f" with {', '.join(known)}" if known else ""
    usable, processors = available_threads(), os.cpu_count() or 1
    share = f"{usable} of {processors} processors" if usable < processors else f"{processors} processors"
    return CheckResult("machine", f"{platform.system()}, {found.name}{instructions}; this process may use {share}")


def _packages(settings: GtpSettings) -> CheckResult:
    """Versions, without importing anything."""
    found = {name: _version(name) for name in PACKAGES}
    text = f"Python {platform.python_version()}, " + ", ".join(
        f"{name} {number or 'missing'}" for name, number in found.items() if number or name != "torch"
    )  # playing needs no torch
    if found["openvino"] is None and settings.backend != "torch":
        advice = "without openvino a CPU plays at half the speed or less: pip install openvino"
        return CheckResult("packages", text, advice, NOTE)
    return CheckResult("packages", text)


def _version(package: str) -> str | None:
    with suppress(PackageNotFoundError):
        return version(package)
    return None


def _cache() -> CheckResult:
    """The folder of compiled rules; a note where it cannot be written."""
    from gozero.system import files, jit

    if jit.CACHE_FOLDER is not None:
        return CheckResult("cache", f"compiled rules are stored in {jit.CACHE_FOLDER}")
    advice = "each start compiles for a minute; set XDG_CACHE_HOME to a folder that can be written"
    return CheckResult("cache", f"{files.cache_name()} cannot be written", advice, NOTE)


def _evaluator(evaluator: Evaluator, seconds: float) -> CheckResult:
    """The evaluator, its device and precision."""
    name = getattr(evaluator, "label", type(evaluator).__name__)
    device = str(getattr(evaluator, "device", "cpu")).upper()
    precision = f" in {evaluator.precision}" if hasattr(evaluator, "precision") else ""
    return CheckResult("network", f"{name} on the {device}{precision}, ready after {seconds:.1f} s")


def _speed(evaluator: Evaluator, game: Game, threads: int) -> CheckResult:
    """Evaluations a second, and how busy the threads were."""
    states = game.new_states(BATCH)
    began, worked, count = time.monotonic(), time.process_time(), 0
    while (seconds := time.monotonic() - began) < SECONDS:
        evaluator.evaluate(states)
        count += BATCH
    busy = (time.process_time() - worked) / seconds
    text = f"{count / seconds:,.0f} evaluations a second, {busy:.1f} of {counted(threads, 'thread')} at work"
    on_gpu = str(getattr(evaluator, "device", "cpu")).startswith("cuda")
    if busy < IDLE_SHARE * threads and not on_gpu:
        fewer = max(1, round(busy))
        advice = f": compare with --threads {fewer}" if fewer < threads else ""
        return CheckResult("speed", text, f"other programs use the processor, or the board is small{advice}", NOTE)
    return CheckResult("speed", text)


def _move(player: Player) -> CheckResult:
    """A move from the first position, as genmove would make it."""
    from gozero.play.searcher import Limits

    began = time.monotonic()
    action = player.genmove(player.game.position.to_play, Limits(VISITS))
    seconds = time.monotonic() - began
    vertex = coords.vertex(action, *player.game.board)
    cols, rows = player.game.board
    return CheckResult("move", f"{vertex} on {cols}x{rows} with {VISITS} visits in {seconds:.2f} s")


def _memory() -> CheckResult:
    """The most memory the process has used, and what is free."""
    used, left = megabytes(Path("/proc/self/status"), "VmHWM"), megabytes(Path("/proc/meminfo"), "MemAvailable")
    if used is None or left is None:
        return CheckResult("memory", "unknown on this system")
    text = f"{used:,.0f} MB used, {left:,.0f} MB free"
    if left < LITTLE_MEMORY:
        return CheckResult("memory", text, "close other programs: a long search grows by some 100 MB", NOTE)
    return CheckResult("memory", text)
