"""`gozero-gtp --check`: whether this installation can play, with what, and how fast, in plain words.

Each result is `ok`, a `note` (it works but could be better) or `WRONG` (the engine cannot play), with advice for the
last two. It checks what a game would use: the same weights, caches, evaluator and threads.
"""

from __future__ import annotations

import platform
import time
from collections.abc import Callable, Iterator
from importlib.metadata import PackageNotFoundError, version
from typing import TYPE_CHECKING, NamedTuple

from gozero.nets.weights import listed
from gozero.play.engine import beyond_training, find_weights, supported_sizes
from gozero.system import files
from gozero.system.errors import UserError
from gozero.system.machine import available_threads, processor
from gozero.system.words import counted, spanned
from gtp.settings import GtpSettings

if TYPE_CHECKING:
    from gozero.evaluators.base import Evaluator
    from gozero.games.game import Game

OK, NOTE, WRONG = "ok", "note", "WRONG"
BATCH = 8  # positions at a time
SECONDS = 1.0  # of evaluations
VISITS = 100  # of the move


class CheckResult(NamedTuple):
    """One line of the answer."""

    subject: str
    text: str
    advice: str = ""  # what to do, if it is not well
    grade: str = OK


def check(settings: GtpSettings, show: Callable[[str], None] = print) -> bool:
    """Print each finding as soon as it is known, then a summary. Returns whether the engine can play."""
    grades = set()
    for subject, text, advice, grade in findings(settings):
        show(f"{grade:5}  {subject:10}{text}" + (f"\n{'':17}{advice}" if advice else ""))
        grades.add(grade)
    if WRONG in grades:
        show("\nThe engine cannot play like this: see the line marked WRONG.")
    else:
        show("\nThe engine is ready." + (" It could do better: see the lines marked note." if NOTE in grades else ""))
    return WRONG not in grades


def findings(settings: GtpSettings) -> Iterator[CheckResult]:
    """Yield the findings, up to the first that is wrong."""
    threads = counted(available_threads(), "thread")
    yield CheckResult("machine", f"{platform.system()}, {processor().name}; this process may use {threads}")
    yield _packages(settings)
    try:
        yield from _engine(settings)
    except UserError as error:
        yield CheckResult("engine", str(error), "gozero-gtp --help describes the options", WRONG)
    except (ImportError, OSError) as error:  # a library that cannot be loaded here
        advice = "install gozero again: pip install --force-reinstall gozero"
        yield CheckResult("engine", f"{type(error).__name__}: {error}", advice, WRONG)


def _packages(settings: GtpSettings) -> CheckResult:
    """Versions, without importing anything."""
    numbers = {name: _version(name) for name in ("numba", "numpy", "torch", "openvino")}
    text = ", ".join([f"Python {platform.python_version()}", *(f"{name} {found}" for name, found in numbers.items())])
    if numbers["openvino"] != "missing" or settings.backend == "torch":
        return CheckResult("packages", text)
    return CheckResult("packages", text, "without openvino a CPU is half as fast: pip install openvino", NOTE)


def _version(package: str) -> str:
    try:
        return version(package)
    except PackageNotFoundError:
        return "missing"


def _engine(settings: GtpSettings) -> Iterator[CheckResult]:
    """Yield the findings from the weights to a move. UserError if the engine cannot play."""
    from gozero.play.searcher import Limits
    from gozero.system import jit
    from gtp.loading import Loader

    path, header = find_weights(settings.weights, settings.game)
    sizes, size = supported_sizes(header), settings.size or header.size
    line = beyond_training(header.trained, size) if size is not None and size in sizes else ""
    trained = f", trained on {listed(header.trained)}" if header.trained else ""
    text = f"{path}: {header.game}, network {header.network}, board sizes {spanned(sizes)}{trained}"
    yield CheckResult("weights", text, line, NOTE if line else OK)
    if jit.CACHE_FOLDER is None:
        advice = "each start compiles for a minute; set XDG_CACHE_HOME to a folder that can be written"
        yield CheckResult("cache", f"{files.cache_name()} cannot be written", advice, NOTE)
    loader, began = Loader(settings, path, header), time.monotonic()
    player = loader.player()
    yield CheckResult("rules", f"rules and search loaded in {time.monotonic() - began:.1f} s")
    game, began = player.game.definition, time.monotonic()
    evaluator = loader.evaluator(game)
    evaluator = getattr(evaluator, "evaluator", evaluator)  # without the cache, which would find the same positions
    yield CheckResult("network", f"{_named(evaluator)}, ready after {time.monotonic() - began:.1f} s")
    yield CheckResult("speed", f"{_speed(evaluator, game):,.0f} evaluations a second")
    began = time.monotonic()
    action = player.genmove(player.game.position.to_play, Limits(VISITS))
    seconds = time.monotonic() - began
    yield CheckResult("move", f"{game.vertex(action)} on {game.dimensions} with {VISITS} visits in {seconds:.2f} s")


def _named(evaluator: Evaluator) -> str:
    """The evaluator, its device and precision."""
    name = getattr(evaluator, "label", type(evaluator).__name__)
    device = str(getattr(evaluator, "device", "cpu")).upper()
    precision = f" in {evaluator.precision}" if hasattr(evaluator, "precision") else ""
    return f"{name} on the {device}{precision}"


def _speed(evaluator: Evaluator, game: Game) -> float:
    """Evaluations a second."""
    states, count, began = game.new_states(BATCH), 0, time.monotonic()
    while (seconds := time.monotonic() - began) < SECONDS:
        evaluator.evaluate(states)
        count += BATCH
    return count / seconds
